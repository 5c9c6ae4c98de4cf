"""The free surface: no stress across it, and fields continued above it for the stencils.

Stress imaging of 4th order with adjusted differences: Kristek, Moczo & Archuleta (2002), Stud.
Geophys. Geod. 46, after Graves (1996), BSSA 86, equations 19 to 25. The moduli of plane stress
stand for szz = 0 at the surface itself (:mod:`.material`).
"""

from __future__ import annotations

import numpy as np

from burstlens.workflows.awm.compiling import (
    C1,
    C2,
    ONE,
    TWO,
    compiled,
    flush_denormals,
    keep_denormals,
)


@compiled
def velocity_above(vx, vy, vz, ratio, top):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Continue the velocities above the free surface at level ``top``, to 4th order.

    Quartics through the levels below; the one of vz has the slope that szz = 0 gives it at the
    surface. The 4th-order difference then equals the one-sided one of Kristek, Moczo &
    Archuleta (2002).
    """
    _, ny, nx = vx.shape
    flush_denormals()
    for j in range(TWO, np.uint64(ny) - TWO):
        for i in range(TWO, np.uint64(nx) - TWO):
            for v in (vx, vy):
                v[top + 1, j, i] = (
                    np.float32(5) * (v[top, j, i] - v[top - 3, j, i])
                    + np.float32(10) * (v[top - 2, j, i] - v[top - 1, j, i])
                    + v[top - 4, j, i]
                )
            slope = C1 * (
                (vx[top, j, i] - vx[top, j, i - ONE]) + (vy[top, j, i] - vy[top, j - ONE, i])
            ) + C2 * (
                (vx[top, j, i + ONE] - vx[top, j, i - TWO])
                + (vy[top, j + ONE, i] - vy[top, j - TWO, i])
            )
            vz[top + 1, j, i] = (
                np.float32(17) * vz[top, j, i]
                + np.float32(9) * vz[top - 1, j, i]
                - np.float32(5) * vz[top - 2, j, i]
                + vz[top - 3, j, i]
                - np.float32(24) * ratio[j, i] * slope
            ) / np.float32(22)
    keep_denormals()


@compiled
def stress_above(szz, sxz, syz, top):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Free the surface at level ``top`` of stress and continue it above, to 4th order."""
    _, ny, nx = szz.shape
    flush_denormals()
    for j in range(TWO, np.uint64(ny) - TWO):
        for i in range(TWO, np.uint64(nx) - TWO):
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
    keep_denormals()
