"""Material: density, elastic moduli, and their means on the staggered grid.

Three numbers are kept per node; the loops take their means where a component lies between nodes.
The density at a velocity is the arithmetic mean of the two nodes beside it, the shear modulus at a
shear stress the harmonic mean of the four around it (Graves 1996, BSSA 86, equations 10 to 14).
The values of the edges extend outside the grid, into the absorbing layers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from burstlens.workflows.awm.fields import Field, apart
from burstlens.workflows.awm.rock import Level

FIELDS = 3


@dataclass(slots=True)
class Speeds:
    """The extremes of the speeds, in m/s, which limit step, frequency and absorbing layers."""

    vp_max: float = 0.0
    vs_max: float = 0.0
    vs_min: float = math.inf
    contrast: float = 1.0
    """The highest over the lowest vp or vs, whichever is more, at the edges: what is continued
    into the absorbing layers."""
    _edges: tuple[float, ...] = (math.inf, 0.0, math.inf, 0.0)

    def include(self, level: Level) -> None:
        """Extend the extremes by those of a level."""
        self.vp_max = max(self.vp_max, float(level.vp.max()))
        self.vs_max = max(self.vs_max, float(level.vs.max()))
        self.vs_min = min(self.vs_min, float(level.vs.min()))
        edges = []
        for n, field in enumerate((level.vp, level.vs)):
            sides = np.concatenate([field[0], field[-1], field[:, 0], field[:, -1]])
            edges += [min(self._edges[2 * n], float(sides.min()))]
            edges += [max(self._edges[2 * n + 1], float(sides.max()))]
        self._edges = tuple(edges)
        self.contrast = max(edges[1] / edges[0], edges[3] / edges[2])


@dataclass(frozen=True, slots=True)
class Medium:
    """The material on the padded grid, each field (z, y, x), float32.

    With f = step / spacing: ``density`` is rho / (2 f), so that the sum of two nodes is the mean
    over f; ``compliance`` is 1 / (4 f mu), so that the sum of four nodes is one over f times the
    harmonic mean; ``lam`` is f lambda. ``ratio`` (y, x) is lambda / (lambda + 2 mu) at the free
    surface; ``lam`` there is that of plane stress, which follows from szz = 0.
    """

    density: Field
    compliance: Field
    lam: Field
    ratio: Field
    speeds: Speeds


def medium(
    levels: Iterable[Level], pads: tuple[tuple[int, int], ...], factor: float, surface: int,
    shape: tuple[int, int, int],
) -> Medium:  # fmt: skip
    """The material of these levels, lowest first, on a padded grid of that ``shape``.

    ``pads`` (z, y, x) is what the levels are extended by, ``factor`` step / spacing in s/m,
    ``surface`` the padded level of the free surface, or -1 for none.
    """
    density, compliance, lam = apart(shape, FIELDS, start=9)
    ratio: Field = np.ones(shape[1:], np.float32)
    speeds = Speeds()
    (below, _), *sides = pads
    f = np.float32(factor)
    k = below
    for k, level in enumerate(levels, below):
        speeds.include(level)
        mu = level.rho * level.vs**2
        p = level.rho * level.vp**2
        first = p - 2 * mu
        if k == surface:
            ratio[:] = np.pad(first / p, sides, mode="edge")
            first -= first * (first / p)
        for field, values in (
            (density, level.rho / (2 * f)),
            (compliance, np.float32(1) / mu / (4 * f)),
            (lam, first * f),
        ):
            field[k] = np.pad(values, sides, mode="edge")
    for field in (density, compliance, lam):
        field[:below] = field[below]
        field[k + 1 :] = field[k]
    return Medium(density, compliance, lam, ratio, speeds)
