"""The position of a crop: slices of a frame that hold a range of coordinates, distances in km."""

from __future__ import annotations

from typing import Any

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.core.lengths import metres
from burstlens.core.nearness import did_you_mean
from burstlens.viz.geometry import position
from burstlens.viz.geometry.grid import Array, axes, distances, map_plane, plane
from burstlens.viz.geometry.projection import EARTH_RADIUS_M
from burstlens.viz.geometry.staggering import with_faces
from burstlens.viz.geometry.vertical import heights
from burstlens.viz.seams import OpenFrame, Window


def spacing_km(frame: OpenFrame, variable: str, direction: str) -> float:
    """The distance of neighbours along ``x`` or ``y`` in km; FrameError if unknown.

    The median of the grid, so that a hole between two pieces of it does not count; where rows and
    columns are not straight in degrees, that in its middle.
    """
    dimension = axes(frame, variable)[direction]
    values, units = distances(frame, dimension, {})
    length = metres(units)
    if length is not None and values.size > 1:
        return float(np.median(np.abs(np.diff(values)))) * length / 1000
    here = map_plane(frame, variable, {}, centred=True)
    if here.projection is None:
        raise FrameError(f"half_width_km: {dimension} has no coordinate of lengths or degrees")
    if not here.geographic or here.x.ndim == 2:
        rows, columns = here.y.shape[0], here.x.shape[-1]
        return position.spacing_km(here, rows // 2, columns // 2)[direction == "x"]
    along = here.x if direction == "x" else here.y
    degrees = float(np.median(np.abs(np.diff(along))))
    shrink = np.cos(np.radians(here.y.mean())) if direction == "x" else 1.0
    return float(np.radians(degrees) * EARTH_RADIUS_M / 1000 * shrink)


def locate(
    frame: OpenFrame, variable: str, ranges: dict[str, tuple[float, float]]
) -> dict[str, slice]:
    """The smallest slices that hold every point inside the coordinate ranges, ends included.

    ``ranges`` by ``x``, ``y``, ``z``, ``lon``, ``lat``, ``level`` or a coordinate's own name.
    FrameError names the extent if no point is inside, and near names if a name is unknown.
    """
    kept: dict[str, slice] = {}
    directions = axes(frame, variable)
    own = {dimension: direction for direction, dimension in directions.items()}
    known = {"x": "x", "y": "y", "z": "z", "lon": "x", "lat": "y", "level": "z"} | own
    for name in ranges:
        if known.get(name) not in directions:
            usable = [key for key, direction in known.items() if direction in directions]
            raise FrameError(f"crop: {variable} has no axis {name!r}{did_you_mean(name, usable)}")
    if "lon" in ranges or "lat" in ranges:
        lon, lat = _degrees(frame, variable)
        inside: Array = np.ones((lat.shape[0], lon.shape[-1]), dtype=bool)
        with np.errstate(invalid="ignore"):  # beyond the edge of the earth
            if "lon" in ranges:
                west, east = ranges["lon"]
                inside &= (lon - west) % 360 <= min(east - west, 360)
            if "lat" in ranges:
                south, north = ranges["lat"]
                inside &= (lat >= south) & (lat <= north)
        if not inside.any():
            extent = {"lon": lon, "lat": lat}
            raise _outside({name: extent[name] for name in extent if name in ranges}, ranges)
        kept[directions["y"]] = _bounds(np.any(inside, axis=1))
        kept[directions["x"]] = _bounds(np.any(inside, axis=0))
    for name, wanted in ranges.items():
        if name in ("lon", "lat"):
            continue
        dimension = directions[known[name]]
        low, high = _along(frame, variable, name, known[name], dimension, with_faces(kept, frame))
        inside = (high >= wanted[0]) & (low <= wanted[1])
        if not inside.any():
            raise _outside({name: np.concatenate([low, high])}, ranges)
        kept[dimension] = _bounds(inside)
    return kept


def _degrees(frame: OpenFrame, variable: str) -> tuple[Array, Array]:
    """Longitudes and latitudes of the cell centres, as (y, x), or as (1, x) and (y, 1)."""
    here = plane(frame, variable, {}, centred=True)
    if not here.geographic:
        here = map_plane(frame, variable, {}, centred=True)
        if here.projection is None:
            raise FrameError("crop: the frame has no longitudes and latitudes; use x and y")
        return position.positions(here)
    return np.atleast_2d(here.x), here.y if here.y.ndim == 2 else here.y[:, None]


def _along(
    frame: OpenFrame, variable: str, name: str, direction: str, dimension: str, window: Window
) -> tuple[Array, Array]:
    """The lowest and highest coordinate at each point of a dimension."""
    size = frame.dimensions[dimension]
    if name == "level":
        number = np.arange(size, dtype=np.float64)
        return number, number
    if direction == "z":
        found = heights(frame, variable, window)
        z = np.arange(size) if found is None else found.z
        flat = z.reshape(size, -1)
        return flat.min(axis=1), flat.max(axis=1)
    values, _ = distances(frame, dimension, {})
    return values, values


def _bounds(inside: Any) -> slice:
    found = np.flatnonzero(inside)
    return slice(int(found[0]), int(found[-1]) + 1, 1)


def _outside(values: dict[str, Array], ranges: dict[str, tuple[float, float]]) -> FrameError:
    asked = ", ".join(f"{name} {ranges[name][0]:g} to {ranges[name][1]:g}" for name in values)
    ends = {name: v[np.isfinite(v)] for name, v in values.items()}
    extent = ", ".join(f"{name} {v.min():g} to {v.max():g}" for name, v in ends.items() if v.size)
    return FrameError(f"crop: {asked} is outside of the domain, which has {extent}")
