"""Grids as models have them, as files of one field: longitude, latitude and the field on them.

Each is around, across or beside what is special on the earth: its poles, the seam, gaps on land.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyproj

from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.sphere import degrees, vectors

Array = np.ndarray[Any, Any]
RADIUS = 6_370_000.0


Written = tuple[tuple[str, ...], Array, dict[str, Any]]
"""Dimensions, values and attributes of a variable in a file."""


@dataclass(frozen=True)
class ModelGrid:
    """Longitudes and latitudes (row, column) of points. ``axes`` are the file's own 1-D coordinates
    along y and x, with their attributes, ``mapping`` the attributes of its grid mapping; ``two``:
    the file has 2-D degrees; ``unset``: points without a position there, written as ``fill``.

    ``names`` are those of the 2-D longitude and latitude, on ``dimensions``; ``is_named``: the
    field's ``coordinates`` say so. ``further`` are variables beside them, by name.
    """

    lon: Array
    lat: Array
    axes: tuple[tuple[str, Array, dict[str, str]], ...] = ()
    mapping: dict[str, Any] = field(default_factory=dict)
    two: bool = True
    unset: Array | None = None
    fill: float = 1e30
    variable: str = "tas"
    names: tuple[str, str] = ("TLON", "TLAT")
    dimensions: tuple[str, str] = ("nj", "ni")
    is_named: bool = True
    further: dict[str, Written] = field(default_factory=dict)

    def write(self, path: Path, values: Array) -> Path:
        """A file with ``values`` as its variable."""
        y, x = (name for name, _, _ in self.axes) if self.axes else self.dimensions
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            for name, size in zip((y, x), self.lon.shape, strict=True):
                data.createDimension(name, size)
            for name, points, attributes in self.axes:
                made = data.createVariable(name, "f8", (name,))
                made.setncatts(attributes)
                made[:] = points
            made = data.createVariable(self.variable, "f8", (y, x), fill_value=1e30)
            made.units = "1"
            gone = False if self.unset is None else self.unset
            made[:] = np.ma.masked_where(np.broadcast_to(gone, values.shape), values)
            if self.two:
                if self.is_named:
                    made.coordinates = " ".join(self.names)
                for name, points, units in zip(
                    self.names, (self.lon, self.lat), ("degrees_east", "degrees_north"), strict=True
                ):
                    on = data.createVariable(name, "f8", (y, x), fill_value=1e30)
                    on.units = units
                    on[:] = np.where(np.broadcast_to(gone, values.shape), self.fill, points)
            if self.mapping:
                made.grid_mapping = "crs"
                data.createVariable("crs", "i4", ()).setncatts(self.mapping)
            for name, (dimensions, points, attributes) in self.further.items():
                for dimension, size in zip(dimensions, points.shape, strict=True):
                    if dimension not in data.dimensions:
                        data.createDimension(dimension, size)
                on = data.createVariable(name, "f8", dimensions, fill_value=1e30)
                on.setncatts(attributes)
                on[:] = points
        return path

    def fields(self) -> dict[str, Array]:
        """Fields that are their own longitude (-180 to 180) and latitude."""
        return {"longitude": (self.lon + 180) % 360 - 180, "latitude": self.lat}


def _rectilinear(lon: Array, lat: Array) -> ModelGrid:
    axes = (("lat", lat, {"units": "degrees_north"}), ("lon", lon, {"units": "degrees_east"}))
    return ModelGrid(*np.meshgrid(lon, lat), axes, two=False)


def _projected(
    definition: str, x: Array, y: Array, mapping: dict[str, Any] | None = None
) -> ModelGrid:
    """A grid that is even on a plane; with ``mapping`` the file says so."""
    plane = pyproj.Proj(f"{definition} +R={RADIUS:.0f}")
    lon, lat = plane(*np.meshgrid(x, y), inverse=True)
    if mapping is None:
        return ModelGrid(np.asarray(lon), np.asarray(lat))
    axes = tuple(
        (name, at, {"units": "m", "standard_name": f"projection_{name}_coordinate"})
        for name, at in (("y", y), ("x", x))
    )
    return ModelGrid(lon, lat, axes, mapping | {"earth_radius": RADIUS}, two=False)


def _turned(x: Array, y: Array, degree: float) -> tuple[Array, Array]:
    angle = np.radians(degree)
    x, y = np.meshgrid(x, y)
    return x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)


def _on_plane(definition: str, x: Array, y: Array) -> ModelGrid:
    lon, lat = pyproj.Proj(f"{definition} +R={RADIUS:.0f}")(x, y, inverse=True)
    return ModelGrid(np.asarray(lon), np.asarray(lat))


def _rotated(rlon: Array, rlat: Array, lon_0: float, lat_p: float, *, two: bool) -> ModelGrid:
    x, y, z = np.moveaxis(vectors(*np.meshgrid(rlon, rlat)), -1, 0)
    tilt, turn = np.radians(lat_p - 90), np.radians(lon_0)
    x, z = x * np.cos(tilt) + z * np.sin(tilt), z * np.cos(tilt) - x * np.sin(tilt)
    x, y = x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)
    lon, lat = degrees(np.stack([x, y, z], axis=-1))
    axes = tuple(
        (name, at, {"units": "degrees", "standard_name": f"grid_{standard}"})
        for name, at, standard in (("rlat", rlat, "latitude"), ("rlon", rlon, "longitude"))
    )
    mapping = {
        "grid_mapping_name": "rotated_latitude_longitude",
        "grid_north_pole_latitude": lat_p, "grid_north_pole_longitude": lon_0 - 180.0,
    }  # fmt: skip
    return ModelGrid(lon, lat, axes, mapping, two=two)


def _displaced(rows: int, columns: int, south: float, pole: tuple[float, float]) -> ModelGrid:
    """Once around the earth, as POP's: Mercator-like in the south, its northern pole on land; rows
    are circles from about the south pole to about the other one, which move and shrink."""
    share = np.linspace(0, 1, rows)[:, None]
    turn = np.linspace(0, 2 * np.pi, columns, endpoint=False)[None, :] + np.radians(320)
    middle = vectors(*pole) * (share**3)[..., None] + vectors(0, 90) * (1 - share**3)[..., None]
    middle = middle / np.linalg.norm(middle, axis=-1, keepdims=True)
    radius = np.radians((90 - south) * (1 - share) + 6 * share)[..., None]
    east = np.broadcast_to(np.array([1.0, 0, 0]), middle.shape)
    east = east - (east * middle).sum(axis=-1, keepdims=True) * middle
    east = east / np.linalg.norm(east, axis=-1, keepdims=True)
    north = np.cross(middle, east)
    at = np.cos(radius) * middle + np.sin(radius) * (
        np.cos(turn)[..., None] * east + np.sin(turn)[..., None] * north
    )
    lon, lat = degrees(at)
    return ModelGrid(lon % 360, lat)


def _tripolar(rows: int, columns: int, first: float, overlap: int = 0) -> ModelGrid:
    """Mercator-like up to 60 N, from there to a fold between two poles on land (Murray 1996)."""
    lon = first + 360 / columns * (np.arange(columns + overlap) + 0.5)
    south = np.linspace(-77, 60, rows)
    lat = np.broadcast_to(south[:, None], (rows, lon.size))
    cap = max(4, rows // 5)
    # On the plane about the pole: confocal ellipses, from the circle at 60 N to the line between.
    size = np.tan(np.radians(30) / 2)
    line = 0.85 * size
    share = (np.arange(cap) + 1)[:, None] / (cap + 0.5)
    long = size + (line - size) * share
    short = np.sqrt(np.maximum(long**2 - line**2 * share, 0.0)) * (1 - share**4)
    turn = np.radians(lon - first)[None, :]
    x, y = long * np.cos(turn), short * np.sin(turn)
    polar_lat = 90 - 2 * np.degrees(np.arctan(np.hypot(x, y)))
    polar_lon = np.degrees(np.arctan2(y, x)) + first
    return ModelGrid(
        np.vstack([np.broadcast_to(lon, lat.shape), polar_lon]), np.vstack([lat, polar_lat])
    )


def _with_gap(grid: ModelGrid, where: tuple[slice, slice]) -> ModelGrid:
    unset = np.zeros(grid.lon.shape, bool)
    unset[where] = True
    return ModelGrid(grid.lon, grid.lat, unset=unset)


def _wide(half_km: float, count: int) -> Array:
    return np.linspace(-half_km * 1e3, half_km * 1e3, count)


_GAUSSIAN = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(40)[0]))
_LAMBERT = "+proj=lcc +lat_1=30 +lat_2=60 +lat_0=40 +lon_0=-97"
_NORTH, _SOUTH = "+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45", "+proj=stere +lat_0=-90 +lat_ts=-71"

GRIDS: dict[str, Callable[[], ModelGrid]] = {
    "regular": lambda: _rectilinear(np.arange(-20, 20, 0.5), np.arange(30, 60, 0.5)),
    "descending": lambda: _rectilinear(np.arange(-180, 180, 3.0), np.arange(88.5, -90, -3.0)),
    "from 0 to 360": lambda: _rectilinear(np.arange(0, 360, 3.0), np.arange(-88.5, 90, 3.0)),
    "gaussian": lambda: _rectilinear(np.arange(0, 360, 4.5), _GAUSSIAN),
    "rotated pole": lambda: _rotated(
        np.linspace(-18, 18, 60), np.linspace(-20, 20, 70), 18.0, 39.25, two=True),
    "rotated pole around the pole": lambda: ModelGrid(*(
        getattr(_rotated(np.linspace(-30, 30, 61), np.linspace(-25, 27, 53), -40.0, 6.0, two=True),
                name) for name in ("lon", "lat"))),
    "lambert, mapped": lambda: _projected(_LAMBERT, _wide(2500, 70), _wide(1500, 50), {
        "grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [30.0, 60.0],
        "latitude_of_projection_origin": 40.0, "longitude_of_central_meridian": -97.0}),
    "lambert": lambda: _projected(_LAMBERT, _wide(2500, 70), _wide(1500, 50)),
    "mercator": lambda: _projected("+proj=merc +lon_0=150", _wide(5000, 60), _wide(4000, 50)),
    "polar stereographic, mapped": lambda: _projected(_NORTH, _wide(3800, 61), _wide(3000, 57), {
        "grid_mapping_name": "polar_stereographic", "latitude_of_projection_origin": 90.0,
        "straight_vertical_longitude_from_pole": -45.0, "standard_parallel": 70.0}),
    "polar stereographic": lambda: _projected(_NORTH, _wide(3800, 61), _wide(3000, 57)),
    "polar stereographic, south": lambda: _projected(
        _SOUTH, _wide(3800, 61), _wide(3000, 57)[::-1]),
    "beside the pole": lambda: _projected(_NORTH, _wide(700, 50), _wide(700, 40) - 1.5e6),
    "EASE": lambda: _projected("+proj=laea +lat_0=90", _wide(4400, 90), _wide(4400, 90)),
    "EASE, south, its first row at the top": lambda: _projected(
        "+proj=laea +lat_0=-90", _wide(5400, 81), _wide(5400, 81)[::-1]),
    "hemisphere": lambda: _projected("+proj=laea +lat_0=90", _wide(6300, 70), _wide(6300, 70)),
    "turned about the pole, with masked corners": lambda: _with_gap(
        _on_plane(_NORTH, *_turned(_wide(2000, 70), _wide(2600, 90) + 4e5, 33)),
        (slice(0, 20), slice(0, 15))),
    "across 180 degrees": lambda: _projected(
        "+proj=lcc +lat_1=40 +lat_2=60 +lat_0=50 +lon_0=178", _wide(2500, 60), _wide(2500, 66)),
    "displaced pole": lambda: _displaced(96, 120, -78.0, (-45.0, 76.0)),
    "displaced pole, its northern half": lambda: ModelGrid(*(
        getattr(_displaced(96, 120, -78.0, (-45.0, 76.0)), name)[60:] for name in ("lon", "lat"))),
    "displaced pole, a gap": lambda: _with_gap(
        _displaced(96, 120, -78.0, (-45.0, 76.0)), (slice(70, 82), slice(20, 45))),
    "tripolar": lambda: _tripolar(60, 144, 73.0, overlap=2),
    "tripolar, from -280": lambda: _tripolar(60, 144, -280.0),
    "tripolar, its north": lambda: ModelGrid(*(
        getattr(_tripolar(60, 144, 73.0), name)[48:] for name in ("lon", "lat"))),
    "Atlantic and Arctic": lambda: _on_plane(
        "+proj=laea +lat_0=50 +lon_0=-30", *_turned(_wide(4000, 60), _wide(8000, 110), 0)),
}  # fmt: skip
"""By what is special about them."""
