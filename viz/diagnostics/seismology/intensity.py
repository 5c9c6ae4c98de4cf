"""Instrumental intensity: Modified Mercalli Intensity estimated from peak ground motion.

Worden, Gerstenberger, Rhoades & Wald (2012), Probabilistic relationships between ground-motion
parameters and Modified Mercalli Intensity in California, BSSA 102(1), 204-221: equations 3 and 6,
tables 1 and 2. Intensities below II are extended as in ShakeMap (USGS, Techniques and Methods
12-A1), which also limits magnitude and distance to the range of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Motion = Literal["pga", "pgv"]
_MAGNITUDES = 3.0, 7.3
_DISTANCES_KM = 10.0, 300.0
_AT_ONCE = 1 << 18
"""Points whose terms are computed together."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Intercept and slope over log10 of the motion, below ``low``, between, and above ``high``.

    ``at_source`` are the terms of 1, log10(distance in km) and magnitude.
    """

    low: float
    high: float
    faint: tuple[float, float]
    weak: tuple[float, float]
    strong: tuple[float, float]
    at_source: tuple[float, float, float]


RELATIONS: dict[Motion, Relation] = {
    "pga": Relation(0.14, 1.57, (1.71, 2.08), (1.78, 1.55), (-1.60, 3.70), (-0.91, 1.02, -0.17)),
    "pgv": Relation(-1.21, 0.53, (4.62, 2.17), (3.78, 1.47), (2.89, 3.16), (0.90, 0.00, -0.18)),
}
"""For the larger horizontal component, PGA in cm/s2 and PGV in cm/s."""


def intensity(
    peak: Array, motion: Motion, *, magnitude: float | None = None, distance_km: Array | None = None
) -> Array:
    """MMI, 1 to 10, of peaks of any shape in m/s2 (``pga``) or m/s (``pgv``); NaN stays NaN.

    If both ``magnitude`` and ``distance_km`` (to the rupture; shape of ``peak``) are given, their
    terms are added.

    >>> round(float(intensity(np.array(0.20), "pgv")), 1)
    7.0
    """
    peak = np.asarray(peak)
    found = np.empty(peak.shape, np.float64)
    # Some rows at a time: the terms take ten times as much memory as the peaks.
    flat, into = np.atleast_1d(peak), np.atleast_1d(found)
    count = max(1, _AT_ONCE // max(1, prod(flat.shape[1:])))
    for first in range(0, len(flat), count):
        rows = slice(first, first + count)
        away = None if distance_km is None else np.atleast_1d(distance_km)[rows]
        into[rows] = _intensity(flat[rows], RELATIONS[motion], magnitude, away)
    return found


def _intensity(
    peak: Array, relation: Relation, magnitude: float | None, distance_km: Array | None
) -> Array:
    with np.errstate(divide="ignore"):
        level = np.log10(100.0 * np.asarray(peak, np.float64))
    lines = (relation.faint, relation.weak, relation.strong)
    faint, weak, strong = (start + slope * level for start, slope in lines)
    found = np.select([level <= relation.low, level <= relation.high], [faint, weak], strong)
    if magnitude is not None and distance_km is not None:
        constant, per_decade, per_unit = relation.at_source
        decade = np.log10(np.clip(distance_km, *_DISTANCES_KM))
        found += constant + per_decade * decade + per_unit * float(np.clip(magnitude, *_MAGNITUDES))
    return np.asarray(np.clip(found, 1.0, 10.0))
