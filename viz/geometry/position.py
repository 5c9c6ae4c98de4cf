"""Positions on the ground: of the points of a plane, their distances, and motion from one.

A position is longitude and latitude in degrees if the plane is on the earth, else the plane's
own x and y. The earth is WRF's sphere, so that neither 180 degrees nor a pole is a special case.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burstlens.core.errors import FrameError
from burstlens.core.lengths import metres
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.projection import EARTH_RADIUS_M
from burstlens.viz.geometry.sphere import bilinear, degrees, vectors

Array = NDArray[np.float64]
DEGREES = "degrees"


def units(plane: Plane) -> str:
    """The unit of positions on a plane: ``degrees``, ``m`` or ``km``.

    FrameError if the plane has neither: distances have no meaning there.
    """
    if plane.projection is not None:
        return DEGREES
    if metres(plane.units) is None:
        raise FrameError("the frame's coordinates are neither lengths nor degrees")
    return plane.units


def positions(plane: Plane) -> tuple[Array, Array]:
    """Positions of all points of the plane, each as (y, x)."""
    x, y = (plane.x, plane.y) if plane.x.ndim == 2 else np.meshgrid(plane.x, plane.y)
    return (x, y) if plane.projection is None else plane.projection.inverse(x, y)


def position(plane: Plane, row: float, column: float) -> tuple[float, float]:
    """The position of a point between rows and columns of the plane, by linear interpolation."""
    if plane.goes_around and min(plane.x.shape) > 1:
        low = max(min(int(row), plane.x.shape[0] - 2), 0)
        left = max(min(int(column), plane.x.shape[1] - 2), 0)
        part = slice(low, low + 2), slice(left, left + 2)
        nodes = vectors(plane.x[part], plane.y[part])
        east, north = degrees(bilinear(nodes, row - low, column - left))
        return float(east), float(north)
    x, y = _between(plane.x, row, column, axis=1), _between(plane.y, row, column, axis=0)
    if plane.projection is None:
        return x, y
    lon, lat = plane.projection.inverse(x, y)
    return (float(lon) + 180) % 360 - 180, float(lat)


def nearest(plane: Plane, x: float, y: float) -> tuple[int, int]:
    """Row and column of the plane's point nearest to a position, which may lie outside of it."""
    if plane.x.ndim == 1:
        if plane.projection is not None:
            x, y = (float(v) for v in plane.projection.forward(x, y))
        return int(np.abs(plane.y - y).argmin()), int(np.abs(plane.x - x).argmin())
    away = distance_km(units(plane), *positions(plane), x, y)
    row, column = np.unravel_index(int(np.nanargmin(away)), away.shape)
    return int(row), int(column)


def spacing_km(plane: Plane, row: int, column: int) -> tuple[float, float]:
    """Distance between neighbours on the ground along y and along x, at one point."""
    rows, columns = plane.y.shape if plane.y.ndim == 2 else (plane.y.size, plane.x.size)
    below, left = max(min(row, rows - 2), 0), max(min(column, columns - 2), 0)
    here = position(plane, below, left)
    apart = [
        float(distance_km(units(plane), *position(plane, *there), *here))
        for there, size in (((below + 1, left), rows), ((below, left + 1), columns))
        if size > 1
    ]
    if not apart:
        raise FrameError("a single point has no neighbours")
    return apart[0], apart[-1]


def distance_km(units: str, x: ArrayLike, y: ArrayLike, x0: float, y0: float) -> Array:
    """Distances of positions from one position on the ground: haversine formula on the sphere."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if units != DEGREES:
        return np.asarray(np.hypot(x - x0, y - y0) * _km(units))
    lat, lat0 = np.radians(y), np.radians(y0)
    half = np.sin((lat - lat0) / 2) ** 2
    half = half + np.cos(lat) * np.cos(lat0) * np.sin(np.radians(x - x0) / 2) ** 2
    return np.asarray(2 * EARTH_RADIUS_M / 1000 * np.arcsin(np.sqrt(np.minimum(half, 1))))


def course(units: str, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float]:
    """Direction of motion at its end, in degrees from north (from y) clockwise, and km covered."""
    if units == DEGREES:
        _, back, metres = _sphere().inv(x0, y0, x1, y1)
        return (float(back) + 180) % 360, float(metres) / 1000
    direction = float(np.degrees(np.arctan2(x1 - x0, y1 - y0))) % 360
    return direction, float(distance_km(units, x1, y1, x0, y0))


def moved(units: str, x: float, y: float, direction: float, km: float) -> tuple[float, float]:
    """The position ``km`` away in a direction, in degrees from north (from y) clockwise."""
    if units == DEGREES:
        lon, lat, _ = _sphere().fwd(x, y, direction, km * 1000)
        return float(lon), float(lat)
    angle, far = np.radians(direction), km / _km(units)
    return x + float(np.sin(angle)) * far, y + float(np.cos(angle)) * far


def _km(units: str) -> float:
    """Kilometres in one unit of a plane."""
    return (metres(units) or math.nan) / 1000


def _between(values: Any, row: float, column: float, axis: int) -> float:
    """The value at a fractional index, which lies within the array."""
    if values.ndim == 1:
        at = row if axis == 0 else column
        return float(np.interp(at, np.arange(values.size), values))
    low = max(min(int(row), values.shape[0] - 2), 0)
    left = max(min(int(column), values.shape[1] - 2), 0)
    part = np.asarray(values[low : low + 2, left : left + 2], np.float64)
    along = [np.interp(column - left, np.arange(line.size), line) for line in part]
    return float(np.interp(row - low, np.arange(len(along)), along))


@lru_cache(maxsize=1)
def _sphere() -> Any:
    import pyproj

    return pyproj.Geod(a=EARTH_RADIUS_M, b=EARTH_RADIUS_M)
