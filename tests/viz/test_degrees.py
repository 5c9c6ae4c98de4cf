"""Which variables are longitudes and latitudes, and in which units they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.degrees import role_by_attributes, role_by_name

LAT, LON = np.linspace(47, 49, 5), np.linspace(-125.9, -124, 4)


@pytest.fixture
def named(tmp_path: Path) -> Callable[..., Path]:
    """Writes a field whose coordinates have these names, values and units."""

    def write(lat: str, lon: str, y: Any = LAT, x: Any = LON, *, units: tuple[str, str] = ("", ""),
              dimensions: tuple[str, str] = ("", ""), **of_field: str) -> Path:  # fmt: skip
        path = tmp_path / "named.nc"
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            own = dimensions if all(dimensions) else (lat, lon)
            for dimension, size in zip(own, (np.shape(y)[0], np.shape(x)[-1]), strict=True):
                data.createDimension(dimension, size)
            data.createVariable("crs", "i4", ()).setncatts({
                "grid_mapping_name": "rotated_latitude_longitude",
                "grid_north_pole_latitude": 40.0, "grid_north_pole_longitude": 10.0,
            })  # fmt: skip
            for name, dimension, values, unit in zip((lat, lon), own, (y, x), units, strict=True):
                along = own if np.ndim(values) == 2 else (dimension,)
                variable = data.createVariable(name, "f8", along)
                if unit:
                    variable.units = unit
                variable[:] = values
            data.createVariable("ssh", "f4", own).setncatts(of_field)
        return path

    return write


def plane_of(path: Path) -> grid.Plane:
    with open_frame([path]) as frame:
        return grid.map_plane(frame, "ssh", {})


@pytest.mark.parametrize(
    ("lat", "lon"),
    [("lat", "lon"), ("latitude", "longitude"), ("Latitude", "Longitude"), ("lats", "lons"),
     ("nav_lat", "nav_lon"), ("XLAT", "XLONG"), ("geolat_t", "geolon_t"), ("lat_rho", "lon_rho")],
)  # fmt: skip
@pytest.mark.parametrize("units", ["", "degrees", "degree", "deg", "°"])
def test_names_and_values_are_enough(named: Any, lat: str, lon: str, units: str):
    plane = plane_of(named(lat, lon, units=(units, units)))
    assert plane.geographic
    assert plane.x.tolist() == LON.tolist()
    assert plane.y.tolist() == LAT.tolist()


@pytest.mark.parametrize(
    "units",
    [("degN", "degE"), ("deg N", "deg E"), ("°N", "°E"), ("degrees (north)", "degrees (east)"),
     ("degrees latitude", "degrees longitude"), ("decimal degrees", "decimal degrees"),
     ("none", "none"), ("-", "-"), ("unknown", "unknown"), ("arc_degree", "arc_degree")],
)  # fmt: skip
def test_units_in_other_words_and_units_that_say_nothing_are_degrees(
    named: Any, units: tuple[str, str]
):
    plane = plane_of(named("lat", "lon", units=units))
    assert plane.geographic
    assert plane.x.tolist() == LON.tolist()
    assert plane.y.tolist() == LAT.tolist()


def test_radians_by_name_are_turned_to_degrees(named: Any):
    path = named("lat", "lon", np.radians(LAT), np.radians(LON), units=("radians", "radians"))
    plane = plane_of(path)
    assert plane.geographic
    assert plane.x == pytest.approx(LON)
    assert plane.y == pytest.approx(LAT)


@pytest.mark.parametrize("names", [("nav_lat", "nav_lon"), ("TLAT", "TLONG"), ("gphit", "glamt")])
@pytest.mark.parametrize("of_field", [{}, {"coordinates": "{1} {0}"}])
def test_names_of_bent_grids_are_enough(named: Any, names: Any, of_field: dict[str, str]):
    x, y = np.meshgrid(LON, LAT)
    of_field = {key: text.format(*names) for key, text in of_field.items()}
    path = named(*names, y + 0.1 * x, x - 0.1 * y, dimensions=("j", "i"), **of_field)
    assert plane_of(path).geographic


@pytest.mark.parametrize(
    ("y", "x"),
    [(LAT + 60, LON), (LAT, LON * 1000), (LAT, LON - 300), (LAT, [1.0, 1.0, 2.0, 4.0]),
     (LAT * np.nan, LON), ([1.0, 1.0, 1.0], LON)],
)  # fmt: skip
def test_values_that_are_no_degrees_count_against_the_names(named: Any, y: Any, x: Any):
    assert not plane_of(named("lat", "lon", y, x)).geographic


@pytest.mark.parametrize("units", [("m", "m"), ("km", "km"), ("1", "1"), ("m", "")])
def test_units_count_more_than_names(named: Any, units: tuple[str, str]):
    assert not plane_of(named("lat", "lon", units=units)).geographic


def test_other_names_are_not_degrees(named: Any):
    for names in (("rlat", "rlon"), ("y", "x"), ("lat", "x"), ("plat", "plon")):
        assert not plane_of(named(*names)).geographic


def test_coordinates_of_a_rotated_pole_are_not_of_the_earth(named: Any):
    path = named("lat", "lon", units=("degrees", "degrees"), grid_mapping="crs")
    plane = plane_of(path)
    assert not plane.geographic
    assert plane.projection is not None


@pytest.mark.parametrize("names", [("rlat", "rlon"), ("y", "x"), ("lat", "lon")])
@pytest.mark.parametrize("listed", ["", "{} {}"])
def test_units_of_a_side_do_not_turn_a_rotated_pole_back(
    named: Any, names: tuple[str, str], listed: str
):
    path = named(
        *names, units=("degrees_north", "degrees_east"), grid_mapping="crs",
        coordinates=listed.format(*names),
    )  # fmt: skip
    plane = plane_of(path)
    assert plane.projection is not None
    assert "ob_tran" in plane.projection.definition
    with open_frame([path]) as frame:
        assert not grid.plane(frame, "ssh", {}).geographic


def test_a_mapping_that_regridding_left_behind_does_not_turn_true_degrees(named: Any):
    path = named("lat", "lon", units=("degrees_north", "degrees_east"), grid_mapping="crs")
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["lat"].standard_name, data["lon"].standard_name = "latitude", "longitude"
    plane = plane_of(path)
    assert plane.geographic
    assert plane.x.tolist() == LON.tolist()


def test_two_pairs_are_no_pair(named: Any):
    x, y = np.meshgrid(LON, LAT)
    path = named("TLAT", "TLON", y, x, dimensions=("j", "i"))
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data.createVariable("ULAT", "f8", ("j", "i"))[:] = y + 0.1
    assert not plane_of(path).geographic


@pytest.mark.parametrize(
    ("units", "factor"),
    [(("degrees_north", "degrees_west"), -1), (("degreeN", "degreeW"), -1),
     (("degrees_N", "degrees_E"), 1), (("degreesN", "degreesE"), 1),
     (("degree north", "degree east"), 1)],
)  # fmt: skip
def test_the_side_is_in_the_units(named: Any, units: tuple[str, str], factor: int):
    plane = plane_of(named("y", "x", LAT, factor * LON, units=units))
    assert plane.geographic
    assert plane.x.tolist() == LON.tolist()


def test_radians_become_degrees(named: Any):
    path = named("y", "x", np.radians(LAT), np.radians(LON), units=("radian", "radian"))
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["y"].standard_name, data["x"].standard_name = "latitude", "longitude"
    plane = plane_of(path)
    assert plane.x == pytest.approx(LON)
    assert plane.y == pytest.approx(LAT)


def test_names_and_radians_are_enough(named: Any):
    path = named("lat", "lon", np.radians(LAT), np.radians(LON), units=("radian", "radians"))
    plane = plane_of(path)
    assert plane.geographic
    assert plane.x == pytest.approx(LON)
    assert plane.y == pytest.approx(LAT)


@pytest.mark.parametrize("bent", ["lat", "lon"])
def test_one_of_both_may_be_straight(named: Any, bent: str):
    x, y = np.meshgrid(LON, LAT)
    lat, lon = (y + 0.1 * x, LON) if bent == "lat" else (LAT, x - 0.1 * y)
    plane = plane_of(
        named("latitude", "longitude", lat, lon, dimensions=("j", "i"),
              coordinates="latitude longitude")
    )  # fmt: skip
    assert plane.geographic
    assert plane.x.tolist() == (x if bent == "lat" else lon).tolist()
    assert plane.y.tolist() == (lat if bent == "lat" else y).tolist()


def test_coordinates_may_have_their_dimensions_the_other_way_round(tmp_path: Path):
    x, y = np.meshgrid(LON, LAT)
    x, y = x - 0.1 * y, y + 0.1 * x
    path = tmp_path / "turned.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        for name, size in zip(("j", "i"), x.shape, strict=True):
            data.createDimension(name, size)
        for name, values in (("lat", y), ("lon", x)):
            data.createVariable(name, "f8", ("i", "j"))[:] = values.T
            data[name].units = "degrees_north" if name == "lat" else "degrees_east"
        data.createVariable("ssh", "f4", ("j", "i"))[:] = x
    for part in (slice(None), slice(1, 3)):
        with open_frame([path]) as frame:
            plane = grid.map_plane(frame, "ssh", {"i": part})
        assert plane.x.tolist() == x[:, part].tolist()
        assert plane.y.tolist() == y[:, part].tolist()


def test_a_grid_latitude_is_not_a_latitude():
    assert role_by_attributes("degrees", "grid_latitude") is None
    assert role_by_attributes("degrees_north", "grid_latitude") is None
    assert role_by_name("lat", "degrees", "grid_latitude") is None
