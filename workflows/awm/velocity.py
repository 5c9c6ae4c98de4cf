"""Update of the velocities: the equation of motion, rho dv/dt = div(stress).

4th-order differences on the staggered grid, 2nd order in time: Virieux (1986), Geophysics 51,
equation 1; Levander (1988), Geophysics 53, for the order; Graves (1996), BSSA 86, equations 1 to 9,
in three dimensions and for the densities between nodes (:mod:`.material`).
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
def advance(first, end, vx, vy, vz, sxx, syy, szz, sxy, sxz, syz, density):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Advance the velocities by one step at the levels from ``first`` to before ``end``."""
    flush_denormals()
    for k in range(first, end):
        _along_x(k, vx, sxx, sxy, sxz, density)
        _along_y(k, vy, sxy, syy, syz, density)
        _along_z(k, vz, sxz, syz, szz, density)
    keep_denormals()


@compiled
def _along_x(k, vx, sxx, sxy, sxz, density):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    _, ny, nx = vx.shape
    for j in range(TWO, np.uint64(ny) - TWO):
        for i in range(TWO, np.uint64(nx) - TWO):
            near = (
                (sxx[k, j, i + ONE] - sxx[k, j, i])
                + (sxy[k, j, i] - sxy[k, j - ONE, i])
                + (sxz[k + ONE, j, i] - sxz[k, j, i])
            )
            far = (
                (sxx[k, j, i + TWO] - sxx[k, j, i - ONE])
                + (sxy[k, j + ONE, i] - sxy[k, j - TWO, i])
                + (sxz[k + TWO, j, i] - sxz[k - ONE, j, i])
            )
            vx[k, j, i] += (C1 * near + C2 * far) / (density[k, j, i] + density[k, j, i + ONE])


@compiled
def _along_y(k, vy, sxy, syy, syz, density):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    _, ny, nx = vy.shape
    for j in range(TWO, np.uint64(ny) - TWO):
        for i in range(TWO, np.uint64(nx) - TWO):
            near = (
                (sxy[k, j, i] - sxy[k, j, i - ONE])
                + (syy[k, j + ONE, i] - syy[k, j, i])
                + (syz[k + ONE, j, i] - syz[k, j, i])
            )
            far = (
                (sxy[k, j, i + ONE] - sxy[k, j, i - TWO])
                + (syy[k, j + TWO, i] - syy[k, j - ONE, i])
                + (syz[k + TWO, j, i] - syz[k - ONE, j, i])
            )
            vy[k, j, i] += (C1 * near + C2 * far) / (density[k, j, i] + density[k, j + ONE, i])


@compiled
def _along_z(k, vz, sxz, syz, szz, density):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    _, ny, nx = vz.shape
    for j in range(TWO, np.uint64(ny) - TWO):
        for i in range(TWO, np.uint64(nx) - TWO):
            near = (
                (sxz[k, j, i] - sxz[k, j, i - ONE])
                + (syz[k, j, i] - syz[k, j - ONE, i])
                + (szz[k, j, i] - szz[k - ONE, j, i])
            )
            far = (
                (sxz[k, j, i + ONE] - sxz[k, j, i - TWO])
                + (syz[k, j + ONE, i] - syz[k, j - TWO, i])
                + (szz[k + ONE, j, i] - szz[k - TWO, j, i])
            )
            vz[k, j, i] += (C1 * near + C2 * far) / (density[k, j, i] + density[k - ONE, j, i])
