"""Values between the model's own levels: interpolated to one, and averaged over layers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_LEAST_COVER = 0.5
"""The share of a layer that must lie within the model's levels for a meaningful mean."""


def interpolate(values: Array, coordinate: Array, level: float | Array) -> Array:
    """Values (z, y, x) at one level, as (y, x), linear in ``coordinate`` (z, y, x).

    ``level`` is one number or one per column (y, x). NaN where it lies outside of the column, and
    where the column's coordinate has a NaN or does not increase, or decrease, strictly.
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
        # NaN in the coordinate makes the column NaN, NaN in the values only within the layer.
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
