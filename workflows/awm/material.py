"""Material: density, elastic moduli, and their means on the staggered grid.

Three numbers are kept per node; the loops take their means where a component lies between nodes.
The density at a velocity is the arithmetic mean of the two nodes beside it, the shear modulus at a
shear stress the harmonic mean of the four around it (Graves 1996, BSSA 86, equations 10 to 14).
The values of the edges extend outside the grid, into the absorbing layers.
"""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from burstlens.workflows.awm.fields import Field, apart
from burstlens.workflows.awm.rock import Level

FIELDS = 3
Extremes = tuple[tuple[float, float], ...]
"""Lowest and highest vp, lowest and highest vs."""
NEAR = 6
"""Levels that count as near the free surface: the stencils of what is continued above it take five.
"""


@dataclass(slots=True)
class Speeds:
    """The extremes of the speeds, in m/s, which limit step, frequency and absorbing layers.

    Contrasts are the highest over the lowest vp or vs, whichever is more.
    """

    vp_max: float = 0.0
    vs_max: float = 0.0
    vs_min: float = math.inf
    contrast: float = 1.0
    """At the edges: what is continued into the absorbing layers."""
    contrast_near_surface: float = 1.0
    """Among the topmost levels included."""
    _edges: list[Extremes] = dataclasses.field(default_factory=list)
    _levels: deque[Extremes] = dataclasses.field(default_factory=lambda: deque(maxlen=NEAR))

    def include(self, level: Level) -> None:
        """Extend the extremes by those of a level, the next one upwards."""
        self._levels.append(extremes := _extremes(level.vp, level.vs))
        (vs_min, vs_max), (_, vp_max) = extremes[1], extremes[0]
        self.vp_max = max(self.vp_max, vp_max)
        self.vs_max = max(self.vs_max, vs_max)
        self.vs_min = min(self.vs_min, vs_min)
        sides = [
            np.concatenate([one[0], one[-1], one[:, 0], one[:, -1]]) for one in (level.vp, level.vs)
        ]
        self._edges = [_joined([*self._edges, _extremes(*sides)])]
        self.contrast = _contrast(self._edges[0])
        self.contrast_near_surface = _contrast(_joined(self._levels))


def _extremes(*fields: Field) -> Extremes:
    return tuple((float(one.min()), float(one.max())) for one in fields)


def _joined(several: Iterable[Extremes]) -> Extremes:
    return tuple(
        (min(low for low, _ in one), max(high for _, high in one))
        for one in zip(*several, strict=True)
    )


def _contrast(extremes: Extremes) -> float:
    return max(high / low for low, high in extremes)


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
