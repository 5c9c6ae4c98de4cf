"""Longitudes and latitudes of a variable's points: which variables they are, and their values.

Known by CF's attributes (CF 1.8, 4.1 and 4.2); where a file gives no units, or those of an angle,
by their names, and then only if their values can be longitudes and latitudes. Also longitudes that
jump somewhere between neighbours, however they are counted: the seam.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.lengths import radians
from burstlens.viz.geometry.cf_plane import is_turned, mapping_names
from burstlens.viz.geometry.coordinate_gaps import without_gaps
from burstlens.viz.geometry.staggering import STAGGERED
from burstlens.viz.seams import OpenFrame, Variable, Window

Array = NDArray[Any]
_WRF_ROLES = {"XLAT": "lat", "XLONG": "lon"}
"""Their units were ``degree`` up to WRF 2."""
_WITH_SIDE = re.compile(
    r"(?:deg(?:ree)?s?|°)[_ ]*\(?(north|south|east|west|[new]|latitude|longitude)\)?", re.IGNORECASE
)
_SAYS_NOTHING = re.compile(
    r"|none|-|unitless|unknown|undefined|dimensionless|n/?a|(?:in )?decimal degrees?",
    re.IGNORECASE,
)
_BEFORE, _AFTER = r"(?:nav_?|geo_?|[xtuvfgc]_?)?", r"(?:_?(?:rho|psi|center|2d|[tuvfcm]|\d+))?"
_NAMES = {
    "lat": re.compile(rf"{_BEFORE}lat(?:s|itudes?)?{_AFTER}|gphi[tuvf]", re.IGNORECASE),
    "lon": re.compile(rf"{_BEFORE}lon(?:s|gs?|gitudes?)?{_AFTER}|glam[tuvf]", re.IGNORECASE),
}
_RANGES = {"lat": (-90.0, 90.0), "lon": (-360.0, 540.0)}
_SLACK = 1e-3
"""Degrees by which rounded values may lie beyond the ranges."""
_DEGREE = radians("degree")
_ONCE_AROUND = 360.5
"""More degrees than a row once around has, of float32 numbers."""


def role_by_attributes(units: str, standard_name: str = "") -> str | None:
    """``lat`` or ``lon`` by CF's attributes; None for others, and for those of a rotated pole."""
    if standard_name.startswith("grid_l"):
        return None
    side = _WITH_SIDE.fullmatch(units.strip())
    if side is not None:
        return "lat" if side[1][:2].lower() in ("n", "no", "s", "so", "la") else "lon"
    return {"latitude": "lat", "longitude": "lon"}.get(standard_name)


def role_by_name(name: str, units: str, standard_name: str = "") -> str | None:
    """``lat`` or ``lon`` by a variable's name, where its units are angles, say nothing, or lack."""
    if standard_name or (radians(units) is None and not _SAYS_NOTHING.fullmatch(units.strip())):
        return None
    return next((role for role, names in _NAMES.items() if names.fullmatch(name)), None)


def role_of(about: Variable, *, by_name: bool) -> str | None:
    """``lat`` or ``lon``: the role of a variable by its attributes, else ``by_name``."""
    standard = str(about.attributes.get("standard_name", ""))
    role = role_by_attributes(about.units, standard)
    return role_by_name(about.name, about.units, standard) if by_name and not role else role


def read_degrees(
    frame: OpenFrame, variable: str, x: str, y: str, window: Window
) -> tuple[Array, Array] | None:
    """Longitude and latitude of the points along two dimensions, or None if there are none."""
    if int(frame.attributes.get("MAP_PROJ", 1)) == 0:
        return None
    pair = _named_pair(frame, variable, x, y)
    if len(pair) < 2 and "MAP_PROJ" not in frame.attributes:
        pair = _only_pair(frame, y, x) or _pair_by_names(frame, variable, x, y)
    if len(pair) < 2:
        return None
    found = {role: _in_degrees(frame, pair[role], window) for role in ("lon", "lat")}
    along = {role: frame.variable(pair[role]).dimensions for role in found}
    placed = _as_rows(found, along, x, y)
    if placed is None:
        return None
    lon, lat = placed
    # In idealized cases on a projection all of them are equal.
    one_place = lon.size > 1 and np.ptp(lon) == 0 and np.ptp(lat) == 0
    return None if one_place else without_gaps(lon, lat)


def _as_rows(
    values: dict[str, Array], along: dict[str, tuple[str, ...]], x: str, y: str
) -> tuple[Array, Array] | None:
    """Longitudes and latitudes, 1-D along x and y, or both (y, x); None if both have only one."""
    if along == {"lon": (x,), "lat": (y,)}:
        return values["lon"], values["lat"]
    if along["lon"] == along["lat"] and len(along["lon"]) == 1:
        return None
    whole = {
        role: at.T if along[role] == (x, y) else at[:, None] if along[role] == (y,) else at
        for role, at in values.items()
    }
    lon, lat = whole["lon"], whole["lat"]
    if lon.shape != lat.shape:
        lon, lat = (part.copy() for part in np.broadcast_arrays(lon, lat))
    return lon, lat


def _in_degrees(frame: OpenFrame, name: str, window: Window) -> Array:
    """The values of a longitude or latitude, eastward or northward in degrees."""
    values, units = frame.read(name, window), frame.variable(name).units
    side, angle = _WITH_SIDE.fullmatch(units), radians(units)
    if side is not None and side[1][0] in "sSwW":
        return -values
    if angle is None or side is not None or angle == _DEGREE:
        return values
    return np.degrees(values * angle)


def _named_pair(frame: OpenFrame, variable: str, x: str, y: str) -> dict[str, str]:
    """Those that a variable names, WRF's, and coordinates, by their attributes."""
    suffix = "_U" if x.endswith(STAGGERED) else "_V" if y.endswith(STAGGERED) else ""
    pair: dict[str, str] = {}
    for name in (*_coordinates(frame, variable), f"XLONG{suffix}", f"XLAT{suffix}", x, y):
        if name not in frame or (name in (x, y) and is_turned(frame, variable, name)):
            continue
        found = frame.variable(name)
        role = _WRF_ROLES.get(name.partition("_")[0]) or role_of(found, by_name=False)
        if role and role not in pair and found.dimensions in _placings(x, y):
            pair[role] = name
    return pair


def _only_pair(frame: OpenFrame, y: str, x: str) -> dict[str, str]:
    """Longitude and latitude on two dimensions that no ``coordinates`` name: the only ones."""
    pair: dict[str, str] = {}
    for name in frame.names:
        found = frame.variable(name)
        if found.dimensions in ((y, x), (x, y)):
            role = role_of(found, by_name=False)
            if role in pair:
                return {}
            if role:
                pair[role] = name
    return pair if len(pair) == 2 else {}


def _pair_by_names(frame: OpenFrame, variable: str, x: str, y: str) -> dict[str, str]:
    """Longitude and latitude by name and values: named ones, the coordinates, the only 2-D ones.

    Coordinates of a grid mapping are those of its plane.
    """
    own = () if mapping_names(frame.variable(variable)) else (x, y)
    likely = [name for name in frame.names if role_by_name(name, "") and name not in (x, y)]
    on_plane = [name for name in likely if frame.variable(name).dimensions in ((y, x), (x, y))]
    for names in (_coordinates(frame, variable), own, on_plane):
        found: dict[str, list[str]] = {"lat": [], "lon": []}
        for name in names:
            if name not in frame or frame.variable(name).dimensions not in _placings(x, y):
                continue
            if name in (x, y) and is_turned(frame, variable, name):
                continue
            if role := role_of(frame.variable(name), by_name=True):
                found[role].append(name)
        if all(len(of_role) == 1 for of_role in found.values()):
            pair = {role: of_role[0] for role, of_role in found.items()}
            if all(_is_plausible(frame, name, role) for role, name in pair.items()):
                return pair
    return {}


def _is_plausible(frame: OpenFrame, name: str, role: str) -> bool:
    """Whether values can be longitudes or latitudes: in their range; 1-D ones are monotonic."""
    values = np.asarray(_in_degrees(frame, name, {}), np.float64)
    low, high = _RANGES[role]
    known = values[np.isfinite(values)]
    if not known.size or known.min() < low - _SLACK or known.max() > high + _SLACK:
        return False
    steps = np.diff(values)
    return values.ndim == 2 or bool((steps > 0).all() or (steps < 0).all())


def _placings(x: str, y: str) -> tuple[tuple[str, ...], ...]:
    """The dimensions that longitudes and latitudes of a field on (y, x) may have."""
    return (y, x), (x, y), (x,), (y,)


def _coordinates(frame: OpenFrame, variable: str) -> list[str]:
    return str(frame.variable(variable).attributes.get("coordinates", "")).split()


def unwrapped(longitude: Array) -> Array:
    """Longitudes without jumps between neighbours if possible, which it is not around a pole."""
    if np.ptp(longitude) <= 180:
        return longitude
    along = np.unwrap(longitude, period=360, axis=-1)
    if along.ndim == 2:
        along += np.unwrap(along[:, :1], period=360, axis=0) - along[:, :1]
    return min((along, longitude, longitude % 360), key=_jumps)


def jumps(longitude: Array) -> bool:
    """Whether 2-D longitudes, unwrapped, jump between neighbours, or go more than once around."""
    if longitude.ndim != 2:
        return False
    span = float(np.ptp(longitude))
    return span > _ONCE_AROUND or (span > 180 and _jumps(longitude) > 0)


def _jumps(values: Array) -> int:
    return sum(int((np.abs(np.diff(values, axis=n)) > 180).sum()) for n in range(values.ndim))


def opposite_to_seam(longitude: Array, latitude: Array) -> float:
    """The longitude in the middle of a map of a grid whose longitudes jump.

    The seam is where the row nearest to the equator begins, if that goes round the earth; else it
    is at 180 degrees, or at 0 if the file counts from there.
    """
    row = np.unwrap(longitude[np.abs(latitude).mean(axis=1).argmin()], period=360)
    if np.abs(row[-1] - row[0]) > 300:
        step = (row[-1] - row[0]) / (row.size - 1)
        return float((row[0] - step / 2 + (180 if step > 0 else -180) + 180) % 360 - 180)
    return 180.0 if longitude.min() >= 0 else 0.0
