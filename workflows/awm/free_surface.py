"""The free surface: no stress across it, and fields continued above it for the stencils.

Stress imaging of 4th order with adjusted differences: Kristek, Moczo & Archuleta (2002), Stud.
Geophys. Geod. 46, after Graves (1996), BSSA 86, equations 19 to 25. The lambda of plane stress
stands for szz = 0 at the surface itself (:mod:`.material`).

Continued fields feed back on themselves: where a soft layer is few points thick, waves of two
points in x and y grow, by a thousandth per step. There the eighth difference takes just these out
of what is continued (Shapiro 1970, Rev. Geophys. 8): 4 parts in a thousand of a wave of 6 points,
and less than one in ten thousand at 10.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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
from burstlens.workflows.awm.fields import Field, Wavefield

SHARP = 1.05
"""A contrast of speeds near the surface above which what is continued is smoothed."""
QUARTIC = tuple(np.float32(weight) for weight in (5, -10, 10, -5, 1))
PARABOLA = tuple(np.float32(weight) for weight in (3, -3, 1, 0, 0))
"""Weights of the topmost elements of vx and vy for the next one above."""
THREE, FOUR = np.uint64(3), np.uint64(4)
W0, W1, W2, W3, W4 = (np.float32(weight / 256) for weight in (70, -56, 28, -8, 1))


@dataclass(slots=True)
class FreeSurface:
    """The free surface at level ``top`` of a wavefield; ``ratio`` as in :class:`.material.Medium`.
    With ``smooth`` waves of two points are taken out of what is continued above it, and vx and vy
    are continued by a parabola instead of a quartic: they weigh 1/24 there.
    """

    fields: Wavefield
    ratio: Field
    top: int
    smooth: bool
    _spare: Field = field(init=False)

    def __post_init__(self) -> None:
        self._spare = np.zeros(self.fields.vx.shape[1:], np.float32)

    def continue_velocity(self) -> None:
        """Continue the velocities just advanced."""
        w = self.fields
        weights = PARABOLA if self.smooth else QUARTIC
        velocity_above(w.vx, w.vy, w.vz, self.ratio, np.uint64(self.top), weights)
        self._smooth(self.top + 1, w.vx, w.vy, w.vz)

    def free_stress(self) -> None:
        """Free the surface of the stresses just advanced, and continue them."""
        w = self.fields
        stress_above(w.szz, w.sxz, w.syz, np.uint64(self.top))
        self._smooth(self.top + 1, w.szz, w.sxz, w.syz)
        self._smooth(self.top + 2, w.sxz, w.syz)

    def _smooth(self, level: int, *fields: Field) -> None:
        for one in fields if self.smooth else ():
            smooth(one, np.uint64(level), self._spare)


@compiled
def velocity_above(vx, vy, vz, ratio, top, weights):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Continue the velocities above the free surface at level ``top``.

    Of vx and vy by these ``weights``; of vz, to 4th order, by a quartic with the slope that szz = 0
    gives it at the surface: the 4th-order difference then equals the one-sided one of Kristek,
    Moczo & Archuleta (2002).
    """
    _, ny, nx = vx.shape
    flush_denormals()
    for j in range(TWO, np.uint64(ny) - TWO):
        for i in range(TWO, np.uint64(nx) - TWO):
            for v in (vx, vy):
                v[top + ONE, j, i] = (
                    weights[0] * v[top, j, i]
                    + weights[1] * v[top - ONE, j, i]
                    + weights[2] * v[top - TWO, j, i]
                    + weights[3] * v[top - THREE, j, i]
                    + weights[4] * v[top - FOUR, j, i]
                )
            slope = C1 * (
                (vx[top, j, i] - vx[top, j, i - ONE]) + (vy[top, j, i] - vy[top, j - ONE, i])
            ) + C2 * (
                (vx[top, j, i + ONE] - vx[top, j, i - TWO])
                + (vy[top, j + ONE, i] - vy[top, j - TWO, i])
            )
            vz[top + ONE, j, i] = (
                np.float32(17) * vz[top, j, i]
                + np.float32(9) * vz[top - ONE, j, i]
                - np.float32(5) * vz[top - TWO, j, i]
                + vz[top - THREE, j, i]
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
            szz[top + ONE, j, i] = (
                np.float32(-10) * szz[top - ONE, j, i]
                + np.float32(10) * szz[top - TWO, j, i]
                - np.float32(5) * szz[top - THREE, j, i]
                + szz[top - FOUR, j, i]
            )
            for s in (sxz, syz):
                s1, s2, s3, s4 = (
                    s[top, j, i],
                    s[top - ONE, j, i],
                    s[top - TWO, j, i],
                    s[top - THREE, j, i],
                )
                s[top + ONE, j, i] = (
                    np.float32(-4) * s1
                    + np.float32(2) * s2
                    - np.float32(0.8) * s3
                    + np.float32(1 / 7) * s4
                )
                s[top + TWO, j, i] = (
                    np.float32(-30) * s1
                    + np.float32(20) * s2
                    - np.float32(9) * s3
                    + np.float32(12 / 7) * s4
                )
    keep_denormals()


@compiled
def smooth(f, level, spare):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """Take waves of two points out of a level, first those along x, then those along y; ``spare``
    (y, x) is room."""
    _, ny, nx = f.shape
    flush_denormals()
    spare[:] = f[level]
    for j in range(np.uint64(ny)):
        for i in range(FOUR, np.uint64(nx) - FOUR):
            spare[j, i] -= (
                W0 * f[level, j, i]
                + W1 * (f[level, j, i - ONE] + f[level, j, i + ONE])
                + W2 * (f[level, j, i - TWO] + f[level, j, i + TWO])
                + W3 * (f[level, j, i - THREE] + f[level, j, i + THREE])
                + W4 * (f[level, j, i - FOUR] + f[level, j, i + FOUR])
            )
    for j in range(FOUR, np.uint64(ny) - FOUR):
        for i in range(np.uint64(nx)):
            f[level, j, i] = spare[j, i] - (
                W0 * spare[j, i]
                + W1 * (spare[j - ONE, i] + spare[j + ONE, i])
                + W2 * (spare[j - TWO, i] + spare[j + TWO, i])
                + W3 * (spare[j - THREE, i] + spare[j + THREE, i])
                + W4 * (spare[j - FOUR, i] + spare[j + FOUR, i])
            )
    keep_denormals()
