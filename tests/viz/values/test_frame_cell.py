"""Where a picture keeps fewer points than the grid has, the cell is read from the frame's file."""

from __future__ import annotations

from pathlib import Path

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
QUICK = ("EASE", "displaced pole", "descending", "lambert, mapped", "ROMS, u", "NEMO ORCA")
EVERY = 4


class Thinned:
    """A field in a file and its thinned values, as beside a map."""

    def __init__(self, file: Path, variable: str, points: int) -> None:
        self.options = ShownField(variable)
        self.file = file
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
        return KeptPoint(index, reach, float(self.shown.values[at]), 0.0, self.shown.grid.hash)

    def read(self, place: Place, kept: KeptPoint | None = None) -> tuple[float, dict[str, int]]:
        """What the file has at a place."""
        kept = kept or self.kept(place)
        assert kept is not None
        source = FrameSource((str(self.file),), 0, "a", "")
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
