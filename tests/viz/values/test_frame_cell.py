"""Where a picture keeps fewer points than the grid has, the cell is read from the frame's file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from model_grids import GRIDS as ANY_GRIDS
from model_grids import ModelGrid
from ocean_grids import OCEAN_GRIDS
from place_truth import places, shown_field, wrong

from burstlens.core.errors import FrameError
from burstlens.viz.values.frame_cell import FrameSource, KeptPoint, ShownField, read_cell
from burstlens.viz.values.lookup import Grid, Place

GRIDS = ANY_GRIDS | OCEAN_GRIDS
QUICK = ("EASE", "descending", "ROMS, u")
EVERY = 4


class Thinned:
    """A field in a file and its thinned values, as beside a map."""

    def __init__(self, file: Path, variable: str, points: int) -> None:
        self.options = ShownField(variable)
        self.file = file
        self.about: dict[str, Any] = {}
        self.shown = shown_field(file, variable, points)
        script = file.with_suffix(".js")
        script.write_bytes(self.shown.grid.text)
        self.on = Grid.read(script)

    def kept(self, place: Place) -> KeptPoint | None:
        """The kept point at a place; None beside the grid."""
        at = self.on.point(place)
        if at is None:
            return None
        index = tuple(self.on.index(*at).items())
        reach = tuple(abs(axis["index"][1]) for axis in (self.on.y, self.on.x))
        value = float(self.shown.values[at])
        away = np.abs(self.shown.values - np.nan_to_num(value))
        row, column = divmod(int(np.nanargmax(away)), self.on.columns)
        there = tuple(self.on.index(row, column).values())
        furthest = float(self.shown.values[row, column])
        other = None if furthest == value else (there, furthest, 0.0)
        return KeptPoint(index, reach, value, 0.0, self.shown.grid.hash, other)

    def read(self, place: Place, kept: KeptPoint | None = None) -> tuple[float, dict[str, int]]:
        """What the file has at a place."""
        kept = kept or self.kept(place)
        assert kept is not None
        source = replace(FrameSource((str(self.file),), 0, "a", ""), **self.about)
        return read_cell(source, self.options, kept, place)


def answers(kind: str, count: int, folder: Path) -> list[str]:
    grid: ModelGrid = GRIDS[kind]()
    fields = [
        Thinned(
            grid.write(folder / f"{name}.nc", values), grid.variable,
            -(-max(grid.lon.shape) // EVERY),
        )
        for name, values in grid.fields().items()
    ]  # fmt: skip
    lon, lat = places(grid, count)
    found = np.full((2, lon.size), np.nan)
    for n, at in enumerate(zip(lon.tolist(), lat.tolist(), strict=True)):
        place = Place(lat=at[1], lon=at[0])
        if fields[0].kept(place) is not None:
            found[:, n] = [one.read(place)[0] for one in fields]
    return wrong(grid, lon, lat, found)


@pytest.mark.parametrize("kind", QUICK)
def test_it_is_the_cell_that_contains_the_place(kind: str, tmp_path: Path) -> None:
    assert answers(kind, 4, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", GRIDS)
def test_it_is_the_cell_that_contains_the_place_on_every_grid(kind: str, tmp_path: Path) -> None:
    assert answers(kind, 100, tmp_path) == []


@pytest.fixture
def thinned(tmp_path: Path) -> Thinned:
    grid = GRIDS["regular"]()
    return Thinned(grid.write(tmp_path / "a.nc", grid.lat), "tas", 20)


HERE = Place(lat=41.6, lon=-3.1)


def test_it_is_named_by_the_file_s_own_index(thinned: Thinned) -> None:
    value, index = thinned.read(HERE)
    assert (value, index) == (41.5, {"lat": 23, "lon": 34})
    kept = thinned.kept(HERE)
    assert kept is not None
    assert dict(kept.index) != index


def test_a_file_with_other_values_is_not_the_picture_s(thinned: Thinned) -> None:
    kept = thinned.kept(HERE)
    with netCDF4.Dataset(thinned.file, "a") as data:
        data["tas"][:] += 1
    with pytest.raises(FrameError, match="other values"):
        thinned.read(HERE, kept)


def test_a_file_of_another_grid_is_not_the_picture_s(thinned: Thinned) -> None:
    kept = thinned.kept(HERE)
    small = ModelGrid(*np.meshgrid(np.arange(5.0), np.arange(4.0)), two=False, axes=(
        ("lat", np.arange(4.0), {"units": "degrees_north"}),
        ("lon", np.arange(5.0), {"units": "degrees_east"})))  # fmt: skip
    small.write(thinned.file, small.lat)
    with pytest.raises(FrameError):
        thinned.read(HERE, kept)


def test_a_file_that_has_the_kept_value_by_chance_is_not_the_picture_s(thinned: Thinned) -> None:
    kept = thinned.kept(HERE)
    with netCDF4.Dataset(thinned.file, "a") as data:
        data["tas"][:] = np.where(data["tas"][:] > 44, 50, data["tas"][:])
    with pytest.raises(FrameError, match="other values"):
        thinned.read(HERE, kept)


@pytest.fixture
def dry(tmp_path: Path) -> Thinned:
    """A field that is 0 everywhere, as rain at first."""
    grid = GRIDS["regular"]()
    return Thinned(grid.write(tmp_path / "a.nc", 0 * grid.lat), "tas", 20)


def write_time(file: Path, value: float) -> None:
    with netCDF4.Dataset(file, "a") as data:
        made = data["time"] if "time" in data.variables else data.createVariable("time", "f8")
        made.units, made.standard_name = "hours since 2000-01-01", "time"
        made[...] = value


def test_a_file_of_another_time_is_not_the_picture_s(dry: Thinned) -> None:
    dry.about["time"] = "20000101T000000"
    write_time(dry.file, 0)
    assert dry.read(HERE)[0] == 0
    write_time(dry.file, 72)
    with pytest.raises(FrameError, match="other times"):
        dry.read(HERE)


def test_one_value_everywhere_shows_nothing_of_a_file_without_times(dry: Thinned) -> None:
    with pytest.raises(FrameError, match="nothing shows"):
        dry.read(HERE)


def fingerprint(file: Path) -> tuple[int, int, int, int]:
    """As of another host: devices have other numbers there."""
    found = os.stat(file)
    return found.st_dev + 1, found.st_ino, found.st_size, found.st_mtime_ns


def test_a_file_that_was_written_since_shows_nothing_of_one_value_everywhere(dry: Thinned) -> None:
    known = fingerprint(dry.file)
    dry.about["fingerprint"] = known
    assert dry.read(HERE)[0] == 0
    os.utime(dry.file, ns=(0, known[3] + 10**9))
    with pytest.raises(FrameError, match="nothing shows"):
        dry.read(HERE)


def test_a_file_that_is_filled_in_place_is_still_the_picture_s(thinned: Thinned) -> None:
    known = fingerprint(thinned.file)
    thinned.about["fingerprint"] = known
    os.utime(thinned.file, ns=(0, known[3] + 10**9))
    assert thinned.read(HERE)[0] == 41.5


def test_another_or_a_shorter_file_was_written_anew(thinned: Thinned) -> None:
    device, inode, size, changed = fingerprint(thinned.file)
    for known in ((device, inode + 1, size, changed), (device, inode, size + 1, changed)):
        thinned.about["fingerprint"] = known
        with pytest.raises(FrameError, match="written anew"):
            thinned.read(HERE)


def test_a_file_that_is_gone_is_said_to_be(thinned: Thinned) -> None:
    kept = thinned.kept(HERE)
    thinned.file.unlink()
    with pytest.raises(FrameError, match="gone"):
        thinned.read(HERE, kept)


def test_where_the_model_has_no_value_there_is_none(tmp_path: Path) -> None:
    grid = GRIDS["regular"]()
    values = np.where(np.abs(grid.lat - 41.5) < 1.4, np.nan, grid.lat)
    field = Thinned(grid.write(tmp_path / "a.nc", values), "tas", 20)
    assert np.isnan(field.read(HERE)[0])


def test_it_is_of_the_member_and_level_and_in_the_units_that_the_map_shows(tmp_path: Path) -> None:
    path, lat, lon = tmp_path / "a.nc", np.arange(30, 60.0), np.arange(-20, 20.0)
    number, level, row, column = np.ogrid[0:2, 0:3, 0:30, 0:40]
    with netCDF4.Dataset(path, "w") as data:
        for name, points in (("number", [0, 1]), ("plev", [1e5, 8e4, 5e4]), ("lat", lat),
                             ("lon", lon)):  # fmt: skip
            data.createDimension(name, len(points))
            data.createVariable(name, "f8", (name,))[:] = points
        data["plev"].units, data["number"].standard_name = "Pa", "realization"
        data["lat"].units, data["lon"].units = "degrees_north", "degrees_east"
        made = data.createVariable("ta", "f8", ("number", "plev", "lat", "lon"))
        made.units = "K"
        made[:] = 273.15 + 1000 * number + 100 * level + row + column / 100
    shown = ShownField("ta", level=1, units="degC", index=(("number", 1), ("lon", (4, 40))))
    other = (0, 4), 1100.04, 0.01
    kept = KeptPoint((("lat", 8), ("lon", 12)), (4, 4), 1108.12, 0.01, "a", other)
    source = FrameSource((str(path),), 0, "a", "")
    shown_next = ShownField("ta", 1, "degC", (("lon", (4, 40)),), (), (("ta", (("number", 1),)),))
    assert read_cell(source, shown_next, kept, Place(lat=39.9, lon=-6.2))[0] == pytest.approx(
        1110.14
    )
    value, index = read_cell(source, shown, kept, Place(lat=39.9, lon=-6.2))
    assert value == pytest.approx(1110.14)
    assert index == {"lat": 10, "lon": 14}


def test_staggered_points_at_the_border_are_reached(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as data:
        data.setncatts({"DX": 1000.0, "DY": 1000.0, "MAP_PROJ": 0})
        for name, size in (("south_north", 20), ("west_east", 20), ("west_east_stag", 21)):
            data.createDimension(name, size)
        made = data.createVariable("U", "f8", ("south_north", "west_east_stag"))
        made[:] = np.arange(20)[:, None] + np.arange(21) / 100
    source = FrameSource((str(path),), 0, "a", "")
    kept = KeptPoint((("south_north", 16), ("west_east_stag", 20)), (4, 4), 16.2, 0.0, "a",
                     ((0, 0), 0.0, 0.0))  # fmt: skip
    for x, column in ((19400.0, 19), (19990.0, 20)):
        value, index = read_cell(source, ShownField("U"), kept, Place(x=x, y=18600.0))
        assert index == {"south_north": 18, "west_east_stag": column}
        assert value == pytest.approx(18 + column / 100)
