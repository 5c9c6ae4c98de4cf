"""WRF's projections: against Snyder's formulas, real files, the date line and the poles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz import grid
from burstlens.viz.frame import netCDF4, open_frame
from burstlens.viz.projection import EARTH_RADIUS_M, Projection, longitude_latitude, wrf_projection

GRIDS: dict[str, dict[str, Any]] = {
    "lambert": {
        "map_proj": 1, "TRUELAT1": 30.0, "TRUELAT2": 60.0, "MOAD_CEN_LAT": 34.83,
        "STAND_LON": -98.0, "middle": (4e5, -3e5),
    },
    "lambert, one latitude": {
        "map_proj": 1, "TRUELAT1": 33.0, "TRUELAT2": 33.0, "MOAD_CEN_LAT": 33.0,
        "STAND_LON": 15.0,
    },
    "lambert, south": {
        "map_proj": 1, "TRUELAT1": -30.0, "TRUELAT2": -60.0, "MOAD_CEN_LAT": -37.0,
        "STAND_LON": 147.0, "middle": (2e5, 1e5),
    },
    "polar, north": {"map_proj": 2, "TRUELAT1": 71.0, "STAND_LON": -45.0, "middle": (1e5, 2e5)},
    "polar, south": {"map_proj": 2, "TRUELAT1": -71.0, "STAND_LON": 0.0, "middle": (3e5, 1e5)},
    "mercator": {"map_proj": 3, "TRUELAT1": 15.0, "STAND_LON": -89.0, "middle": (2e5, 2.8e6)},
    "mercator, date line": {
        "map_proj": 3, "TRUELAT1": 0.0, "STAND_LON": 178.0, "middle": (1e5, -1.9e6),
    },
    "latitude-longitude": {
        "map_proj": 6, "POLE_LAT": 90.0, "POLE_LON": 0.0, "CEN_LON": 179.0, "middle": (0.0, 1e6),
    },
    "rotated, north": {
        "map_proj": 6, "POLE_LAT": 39.25, "POLE_LON": 180.0, "STAND_LON": -10.0,
        "middle": (np.pi * EARTH_RADIUS_M, 0.0),
    },
    "rotated, south": {
        "map_proj": 6, "POLE_LAT": 55.0, "POLE_LON": 0.0, "STAND_LON": -147.0,
        "middle": (np.pi * EARTH_RADIUS_M, 1e5),
    },
    "rotated, oblique": {
        "map_proj": 6, "POLE_LAT": 62.5, "POLE_LON": 170.0, "STAND_LON": 25.0,
        "middle": (2.7e6, 8e5),
    },
}  # fmt: skip


@pytest.fixture(params=GRIDS)
def wrf_grid(request: pytest.FixtureRequest, wrf_file: Callable[..., Path]) -> Path:
    return wrf_file(**GRIDS[request.param])


@pytest.mark.parametrize(("variable", "suffix"), [("T2", ""), ("U", "_U"), ("V", "_V")])
def test_points_lie_within_a_hundredth_of_a_cell_of_snyder_s(
    wrf_grid: Path, variable: str, suffix: str
):
    with open_frame([wrf_grid]) as frame:
        plane = grid.map_plane(frame, variable, {})
        lon, lat = frame.read(f"XLONG{suffix}"), frame.read(f"XLAT{suffix}")
    assert plane.projection is not None
    assert not plane.geographic
    x, y = plane.projection.forward(lon, lat)
    assert np.abs(x - plane.x).max() < 300
    assert np.abs(y - plane.y[:, None]).max() < 300
    assert np.diff(plane.x) == pytest.approx(30000)


def test_the_middle_of_a_domain_without_xlat_is_where_the_attributes_say(
    wrf_file: Callable[..., Path],
):
    for name, attributes in GRIDS.items():
        path = wrf_file(**attributes)
        with open_frame([path]) as frame:
            plane = grid.map_plane(frame, "T2", {})
            lon, lat = frame.read("XLONG"), frame.read("XLAT")
        bare = wrf_file(**attributes, without=("XLAT", "XLONG"))
        with open_frame([bare]) as frame:
            blind = grid.map_plane(frame, "T2", {})
        assert blind.projection == plane.projection, name
        assert np.abs(blind.x - plane.x).max() < 300, name
        assert np.abs(blind.y - plane.y).max() < 300, name
        assert lon.shape == lat.shape


def test_a_subset_without_xlat_has_no_place_on_the_earth(wrf_file: Callable[..., Path]):
    path = wrf_file(**GRIDS["lambert"], without=("XLAT", "XLONG"))
    with netCDF4.Dataset(str(path), "a") as data:
        data.setncattr("WEST-EAST_GRID_DIMENSION", np.int32(200))
    with open_frame([path]) as frame:
        plane = grid.map_plane(frame, "T2", {})
    assert plane.projection is None
    assert plane.units == "m"


def test_the_coordinates_win_where_the_attributes_are_of_another_grid(
    wrf_file: Callable[..., Path],
):
    path = wrf_file(**GRIDS["lambert"])
    with netCDF4.Dataset(str(path), "a") as data:
        data.DX = np.float32(15000)
    with open_frame([path]) as frame:
        plane = grid.map_plane(frame, "T2", {})
        assert plane.geographic
        assert np.array_equal(plane.x, frame.read("XLONG"))


def test_katrina_s_points_lie_within_a_hundredth_of_a_cell_of_the_file_s(katrina: Path):
    with open_frame([katrina]) as frame:
        for variable, suffix in (("T2", ""), ("U", "_U")):
            plane = grid.map_plane(frame, variable, {})
            assert plane.projection is not None
            x, y = plane.projection.forward(
                frame.read(f"XLONG{suffix}"), frame.read(f"XLAT{suffix}")
            )
            assert np.abs(x - plane.x).max() < 100
            assert np.abs(y - plane.y[:, None]).max() < 100


def test_a_crop_lies_in_the_whole_where_it_was_cut(katrina: Path):
    window = {"west_east": slice(10, 30, 2), "south_north": slice(5, 9)}
    with open_frame([katrina]) as frame:
        whole, part = grid.map_plane(frame, "T2", {}), grid.map_plane(frame, "T2", window)
    assert np.array_equal(part.x, whole.x[10:30:2])
    assert np.array_equal(part.y, whole.y[5:9])


def test_an_idealized_plane_is_not_on_the_earth(supercell: Path):
    with open_frame([supercell]) as frame:
        assert wrf_projection(frame.attributes) is None
        plane = grid.map_plane(frame, "T2", {})
    assert plane.projection is None
    assert plane.units == "m"


@pytest.mark.parametrize(
    "attributes",
    [
        {"MAP_PROJ": 1, "STAND_LON": 3.0},
        {"MAP_PROJ": 203, "TRUELAT1": 3.0},
        {"MAP_PROJ": 3, "TRUELAT1": float("nan"), "CEN_LON": 0.0},
        {"MAP_PROJ": 3, "TRUELAT1": 90.0, "CEN_LON": 0.0},
        {"MAP_PROJ": 1, "TRUELAT1": 0.0, "TRUELAT2": 0.0, "STAND_LON": 0.0},
        {},
    ],
)
def test_attributes_that_tell_no_projection_give_none(attributes: dict[str, float]):
    assert wrf_projection(attributes) is None


def test_the_scale_of_mercator_is_true_at_its_latitude():
    # Snyder 1987, 7-1: x = R cos(truelat) (lon - lon_0); 1 degree at 60 N is R pi / 180 / 2.
    projection = wrf_projection({"MAP_PROJ": 3, "TRUELAT1": 60.0, "CEN_LON": 10.0})
    assert projection is not None
    x, _ = projection.forward([11.0], [60.0])
    assert x[0] == pytest.approx(EARTH_RADIUS_M * np.pi / 180 / 2)


def test_longitudes_are_unwrapped_about_the_middle_of_a_map():
    plane = longitude_latitude(180)
    x, _ = plane.forward([-179.0, 179.0, 10.0], [0, 0, 0])
    assert x == pytest.approx([181, 179, 10])


def test_north_turns_with_the_meridians():
    lambert = Projection("+proj=lcc +lat_1=30 +lat_2=60 +lat_0=40 +lon_0=-100 +R=6370000")
    x, y = lambert.forward([-100.0, -80.0], [45.0, 45.0])
    # Snyder 1987, 15-4: the convergence is n (lon - lon_0), with n = 0.7156 for these latitudes.
    n = np.log(np.cos(np.radians(30)) / np.cos(np.radians(60))) / np.log(
        np.tan(np.radians(75)) / np.tan(np.radians(60))
    )
    assert lambert.north(x, y) == pytest.approx([0, -np.radians(20 * n)], abs=1e-6)
    polar = Projection("+proj=stere +lat_0=90 +lat_ts=60 +lon_0=0 +R=6370000")
    assert polar.north([0.0, 1e6], [-1e6, 0.0]) == pytest.approx([0, -np.pi / 2], abs=1e-6)
    south = Projection("+proj=stere +lat_0=-90 +lat_ts=-60 +lon_0=0 +R=6370000")
    assert south.north([0.0, 1e6], [1e6, 0.0]) == pytest.approx([0, np.pi / 2], abs=1e-6)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_coordinates_that_tell_nothing_are_not_used(wrf_file: Callable[..., Path], value: float):
    path = wrf_file(**GRIDS["lambert"])
    with netCDF4.Dataset(str(path), "a") as data:
        for name in ("XLAT", "XLONG"):
            data[name][:] = value
    with open_frame([path]) as frame:
        plane = grid.map_plane(frame, "T2", {})
    assert plane.projection is None
    assert np.diff(plane.x) == pytest.approx(30000)


def test_snyder_s_own_examples():
    # Snyder 1987, appendix A, pages 266 (Mercator) and 295 (Lambert), sphere of radius 1.
    mercator = wrf_projection({"MAP_PROJ": 3, "TRUELAT1": 0.0, "CEN_LON": -180.0})
    lambert = wrf_projection(
        {
            "MAP_PROJ": 1, "TRUELAT1": 33.0, "TRUELAT2": 45.0, "MOAD_CEN_LAT": 23.0,
            "STAND_LON": -96.0,
        }
    )  # fmt: skip
    assert mercator is not None
    assert lambert is not None
    for projection, x, y in ((mercator, 1.8325957, 0.6528366), (lambert, 0.2966785, 0.2462112)):
        found = np.array(projection.forward(-75.0, 35.0)) / EARTH_RADIUS_M
        assert found == pytest.approx([x, y], abs=1e-7)


@pytest.mark.parametrize(("first", "second"), [(0.0, 5.0), (-4.0, -12.0)])
def test_the_cone_opens_to_the_side_of_the_first_latitude(
    wrf_file: Callable[..., Path], first: float, second: float
):
    # As WPS has it: of the second latitude only its distance from the equator counts.
    path = wrf_file(
        1, TRUELAT1=first, TRUELAT2=second, MOAD_CEN_LAT=-3.2, STAND_LON=-60.0,
        size=(120, 90), spacing=9000.0,
    )  # fmt: skip
    with netCDF4.Dataset(str(path), "a") as data:
        data.TRUELAT2 = np.float32(-second)
    with open_frame([path]) as frame:
        plane = grid.map_plane(frame, "T2", {})
        assert plane.projection is not None
        x, y = plane.projection.forward(frame.read("XLONG"), frame.read("XLAT"))
    assert np.abs(x - plane.x).max() < 5
    assert np.abs(y - plane.y[:, None]).max() < 5
