"""Map projections: WRF's, from the attributes of its files, CF's, and plain longitude and latitude.

WRF's earth is a sphere of 6370 km, and its longitudes and latitudes are those of that sphere, so
nothing is shifted between datums. Importable without pyproj, which is loaded at the first use.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
EARTH_RADIUS_M = 6_370_000.0
"""As WRF defines it (share/module_model_constants.F, ``reradius``)."""

LAMBERT, POLAR, MERCATOR, LATLON = 1, 2, 3, 6
"""MAP_PROJ as WRF numbers it (Registry.EM_COMMON); 0 is an idealized plane."""


@dataclass(frozen=True, slots=True)
class Projection:
    """A plane of the earth. ``definition`` is a PROJ string; ``units`` are ``m`` or ``degrees``.

    With ``degrees`` x is longitude, unwrapped about ``centre``, and y latitude.
    """

    definition: str
    units: str = "m"
    centre: float = 0.0

    def forward(self, lon: ArrayLike, lat: ArrayLike) -> tuple[Array, Array]:
        """x and y of longitudes and latitudes in degrees; infinite where the plane has no place."""
        lon, lat = np.asarray(lon, np.float64), np.asarray(lat, np.float64)
        if self.units == "degrees":
            return (lon - self.centre + 180) % 360 - 180 + self.centre, lat
        x, y = _proj(self.definition)(lon, lat)
        return np.asarray(x), np.asarray(y)

    def inverse(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Longitudes and latitudes in degrees of x and y; infinite beyond the earth's edge."""
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if self.units == "degrees":
            return x, y
        lon, lat = _proj(self.definition)(x, y, inverse=True)
        return np.asarray(lon), np.asarray(lat)

    def north(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The direction of north at points of the plane: radians from its y, clockwise."""
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        lon, lat = self.inverse(x, y)
        # A step that stays on the same side of the pole, and is far above float rounding.
        step = np.where(lat < 0, 1e-3, -1e-3)
        there_x, there_y = self.forward(lon, lat + step)
        sign = np.sign(step)
        return np.asarray(np.arctan2(sign * (there_x - x), sign * (there_y - y)))


def longitude_latitude(centre: float) -> Projection:
    """Longitude and latitude in degrees as a plane, with the seam opposite to ``centre``."""
    return Projection("+proj=longlat", "degrees", round(float(centre), 6))


def wrf_projection(attributes: Mapping[str, Any]) -> Projection | None:
    """The projection that a WRF file's global attributes tell.

    None for idealized planes (MAP_PROJ 0), for other numbers than 1, 2, 3 and 6, and for files
    that lack what the projection needs, or have latitudes that make none. Of Mercator and
    latitude-longitude planes the meridian in the middle is that of the domain (CEN_LON): it only
    shifts x, and keeps the seam away.
    Source: WRF Users' Guide, WPS, ``&geogrid``; WPS, geogrid/src/module_llxy.F.
    """
    try:
        definition = _definition(int(attributes.get("MAP_PROJ", 0)), attributes)
        return None if definition is None else _known(f"{definition} +R={EARTH_RADIUS_M:.0f}")
    except (KeyError, ValueError):
        return None


def cf_projection(attributes: Mapping[str, Any]) -> Projection | None:
    """The projection that the attributes of a CF grid mapping tell (CF 1.8, appendix F), else None.

    Read by pyproj. The plane of a rotated pole is that of its longitudes and latitudes as arcs of
    the earth, in metres. None for longitude and latitude themselves, and where pyproj knows none.
    """
    name = str(attributes.get("grid_mapping_name", "")).lower()
    if name in ("", "latitude_longitude"):
        return None
    try:
        if name == "rotated_latitude_longitude":
            return _known(_rotated_pole(attributes))
        named = dict(attributes) | {"grid_mapping_name": name}
        return _known(_cf_definition(tuple(sorted(named.items(), key=str))))
    except (KeyError, ValueError, TypeError):
        return None


def _cf_definition(attributes: tuple[tuple[str, Any], ...]) -> str:
    import pyproj

    plain = {
        key: np.asarray(value).tolist() for key, value in attributes if not key.startswith("_")
    }
    with warnings.catch_warnings():
        # What a PROJ string cannot tell are names and datums, of which nothing is shifted here.
        warnings.simplefilter("ignore", UserWarning)
        try:
            return str(pyproj.CRS.from_cf(plain).to_proj4())
        except pyproj.exceptions.CRSError as error:
            raise ValueError(str(error)) from error


def earth_radius(attributes: Mapping[str, Any]) -> float:
    """Of the sphere of a CF grid mapping, in metres: 6371229 where it says none (GRIB 2, 3.2.6)."""
    told = (attributes.get(name) for name in ("earth_radius", "semi_major_axis"))
    return next((float(value) for value in told if value is not None), 6_371_229.0)


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
    def degrees(name: str, default: float | None = None) -> float:
        return _degrees(attributes, name, default)

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
        return f"+proj=merc +lat_ts={degrees('TRUELAT1')} +lon_0={degrees('CEN_LON')}"
    if number == LATLON:
        pole = degrees("POLE_LAT", 90.0)
        if abs(pole) == 90:
            return f"+proj=eqc +lat_ts=0 +lon_0={degrees('CEN_LON')}"
        middle = -degrees("STAND_LON")
        turn = -_rotated_longitude(degrees("CEN_LON") - middle, degrees("CEN_LAT"), pole)
        return f"+proj=ob_tran +o_proj=eqc +o_lat_p={pole} +o_lon_p={turn:.6f} +lon_0={middle}"
    return None


def true_latitudes(attributes: Mapping[str, Any]) -> tuple[float, float]:
    """Both latitudes at which a cone of WRF's is true to scale, in degrees.

    The second is the first where it is not given, or lies beyond the pole, and always of the
    first's hemisphere: WPS takes the cone from what both amount to, its side from the first
    (geogrid/src/module_llxy.F, ``lc_cone`` and ``set_lc``). KeyError and ValueError when the
    attributes tell none.
    """
    first = _degrees(attributes, "TRUELAT1")
    second = abs(_degrees(attributes, "TRUELAT2", first))
    return first, first if second > 90 else -second if first < 0 else second


def _degrees(attributes: Mapping[str, Any], name: str, default: float | None = None) -> float:
    value = float(attributes[name] if default is None else attributes.get(name, default))
    if not math.isfinite(value):
        raise ValueError(name)
    # float32 attributes: 30 is written 30, and 33.333332 is near enough.
    return round(value, 6)


def _rotated_longitude(lon: float, lat: float, pole: float) -> float:
    """Computational longitude of a point, of a plane whose pole stands at latitude ``pole``."""
    lam, phi, phi_p = (math.radians(value) for value in (lon, lat, pole))
    east = math.cos(phi) * math.sin(lam)
    along = math.sin(phi_p) * math.cos(phi) * math.cos(lam) + math.cos(phi_p) * math.sin(phi)
    return math.degrees(math.atan2(east, along))


def _known(definition: str) -> Projection:
    """ValueError where PROJ cannot make a plane of it, as of a cone with both latitudes 0."""
    _proj(definition)
    return Projection(definition)


@lru_cache(maxsize=16)
def _proj(definition: str) -> Any:
    import pyproj

    try:
        return pyproj.Proj(definition)
    except pyproj.exceptions.ProjError as error:
        raise ValueError(str(error)) from error
