"""Lines of longitude and latitude on a map's plane, their labels at its frame, and its scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.geometry.projection import EARTH_RADIUS_M, Projection

Array = NDArray[np.float64]
Extent = tuple[float, float, float, float]
Side = Literal["left", "bottom", "top", "inside"]

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 15, 20, 30, 45)
_LINES = 6
"""Maximum number of meridians, and of parallels."""
_SAMPLES = 361
_PLANES = "stere", "laea"
_EDGE = 0.03
"""Least distance of a label inside the map from the frame, as a fraction of the map's height."""
_SIDES: dict[str, tuple[Side, ...]] = {
    "longitude": ("bottom", "top", "left"),
    "latitude": ("left", "bottom"),
}


@dataclass(frozen=True, slots=True)
class Label:
    """A text at a position on the frame (or inside it), in the plane's coordinates."""

    text: str
    x: float
    y: float
    side: Side


@dataclass(frozen=True, slots=True)
class Graticule:
    """``lines`` as (n, 2) arrays of x and y, NaN where they leave the plane, and ``labels``."""

    lines: tuple[Array, ...]
    labels: tuple[Label, ...]


def graticule(projection: Projection, extent: Extent) -> Graticule:
    """The lines of an extent (left, right, bottom, top), at most six of each sort.

    Each line is labelled once, where it meets the frame: meridians preferably at the bottom,
    parallels at the left; a parallel around a pole that does not meet the frame, on the line.
    """
    lon, lat, whole = _degrees(projection, extent)
    if not np.isfinite(lon).any():
        return Graticule((), ())
    west, east = (-180.0, 180.0) if whole else (float(np.nanmin(lon)), float(np.nanmax(lon)))
    south, north = float(np.nanmin(lat)), float(np.nanmax(lat))
    meridians, parallels = _values(west, east), _values(south, north)
    if whole:
        meridians = [value for value in meridians if value > -180]
        pole = math.copysign(90.0, south + north)
        south, north = min(south, pole), max(north, pole)
    dense_lat, dense_lon = np.linspace(south, north, _SAMPLES), np.linspace(west, east, _SAMPLES)
    found = [("longitude", value, np.full(_SAMPLES, value), dense_lat) for value in meridians]
    found += [("latitude", value, dense_lon, np.full(_SAMPLES, value)) for value in parallels]
    lines = tuple(_line(projection, extent, along, up) for _, _, along, up in found)
    labels = (_label(projection, extent, sort, value) for sort, value, _, _ in found)
    return Graticule(lines, tuple(label for label in labels if label is not None))


def scale_length(projection: Projection, extent: Extent) -> tuple[float, float]:
    """A round number of km, about a fifth of the map's width, and its length on the plane.

    Distances are those on the ground in the middle of the map, along x: on a sphere of 6370 km,
    by the haversine formula (Sinnott 1984, Sky and Telescope 68, 158).
    """
    x, y = (extent[0] + extent[1]) / 2, (extent[2] + extent[3]) / 2
    step = (extent[1] - extent[0]) / 100
    lon, lat = (np.radians(degrees) for degrees in projection.inverse([x - step, x + step], [y, y]))
    half = np.sin(np.diff(lat) / 2) ** 2 + np.prod(np.cos(lat)) * np.sin(np.diff(lon) / 2) ** 2
    apart_km = 2 * EARTH_RADIUS_M / 1000 * float(np.arcsin(np.sqrt(half[0])))
    km_per_unit = apart_km / (2 * step)
    wanted = km_per_unit * (extent[1] - extent[0]) / 5
    if not (math.isfinite(wanted) and wanted > 0):
        return 0.0, 0.0
    power = 10.0 ** math.floor(math.log10(wanted))
    length = max(factor * power for factor in (1, 2, 5) if factor * power <= wanted)
    return length, length / km_per_unit


def longitude(value: float) -> str:
    """A longitude in degrees as on maps: ``85°W``."""
    degrees = round((value + 180) % 360 - 180, 6)
    side = "E" if degrees > 0 else "W" if degrees < 0 else ""
    return f"{abs(degrees):g}°{'' if degrees == -180 else side}"


def latitude(value: float) -> str:
    """A latitude in degrees as on maps: ``20°N``."""
    degrees = round(value, 6)
    return f"{abs(degrees):g}°{'N' if degrees > 0 else 'S' if degrees < 0 else ''}"


def _degrees(projection: Projection, extent: Extent) -> tuple[Array, Array, bool]:
    """Degrees over the extent, longitudes around that of its middle; whether a pole is inside."""
    x, y = np.meshgrid(np.linspace(*extent[:2], 41), np.linspace(*extent[2:], 41))
    lon, lat = (np.where(np.isfinite(a), a, np.nan) for a in projection.inverse(x, y))
    if projection.units == "degrees":
        return lon, np.clip(lat, -90, 90), False
    pole_x, pole_y = projection.forward([0.0, 0.0], [90.0, -90.0])
    left, right, bottom, top = extent
    inside = (pole_x > left) & (pole_x < right) & (pole_y > bottom) & (pole_y < top)
    # The pole of a cone or a cylinder is an apex or at infinity: only a plane surrounds a pole.
    whole = bool(inside.any()) and any(name in projection.definition for name in _PLANES)
    middle = float(lon[20, 20])
    return (lon - middle + 180) % 360 - 180 + middle, lat, whole


def _values(low: float, high: float) -> list[float]:
    """Round numbers from low to high, at most six."""
    step = next((s for s in _STEPS if (high - low) / s <= _LINES), _STEPS[-1])
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _line(projection: Projection, extent: Extent, lon: Array, lat: Array) -> Array:
    points = np.column_stack(projection.forward(lon, lat))
    points[~np.isfinite(points).all(axis=1)] = np.nan
    reach = np.array([extent[1] - extent[0], extent[3] - extent[2]])
    with np.errstate(invalid="ignore"):
        seam = (np.abs(np.diff(points, axis=0)) > reach / 2).any(axis=1)
    return np.insert(points, np.flatnonzero(seam) + 1, np.nan, axis=0)


def _label(projection: Projection, extent: Extent, sort: str, value: float) -> Label | None:
    text = longitude(value) if sort == "longitude" else latitude(value)
    left, right, bottom, top = extent
    t, still = np.linspace(0, 1, _SAMPLES), np.zeros(_SAMPLES)
    across, up = left + t * (right - left), bottom + t * (top - bottom)
    edges = {
        "bottom": (across, still + bottom),
        "top": (across, still + top),
        "left": (still + left, up),
    }
    for side in _SIDES[sort]:
        x, y = edges[side]
        degrees = projection.inverse(x, y)[0 if sort == "longitude" else 1]
        with np.errstate(invalid="ignore"):  # beyond the edge of the earth
            off = (degrees - value + 180) % 360 - 180 if sort == "longitude" else degrees - value
            crossed = np.flatnonzero((off[:-1] * off[1:] <= 0) & (np.abs(np.diff(off)) < 90))
        if crossed.size:
            n = int(crossed[0])
            part = 0.0 if off[n] == off[n + 1] else float(off[n] / (off[n] - off[n + 1]))
            at_x, at_y = (float(a[n] + part * (a[n + 1] - a[n])) for a in (x, y))
            return Label(text, at_x, at_y, side)
    if sort == "latitude" and abs(value) < 90:
        lon, _ = projection.inverse([(left + right) / 2], [bottom])
        at_x, at_y = (float(a[0]) for a in projection.forward(lon, [value]))
        edge = _EDGE * (top - bottom)
        if left < at_x < right and bottom + edge < at_y < top - edge:
            return Label(text, at_x, at_y, "inside")
    return None
