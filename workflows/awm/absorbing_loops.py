"""The loops of absorbing layers: see :mod:`.absorbing`.

All fields are flat; ``slab`` is (first level, first element there, level and row strides, stride
along the layer's axis, 1 if staggered components lie ahead else 0, level and row strides of the
tables). The tables ``on`` and ``half`` hold b and a of the recursive convolution (2, rows, x) on
the node and half a spacing off, ``memory`` is (3, z, y, x). Of a part of the levels those in the
layer are computed.
"""

from __future__ import annotations

import numpy as np

from burstlens.workflows.awm.compiling import (
    C1,
    C2,
    ONE,
    compiled,
    flush_denormals,
    keep_denormals,
)

ZERO, TWO = np.uint64(0), np.uint64(2)


@compiled
def velocity(first, end, vn, vt, vu, snn, snt, snu, bn, bt, bu, slab, memory, on, half):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Add what stretching the derivatives along one axis changes; n is the axis, t and u the two
    others."""
    near, far = slab[5] * slab[4], (ONE - slab[5]) * slab[4]
    low, high = slab[0], slab[0] + np.uint64(memory.shape[1])
    flush_denormals()
    for level in range(max(first, low), min(end, high)):
        k = level - low
        _stretch(k, vn, bn, snn, near, half, memory, ZERO, slab)
        _stretch(k, vt, bt, snt, far, on, memory, ONE, slab)
        _stretch(k, vu, bu, snu, far, on, memory, TWO, slab)
    keep_denormals()


@compiled
def stress(first, end, vn, vt, vu, snn, stt, suu, snt, snu, p, l, mnt, mnu, slab, memory, on, half):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, E741
    """The same for the stresses."""
    near, far = slab[5] * slab[4], (ONE - slab[5]) * slab[4]
    low, high = slab[0], slab[0] + np.uint64(memory.shape[1])
    flush_denormals()
    for level in range(max(first, low), min(end, high)):
        k = level - low
        _stretch(k, snn, p, vn, far, on, memory, ZERO, slab)
        _spread(k, stt, suu, l, memory, slab)
        _stretch(k, snt, mnt, vt, near, half, memory, ONE, slab)
        _stretch(k, snu, mnu, vu, near, half, memory, TWO, slab)
    keep_denormals()


@compiled
def _stretch(k, into, times, field, shift, table, memory, which, slab):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """Advance one memory variable at a level, and add it: one loop for each, since a row in the
    layers along x has few points, and checking more arrays for overlap would take longer."""
    _, element, level, row, s, _, table_k, table_j = slab
    _, _, nj, ni = memory.shape
    for j in range(np.uint64(nj)):
        q = element + k * level + j * row
        r = k * table_k + j * table_j
        for i in range(np.uint64(ni)):
            h = q + i + shift
            c = h - s
            d = C1 * (field[h] - field[c]) + C2 * (field[h + s] - field[c - s])
            d = table[0, r, i] * memory[which, k, j, i] + table[1, r, i] * d
            memory[which, k, j, i] = d
            into[q + i] += times[q + i] * d


@compiled
def _spread(k, stt, suu, l, memory, slab):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, E741
    """Add the memory of dvn/dn to the two other normal stresses."""
    _, element, level, row, _, _, _, _ = slab
    _, _, nj, ni = memory.shape
    for j in range(np.uint64(nj)):
        q = element + k * level + j * row
        for i in range(np.uint64(ni)):
            d = l[q + i] * memory[ZERO, k, j, i]
            stt[q + i] += d
            suu[q + i] += d
