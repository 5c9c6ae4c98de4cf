"""The two components of a flow in files of other models than WRF: which they are, where they point.

CF standard names first, then the names of ROMS, NEMO, MITgcm, HYCOM, MOM6, CAM, CMIP and ERA5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.viz.geometry import grid, vertical
from burstlens.viz.geometry.c_grid import centres, read_at_centres
from burstlens.viz.seams import OpenFrame, Window

Array = NDArray[Any]
Medium = Literal["sea", "air"]

_STANDARD: dict[Medium, tuple[tuple[str, str], ...]] = {
    "sea": (
        ("eastward_sea_water_velocity", "northward_sea_water_velocity"),
        ("sea_water_x_velocity", "sea_water_y_velocity"),
        ("surface_eastward_sea_water_velocity", "surface_northward_sea_water_velocity"),
        ("surface_sea_water_x_velocity", "surface_sea_water_y_velocity"),
        ("barotropic_eastward_sea_water_velocity", "barotropic_northward_sea_water_velocity"),
        ("barotropic_sea_water_x_velocity", "barotropic_sea_water_y_velocity"),
    ),
    "air": (("eastward_wind", "northward_wind"), ("x_wind", "y_wind")),
}
_NAMES: dict[Medium, tuple[tuple[str, str], ...]] = {
    "sea": (
        ("u_eastward", "v_northward"), ("uo", "vo"), ("vozocrtx", "vomecrty"), ("UVEL", "VVEL"),
        ("water_u", "water_v"), ("SSU", "SSV"), ("u", "v"), ("U", "V"), ("ubar", "vbar"),
    ),
    "air": (
        ("u10", "v10"), ("10u", "10v"), ("uas", "vas"), ("Uwind", "Vwind"), ("UBOT", "VBOT"),
        ("U", "V"), ("ua", "va"), ("u", "v"),
    ),
}  # fmt: skip
_TO_EARTH = frozenset({"u_eastward", "water_u", "u10", "10u", "uas", "UBOT", "U", "ua"})
"""Components that are eastward in files without standard names."""
_SEA = ("s_rho", "zeta", "mask_rho", "nav_lon", "nav_lev", "deptht", "depthu", "depth")
"""Variables of files of oceans."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The names of both components, and whether they point east and north or along the grid."""

    u: str
    v: str
    to_earth: bool


def find(frame: OpenFrame, medium: Medium) -> Pair | None:
    """The components of the wind or the current, None if the frame has none."""
    named: dict[str, str] = {}
    for name in frame.names:
        found = frame.variable(name)
        if len(found.dimensions) >= 2:
            named.setdefault(str(found.attributes.get("standard_name", "")), name)
    for u, v in _STANDARD[medium]:
        if u in named and v in named:
            return pair(frame, named[u], named[v])
    for u, v in _NAMES[medium]:
        if u in frame and v in frame and _may_be(frame, u, medium):
            return pair(frame, u, v)
    return None


def pair(frame: OpenFrame, u: str, v: str) -> Pair:
    """Two components as one flow: their standard name says where they point, else their name."""
    standard = str(frame.variable(u).attributes.get("standard_name", ""))
    staggered = any(centres(frame, d)[0] != d for d in frame.variable(u).dimensions)
    usual = u.partition("@")[0] in _TO_EARTH and not staggered
    to_earth = "eastward" in standard if standard else usual
    return Pair(u, v, to_earth)


def _may_be(frame: OpenFrame, name: str, medium: Medium) -> bool:
    """Whether a variable without a known standard name may be of the medium: ``u`` is of both."""
    standard = str(frame.variable(name).attributes.get("standard_name", ""))
    if standard:
        return ("wind" in standard) == (medium == "air")
    return name.lower() != "u" or (medium == "sea") == _is_sea(frame, name)


def _is_sea(frame: OpenFrame, name: str) -> bool:
    if any(one in frame for one in _SEA):
        return True
    if len(frame.variable(name).dimensions) < 3:
        return False
    found = vertical.levels(frame, name, _corner(frame, name))
    return found is not None and found.is_sea


def dimensions(frame: OpenFrame, of: Pair) -> tuple[str, ...]:
    """The dimensions of the flow at the centres of the cells; FrameError if there is no such grid
    for both components."""
    both = [
        tuple(centres(frame, d)[0] for d in frame.variable(name).dimensions)
        for name in (of.u, of.v)
    ]
    if both[0] != both[1]:
        have = " and ".join(f"({', '.join(dims)})" for dims in both)
        raise FrameError(f"{of.u} and {of.v} are not on the same grid: {have}")
    return both[0]


def near_surface(frame: OpenFrame, name: str, medium: Medium) -> int | None:
    """The level of a component nearest to the surface: the highest of a sea, the lowest of the
    air. None if it has no levels."""
    dimension = grid.axes(frame, name).get("z")
    if dimension is None:
        return None
    found = vertical.heights(frame, name, _corner(frame, name))
    assert found is not None
    z = found.z.reshape(found.z.shape[0], -1)[:, 0]
    rises = (z[-1] > z[0]) == found.up
    return -1 if rises == (medium == "sea") else 0


def _corner(frame: OpenFrame, name: str) -> dict[str, slice]:
    """One column of a variable."""
    x, y = grid.horizontal_dimensions(frame, name)
    return {x: slice(0, 1, 1), y: slice(0, 1, 1)}


def placed_like(frame: OpenFrame, of: Pair) -> str:
    """A stored variable on the centres of the cells of a flow; FrameError if there is none."""
    x, y = (centres(frame, d)[0] for d in grid.horizontal_dimensions(frame, of.u))
    _ = dimensions(frame, of)
    there = [n for n in frame.names if {x, y} <= set(frame.variable(n).dimensions)]
    named = [n for n in there if "coordinates" in frame.variable(n).attributes]
    found = next(iter([*named, *there]), None)
    if found is None:
        raise FrameError(f"the frame has no variable at the centres ({y}, {x}) of {of.u}, {of.v}")
    return found


def described(frame: OpenFrame, of: Pair) -> dict[str, Any]:
    """Attributes that place the flow: those of a variable on the same points."""
    found = frame.variable(placed_like(frame, of)).attributes
    return {key: found[key] for key in ("coordinates", "grid_mapping") if key in found}


def beside(frame: OpenFrame, name: str) -> set[str]:
    """The dimensions of a component that are not along the ground."""
    return set(frame.variable(name).dimensions) - set(grid.horizontal_dimensions(frame, name))


def components(frame: OpenFrame, of: Pair, part: dict[str, slice]) -> tuple[Array, Array]:
    """Both at the centres of the cells, as stored: along the grid, or eastward and northward."""
    u, v = (read_at_centres(frame, name, part) for name in (of.u, of.v))
    return u, v


def turned_to_earth(
    frame: OpenFrame, variable: str, u: Array, v: Array, part: dict[str, slice]
) -> tuple[Array, Array]:
    """Eastward and northward components (..., y, x) of a flow along the grid of a variable.

    By the file's ``angle`` from east to the grid's x (ROMS; CF's angle_of_rotation_from_east_to_x),
    its CS and SN (MITgcm), else the angle of the rows of its longitudes and latitudes.
    """
    angle = _angle(frame, variable, part)
    if angle is None:
        return u, v
    cosine, sine = (f(angle).astype(u.dtype) for f in (np.cos, np.sin))
    return u * cosine - v * sine, v * cosine + u * sine


def _angle(frame: OpenFrame, variable: str, part: Window) -> Array | None:
    """Radians from east to the grid's x direction, anticlockwise, as (y, x); None: no turn."""
    x, y = grid.horizontal_dimensions(frame, variable)
    for name in frame.names:
        found = frame.variable(name)
        known = found.attributes.get("standard_name") == "angle_of_rotation_from_east_to_x"
        if (known or name == "angle") and found.dimensions == (y, x):
            values = np.nan_to_num(frame.read(name, part).astype(np.float64))
            return np.radians(values) if found.units.lower().startswith("deg") else values
    for cosine, sine in (("CS", "SN"), ("AngleCS", "AngleSN")):
        if cosine in frame and sine in frame and frame.variable(cosine).dimensions == (y, x):
            return np.arctan2(*(frame.read(n, part).astype(np.float64) for n in (sine, cosine)))
    wide, kept = {}, []
    for dimension in (y, x):
        size = frame.dimensions[dimension]
        start, stop, step = part.get(dimension, slice(None)).indices(size)
        # A slope needs the points beside it, which are taken at the domain's edge, too.
        wide[dimension] = slice(max(0, start - 1), min(size, stop + 1), 1)
        first = wide[dimension].start
        kept.append(slice(start - first, stop - first, step))
    plane = grid.plane(frame, variable, wide)
    if not plane.geographic or plane.x.ndim == 1 or frame.dimensions[x] < 2:
        return None
    lon, lat = plane.x.astype(np.float64), plane.y.astype(np.float64)
    steps = (np.diff(lon, axis=1) + 180) % 360 - 180
    east = (steps[:, [0, *range(steps.shape[1])]] + steps[:, [*range(steps.shape[1]), -1]]) / 2
    angle = np.arctan2(np.gradient(lat, axis=1), east * np.cos(np.radians(lat)))
    return np.asarray(angle[tuple(kept)])
