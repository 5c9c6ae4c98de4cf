"""Update of the stresses: Hooke's law of an isotropic medium, differentiated in time.

dsxx/dt = (lambda + 2 mu) dvx/dx + lambda (dvy/dy + dvz/dz), and so on; dsxy/dt = mu (dvx/dy +
dvy/dx), and so on. Virieux (1986), Geophysics 51, equation 1; Levander (1988), Geophysics 53;
Graves (1996), BSSA 86, equations 2 and 3.
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
def advance(first, end, vx, vy, vz, sxx, syy, szz, sxy, sxz, syz, lam, compliance, surface):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Advance the stresses by one step at the levels from ``first`` to before ``end``.

    At level ``surface`` (none: beyond all) dvz/dz is left out: lambda is that of plane
    stress there.
    """
    flush_denormals()
    for k in range(first, end):
        c1 = C1 if k != surface else np.float32(0)
        c2 = C2 if k != surface else np.float32(0)
        _normal(k, vx, vy, vz, sxx, syy, szz, lam, compliance, c1, c2)
        _shear(k, vx, vy, vz, sxy, sxz, syz, compliance)
    keep_denormals()


@compiled
def _normal(k, vx, vy, vz, sxx, syy, szz, lam, compliance, c1, c2):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    _, ny, nx = vx.shape
    for j in range(TWO, np.uint64(ny) - TWO):
        for i in range(TWO, np.uint64(nx) - TWO):
            dx = C1 * (vx[k, j, i] - vx[k, j, i - ONE]) + C2 * (
                vx[k, j, i + ONE] - vx[k, j, i - TWO]
            )
            dy = C1 * (vy[k, j, i] - vy[k, j - ONE, i]) + C2 * (
                vy[k, j + ONE, i] - vy[k, j - TWO, i]
            )
            dz = c1 * (vz[k + ONE, j, i] - vz[k, j, i]) + c2 * (
                vz[k + TWO, j, i] - vz[k - ONE, j, i]
            )
            both = lam[k, j, i] * (dx + dy + dz)
            twice = np.float32(0.5) / compliance[k, j, i]
            sxx[k, j, i] += both + twice * dx
            syy[k, j, i] += both + twice * dy
            szz[k, j, i] += both + twice * dz


@compiled
def _shear(k, vx, vy, vz, sxy, sxz, syz, compliance):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    _, ny, nx = vx.shape
    for j in range(TWO, np.uint64(ny) - TWO):
        for i in range(TWO, np.uint64(nx) - TWO):
            near = (vx[k, j + ONE, i] - vx[k, j, i]) + (vy[k, j, i + ONE] - vy[k, j, i])
            far = (vx[k, j + TWO, i] - vx[k, j - ONE, i]) + (vy[k, j, i + TWO] - vy[k, j, i - ONE])
            sxy[k, j, i] += (C1 * near + C2 * far) / (
                (compliance[k, j, i] + compliance[k, j, i + ONE])
                + (compliance[k, j + ONE, i] + compliance[k, j + ONE, i + ONE])
            )
            near = (vx[k, j, i] - vx[k - ONE, j, i]) + (vz[k, j, i + ONE] - vz[k, j, i])
            far = (vx[k + ONE, j, i] - vx[k - TWO, j, i]) + (vz[k, j, i + TWO] - vz[k, j, i - ONE])
            sxz[k, j, i] += (C1 * near + C2 * far) / (
                (compliance[k, j, i] + compliance[k, j, i + ONE])
                + (compliance[k - ONE, j, i] + compliance[k - ONE, j, i + ONE])
            )
            near = (vy[k, j, i] - vy[k - ONE, j, i]) + (vz[k, j + ONE, i] - vz[k, j, i])
            far = (vy[k + ONE, j, i] - vy[k - TWO, j, i]) + (vz[k, j + TWO, i] - vz[k, j - ONE, i])
            syz[k, j, i] += (C1 * near + C2 * far) / (
                (compliance[k, j, i] + compliance[k, j + ONE, i])
                + (compliance[k - ONE, j, i] + compliance[k - ONE, j + ONE, i])
            )
