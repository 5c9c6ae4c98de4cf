"""Values between the model's own levels: interpolated to one, and averaged over layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_LEAST_COVER = 0.5
"""The share of a layer that must lie within the model's levels for a meaningful mean."""


@dataclass(frozen=True, slots=True)
class Between:
    """Where a level lies in each column (y, x): between the level ``lower`` and the one above it,
    by ``weight``; NaN where it lies outside of the column, and where the column's coordinate has a
    NaN or does not increase, or decrease, strictly.
    """

    lower: Array
    weight: Array

    @property
    def levels(self) -> slice:
        """The levels from which values are taken."""
        lower = self.lower[~np.isnan(self.weight)]
        return slice(int(lower.min()), int(lower.max()) + 2) if lower.size else slice(0, 2)

    def of(self, values: Array, first: int = 0) -> Array:
        """Values at the level as (y, x), of (z, y, x) that begin with the level ``first``."""
        last = values.shape[0] - 1
        low = np.clip(self.lower - first, 0, max(last - 1, 0))
        low_values, high_values = _pick(values, low), _pick(values, np.minimum(low + 1, last))
        return np.asarray(low_values * (1 - self.weight) + high_values * self.weight)


@dataclass(frozen=True, slots=True)
class Within:
    """The parts of a layer in each column, by its ``coordinate`` (z, y, x) that increases.

    Only the part of the layer within the column's levels counts (the lowest level is not at the
    ground); NaN where that is less than half of it.
    """

    coordinate: Array
    low: float
    high: float

    @property
    def levels(self) -> slice:
        """The levels from which values are taken."""
        inside = [
            k
            for k in range(self.coordinate.shape[0] - 1)
            if not (_depth(self.coordinate, k, self.low, self.high)[1] <= 0).all()
        ]
        return slice(inside[0], inside[-1] + 2) if inside else slice(0, 2)

    def of(self, values: Array, first: int = 0) -> Array:
        """Means over the layer as (y, x), of (z, y, x) that begin with the level ``first``.

        NaN where one of the layer's values is.
        """
        total = np.zeros(values.shape[1:], np.result_type(values, np.float32))
        cover = np.zeros_like(total)
        for k in range(values.shape[0] - 1):
            below, above = self.coordinate[first + k], self.coordinate[first + k + 1]
            middle, depth = _depth(self.coordinate, first + k, self.low, self.high)
            weight = (middle - below) / (above - below)
            part = (values[k] * (1 - weight) + values[k + 1] * weight) * depth
            # NaN in the coordinate makes the column NaN, NaN in the values only within the layer.
            reached = ~(depth <= 0)
            total += np.where(reached, part, 0)
            cover += np.where(reached, depth, 0)
        enough = (cover >= _LEAST_COVER * (self.high - self.low)) & _is_rising(self.coordinate)
        return np.where(enough, total / np.where(enough, cover, 1), total.dtype.type(np.nan))


def between(coordinate: Array, level: float | Array, *, log: bool = False) -> Between:
    """Where ``level``, one number or one per column (y, x), lies along ``coordinate`` (z, y, x).

    Weights are linear in it, or in its logarithm.
    """
    level = np.broadcast_to(np.asarray(level, coordinate.dtype), coordinate.shape[1:])
    rises, wanted = coordinate, level
    if coordinate[0].size and _falls(coordinate):
        rises, wanted = -coordinate, -level
    below = np.zeros(level.shape, np.intp)
    for values in rises:
        below += values <= wanted
    last = coordinate.shape[0] - 1
    lower = np.clip(below - 1, 0, max(last - 1, 0))
    low, high = _pick(coordinate, lower), _pick(coordinate, np.minimum(lower + 1, last))
    if log:
        low, high, level = np.log(low), np.log(high), np.log(level)
    step = high - low
    weight = np.divide(level - low, step, out=np.zeros_like(low), where=step != 0)
    inside = (wanted >= rises[0]) & (wanted <= rises[-1]) & _is_rising(rises)
    return Between(lower, np.where(inside, weight, weight.dtype.type(np.nan)))


def within(coordinate: Array, low: float, high: float) -> Within:
    """The layer from ``low`` to ``high``, in any order, of a coordinate (z, y, x)."""
    if coordinate[0].size and _falls(coordinate):
        coordinate, low, high = -coordinate, -low, -high
    return Within(coordinate, min(low, high), max(low, high))


def interpolate(
    values: Array, coordinate: Array, level: float | Array, *, log: bool = False
) -> Array:
    """Values (z, y, x) at one level as (y, x), see :func:`between`."""
    return between(coordinate, level, log=log).of(values)


def layer_mean(values: Array, coordinate: Array, low: float, high: float) -> Array:
    """Mean over a layer, as (y, x): the trapezoidal integral over ``coordinate``, by its thickness;
    see :class:`Within`."""
    return within(coordinate, low, high).of(values)


def _depth(coordinate: Array, k: int, low: float, high: float) -> tuple[Array, Array]:
    """The middle and the depth of a layer's part between the levels ``k`` and ``k`` + 1."""
    bottom, top = np.maximum(coordinate[k], low), np.minimum(coordinate[k + 1], high)
    return 0.5 * (bottom + top), top - bottom


def _pick(values: Array, index: Array) -> Array:
    """The values (z, y, x) at one level for each column (y, x)."""
    return np.asarray(np.take_along_axis(values, index[None], axis=0)[0])


def _falls(coordinate: Array) -> bool:
    """Whether most columns fall (pressure) rather than rise (height)."""
    return bool(np.sum(coordinate[-1] < coordinate[0]) > np.sum(coordinate[-1] > coordinate[0]))


def _is_rising(coordinate: Array) -> Array:
    rising = ~np.isnan(coordinate[0])
    for k in range(coordinate.shape[0] - 1):
        rising &= coordinate[k + 1] > coordinate[k]
    return np.asarray(rising)
