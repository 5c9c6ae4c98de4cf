"""Where the points of a variable lie: Cartesian, longitude and latitude, heights.

WRF: Arakawa C grid, terrain-following levels (ARW Technical Note v4, sections 2 and 3).
Other models: CF conventions 1.8, chapters 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.errors import FrameError
from burstlens.nearness import did_you_mean
from burstlens.viz.crop import STAGGERED, unstaggered, with_faces
from burstlens.viz.frame import FrameReader, Window

Array = NDArray[Any]
GRAVITY = 9.81
"""m s-2, as WRF defines it (share/module_model_constants.F)."""
EARTH_RADIUS_KM = 6370.0
"""As WRF defines it."""

_WRF_DIRECTIONS = {"west_east": "x", "south_north": "y", "bottom_top": "z", "soil_layers_stag": "z"}
_NAMES = {
    "x": {"x", "lon", "longitude", "easting", "xc", "nx"},
    "y": {"y", "lat", "latitude", "northing", "yc", "ny"},
    "z": {"z", "lev", "level", "levels", "depth", "height", "altitude", "plev", "nz"},
}


@dataclass(frozen=True, slots=True)
class Plane:
    """Horizontal coordinates of points: 1-D along each direction, or both 2-D, as (y, x).

    ``units`` are those of both; ``geographic``: x is longitude and y latitude, in degrees.
    """

    x: Array
    y: Array
    units: str
    geographic: bool = False


@dataclass(frozen=True, slots=True)
class Heights:
    """Vertical coordinates: 1-D, or 3-D as (z, y, x); upwards when ``up``, else a depth."""

    z: Array
    units: str
    up: bool = True


def axes(frame: FrameReader, variable: str) -> dict[str, str]:
    """The unstaggered dimension along each of ``x``, ``y`` and ``z`` that the variable has.

    Told by WRF's names, then CF attributes, then usual names, then position (x is last).
    """
    found: dict[str, str] = {}
    rest = []
    for dimension in frame.variable(variable).dimensions:
        base = unstaggered(dimension, frame)
        direction = _WRF_DIRECTIONS.get(base) or _cf_direction(frame, base)
        if direction is None or direction in found:
            rest.append(base)
        else:
            found[direction] = base
    for dimension in reversed(rest):
        free = next((direction for direction in "xyz" if direction not in found), None)
        if free is None:
            break
        found[free] = dimension
    return found


def horizontal_dimensions(
    frame: FrameReader, variable: str, *, centred: bool = False
) -> tuple[str, str]:
    """The dimensions of a variable along x and y; ``centred``: those of the cell centres.

    FrameError when it has no two of them.
    """
    directions = axes(frame, variable)
    if "x" not in directions or "y" not in directions:
        have = ", ".join(frame.variable(variable).dimensions) or "none"
        raise FrameError(f"{variable} has no two horizontal dimensions (it has: {have})")
    actual = {unstaggered(d, frame): d for d in frame.variable(variable).dimensions}
    x, y = directions["x"], directions["y"]
    return (x, y) if centred else (actual[x], actual[y])


def plane(frame: FrameReader, variable: str, window: Window, *, centred: bool = False) -> Plane:
    """Horizontal coordinates of the variable's points in the window.

    ``centred``: those of the cell centres instead, where the variable is staggered. Longitude
    and latitude where the file has them, else distances (WRF idealized cases: metres from the
    corner of the domain, or of its parent's for a nest in d01), else the number of the point.
    """
    x_dimension, y_dimension = horizontal_dimensions(frame, variable, centred=centred)
    geographic = _lonlat(frame, variable, x_dimension, y_dimension, window)
    if geographic is not None:
        return Plane(_unwrapped(geographic[0]), geographic[1], "degrees", geographic=True)
    (x, units), (y, y_units) = (
        _distances(frame, dimension, window) for dimension in (x_dimension, y_dimension)
    )
    return Plane(x, y, units if units == y_units else "")


def model_plane(frame: FrameReader, variable: str, window: Window) -> Plane:
    """Distances of the cell centres on the model's own plane, also where it has a projection."""
    x_dimension, y_dimension = horizontal_dimensions(frame, variable, centred=True)
    x, units = _distances(frame, x_dimension, window)
    y, _ = _distances(frame, y_dimension, window)
    return Plane(x, y, units)


def heights(frame: FrameReader, variable: str, window: Window) -> Heights | None:
    """Heights of the cell centres in the window; None when the variable has no vertical.

    WRF: (PH + PHB) / 9.81, metres above sea level, averaged from the faces to the centres.
    """
    dimension = axes(frame, variable).get("z")
    if dimension is None:
        return None
    part = window.get(dimension, slice(0, frame.dimensions[dimension], 1))
    if dimension == "bottom_top" and "PH" in frame and "PHB" in frame:
        faces = dict(window) | {"bottom_top_stag": slice(part.start, part.stop + 1, 1)}
        z = (frame.read("PH", faces) + frame.read("PHB", faces)) / np.float32(GRAVITY)
        return Heights(to_centres(z, 0)[:: part.step], "m")
    if dimension in frame:
        attributes = frame.variable(dimension).attributes
        up = str(attributes.get("positive", "up")).lower() != "down"
        return Heights(frame.read(dimension, window), str(attributes.get("units", "")), up)
    return Heights(np.arange(part.start, part.stop, part.step, dtype=np.float64), "")


def to_centres(values: Array, axis: int) -> Array:
    """Averages of neighbours along ``axis``: from the n + 1 faces to the n centres of cells."""
    low = [slice(None)] * values.ndim
    high = list(low)
    low[axis], high[axis] = slice(None, -1), slice(1, None)
    half = values.dtype.type(0.5)
    return np.asarray(half * (values[tuple(low)] + values[tuple(high)]))


def is_uniform(values: Array) -> bool:
    """Whether neighbours are equally far apart, to 1e-4 of that distance (float32 files)."""
    if values.ndim != 1 or values.size < 2:
        return values.ndim == 1
    steps = np.diff(values.astype(np.float64))
    return bool(np.all(np.abs(steps - steps.mean()) <= 1e-4 * abs(steps.mean())))


def separated(grid: Plane) -> Plane:
    """The same plane with 1-D coordinates, where x hardly depends on y and y on x.

    So it is for Mercator and latitude-longitude grids, whose coordinates WRF writes as 2-D;
    "hardly" is a hundredth of the distance between neighbours.
    """
    if grid.x.ndim == 1 or min(grid.x.shape) < 2:
        return grid
    x, y = grid.x[0], grid.y[:, 0]
    near_x = np.abs(grid.x - x).max() <= 0.01 * np.abs(np.diff(x)).min()
    near_y = np.abs(grid.y - y[:, None]).max() <= 0.01 * np.abs(np.diff(y)).min()
    return Plane(x, y, grid.units, grid.geographic) if near_x and near_y else grid


def spacing_km(frame: FrameReader, variable: str, direction: str) -> float:
    """The mean distance of neighbours along ``x`` or ``y``, in km; FrameError if unknown."""
    dimension = axes(frame, variable)[direction]
    values, units = _distances(frame, dimension, {})
    if units in ("m", "km") and values.size > 1:
        return float(np.abs(np.diff(values)).mean()) * (0.001 if units == "m" else 1.0)
    here = plane(frame, variable, {}, centred=True)
    if not here.geographic:
        raise FrameError(f"half_width_km: {dimension} has no coordinate in m, km or degrees")
    along = here.x if direction == "x" else here.y
    degrees = float(np.abs(np.diff(along, axis=-1 if direction == "x" else 0)).mean())
    shrink = np.cos(np.radians(here.y.mean())) if direction == "x" else 1.0
    return float(np.radians(degrees) * EARTH_RADIUS_KM * shrink)


def locate(
    frame: FrameReader, variable: str, ranges: dict[str, tuple[float, float]]
) -> dict[str, slice]:
    """The smallest slices that hold every point inside the coordinate ranges, ends included.

    ``ranges`` by ``x``, ``y``, ``z``, ``lon``, ``lat``, ``level`` or a coordinate's own name.
    FrameError tells the extent when nothing is inside, near names when a name is unknown.
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
        here = plane(frame, variable, {}, centred=True)
        if not here.geographic:
            raise FrameError("crop: the frame has no longitudes and latitudes; use x and y")
        inside: Array = np.ones((here.y.shape[0], here.x.shape[-1]), dtype=bool)
        if "lon" in ranges:
            west, east = ranges["lon"]
            inside &= np.atleast_2d((here.x - west) % 360 <= min(east - west, 360))
        if "lat" in ranges:
            south, north = ranges["lat"]
            latitude = here.y if here.y.ndim == 2 else here.y[:, None]
            inside &= (latitude >= south) & (latitude <= north)
        if not inside.any():
            extent = {"lon": here.x, "lat": here.y}
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


def _along(
    frame: FrameReader, variable: str, name: str, direction: str, dimension: str, window: Window
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
    values, _ = _distances(frame, dimension, {})
    return values, values


def _lonlat(
    frame: FrameReader, variable: str, x: str, y: str, window: Window
) -> tuple[Array, Array] | None:
    """Longitude and latitude of the points along two dimensions, or None when there are none."""
    if int(frame.attributes.get("MAP_PROJ", 1)) == 0:
        return None
    suffix = "_U" if x.endswith(STAGGERED) else "_V" if y.endswith(STAGGERED) else ""
    named = str(frame.variable(variable).attributes.get("coordinates", "")).split()
    pair: dict[str, str] = {}
    for name in (*named, f"XLONG{suffix}", f"XLAT{suffix}", x, y):
        if name not in frame:
            continue
        found = frame.variable(name)
        role = _degrees(found.units, str(found.attributes.get("standard_name", "")))
        if role and role not in pair and found.dimensions in ((y, x), (x,), (y,)):
            pair[role] = name
    if len(pair) < 2:
        return None
    return frame.read(pair["lon"], window), frame.read(pair["lat"], window)


def _distances(frame: FrameReader, dimension: str, window: Window) -> tuple[Array, str]:
    """Coordinates along one horizontal dimension, and their units ("" for point numbers)."""
    base = unstaggered(dimension, frame)
    part = slice(*window.get(dimension, slice(None)).indices(frame.dimensions[dimension]))
    number = np.arange(part.start, part.stop, part.step, dtype=np.float64)
    attributes = frame.attributes
    spacing = attributes.get({"west_east": "DX", "south_north": "DY"}.get(base, ""))
    if spacing is not None:
        shift = 0.0 if dimension.endswith(STAGGERED) else 0.5
        return (number + shift) * float(spacing) + _nest_corner(attributes, base), "m"
    if dimension in frame and frame.variable(dimension).dimensions == (dimension,):
        return frame.read(dimension, window), frame.variable(dimension).units
    return number, ""


def _nest_corner(attributes: dict[str, Any], base: str) -> float:
    """Metres from d01's corner to that of a nest in it; 0 where the file cannot tell."""
    if int(attributes.get("PARENT_ID", 0)) != 1 or int(attributes.get("GRID_ID", 1)) < 2:
        return 0.0
    letter, spacing = ("I", "DX") if base == "west_east" else ("J", "DY")
    start = int(attributes.get(f"{letter}_PARENT_START", 1))
    ratio = int(attributes.get("PARENT_GRID_RATIO", 1))
    return float((start - 1) * ratio * attributes[spacing])


def _cf_direction(frame: FrameReader, dimension: str) -> str | None:
    if dimension in frame:
        attributes = frame.variable(dimension).attributes
        axis = str(attributes.get("axis", "")).lower()
        standard = str(attributes.get("standard_name", ""))
        degrees = _degrees(str(attributes.get("units", "")), standard)
        if axis in ("x", "y", "z"):
            return axis
        if degrees or standard.startswith("projection_"):
            return "x" if degrees == "lon" or "_x_" in standard else "y"
        if "positive" in attributes:
            return "z"
    return next((d for d, usual in _NAMES.items() if dimension.lower() in usual), None)


def _degrees(units: str, standard_name: str) -> str | None:
    if units.lower().startswith(("degree_n", "degrees_n")) or standard_name == "latitude":
        return "lat"
    if units.lower().startswith(("degree_e", "degrees_e")) or standard_name == "longitude":
        return "lon"
    return None


def _unwrapped(longitude: Array) -> Array:
    """Longitudes without the jump at the date line, where the domain crosses it."""
    if np.ptp(longitude) <= 180:
        return longitude
    eastward = longitude % 360
    return eastward if np.ptp(eastward) < np.ptp(longitude) else longitude


def _bounds(inside: Any) -> slice:
    found = np.flatnonzero(inside)
    return slice(int(found[0]), int(found[-1]) + 1, 1)


def _outside(values: dict[str, Array], ranges: dict[str, tuple[float, float]]) -> FrameError:
    asked = ", ".join(f"{name} {ranges[name][0]:g} to {ranges[name][1]:g}" for name in values)
    extent = ", ".join(f"{name} {v.min():g} to {v.max():g}" for name, v in values.items())
    return FrameError(f"crop: {asked} is outside of the domain, which has {extent}")
