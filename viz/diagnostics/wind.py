"""Wind at the mass points, turned from the grid's directions to east and north."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.diagnostic import SURFACE, VOLUME, Array, Block, Diagnostic, made_of
from burstlens.viz.geometry.projection import true_latitudes, wrf_projection
from burstlens.viz.seams import OpenFrame

_IDEALIZED, _LAMBERT, _POLAR, _MERCATOR, _LATLON = 0, 1, 2, 3, 6


def direction(u: Array, v: Array) -> Array:
    """Where the wind comes from, in degrees: 90 east, 360 north, 0 calm (WMO code 0877)."""
    degrees = np.degrees(np.arctan2(-u, -v))
    degrees = np.where(degrees <= 0, degrees + 360, degrees)
    return np.where((u == 0) & (v == 0), 0, degrees).astype(np.result_type(u, v))


def turned(u: Array, v: Array, cosine: Array, sine: Array) -> tuple[Array, Array]:
    """Eastward and northward components from those along the grid's x and y.

    u cos a - v sin a, v cos a + u sin a, with WRF's COSALPHA and SINALPHA (WRF support forum,
    "Converting model grid-relative wind to earth-relative wind"; D. Ovens, University of
    Washington, "How to properly rotate WRF winds to earth-relative coordinates").
    """
    return u * cosine - v * sine, v * cosine + u * sine


def convergence(longitude: Array, attributes: Mapping[str, Any]) -> Array:
    """WRF's angle a in radians for files without SINALPHA, from STAND_LON and the cone.

    -n (lon - STAND_LON), n the cone's constant of the projection: 1 polar stereographic;
    Lambert's from its true latitudes (Snyder 1987, USGS Prof. Paper 1395, eq. 15-3, sphere).
    """
    first, second = true_latitudes(attributes)
    cone = 1.0
    if int(attributes["MAP_PROJ"]) == _LAMBERT:
        a, b = np.radians([abs(first), abs(second)])
        cone = float(np.sin(a))
        if abs(a - b) > 1e-4:
            near, far = (np.tan(np.pi / 4 - angle / 2) for angle in (a, b))
            cone = float(np.log(np.cos(a) / np.cos(b)) / np.log(near / far))
    offset = (longitude - float(attributes["STAND_LON"]) + 180) % 360 - 180
    return np.asarray(-np.copysign(cone, first) * np.radians(offset))


def rotation(block: Block) -> tuple[Array, Array]:
    """Cosine and sine of the angle between grid and earth, as (y, x), or 1 and 0 as (1, 1).

    FrameError if the file has no COSALPHA and SINALPHA and its projection does not give the angle.
    """
    if "COSALPHA" in block and "SINALPHA" in block:
        return block["COSALPHA"], block["SINALPHA"]
    attributes = block.frame.attributes
    projection = int(attributes.get("MAP_PROJ", -1))
    rotated = projection == _LATLON and float(attributes.get("POLE_LAT", 90)) != 90
    if projection in (_IDEALIZED, _MERCATOR, _LATLON) and not rotated:
        return np.ones((1, 1), np.float32), np.zeros((1, 1), np.float32)
    known = wrf_projection(attributes) is not None and "XLONG" in block
    if projection in (_LAMBERT, _POLAR) and known:
        angle = convergence(block["XLONG"], attributes)
        return np.cos(angle), np.sin(angle)
    raise FrameError(
        "winds cannot be turned to east and north: the frame has no COSALPHA and SINALPHA, and "
        f"its MAP_PROJ {projection} does not give the angle"
    )


def blows_at_10m(frame: OpenFrame) -> bool:
    """Whether the frame has a 10 m wind: an idealized case without a surface scheme leaves U10 and
    V10 zero in the whole domain, and so does the first frame of others."""
    for name in ("U10", "V10"):
        if name in frame:
            values = frame.read(name)
            frame.hold(name, None, values)
            if (np.abs(values) > 0).any():  # NaN is not a wind
                return True
    return False


def _near_ground(at_10m: str, at_levels: str) -> Callable[[Block], Array]:
    def component(block: Block) -> Array:
        if blows_at_10m(block.frame) or at_levels not in block:
            return block[at_10m]
        return np.asarray(block.lowest(1)[at_levels][0])

    return component


def _near_ground_words(words: str) -> Callable[[OpenFrame], str]:
    return lambda frame: (
        f"10 m {words}" if blows_at_10m(frame) else f"{words}, lowest level (no 10 m wind)"
    )


def _earth(u: str, v: str, which: int) -> Any:
    def component(block: Block) -> Array:
        return turned(block[u], block[v], *rotation(block))[which]

    return component


_NEAR_GROUND = ("U|U10", "V|V10")
_ALPHA = ("COSALPHA", "SINALPHA", "XLONG")
_LEVEL = ("u_earth", "v_earth")
DIAGNOSTICS = (
    Diagnostic(
        "u_earth", "eastward wind", "m s-1", ("U", "V"), VOLUME, _earth("U", "V", 0),
        "eastward_wind", uses=_ALPHA,
    ),
    Diagnostic(
        "v_earth", "northward wind", "m s-1", ("U", "V"), VOLUME, _earth("U", "V", 1),
        "northward_wind", uses=_ALPHA,
    ),
    Diagnostic(
        # A speed is the same on the grid and on the earth.
        "wind", "wind speed", "m s-1", ("U", "V"), VOLUME, made_of(np.hypot, "U", "V"),
        "wind_speed", parts=("U", "V"),
    ),
    Diagnostic(
        "wind_direction", "wind direction", "degrees", ("U", "V"), VOLUME,
        made_of(direction, *_LEVEL), "wind_from_direction", uses=_ALPHA, parts=_LEVEL,
    ),
    Diagnostic(
        "u10_earth", "10 m eastward wind", "m s-1", ("U10", "V10"), SURFACE,
        _earth("U10", "V10", 0), "eastward_wind", uses=_ALPHA,
    ),
    Diagnostic(
        "v10_earth", "10 m northward wind", "m s-1", ("U10", "V10"), SURFACE,
        _earth("U10", "V10", 1), "northward_wind", uses=_ALPHA,
    ),
    Diagnostic(
        "wind10", "10 m wind speed", "m s-1", ("U10", "V10"), SURFACE,
        made_of(np.hypot, "U10", "V10"), "wind_speed",
    ),
    Diagnostic(
        "wind10_direction", "10 m wind direction", "degrees", ("U10", "V10"), SURFACE,
        made_of(direction, "u10_earth", "v10_earth"), "wind_from_direction", uses=_ALPHA,
    ),
    Diagnostic(
        "surface_u", "wind near the ground, x component", "m s-1", _NEAR_GROUND, SURFACE,
        _near_ground("U10", "U"), "x_wind", uses=("U10", "V10"),
        words=_near_ground_words("wind, x component"), halo=None,
    ),
    Diagnostic(
        "surface_v", "wind near the ground, y component", "m s-1", _NEAR_GROUND, SURFACE,
        _near_ground("V10", "V"), "y_wind", uses=("U10", "V10"),
        words=_near_ground_words("wind, y component"), halo=None,
    ),
    Diagnostic(
        "surface_wind", "wind speed near the ground", "m s-1", _NEAR_GROUND, SURFACE,
        made_of(np.hypot, "surface_u", "surface_v"), "wind_speed", uses=("U10", "V10"),
        words=_near_ground_words("wind speed"), halo=None,
    ),
)  # fmt: skip
