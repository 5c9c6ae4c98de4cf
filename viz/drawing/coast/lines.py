"""Coasts, borders and lakes on a map's plane, from the packed Natural Earth beside this module."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.geometry.projection import Projection
from burstlens.viz.geometry.sphere import vectors

Array = NDArray[np.float64]
Extent = tuple[float, float, float, float]
Kind = Literal["lakes", "states", "coast", "borders"]
KINDS: tuple[Kind, ...] = ("lakes", "states", "coast", "borders")
"""In drawing order. ``states`` are the borders of first-order parts of countries."""

UNIT_DEGREES = 0.001
"""Unit of packed integers, about 100 m: the first point of each line, then its steps."""
_DETAILED_RADIUS = 15.0
"""Maps that reach up to so many degrees from their middle to a corner use the 1:10m lines."""
_STATES_RADIUS = 30.0
"""Likewise for showing states: their lines would cover a larger map."""
_DETAILED: frozenset[Kind] = frozenset({"coast", "borders"})
"""Kinds that are packed at 1:10m as well as at 1:50m."""
_LONGEST_DEGREES = 0.5
"""Longer segments get extra points, so that a border along a parallel bends like the parallel."""
_SAMPLES = 24


def lines(projection: Projection, extent: Extent, kind: Kind) -> Array:
    """The lines within ``extent`` (left, right, bottom, top), as (n, 2) of x and y.

    NaN separates lines. They reach somewhat beyond the extent, so that a frame can cut them; none
    runs across the seam of the projection. Large maps have no states.
    """
    middle, radius = _cap(projection, extent)
    if kind == "states" and radius > _STATES_RADIUS:
        return np.empty((0, 2))
    detailed = kind in _DETAILED and radius <= _DETAILED_RADIUS
    lon, lat, places = _load("10m" if detailed else "50m", kind)
    near = places @ middle >= np.cos(np.radians(min(radius + 2 * _LONGEST_DEGREES, 180)))
    x, y = np.full_like(lon, np.nan), np.full_like(lon, np.nan)
    x[near], y[near] = projection.forward(lon[near], lat[near])
    points = np.column_stack([x, y])
    points[~np.isfinite(points).all(axis=1)] = np.nan
    # Points far out belong to the other side of a seam, or lie near a pole at infinity.
    reach = np.array([extent[1] - extent[0], extent[3] - extent[2]])
    centre = np.array([extent[0] + extent[1], extent[2] + extent[3]]) / 2
    with np.errstate(invalid="ignore"):
        points[(np.abs(points - centre) > 2 * reach).any(axis=1)] = np.nan
        jump = (np.abs(np.diff(points, axis=0)) > reach / 2).any(axis=1)
    # In a domain of a few segments' size, long segments do not mean a seam.
    cut = np.flatnonzero(jump) if radius > 10 * _LONGEST_DEGREES else np.empty(0, np.intp)
    points = np.insert(points, cut + 1, np.nan, axis=0)
    gap = np.isnan(points[:, 0])
    return points[~(gap & np.roll(gap, 1))]


def _cap(projection: Projection, extent: Extent) -> tuple[Array, float]:
    """The unit vector of the middle of the extent, and the degrees from there to its far points."""
    x = np.linspace(*extent[:2], _SAMPLES)
    y = np.linspace(*extent[2:], _SAMPLES)
    lon, lat = projection.inverse(*np.meshgrid(x, y))
    known = np.isfinite(lon) & np.isfinite(lat)
    places = vectors(lon[known], lat[known])
    middle = places.mean(axis=0) if len(places) else np.zeros(3)
    length = float(np.linalg.norm(middle))
    if length < 0.1:
        return np.array([0.0, 0.0, 1.0]), 180.0
    middle = middle / length
    return middle, float(np.degrees(np.arccos(np.clip(places @ middle, -1, 1).min())))


@lru_cache(maxsize=6)
def _load(scale: str, kind: Kind) -> tuple[Array, Array, Array]:
    """Longitudes, latitudes and unit vectors of all lines, NaN between them."""
    with (
        files("burstlens.viz.drawing.coast").joinpath("natural_earth.npz").open("rb") as file,
        np.load(file) as packed,
    ):
        part: dict[str, NDArray[Any]] = {
            name: packed[f"{scale}_{kind}_{name}"] for name in ("first", "count", "steps")
        }
    # One sum for all lines: each begins with the step from the end of the one before.
    count, steps = part["count"], part["steps"].T.astype(np.int64)
    begins = np.cumsum(count + 1) - (count + 1)
    length = np.add.reduceat(steps, np.cumsum(count) - count)
    ways = np.insert(steps, np.cumsum(count) - count, part["first"], axis=0)
    ways[begins[1:]] -= (part["first"] + length)[:-1]
    points = np.cumsum(ways, axis=0) * UNIT_DEGREES
    lon, lat = _dense(np.insert(points, begins[1:], np.nan, axis=0)).T
    return lon, lat, vectors(lon, lat)


def _dense(points: Array) -> Array:
    """The same lines with points between where neighbours are further apart than half a degree."""
    apart = np.nan_to_num(np.abs(np.diff(points, axis=0)).max(axis=1))
    pieces = np.maximum(np.ceil(apart / _LONGEST_DEGREES).astype(int), 1)
    number = np.concatenate([[0], np.cumsum(pieces)])
    every = np.arange(number[-1] + 1)
    return np.column_stack([np.interp(every, number, points[:, axis]) for axis in (0, 1)])
