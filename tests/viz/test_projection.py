"""WRF's projections: against Snyder's formulas, real files, the date line and the poles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.projection import (
    EARTH_RADIUS_M,
    Projection,
    longitude_latitude,
    wrf_projection,
)

pytestmark = pytest.mark.integration

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
def test_attributes_without_a_valid_projection_give_none(attributes: dict[str, float]):
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
def test_coordinates_without_information_are_not_used(wrf_file: Callable[..., Path], value: float):
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
    # As in WPS: only the second latitude's distance from the equator counts.
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


PARENTS: dict[str, dict[str, Any]] = {
    "mercator": {"map_proj": 3, "TRUELAT1": 15.0, "STAND_LON": -89.0, "middle": (0.0, 2.8e6)},
    "mercator, STAND_LON far away": {
        "map_proj": 3, "TRUELAT1": 20.0, "STAND_LON": -98.0, "middle": (1.2e7, 2e6),
    },
    "mercator, date line, STAND_LON 0": {
        "map_proj": 3, "TRUELAT1": 0.0, "STAND_LON": 0.0,
        "middle": (np.pi * EARTH_RADIUS_M, -1.9e6),
    },
    "mercator, opposite to STAND_LON": {
        "map_proj": 3, "TRUELAT1": 10.0, "STAND_LON": -98.0,
        "middle": (np.pi * EARTH_RADIUS_M * np.cos(np.radians(10.0)), 1.5e6),
    },
    "latitude-longitude": {"map_proj": 6, "CEN_LON": 25.0, "STAND_LON": 25.0},
    "latitude-longitude, date line, STAND_LON 0": {"map_proj": 6, "CEN_LON": 179.0},
    "latitude-longitude, STAND_LON of the other sign": {
        "map_proj": 6, "CEN_LON": 90.0, "STAND_LON": -90.0, "middle": (0.0, 2e6),
    },
    "rotated, north": GRIDS["rotated, north"],
    "rotated, south": GRIDS["rotated, south"],
    "rotated, oblique": GRIDS["rotated, oblique"],
    "rotated, at its seam": {
        "map_proj": 6, "POLE_LAT": 39.25, "POLE_LON": 180.0, "STAND_LON": -10.0,
    },
}  # fmt: skip

Domains = list[tuple[Path, int, int]]
"""Files of d01, d02 and d03; for each, the parent's cell along x and y in which it begins."""


@pytest.fixture
def domains(wrf_file: Callable[..., Path]) -> Callable[..., Domains]:
    """Writes d01 of 60 x 50 cells, a nest over 10 x 10 of them, and a nest in that nest.

    ``start``: the cell of d01 along x, from 1, in which d02 begins. ``named``: with WRF's
    attributes of that; else the three files differ in CEN_LON, CEN_LAT and DX alone.
    """

    def write(name: str, start: int, *, named: bool) -> Domains:
        attributes = dict(PARENTS[name])
        x, y = attributes.pop("middle", (0.0, 0.0))
        spacing, west, south = 30000.0, x - 30 * 30000.0, y - 25 * 30000.0
        written: Domains = []
        for number, (i, j, size) in enumerate(
            ((1, 1, (60, 50)), (start, 21, (30, 30)), (6, 8, (30, 30))), start=1
        ):
            west, south = west + (i - 1) * spacing, south + (j - 1) * spacing
            spacing /= 1 if number == 1 else 3
            middle = west + size[0] * spacing / 2, south + size[1] * spacing / 2
            path = wrf_file(**attributes, size=size, spacing=spacing, middle=middle)
            path = path.rename(path.with_name(f"wrfout_d{number:02d}"))
            if named:
                with netCDF4.Dataset(str(path), "a") as data:
                    data.setncatts(
                        {
                            "GRID_ID": np.int32(number),
                            "PARENT_ID": np.int32(number - 1),
                            "I_PARENT_START": np.int32(i),
                            "J_PARENT_START": np.int32(j),
                            "PARENT_GRID_RATIO": np.int32(1 if number == 1 else 3),
                        }
                    )
            written.append((path, i, j))
        return written

    return write


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("start", [5, 47])
@pytest.mark.parametrize("name", PARENTS)
def test_all_domains_of_a_run_lie_on_one_plane(
    name: str, start: int, named: bool, domains: Callable[..., Domains]
):
    planes = []
    written = domains(name, start, named=named)
    for path, _, _ in written:
        with open_frame([path]) as frame:
            planes.append(grid.map_plane(frame, "T2", {}))
            lon, lat = frame.read("XLONG"), frame.read("XLAT")
        projection = planes[-1].projection
        assert projection is not None
        # No domain crosses the seam, and each lies where its own degrees say.
        x, y = projection.forward(lon, lat)
        assert np.abs(x - planes[-1].x).max() < 300
        assert np.abs(y - planes[-1].y[:, None]).max() < 300
        back, _ = projection.inverse(x, y)
        assert np.abs((back - lon + 180) % 360 - 180).max() < 1e-4
    assert len({plane.projection.definition for plane in planes if plane.projection}) == 1
    for outer, inner, (_, i, j) in zip(planes, planes[1:], written[1:], strict=False):
        # The middle one of nine nest cells lies at the middle of the parent's cell.
        assert inner.x[1::3] == pytest.approx(outer.x[i - 1 : i + 9], abs=10)
        assert inner.y[1::3] == pytest.approx(outer.y[j - 1 : j + 9], abs=10)


def test_the_plane_of_a_nest_is_that_of_its_parent(domains: Callable[..., Domains]):
    for name in ("mercator", "latitude-longitude", "rotated, north", "rotated, south"):
        found = []
        for path, _, _ in domains(name, 5, named=True):
            with open_frame([path]) as frame:
                found.append(wrf_projection(frame.attributes))
        assert found[0] is not None
        assert found[0] == found[1] == found[2], name


@pytest.mark.parametrize("middle", [0.0, 100.0, 180.0])
@pytest.mark.parametrize("at", [1, 14, 37, 60])
def test_a_nest_in_a_domain_around_the_whole_earth_lies_on_its_plane(
    middle: float, at: int, wrf_file: Callable[..., Path]
):
    columns, cell = 72, 2 * np.pi * EARTH_RADIUS_M / 72
    globe = wrf_file(6, CEN_LON=middle, size=(columns, 36), spacing=cell)
    with open_frame([globe]) as frame:
        whole = grid.map_plane(frame, "T2", {})
    path = wrf_file(
        6, CEN_LON=middle, size=(12, 12), spacing=cell / 2,
        middle=((at - 1 + 3 - columns / 2) * cell, 0.0),
    )  # fmt: skip
    with netCDF4.Dataset(str(path), "a") as data:
        named = {"GRID_ID": 2, "PARENT_ID": 1, "I_PARENT_START": at, "PARENT_GRID_RATIO": 2}
        data.setncatts({key: np.int32(value) for key, value in named.items()})
    with open_frame([path]) as frame:
        inner = grid.map_plane(frame, "T2", {})
    assert inner.x[:2].mean() == pytest.approx(whole.x[at - 1], abs=10)
