"""Levels between the model's own: at a pressure, a height above sea or ground, and over layers.

Named after an ``@``: ``temperature@850hPa``, ``wind@1500m``, ``wind@80m agl``, ``W@5`` (the
model's level 5, from 0), ``lapse_rate@700-500hPa``, ``wind@0-6km agl`` (the mean of a layer).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.errors import RecipeError

Array = NDArray[Any]

_NUMBER = r"\d+(?:\.\d+)?"
_TEXT = re.compile(rf"({_NUMBER})\s*(?:-\s*({_NUMBER}))?\s*(?:(hPa|Pa|km|m)\s*(agl)?)?")
_SI = {"hPa": 100.0, "Pa": 1.0, "km": 1000.0, "m": 1.0}
_LEAST_COVER = 0.5
"""The part of a layer that must lie within the model's levels for its mean to mean something."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level, or a layer from ``low`` to ``high`` (upwards), in Pa or m.

    ``coordinate`` is the diagnostic it is counted in: ``pressure``, ``height`` (above sea),
    ``height_agl`` (above ground); empty: ``low`` is the number of a model level.
    """

    low: float
    high: float | None
    coordinate: str
    text: str

    @property
    def ends(self) -> tuple[float, float]:
        """Of the layer; the same twice, for a level."""
        return self.low, self.low if self.high is None else self.high

    @property
    def words(self) -> str:
        """As in a title: ``at 850 hPa``, ``from 0 to 6 km above ground``."""
        if not self.coordinate:
            return f"on model level {self.low:.0f}"
        return ("at " if self.high is None else "from ") + self.text


def parse_level(text: str) -> Level:
    """What stands behind the ``@``; RecipeError when it is no level.

    >>> parse_level("500-700 hPa").low
    70000.0
    >>> parse_level("80m agl").words
    'at 80 m above ground'
    """
    match = _TEXT.fullmatch(text.strip())
    if match is None or (match[3] is None and (match[2] or "." in match[1])):
        raise RecipeError(
            f"{text!r} is no level: say 850hPa, 1500m (above sea), 80m agl (above ground), 5 (the "
            "model's level 5), or a layer such as 700-500hPa, 0-6km agl"
        )
    first, second, unit, ground = match.groups()
    if unit is None:
        return Level(float(first), None, "", first)
    if ground and unit.endswith("Pa"):
        raise RecipeError(f"{text!r} is no level: agl goes with m or km")
    coordinate = "pressure" if unit.endswith("Pa") else "height_agl" if ground else "height"
    ends = [float(end) * _SI[unit] for end in (first, second) if end is not None]
    ends.sort(reverse=coordinate == "pressure")
    if len(ends) == 2 and ends[0] == ends[1]:
        raise RecipeError(f"{text!r} is no layer: its ends are the same")
    words = " to ".join(f"{end / _SI[unit]:g}" for end in ends) + f" {unit}"
    words += {"height_agl": " above ground", "height": " above sea level"}.get(coordinate, "")
    return Level(ends[0], ends[1] if len(ends) == 2 else None, coordinate, words)


def interpolate(values: Array, coordinate: Array, level: float | Array) -> Array:
    """Values (z, y, x) at one level, as (y, x), linear in ``coordinate`` (z, y, x).

    ``level`` is one number or one for each column (y, x). NaN where it lies outside of the
    column, and where the column's coordinate has a NaN or does not rise, or fall, all the way.
    """
    if coordinate[0].size and _falls(coordinate):
        coordinate, level = -coordinate, np.negative(level)
    level = np.broadcast_to(np.asarray(level, coordinate.dtype), coordinate.shape[1:])
    below = (coordinate <= level).sum(axis=0)
    last = coordinate.shape[0] - 1
    lower = np.clip(below - 1, 0, max(last - 1, 0))[None]
    upper = np.minimum(lower + 1, last)
    low, high = _pick(coordinate, lower), _pick(coordinate, upper)
    step = high - low
    weight = np.divide(level - low, step, out=np.zeros_like(low), where=step != 0)
    found = _pick(values, lower) * (1 - weight) + _pick(values, upper) * weight
    inside = (level >= coordinate[0]) & (level <= coordinate[-1])
    return np.asarray(np.where(inside & _is_rising(coordinate), found, found.dtype.type(np.nan)))


def layer_mean(values: Array, coordinate: Array, low: float, high: float) -> Array:
    """Mean over a layer, as (y, x): the trapezoidal integral over ``coordinate``, by its thickness.

    Only the part of the layer within the column's levels counts (the lowest level is not at the
    ground); NaN where that is less than half of it, or the column has a NaN in the layer.
    """
    if coordinate[0].size and _falls(coordinate):
        coordinate, low, high = -coordinate, -low, -high
    low, high = min(low, high), max(low, high)
    total = np.zeros(values.shape[1:], np.result_type(values, np.float32))
    cover = np.zeros_like(total)
    for k in range(values.shape[0] - 1):
        below, above = coordinate[k], coordinate[k + 1]
        bottom, top = np.maximum(below, low), np.minimum(above, high)
        depth = top - bottom
        weight = (0.5 * (bottom + top) - below) / (above - below)
        part = (values[k] * (1 - weight) + values[k + 1] * weight) * depth
        # A NaN in the coordinate spoils its column, one in the values that of the layer.
        reached = ~(depth <= 0)
        total += np.where(reached, part, 0)
        cover += np.where(reached, depth, 0)
    enough = (cover >= _LEAST_COVER * (high - low)) & _is_rising(coordinate)
    return np.where(enough, total / np.where(enough, cover, 1), total.dtype.type(np.nan))


def _pick(values: Array, index: Array) -> Array:
    return np.asarray(np.take_along_axis(values, index, axis=0)[0])


def _falls(coordinate: Array) -> bool:
    """Whether most columns fall (pressure) rather than rise (height)."""
    return bool(np.sum(coordinate[-1] < coordinate[0]) > np.sum(coordinate[-1] > coordinate[0]))


def _is_rising(coordinate: Array) -> Array:
    rising = ~np.isnan(coordinate[0])
    for k in range(coordinate.shape[0] - 1):
        rising &= coordinate[k + 1] > coordinate[k]
    return np.asarray(rising)
