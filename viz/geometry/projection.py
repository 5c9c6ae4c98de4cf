"""Map projections: WRF's, from the attributes of its files, CF's, and plain longitude and latitude.

WRF's earth is a sphere of 6370 km, and its longitudes and latitudes are those of that sphere, so
nothing is shifted between datums. Importable without pyproj, which is loaded at the first use.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burstlens.core.packing import read_numbers

Array = NDArray[np.float64]
EARTH_RADIUS_M = 6_370_000.0
"""As WRF defines it (share/module_model_constants.F, ``reradius``)."""

LAMBERT, POLAR, MERCATOR, LATLON = 1, 2, 3, 6
"""MAP_PROJ as WRF numbers it (Registry.EM_COMMON); 0 is an idealized plane."""
_WELL_KNOWN_TEXT = frozenset({"crs_wkt", "spatial_ref"})
"""Attributes of a grid mapping that hold all of it as well-known text."""
_OTHER_TEXTS = ("proj4", "proj4_params", "proj4text", "proj4_string", "proj_string", "epsg_code")
"""Attributes with a projection in another form than CF's, of files without CF's."""
_AXIS_IN_KM, _HEIGHT_IN_KM = (5e3, 1e4), (3e4, 5e4)
_IN_KM = {
    "earth_radius": _AXIS_IN_KM, "semi_major_axis": _AXIS_IN_KM, "semi_minor_axis": _AXIS_IN_KM,
    "perspective_point_height": _HEIGHT_IN_KM,
}  # fmt: skip
"""Between these numbers lengths of the earth and of its satellites are in kilometres; CF has
metres. Those of a small earth, as of tests of dynamics, are in metres."""
ROTATED_POLE, GEOSTATIONARY = "rotated_latitude_longitude", "geostationary"
"""CF's names of grid mappings whose coordinates are angles."""


@dataclass(frozen=True, slots=True)
class Projection:
    """A plane of the earth. ``definition`` is a PROJ string; ``units`` are ``m`` or ``degrees``.

    With ``degrees`` x is longitude and y latitude. Where x repeats after one turn about the earth,
    ``period`` is the length of that turn (0: x does not repeat), and ``centre`` the x that lies
    opposite to the seam: x is at most half a period from it.
    """

    definition: str
    units: str = "m"
    centre: float = 0.0
    period: float = 0.0

    def forward(self, lon: ArrayLike, lat: ArrayLike) -> tuple[Array, Array]:
        """x and y of longitudes and latitudes in degrees; infinite for points not on the plane."""
        lon, lat = np.asarray(lon, np.float64), np.asarray(lat, np.float64)
        x, y = (lon, lat) if self.units == "degrees" else _proj(self.definition)(lon, lat)
        return _about(self.centre, self.period, np.asarray(x)), np.asarray(y)

    def inverse(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Longitudes and latitudes in degrees of x and y; infinite beyond the earth's edge."""
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if self.units == "degrees":
            return x, y
        lon, lat = _proj(self.definition)(_about(0.0, self.period, x), y, inverse=True)
        return np.asarray(lon), np.asarray(lat)

    def north(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The direction of north at points of the plane: radians from its y, clockwise."""
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        lon, lat = self.inverse(x, y)
        # This step stays on the same side of the pole, and is far above float rounding.
        step = np.where(lat < 0, 1e-3, -1e-3)
        there_x, there_y = self.forward(lon, lat + step)
        there_x = _about(0.0, self.period, there_x - x)
        sign = np.sign(step)
        return np.asarray(np.arctan2(sign * there_x, sign * (there_y - y)))


def longitude_latitude(centre: float) -> Projection:
    """Longitude and latitude in degrees as a plane, with the seam opposite to ``centre``."""
    return Projection("+proj=longlat", "degrees", round(float(centre), 6), 360.0)


def wrf_projection(attributes: Mapping[str, Any]) -> Projection | None:
    """The projection of a WRF file, from its global attributes.

    All domains of a run have the same ``definition``, and a place has the same x and y in all of
    them: the plane comes from what the domains share (STAND_LON, the true latitudes, POLE_LAT,
    POLE_LON), and only the seam of a cylinder from the domain (:func:`_seam`).

    None for idealized planes (MAP_PROJ 0), for other numbers than 1, 2, 3 and 6, and for files
    without the attributes of the projection, or with latitudes that make no valid one.
    Source: WRF Users' Guide, WPS, ``&geogrid``; WPS, geogrid/src/module_llxy.F.
    """
    try:
        definition = _definition(int(attributes.get("MAP_PROJ", 0)), attributes)
        if definition is None:
            return None
        plane = _known(f"{definition} +R={EARTH_RADIUS_M:.0f}")
        period = _period(attributes)
        return replace(plane, centre=_seam(attributes, plane, period), period=period)
    except (KeyError, ValueError):
        return None


def _period(attributes: Mapping[str, Any]) -> float:
    """Metres of x once around the cylinder of a WRF file; 0 if the plane is not a cylinder."""
    number = int(attributes["MAP_PROJ"])
    if number not in (MERCATOR, LATLON):
        return 0.0
    true = _degrees(attributes, "TRUELAT1") if number == MERCATOR else 0.0
    return 2 * math.pi * EARTH_RADIUS_M * math.cos(math.radians(true))


def _seam(attributes: Mapping[str, Any], plane: Projection, period: float) -> float:
    """The x opposite to the seam of a cylinder, in metres, such that no domain lies across it.

    It is 0, opposite to STAND_LON, unless that would cut the domain, or d01 if the file of its nest
    says where d01 begins. WPS ignores STAND_LON for these planes, so d01 may lie anywhere. The
    known western edge counts as 150 degrees west of STAND_LON to 210 east of it: if d01 lies
    across the meridian opposite to STAND_LON, its nests east of that meridian are placed with it,
    even those whose files do not refer to d01. Only the nest of a nest can be one turn off its d01,
    if d01 lies across 150 degrees west of STAND_LON.
    """
    if not period or "CEN_LON" not in attributes or "CEN_LAT" not in attributes:
        return 0.0
    middle, _ = plane.forward(_degrees(attributes, "CEN_LON"), _degrees(attributes, "CEN_LAT"))
    cells = max(float(attributes.get("WEST-EAST_GRID_DIMENSION", 1)) - 1, 0.0)
    width = cells * float(attributes.get("DX", 0.0))
    before = nest_corner(attributes, "west_east") if width else 0.0
    if not all(math.isfinite(value) for value in (float(middle), width, before)):
        return 0.0
    degree = period / 360
    west = float(_about(30 * degree, period, np.asarray(middle - width / 2 - before)))
    if abs(west - period / 2) < 0.05 * degree:
        west -= period  # d01 is the whole turn, with STAND_LON in its middle
    east, margin = west + before + width, 5 * degree
    for centre in (0.0, period / 2):
        if centre - period / 2 + margin <= west and east <= centre + period / 2 - margin:
            return centre
    return round((west + east) / 2, -3)


def _about(centre: float, period: float, x: Array) -> Array:
    """x moved by whole periods to within half a period of the centre; unchanged if it is there."""
    if not period:
        return x
    with np.errstate(invalid="ignore"):
        turns = np.floor((x - centre) / period + 0.5)
        return np.where(turns == 0, x, x - period * np.where(np.isfinite(turns), turns, 0.0))


def cf_projection(attributes: Mapping[str, Any]) -> Projection | None:
    """The projection in the attributes of a CF grid mapping (CF 1.8, appendix F), else None.

    Read by pyproj, from ``crs_wkt`` or ``spatial_ref`` where that is all there is. The plane of a
    rotated pole has its longitudes and latitudes as arcs of the earth, in metres. None for plain
    longitude and latitude, and for mappings unknown to pyproj.
    """
    name = str(attributes.get("grid_mapping_name", "")).strip().lower()
    texts = [str(attributes[key]) for key in _OTHER_TEXTS if key in attributes]
    if name == "latitude_longitude" or not (name or texts or attributes.keys() & _WELL_KNOWN_TEXT):
        return None
    attributes = in_metres(attributes)
    try:
        if name == ROTATED_POLE:
            return _known(_rotated_pole(attributes))
        named = dict(attributes) | {"grid_mapping_name": name}
        if name == "universal_transverse_mercator":  # of the Common Data Model
            zone = int(attributes["utm_zone_number"])
            south = " +south" if zone < 0 else ""
            return _known(f"+proj=utm +zone={abs(zone)}{south} +ellps=WGS84")
        if texts and not name and not attributes.keys() & _WELL_KNOWN_TEXT:
            named = {"grid_mapping_name": "", "crs_wkt": _well_known(texts[0])}
        return _known(_cf_definition(tuple(sorted(_plain(named).items(), key=str))))
    except (KeyError, ValueError, TypeError):
        return None


def in_metres(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a grid mapping, numbers of text as numbers, lengths of the earth in m."""
    found = {key: _as_number(value) for key, value in attributes.items()}
    for key, (low, high) in _IN_KM.items():
        value = found.get(key)
        if isinstance(value, SupportsFloat) and low < float(value) < high:
            found[key] = float(value) * 1000
    return found


def _as_number(value: Any) -> Any:
    """A number of text as a number, several as a list; all else as it is."""
    found = read_numbers(value) if isinstance(value, str) else []
    return value if not found else found[0] if len(found) == 1 else found


@lru_cache(maxsize=16)
def _well_known(text: str) -> str:
    """A PROJ string or the code of a plane as well-known text. ValueError for any other."""
    import pyproj

    try:
        found = pyproj.CRS.from_user_input(text)
    except pyproj.exceptions.CRSError as error:
        raise ValueError(str(error)) from error
    return str(found.to_wkt())


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as numbers, texts and tuples, which can be compared; reserved ones left out."""
    found = {
        key: np.asarray(value).tolist()
        for key, value in attributes.items()
        if not key.startswith("_")
    }
    return {key: tuple(at) if isinstance(at, list) else at for key, at in found.items()}


_PLANE_UNITS = re.compile(r"\s*\+(?:units|to_meter)=\S+")
"""The units of x and y in a PROJ string; its false origin is in metres whatever they are."""


@lru_cache(maxsize=16)
def _cf_definition(attributes: tuple[tuple[str, Any], ...]) -> str:
    """The PROJ string; kept, since pyproj looks names up in its database for 0.1 s."""
    import pyproj

    plain = {key: list(at) if isinstance(at, tuple) else at for key, at in attributes}
    with warnings.catch_warnings():
        # A PROJ string cannot hold names and datums; datums are not shifted here.
        warnings.simplefilter("ignore", UserWarning)
        try:
            found = pyproj.CRS.from_cf(plain)
            if not plain["grid_mapping_name"] and not found.is_projected:
                raise ValueError("no plane")
            return _PLANE_UNITS.sub(" +units=m", found.to_proj4())
        except pyproj.exceptions.CRSError as error:
            raise ValueError(str(error)) from error


def earth_radius(attributes: Mapping[str, Any]) -> float:
    """Radius of a CF grid mapping's sphere in metres; 6371229 if not given (GRIB 2, 3.2.6)."""
    attributes = in_metres(attributes)
    given = (attributes.get(name) for name in ("earth_radius", "semi_major_axis"))
    return next((float(value) for value in given if value is not None), 6_371_229.0)


def _rotated_pole(attributes: Mapping[str, Any]) -> str:
    lat = float(attributes["grid_north_pole_latitude"])
    lon = float(attributes["grid_north_pole_longitude"]) + 180
    turn = float(attributes.get("north_pole_grid_longitude", 0.0))
    if not all(math.isfinite(value) for value in (lat, lon, turn)):
        raise ValueError("the pole")
    return (
        f"+proj=ob_tran +o_proj=eqc +o_lat_p={lat} +o_lon_p={turn} +lon_0={lon} "
        f"+R={earth_radius(attributes)}"
    )


def _definition(number: int, attributes: Mapping[str, Any]) -> str | None:
    degrees = partial(_degrees, attributes)
    if number == LAMBERT:
        first, second = true_latitudes(attributes)
        middle = degrees("MOAD_CEN_LAT", first)
        lon = degrees("STAND_LON")
        return f"+proj=lcc +lat_1={first} +lat_2={second} +lat_0={middle} +lon_0={lon}"
    if number == POLAR:
        true = degrees("TRUELAT1")
        pole = math.copysign(90, true)
        return f"+proj=stere +lat_0={pole:g} +lat_ts={true} +lon_0={degrees('STAND_LON')}"
    if number == MERCATOR:
        return f"+proj=merc +lat_ts={degrees('TRUELAT1')} +lon_0={_meridian(attributes)}"
    if number == LATLON:
        pole = degrees("POLE_LAT", 90.0)
        if abs(pole) == 90:
            return f"+proj=eqc +lat_ts=0 +lon_0={_meridian(attributes)}"
        # WPS puts the middle of a domain at 180 degrees of the rotated longitudes: here that is 0.
        turn = round(degrees("POLE_LON", 180.0) - 180, 6)
        return (
            f"+proj=ob_tran +o_proj=eqc +o_lat_p={pole} +o_lon_p={turn} "
            f"+lon_0={-degrees('STAND_LON')}"
        )
    return None


def _meridian(attributes: Mapping[str, Any]) -> float:
    """STAND_LON in -180 to 180; CEN_LON if a file has none, as if it were its own d01."""
    name = "STAND_LON" if "STAND_LON" in attributes else "CEN_LON"
    return round((_degrees(attributes, name) + 180) % 360 - 180, 6)


def nest_corner(attributes: Mapping[str, Any], base: str) -> float:
    """Metres from d01's corner to that of a nest in it; 0 if the file does not have it."""
    if int(attributes.get("PARENT_ID", 0)) != 1 or int(attributes.get("GRID_ID", 1)) < 2:
        return 0.0
    letter, spacing = ("I", "DX") if base == "west_east" else ("J", "DY")
    start = int(attributes.get(f"{letter}_PARENT_START", 1))
    ratio = int(attributes.get("PARENT_GRID_RATIO", 1))
    return float((start - 1) * ratio * attributes[spacing])


def true_latitudes(attributes: Mapping[str, Any]) -> tuple[float, float]:
    """Both latitudes at which a cone of WRF's is true to scale, in degrees.

    The second equals the first if it is not given or beyond the pole, and always has the first's
    hemisphere: WPS takes the cone from the absolute values, its side from the first
    (geogrid/src/module_llxy.F, ``lc_cone`` and ``set_lc``). KeyError and ValueError if the
    attributes do not have them.
    """
    first = _degrees(attributes, "TRUELAT1")
    second = abs(_degrees(attributes, "TRUELAT2", first))
    return first, first if second > 90 else -second if first < 0 else second


def _degrees(attributes: Mapping[str, Any], name: str, default: float | None = None) -> float:
    value = float(attributes[name] if default is None else attributes.get(name, default))
    if not math.isfinite(value):
        raise ValueError(name)
    # For float32 attributes: 30 stays 30, and 33.333332 is near enough.
    return round(value, 6)


def _known(definition: str) -> Projection:
    """ValueError if PROJ cannot make a plane from it, as for a cone with both latitudes 0."""
    _proj(definition)
    return Projection(definition)


@lru_cache(maxsize=16)
def _proj(definition: str) -> Any:
    import pyproj

    try:
        return pyproj.Proj(definition)
    except pyproj.exceptions.ProjError as error:
        raise ValueError(str(error)) from error
