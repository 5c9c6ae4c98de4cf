"""Coordinates of the points of a variable: Cartesian, longitude and latitude, heights.

WRF: Arakawa C grid, terrain-following levels (ARW Technical Note v4, sections 2 and 3).
Other models: CF conventions 1.8, chapters 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.core.lengths import metres, spelled
from burstlens.viz.frames import fire
from burstlens.viz.geometry import wrf_grid
from burstlens.viz.geometry.cf_plane import UnknownUnitsError, mapped_grid, misses
from burstlens.viz.geometry.degrees import (
    jumps,
    opposite_to_seam,
    read_degrees,
    role_by_attributes,
    role_by_name,
    unwrapped,
)
from burstlens.viz.geometry.mesh import why_not_drawn
from burstlens.viz.geometry.projection import (
    Projection,
    longitude_latitude,
    nest_corner,
    wrf_projection,
)
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.seams import OpenFrame, Window

Array = NDArray[Any]
GRAVITY = 9.81
"""m s-2, as WRF defines it (share/module_model_constants.F)."""

_WRF_DIRECTIONS = {"west_east": "x", "south_north": "y", "bottom_top": "z", "soil_layers_stag": "z"}
_NAMES = {
    "x": {"x", "lon", "longitude", "easting", "xc", "nx", "rlon"},
    "y": {"y", "lat", "latitude", "northing", "yc", "ny", "rlat"},
    "z": {"z", "lev", "level", "levels", "depth", "height", "altitude", "plev", "nz"},
}


@dataclass(frozen=True, slots=True)
class Plane:
    """Horizontal coordinates of points: 1-D along each direction, or both 2-D, as (y, x).

    ``units`` are those of both; ``geographic``: x is longitude and y latitude, in degrees.
    ``projection`` is the plane of the earth that x and y are on, None if that is not known.
    ``goes_around``: x, a longitude, jumps between neighbours, at the seam or around a pole, so that
    the corners of a cell do not lie between its points: :class:`.SphereCells` has the cells.
    """

    x: Array
    y: Array
    units: str
    geographic: bool = False
    projection: Projection | None = None
    goes_around: bool = False


def axes(frame: OpenFrame, variable: str) -> dict[str, str]:
    """The unstaggered dimension along each of ``x``, ``y`` and ``z`` that the variable has.

    Found by WRF's names, then CF attributes, then usual names, then position (x is last).
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
    free = [direction for direction in "xyz" if direction not in found]
    return found | dict(zip(free, reversed(rest), strict=False))


def horizontal_dimensions(
    frame: OpenFrame, variable: str, *, centred: bool = False
) -> tuple[str, str]:
    """The dimensions of a variable along x and y; ``centred``: those of the cell centres.

    FrameError if it does not have both.
    """
    directions = axes(frame, variable)
    about = frame.variable(variable)
    ground = [directions[way] for way in "xy" if way in directions]
    if why := why_not_drawn(variable, about.attributes, about.dimensions, ground):
        raise FrameError(why)
    if len(ground) < 2:
        have = ", ".join(about.dimensions) or "none"
        raise FrameError(f"{variable} has no two horizontal dimensions (it has: {have})")
    actual = {unstaggered(d, frame): d for d in about.dimensions}
    x, y = directions["x"], directions["y"]
    return (x, y) if centred else (actual[x], actual[y])


def plane(frame: OpenFrame, variable: str, window: Window, *, centred: bool = False) -> Plane:
    """Horizontal coordinates of the variable's points in the window.

    ``centred``: those of the cell centres instead, where the variable is staggered. Longitude
    and latitude where the file has them, else distances (WRF idealized cases: metres from the
    corner of the domain, or of its parent's for a nest in d01), else the number of the point.
    """
    x_dimension, y_dimension = horizontal_dimensions(frame, variable, centred=centred)
    geographic = read_degrees(frame, variable, x_dimension, y_dimension, window)
    if geographic is not None:
        return _on_earth(*geographic)
    (x, units), (y, y_units) = (distances(frame, d, window) for d in (x_dimension, y_dimension))
    if {units, y_units} == {"m", "km"}:
        x, y = (v * metres(u) for v, u in ((x, units), (y, y_units)))
        units = y_units = "m"
    return Plane(x, y, units if units == y_units else "")


def map_plane(frame: OpenFrame, variable: str, window: Window, *, centred: bool = False) -> Plane:
    """The plane that a map shows: the model's own projection, in metres, where the file has one.

    It is that of a variable's ``grid_mapping`` in CF files, that of the attributes in WRF's.

    x and y are 1-D then. They are fitted to XLAT and XLONG at the corners, so that nests, crops
    and joined tiles are at their true positions; without these to CEN_LAT and CEN_LON, the middle
    of the whole domain. If the projection misses a corner by more than half a cell (a subset with
    strides, other attributes than the grid's), the points are those of :func:`plane`,
    ``centred`` likewise.
    """
    x_dimension, y_dimension = horizontal_dimensions(frame, variable, centred=centred)
    projection = wrf_projection(frame.attributes)
    if projection is None:
        mapped = _cf_plane(frame, variable, x_dimension, y_dimension, window)
        return mapped or plane(frame, variable, window, centred=centred)
    corner = wrf_grid.corner(frame, projection)
    own = [unstaggered(d, frame).removesuffix(fire.SUFFIX) for d in (x_dimension, y_dimension)]
    if corner is None or own != ["west_east", "south_north"]:
        return plane(frame, variable, window, centred=centred)
    (x, _), (y, _) = (wrf_grid.steps(frame, d, window) for d in (x_dimension, y_dimension))
    return Plane(corner[0] + x, corner[1] + y, "m", projection=projection)


def _cf_plane(frame: OpenFrame, variable: str, x: str, y: str, window: Window) -> Plane | None:
    """The plane of a CF grid mapping, None if there is none or the degrees contradict it.

    FrameError if the units of its coordinates are unknown and there are no degrees.
    """
    ends = {d: slice(0, size, max(1, size - 1)) for d, size in frame.dimensions.items()}
    try:
        mapped = mapped_grid(frame, variable, x, y)
    except UnknownUnitsError as error:
        if read_degrees(frame, variable, x, y, ends) is None:
            raise FrameError(str(error)) from None
        return None
    if mapped is None:
        return None
    known = read_degrees(frame, variable, x, y, ends)
    if known is not None and (known[0].ndim == 1 or misses(mapped, *known)):
        return None
    part = [window.get(dimension, slice(None)) for dimension in (x, y)]
    return Plane(mapped.x[part[0]], mapped.y[part[1]], "m", projection=mapped.projection)


def to_centres(values: Array, axis: int) -> Array:
    """Averages of neighbours along ``axis``: from the n + 1 faces to the n centres of cells."""
    before = (slice(None),) * (axis % values.ndim)
    low, high = values[(*before, slice(None, -1))], values[(*before, slice(1, None))]
    return np.asarray(values.dtype.type(0.5) * (low + high))


def is_uniform(values: Array) -> bool:
    """Whether neighbours are equally far apart, to 1e-4 of that distance (float32 files)."""
    if values.ndim != 1 or values.size < 2:
        return values.ndim == 1
    steps = np.diff(values.astype(np.float64))
    return bool(np.all(np.abs(steps - steps.mean()) <= 1e-4 * abs(steps.mean())))


def separated(grid: Plane) -> Plane:
    """The same plane with 1-D coordinates, where x hardly depends on y and y on x.

    Mercator and latitude-longitude grids are such grids, although WRF writes their coordinates as
    2-D. "Hardly" means by a hundredth of the distance between neighbours.
    """
    if grid.x.ndim == 1 or min(grid.x.shape) < 2:
        return grid
    x, y = grid.x[0], grid.y[:, 0]
    near_x, near_y = (0.01 * np.abs(np.diff(at)).min() for at in (x, y))
    straight = all(  # row by row: most bent grids end at the second one
        np.abs(row - x).max() <= near_x and np.abs(column - at).max() <= near_y
        for row, column, at in zip(grid.x, grid.y, y, strict=True)
    )
    return replace(grid, x=x, y=y) if straight else grid


def distances(frame: OpenFrame, dimension: str, window: Window) -> tuple[Array, str]:
    """Coordinates along one horizontal dimension, and their units ("" for point numbers).

    Lengths are in km where the file has these, else in m.
    """
    base = unstaggered(dimension, frame)
    values, spacing = wrf_grid.steps(frame, dimension, window)
    base = base.removesuffix(fire.SUFFIX)
    if spacing:
        return values + 0.5 * spacing + nest_corner(frame.attributes, base), "m"
    if dimension in frame and frame.variable(dimension).dimensions == (dimension,):
        values, units = frame.read(dimension, window), spelled(frame.variable(dimension).units)
        length = metres(units)
        return (values, units) if length is None or units in ("m", "km") else (values * length, "m")
    return values, ""


def _cf_direction(frame: OpenFrame, dimension: str) -> str | None:
    if dimension in frame:
        attributes = frame.variable(dimension).attributes
        axis = str(attributes.get("axis", "")).lower()
        standard = str(attributes.get("standard_name", ""))
        degrees = role_by_attributes(str(attributes.get("units", "")), standard)
        if axis in ("x", "y", "z"):
            return axis
        if degrees or standard.startswith("projection_"):
            return "x" if degrees == "lon" or "_x_" in standard else "y"
        if standard in ("grid_longitude", "grid_latitude"):
            return "x" if standard == "grid_longitude" else "y"
        if "positive" in attributes or "formula_terms" in attributes:
            return "z"
    usual = next((d for d, names in _NAMES.items() if dimension.lower() in names), None)
    return usual or {"lon": "x", "lat": "y", None: None}[role_by_name(dimension, "")]


def _on_earth(lon: Array, lat: Array) -> Plane:
    lon = unwrapped(lon)
    centre = (np.nanmin(lon) + np.nanmax(lon)) / 2 if np.isfinite(lon).any() else 0.0
    flat = Plane(lon, lat, "degrees", geographic=True, projection=longitude_latitude(centre))
    if not jumps(lon) or separated(flat).x.ndim == 1:
        return flat
    projection = longitude_latitude(opposite_to_seam(lon, lat))
    x, _ = projection.forward(lon, lat)  # all jumps at the seam
    return replace(flat, x=x, projection=projection, goes_around=True)
