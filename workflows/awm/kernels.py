"""The compiled loops: velocity and stress updates, the free surface, the absorbing layers.

Arrays are float32 (z, y, x), padded by two elements on each side. Element (k, j, i) of vx lies at
node (k, j, i + 1/2), of vy at (k, j + 1/2, i), of vz at (k - 1/2, j, i), of sxy at
(k, j + 1/2, i + 1/2), of sxz at (k - 1/2, j, i + 1/2), of syz at (k - 1/2, j + 1/2, i), normal
stresses at the node. Material comes times step / spacing, so that no division is left.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np
from llvmlite import ir
from numba import njit, prange, types
from numba.extending import intrinsic

from burstlens.workflows.awm.limits import STENCIL

# The stencils touch some forty rows; below this many checks for overlap LLVM gives up vectors.
llvm.set_option("", "--runtime-memory-check-threshold=4000")

C1 = np.float32(STENCIL[0])
C2 = np.float32(STENCIL[1])
FLUSHES = platform.machine() in ("x86_64", "AMD64")


def _compiled(**options: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return njit(cache=True, fastmath=True, error_model="numpy", nogil=True, **options)  # type: ignore[no-any-return]


def _sets_control_word(word: int) -> Any:
    """What loads a control word of floating point in the calling thread, from compiled code."""

    def typed(context: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if FLUSHES:
                held = builder.alloca(ir.IntType(32))
                builder.store(ir.Constant(ir.IntType(32), word), held)
                pointer = ir.IntType(8).as_pointer()
                load = builder.module.declare_intrinsic(
                    "llvm.x86.sse.ldmxcsr", (), ir.FunctionType(ir.VoidType(), [pointer])
                )
                builder.call(load, [builder.bitcast(held, pointer)])
            return context.get_dummy_value()

        return types.void(), emit

    return intrinsic(typed)


# Ahead of a wave the field falls through all denormal numbers, at a hundred cycles each.
_flush_denormals = _sets_control_word(0x9FC0)
_keep_denormals = _sets_control_word(0x1F80)


@_compiled()
def keep_denormals():  # type: ignore[no-untyped-def] # noqa: ANN201
    """Let the calling thread compute with denormal numbers again, which the loops take for zero."""
    _keep_denormals()


@_compiled(parallel=True)
def velocity(vx, vy, vz, sxx, syy, szz, sxy, sxz, syz, bx, by, bz, top):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Advance the velocities by one step, up to level ``top``."""
    _, ny, nx = vx.shape
    for k in prange(2, top + 1):
        _flush_denormals()
        for j in range(2, ny - 2):
            for i in range(2, nx - 2):
                vx[k, j, i] += bx[k, j, i] * (
                    C1
                    * (
                        (sxx[k, j, i + 1] - sxx[k, j, i])
                        + (sxy[k, j, i] - sxy[k, j - 1, i])
                        + (sxz[k + 1, j, i] - sxz[k, j, i])
                    )
                    + C2
                    * (
                        (sxx[k, j, i + 2] - sxx[k, j, i - 1])
                        + (sxy[k, j + 1, i] - sxy[k, j - 2, i])
                        + (sxz[k + 2, j, i] - sxz[k - 1, j, i])
                    )
                )
                vy[k, j, i] += by[k, j, i] * (
                    C1
                    * (
                        (sxy[k, j, i] - sxy[k, j, i - 1])
                        + (syy[k, j + 1, i] - syy[k, j, i])
                        + (syz[k + 1, j, i] - syz[k, j, i])
                    )
                    + C2
                    * (
                        (sxy[k, j, i + 1] - sxy[k, j, i - 2])
                        + (syy[k, j + 2, i] - syy[k, j - 1, i])
                        + (syz[k + 2, j, i] - syz[k - 1, j, i])
                    )
                )
                vz[k, j, i] += bz[k, j, i] * (
                    C1
                    * (
                        (sxz[k, j, i] - sxz[k, j, i - 1])
                        + (syz[k, j, i] - syz[k, j - 1, i])
                        + (szz[k, j, i] - szz[k - 1, j, i])
                    )
                    + C2
                    * (
                        (sxz[k, j, i + 1] - sxz[k, j, i - 2])
                        + (syz[k, j + 1, i] - syz[k, j - 2, i])
                        + (szz[k + 1, j, i] - szz[k - 2, j, i])
                    )
                )


@_compiled(parallel=True)
def stress(vx, vy, vz, sxx, syy, szz, sxy, sxz, syz, p, l, mxy, mxz, myz, top, surface):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, E741
    """Advance the stresses by one step, up to level ``top``.

    At level ``surface`` (-1: none) dvz/dz is left out: plane-stress moduli stand for it.
    """
    _, ny, nx = vx.shape
    for k in prange(2, top + 1):
        _flush_denormals()
        cz1 = C1 if k != surface else np.float32(0)
        cz2 = C2 if k != surface else np.float32(0)
        for j in range(2, ny - 2):
            for i in range(2, nx - 2):
                dx = C1 * (vx[k, j, i] - vx[k, j, i - 1]) + C2 * (vx[k, j, i + 1] - vx[k, j, i - 2])
                dy = C1 * (vy[k, j, i] - vy[k, j - 1, i]) + C2 * (vy[k, j + 1, i] - vy[k, j - 2, i])
                dz = cz1 * (vz[k + 1, j, i] - vz[k, j, i]) + cz2 * (
                    vz[k + 2, j, i] - vz[k - 1, j, i]
                )
                sxx[k, j, i] += p[k, j, i] * dx + l[k, j, i] * (dy + dz)
                syy[k, j, i] += p[k, j, i] * dy + l[k, j, i] * (dx + dz)
                szz[k, j, i] += p[k, j, i] * dz + l[k, j, i] * (dx + dy)
                sxy[k, j, i] += mxy[k, j, i] * (
                    C1 * ((vx[k, j + 1, i] - vx[k, j, i]) + (vy[k, j, i + 1] - vy[k, j, i]))
                    + C2
                    * ((vx[k, j + 2, i] - vx[k, j - 1, i]) + (vy[k, j, i + 2] - vy[k, j, i - 1]))
                )
                sxz[k, j, i] += mxz[k, j, i] * (
                    C1 * ((vx[k, j, i] - vx[k - 1, j, i]) + (vz[k, j, i + 1] - vz[k, j, i]))
                    + C2
                    * ((vx[k + 1, j, i] - vx[k - 2, j, i]) + (vz[k, j, i + 2] - vz[k, j, i - 1]))
                )
                syz[k, j, i] += myz[k, j, i] * (
                    C1 * ((vy[k, j, i] - vy[k - 1, j, i]) + (vz[k, j + 1, i] - vz[k, j, i]))
                    + C2
                    * ((vy[k + 1, j, i] - vy[k - 2, j, i]) + (vz[k, j + 2, i] - vz[k, j - 1, i]))
                )


@_compiled()
def velocity_above(vx, vy, vz, ratio, top):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Continue the velocities above the free surface at level ``top``, to 4th order.

    Quartics through the levels below; the one of vz has the slope that szz = 0 gives it at the
    surface. The 4th-order difference then equals the one-sided one of Kristek, Moczo &
    Archuleta (2002).
    """
    _, ny, nx = vx.shape
    for j in range(2, ny - 2):
        for i in range(2, nx - 2):
            for v in (vx, vy):
                v[top + 1, j, i] = (
                    np.float32(5) * (v[top, j, i] - v[top - 3, j, i])
                    + np.float32(10) * (v[top - 2, j, i] - v[top - 1, j, i])
                    + v[top - 4, j, i]
                )
            slope = C1 * (
                (vx[top, j, i] - vx[top, j, i - 1]) + (vy[top, j, i] - vy[top, j - 1, i])
            ) + C2 * (
                (vx[top, j, i + 1] - vx[top, j, i - 2]) + (vy[top, j + 1, i] - vy[top, j - 2, i])
            )
            vz[top + 1, j, i] = (
                np.float32(17) * vz[top, j, i]
                + np.float32(9) * vz[top - 1, j, i]
                - np.float32(5) * vz[top - 2, j, i]
                + vz[top - 3, j, i]
                - np.float32(24) * ratio[j, i] * slope
            ) / np.float32(22)


@_compiled()
def stress_above(szz, sxz, syz, top):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Free the surface at level ``top`` of stress and continue it above, to 4th order."""
    _, ny, nx = szz.shape
    for j in range(2, ny - 2):
        for i in range(2, nx - 2):
            szz[top, j, i] = np.float32(0)
            szz[top + 1, j, i] = (
                np.float32(-10) * szz[top - 1, j, i]
                + np.float32(10) * szz[top - 2, j, i]
                - np.float32(5) * szz[top - 3, j, i]
                + szz[top - 4, j, i]
            )
            for s in (sxz, syz):
                s1, s2, s3, s4 = s[top, j, i], s[top - 1, j, i], s[top - 2, j, i], s[top - 3, j, i]
                s[top + 1, j, i] = (
                    np.float32(-4) * s1
                    + np.float32(2) * s2
                    - np.float32(0.8) * s3
                    + np.float32(1 / 7) * s4
                )
                s[top + 2, j, i] = (
                    np.float32(-30) * s1
                    + np.float32(20) * s2
                    - np.float32(9) * s3
                    + np.float32(12 / 7) * s4
                )


@_compiled(parallel=True)
def absorb_velocity(vn, vt, vu, snn, snt, snu, bn, bt, bu, slab, memory, on, half):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Add what stretching the derivatives along one axis changes, in one absorbing slab.

    All fields are flat; n is the axis, t and u the two others. ``slab`` is (first element, level
    and row strides, stride along the axis, 1 if staggered components lie ahead else 0, level and
    row strides of the tables ``on`` and ``half``), which hold b and a of the recursive convolution
    (2, rows, x) on the node and half a spacing off. ``memory`` is (3, z, y, x).
    """
    first, level, row, s, ahead, table_k, table_j = slab
    near, far = (ahead * s, (1 - ahead) * s)
    _, nk, nj, ni = memory.shape
    for k in prange(nk):
        _flush_denormals()
        for j in range(nj):
            q = first + k * level + j * row
            r = k * table_k + j * table_j
            for i in range(ni):
                e = q + i
                h = e + near
                c = e - s + near
                d = C1 * (snn[h] - snn[c]) + C2 * (snn[h + s] - snn[c - s])
                memory[0, k, j, i] = half[0, r, i] * memory[0, k, j, i] + half[1, r, i] * d
                vn[e] += bn[e] * memory[0, k, j, i]
                h = e + far
                c = e - s + far
                d = C1 * (snt[h] - snt[c]) + C2 * (snt[h + s] - snt[c - s])
                memory[1, k, j, i] = on[0, r, i] * memory[1, k, j, i] + on[1, r, i] * d
                vt[e] += bt[e] * memory[1, k, j, i]
                d = C1 * (snu[h] - snu[c]) + C2 * (snu[h + s] - snu[c - s])
                memory[2, k, j, i] = on[0, r, i] * memory[2, k, j, i] + on[1, r, i] * d
                vu[e] += bu[e] * memory[2, k, j, i]


@_compiled(parallel=True)
def absorb_stress(vn, vt, vu, snn, stt, suu, snt, snu, p, l, mnt, mnu, slab, memory, on, half):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, E741
    """The same for the stresses; see :func:`absorb_velocity`."""
    first, level, row, s, ahead, table_k, table_j = slab
    near, far = (ahead * s, (1 - ahead) * s)
    _, nk, nj, ni = memory.shape
    for k in prange(nk):
        _flush_denormals()
        for j in range(nj):
            q = first + k * level + j * row
            r = k * table_k + j * table_j
            for i in range(ni):
                e = q + i
                h = e + far
                c = e - s + far
                d = C1 * (vn[h] - vn[c]) + C2 * (vn[h + s] - vn[c - s])
                d = on[0, r, i] * memory[0, k, j, i] + on[1, r, i] * d
                memory[0, k, j, i] = d
                snn[e] += p[e] * d
                stt[e] += l[e] * d
                suu[e] += l[e] * d
                h = e + near
                c = e - s + near
                d = C1 * (vt[h] - vt[c]) + C2 * (vt[h + s] - vt[c - s])
                memory[1, k, j, i] = half[0, r, i] * memory[1, k, j, i] + half[1, r, i] * d
                snt[e] += mnt[e] * memory[1, k, j, i]
                d = C1 * (vu[h] - vu[c]) + C2 * (vu[h + s] - vu[c - s])
                memory[2, k, j, i] = half[0, r, i] * memory[2, k, j, i] + half[1, r, i] * d
                snu[e] += mnu[e] * memory[2, k, j, i]
