"""The loops of absorbing layers: see :mod:`.absorbing`.

All fields are flat; ``slab`` holds strides (:class:`Strides`). The tables ``on`` (on the node) and
``half`` (half a spacing off) hold b and a of the recursive convolution and what velocities keep in
a step, (3, rows, x); ``memory`` is (3, z, y, x). Of a part of the levels those in the layer are
computed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burstlens.workflows.awm.compiling import C1, C2, ONE, compiled, flush_denormals, keep_denormals

ZERO, TWO = np.uint64(0), np.uint64(2)


class Strides(NamedTuple):
    """Where a layer lies in flat fields: unsigned elements, those that count back modulo 2^64."""

    level: np.uint64
    """Its first level."""
    element: np.uint64
    """The first element on that level."""
    per_level: np.uint64
    per_row: np.uint64
    along: np.uint64
    """Stride along the layer's axis."""
    ahead: np.uint64
    """1 if staggered components lie ahead of their node along the axis, 0 if behind."""
    table_per_level: np.uint64
    table_per_row: np.uint64
    next_n: np.uint64
    """From a node to the other one beside the velocity along the axis, and the two others."""
    next_t: np.uint64
    next_u: np.uint64


@compiled
def velocity(first, end, vn, vt, vu, snn, snt, snu, density, slab, memory, on, half):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Add what stretching the derivatives along one axis changes; n is the axis, t and u the two
    others."""
    near, far = slab.ahead * slab.along, (ONE - slab.ahead) * slab.along
    low, high = slab.level, slab.level + np.uint64(memory.shape[1])
    flush_denormals()
    for level in range(max(first, low), min(end, high)):
        k = level - low
        _accelerate(k, vn, slab.next_n, density, snn, near, half, memory, ZERO, slab)
        _accelerate(k, vt, slab.next_t, density, snt, far, on, memory, ONE, slab)
        _accelerate(k, vu, slab.next_u, density, snu, far, on, memory, TWO, slab)
    keep_denormals()


@compiled
def friction(first, end, vn, vt, vu, slab, memory, on, half):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Leave of the velocities what friction does, after all layers have corrected them."""
    low, high = slab.level, slab.level + np.uint64(memory.shape[1])
    flush_denormals()
    for level in range(max(first, low), min(end, high)):
        k = level - low
        _slow(k, vn, half, memory, slab)
        _slow(k, vt, on, memory, slab)
        _slow(k, vu, on, memory, slab)
    keep_denormals()


@compiled
def stress(first, end, vn, vt, vu, snn, stt, suu, snt, snu, lam, c, slab, memory, on, half):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """The same for the stresses; ``c`` is the compliance."""
    near, far = slab.ahead * slab.along, (ONE - slab.ahead) * slab.along
    low, high = slab.level, slab.level + np.uint64(memory.shape[1])
    flush_denormals()
    for level in range(max(first, low), min(end, high)):
        k = level - low
        _compress(k, snn, lam, c, vn, far, on, memory, slab)
        _spread(k, stt, suu, lam, memory, slab)
        _shear(k, snt, slab.next_t, c, vt, near, half, memory, ONE, slab)
        _shear(k, snu, slab.next_u, c, vu, near, half, memory, TWO, slab)
    keep_denormals()


# One loop for each memory variable: a row in the layers along x has few points, and checking more
# arrays for overlap would take longer.


@compiled
def _accelerate(k, into, other, density, field, shift, table, memory, which, slab):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    _, _, nj, ni = memory.shape
    for j in range(np.uint64(nj)):
        q = slab.element + k * slab.per_level + j * slab.per_row
        r = k * slab.table_per_level + j * slab.table_per_row
        o = q + other
        for i in range(np.uint64(ni)):
            h = q + i + shift
            c = h - slab.along
            d = C1 * (field[h] - field[c]) + C2 * (field[h + slab.along] - field[c - slab.along])
            d = table[0, r, i] * memory[which, k, j, i] + table[1, r, i] * d
            memory[which, k, j, i] = d
            into[q + i] += d / (density[q + i] + density[o + i])


@compiled
def _slow(k, v, table, memory, slab):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    _, _, nj, ni = memory.shape
    for j in range(np.uint64(nj)):
        q = slab.element + k * slab.per_level + j * slab.per_row
        r = k * slab.table_per_level + j * slab.table_per_row
        for i in range(np.uint64(ni)):
            v[q + i] *= table[2, r, i]


@compiled
def _compress(k, snn, lam, compliance, field, shift, table, memory, slab):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    _, _, nj, ni = memory.shape
    for j in range(np.uint64(nj)):
        q = slab.element + k * slab.per_level + j * slab.per_row
        r = k * slab.table_per_level + j * slab.table_per_row
        for i in range(np.uint64(ni)):
            h = q + i + shift
            c = h - slab.along
            d = C1 * (field[h] - field[c]) + C2 * (field[h + slab.along] - field[c - slab.along])
            d = table[0, r, i] * memory[ZERO, k, j, i] + table[1, r, i] * d
            memory[ZERO, k, j, i] = d
            snn[q + i] += (lam[q + i] + np.float32(0.5) / compliance[q + i]) * d


@compiled
def _spread(k, stt, suu, lam, memory, slab):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Add the memory of dvn/dn to the two other normal stresses."""
    _, _, nj, ni = memory.shape
    for j in range(np.uint64(nj)):
        q = slab.element + k * slab.per_level + j * slab.per_row
        for i in range(np.uint64(ni)):
            d = lam[q + i] * memory[ZERO, k, j, i]
            stt[q + i] += d
            suu[q + i] += d


@compiled
def _shear(k, into, other, compliance, field, shift, table, memory, which, slab):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    _, _, nj, ni = memory.shape
    for j in range(np.uint64(nj)):
        q = slab.element + k * slab.per_level + j * slab.per_row
        r = k * slab.table_per_level + j * slab.table_per_row
        n, o = q + slab.next_n, q + other
        both = n + other
        for i in range(np.uint64(ni)):
            h = q + i + shift
            c = h - slab.along
            d = C1 * (field[h] - field[c]) + C2 * (field[h + slab.along] - field[c - slab.along])
            d = table[0, r, i] * memory[which, k, j, i] + table[1, r, i] * d
            memory[which, k, j, i] = d
            around = (compliance[q + i] + compliance[n + i]) + (
                compliance[o + i] + compliance[both + i]
            )
            into[q + i] += d / around
