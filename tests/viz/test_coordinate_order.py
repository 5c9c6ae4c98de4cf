"""Rows and columns out of order, on several turns, and with holes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import FrameReader, netCDF4
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.coordinate_order import order_of
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.ordered import OrderedFrame
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.transect import spot
from burstlens.viz.seams import Window

ATLANTIC = [0.5, 325.5, 330.5, 335.5, 340.5, 345.5, 350.5, 355.5]
LATITUDES = [-9.0, -7.0, -5.0, -3.0, -1.0]
DESCENDING = [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "values",
    [np.arange(0.0, 360), np.arange(-180.0, 181), DESCENDING, np.arange(0.0, 361, 30),
     np.r_[170.0:180, -180:-170], np.r_[180.0:360, 0:180], np.r_[0.0:180, -180:0],
     [0, 1, 3, 6, 10, 15], [0, 1, 2, 3, 5, 7, 9], [0, 0, 0, 0, 0], [3, 1, 2], [np.nan] * 6],
)  # fmt: skip
def test_what_is_in_order_stays(values: Any):
    assert order_of(np.array(values, np.float64), 360.0) is None


@pytest.mark.parametrize(
    ("values", "source", "ordered"),
    [
        (ATLANTIC, [1, 2, 3, 4, 5, 6, 7, 0], [*ATLANTIC[1:], 360.5]),
        ([10, 20, 0, 350, 340], [4, 3, 2, 0, 1], [-20, -10, 0, 10, 20]),
        (np.r_[0:4, 300:304], [4, 5, 6, 7, -1, -1, 0, 1, 2, 3],
         [300, 301, 302, 303, 304, 359, 360, 361, 362, 363]),
        ([0, 90, 180, -180, -90], [4, 0, 1, 2], [-90, 0, 90, 180]),
        ([0, 1, 2, 4, 5, 6], [0, 1, 2, -1, 3, 4, 5], [0, 1, 2, 3, 4, 5, 6]),
        ([6, 5, 4, 2, 1, 0], [0, 1, 2, -1, 3, 4, 5], [6, 5, 4, 3, 2, 1, 0]),
        ([357, 358, 359, 1, 2, 3], [0, 1, 2, -1, 3, 4, 5], [357, 358, 359, 360, 361, 362, 363]),
        ([0, 1, np.nan, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
        ([np.nan, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
        ([0, 1, np.nan, 5, 9, 15], [0, 1, 3, 4, 5], [0, 1, 5, 9, 15]),
    ],
)  # fmt: skip
def test_columns_follow_each_other_round_the_earth(values: Any, source: Any, ordered: Any):
    found = order_of(np.array(values, np.float64), 360.0)
    assert found is not None
    assert found.source.tolist() == source
    turns = (found.values - ordered) / 360
    assert turns == pytest.approx(np.round(turns), abs=1e-9)
    assert (np.diff(found.values) > 0).all() or (np.diff(found.values) < 0).all()


def test_rows_do_not_repeat():
    found = order_of(np.array([40.0, 10, 20, 30, 50]))
    assert found is not None
    assert found.values.tolist() == [10, 20, 30, 40, 50]
    assert order_of(np.array([40.0, 10, 20, 20, 50])) is None


def test_a_wide_hole_takes_two_points():
    found = order_of(np.r_[0.0:5, 5000:5005])
    assert found is not None
    assert found.source.tolist() == [0, 1, 2, 3, 4, -1, -1, 5, 6, 7, 8, 9]
    assert found.values[4:8].tolist() == [4, 5, 4999, 5000]


@pytest.fixture
def out_of_order(tmp_path: Path) -> Callable[..., Path]:
    """Writes fields whose value is 100 times the number of the file's row plus its column's."""

    def write(lon: Any, lat: Any = LATITUDES, names: tuple[str, str] = ("lat", "lon")) -> Path:
        path = tmp_path / "order.nc"
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            for name, dimension, values, units in (
                ("lat", names[0], lat, "degrees_north"), ("lon", names[1], lon, "degrees_east"),
            ):  # fmt: skip
                data.createDimension(dimension, len(values))
                variable = data.createVariable(name, "f8", (dimension,), fill_value=-999.0)
                variable.units = units
                variable[:] = np.ma.masked_invalid(values)
            data.createDimension("z", 2)
            value = 100 * np.arange(len(lat))[:, None] + np.arange(len(lon))
            for name, kind in (("t", "f4"), ("n", "i4")):
                data.createVariable(name, kind, names)[:] = value
            data.createVariable("u", "f4", ("z", *names))[:] = [value, value + 0.5]
            data.createVariable("turned", "f4", names[::-1])[:] = value.T
        return path

    return write


def test_each_column_is_at_its_place(out_of_order: Any):
    with open_frame([out_of_order(ATLANTIC)]) as frame:
        plane = grid.map_plane(frame, "t", {})
        assert frame.read("t")[2].tolist() == [201, 202, 203, 204, 205, 206, 207, 200]
        assert frame.read("turned")[:, 2].tolist() == [201, 202, 203, 204, 205, 206, 207, 200]
        for column, lon in enumerate(ATLANTIC):
            for turn in (0, 360):
                one = spot(frame, "t", End(lat=-5.0, lon=lon + turn), "here")
                assert one.sample(frame.read("t", one.window)) == pytest.approx([200 + column])
    assert np.diff(plane.x).tolist() == [5.0] * 7


@pytest.mark.parametrize(
    "window",
    [{}, {"lon": slice(6, 8)}, {"lon": slice(0, 8, 3), "lat": slice(1, 3)},
     {"lon": slice(7, 8), "z": slice(1, 2)}, {"lat": slice(4, 0, -2)}],
)  # fmt: skip
def test_a_window_is_a_part_of_what_is_in_order(out_of_order: Any, window: dict[str, slice]):
    with open_frame([out_of_order(ATLANTIC)]) as frame:
        whole, part = frame.read("u"), frame.read("u", window)
        wanted = tuple(window.get(name, slice(None)) for name in ("z", "lat", "lon"))
        assert part.tolist() == whole[wanted].tolist()
        assert frame.stored("u", window).values.tolist() == part.tolist()
        frame.hold("u", None, whole)
        assert frame.read("u", window).tolist() == part.tolist()


def test_a_missing_column_is_a_hole_without_values(out_of_order: Any):
    with open_frame([out_of_order([0.0, 1, 2, 4, 5, 6])]) as frame:
        values = frame.read("t", {"lat": slice(1, 2)})[0]
        assert frame.dimensions["lon"] == frame.variable("t").shape[1] == 7
        assert frame.read("lon").tolist() == [0, 1, 2, 3, 4, 5, 6]
        assert np.array_equal(values, [100, 101, 102, np.nan, 103, 104, 105], equal_nan=True)
        assert np.isnan(frame.read("n")[:, 3]).all()
        assert frame.read("t", {"lon": slice(3, 4)}).shape == (5, 1)
        stored = frame.stored("t", {"lat": slice(1, 2)})
        assert np.isfinite(stored.values).all()


def test_a_column_without_a_longitude_gets_its_place(out_of_order: Any):
    with open_frame([out_of_order([0.0, 1, np.nan, 3, 4])]) as frame:
        plane = grid.map_plane(frame, "t", {})
        assert plane.geographic
        assert plane.x.tolist() == [0, 1, 2, 3, 4]
        assert frame.read("t")[0].tolist() == [0, 1, 2, 3, 4]


def test_rows_in_any_order(out_of_order: Any):
    with open_frame([out_of_order([0.0, 1, 2, 3], [10.0, -20, 0, 20, -10])]) as frame:
        assert frame.read("lat").tolist() == [-20, -10, 0, 10, 20]
        assert frame.read("t")[:, 0].tolist() == [100, 400, 200, 0, 300]


def test_coordinates_of_another_name_count_too(out_of_order: Any):
    with open_frame([out_of_order(ATLANTIC, names=("ny", "nx"))]) as frame:
        assert frame.read("t")[0].tolist() == [1, 2, 3, 4, 5, 6, 7, 0]
        assert frame.read("lon")[-1] == 360.5


def test_straight_columns_of_2d_coordinates_count_too(tmp_path: Path):
    path = tmp_path / "straight.nc"
    lon, lat = np.meshgrid(ATLANTIC, LATITUDES)
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("j", 5)
        data.createDimension("i", 8)
        for name, values in (("nav_lon", lon), ("nav_lat", lat), ("t", lon)):
            data.createVariable(name, "f8", ("j", "i"))[:] = values
    with open_frame([path]) as frame:
        plane = grid.separated(grid.map_plane(frame, "t", {}))
        assert plane.x.tolist() == [*ATLANTIC[1:], 360.5]
        assert frame.read("t")[3].tolist() == [*ATLANTIC[1:], 0.5]


class Recorded(FrameReader):
    """Notes how many values are read."""

    def read(self, name: str, window: Window | None = None) -> Any:
        values = super().read(name, window)
        self.sizes = [*getattr(self, "sizes", []), values.size]
        return values


@pytest.mark.parametrize(
    ("lon", "compressed", "sizes"),
    [([0.0, 1, 2, 3, 4], False, [5, 6]), ([0.0, 1, 2, 3, 4], True, [30, 30]),
     ([3.0, 4, 0, 1, 2], False, [5, 30, 6])],
)  # fmt: skip
def test_of_2d_coordinates_the_first_line_is_read_and_more_if_it_is_out_of_order(
    tmp_path: Path, lon: list[float], compressed: bool, sizes: list[int]
):
    path = tmp_path / "lines.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("j", 6)
        data.createDimension("i", 5)
        for name, values in zip(
            ("nav_lon", "nav_lat"), np.meshgrid(lon, np.arange(6)), strict=True
        ):
            data.createVariable(name, "f8", ("j", "i"), zlib=compressed)[:] = values
    reader = Recorded([path], 0, "", "")
    reader.open()
    try:
        assert OrderedFrame(reader).dimensions == {"j": 6, "i": 5}
        assert reader.sizes == sizes
    finally:
        reader.close()


def test_bent_columns_stay_as_they_are(tmp_path: Path):
    path = tmp_path / "bent.nc"
    lon, lat = np.meshgrid([0.0, 3, 1, 2, 4], LATITUDES)
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("j", 5)
        data.createDimension("i", 5)
        for name, values in (("nav_lon", lon + 0.1 * lat), ("nav_lat", lat), ("t", lon)):
            data.createVariable(name, "f8", ("j", "i"))[:] = values
    with open_frame([path]) as frame:
        assert frame.read("t")[0].tolist() == [0, 3, 1, 2, 4]


def test_a_list_of_places_stays_as_it_is(out_of_order: Any, tmp_path: Path):
    path = tmp_path / "places.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("station", 5)
        for name, units in (("lat", "degrees_north"), ("lon", "degrees_east"), ("t", "K")):
            data.createVariable(name, "f8", ("station",)).units = units
            data[name][:] = [3.0, 1, 2, 5, 4]
    with open_frame([path]) as frame:
        assert frame.read("t").tolist() == [3, 1, 2, 5, 4]


def test_crops_by_degrees_find_the_columns(out_of_order: Any):
    with open_frame([out_of_order(ATLANTIC)]) as frame:
        kept = resolve(Crop(range={"lon": (-6.0, 2.0)}), frame, "t")
        assert frame.read("t", kept)[0].tolist() == [7, 0]
