"""Every place answers from the cell of WRF's grids that contains it, staggered ones and nests."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from model_grids import ModelGrid
from place_truth import answered, places, shown_of, wrong
from wrf_domains import CIRCUMFERENCE, DOMAINS

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry.sphere import vectors
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Beside, Context
from burstlens.viz.values.lookup import Grid, Place
from burstlens.viz.values.names import GRID, VALUES
from burstlens.viz.values.script import ValuesFile

_ROTATED = DOMAINS["a rotated pole"]
KINDS: dict[str, dict[str, Any]] = DOMAINS | {
    "latitude and longitude": {"map_proj": 6, "CEN_LON": 20.0, "middle": (0.0, 4e6)},
    "a rotated pole, around the pole": _ROTATED
    | {"middle": (CIRCUMFERENCE / 2, 5.6e6), "spacing": 60000.0},
    "a rotated pole, the globe": _ROTATED | {"size": (72, 36), "spacing": CIRCUMFERENCE / 72},
}
QUICK = [("the north pole", "_U"), ("a rotated pole", ""), ("a rotated pole, the globe", "_V")]


def answers(write: Callable[..., Path], kind: str, points: str, count: int, every: int) -> Any:
    """The wrong answers for the cells' middles (points empty), or U's or V's."""
    path = write(**KINDS[kind])
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        lon, lat = (np.array(data[f"{of}{points}"][0], float) for of in ("XLONG", "XLAT"))
        for name, values in (("EAST", lon), ("NORTH", lat)):
            made = data.createVariable(name, "f4", data[f"XLAT{points}"].dimensions)
            made.units = "1"
            made[0] = values
    grid = ModelGrid(lon, lat)
    kept = -(-max(lon.shape) // every)
    on, fields, stride = shown_of([path] * 2, ["EAST", "NORTH"], path.with_name("grid.js"), kept)
    assert stride == every
    lon, lat = places(grid, count)
    return wrong(grid, lon, lat, answered(on, fields, lon, lat), every)


@pytest.mark.parametrize(("kind", "points"), QUICK)
def test_a_place_answers_from_the_cell_that_contains_it(
    kind: str, points: str, wrf_file: Callable[..., Path]
) -> None:
    assert answers(wrf_file, kind, points, 20, 1) == []


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("points", ["", "_U", "_V"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_place_answers_from_the_cell_that_contains_it(
    kind: str, points: str, every: int, wrf_file: Callable[..., Path]
) -> None:
    assert answers(wrf_file, kind, points, 1000, every) == []


def with_places(path: Path) -> ModelGrid:
    """The points of a file, whose PSFC becomes their longitude, and T2 their latitude."""
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        lon, lat = (np.array(data[name][0], float) for name in ("XLONG", "XLAT"))
        data["PSFC"][0], data["T2"][0] = lon, lat
        data["PSFC"].units = data["T2"].units = "1"
    return ModelGrid(lon, lat)


def topmost(folder: Path, lon: Any, lat: Any) -> Any:
    """What the values of a map answer at places, its nests first; NaN beside all."""
    values = ValuesFile(folder / VALUES)
    grids = [Grid.read(folder / GRID.format(one.grid)) for one in values.fields]
    found = np.full(lon.size, np.nan)
    for n, (east, north) in enumerate(zip(lon.tolist(), lat.tolist(), strict=True)):
        for number in reversed(range(len(grids))):
            if at := grids[number].point(Place(lat=north, lon=east)):
                found[n] = values.at(*at, number)
                break
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lambert", "the north pole", "a rotated pole"])
def test_places_in_a_nest_answer_from_its_cells_and_others_from_its_parent_s(
    kind: str, wrf_file: Callable[..., Path], context: Context
) -> None:
    domain = dict(KINDS[kind])
    middle = domain.pop("middle", (0.0, 0.0))
    outer = wrf_file(**domain, middle=middle)
    outer = outer.rename(outer.with_name("d01"))
    inner = wrf_file(
        **domain, middle=(middle[0] + 1e5, middle[1] - 1e5), size=(40, 36), spacing=1e4
    )
    parent, nest = with_places(outer), with_places(inner)
    fields = []
    for name in ("PSFC", "T2"):
        options = MapOptions(name, nests=("d02",), nest_fields=True, coast=False)
        folder = context.files / name
        beside = {"d02": Beside((inner,), 0, "d02", "")}
        with open_frame([outer], beside=beside) as frame:
            out = context.files / "map.png"
            MapKind().make(options, frame, out, replace(context, values=folder))
        fields.append(folder)
    lon, lat = places(nest, 300)
    found = np.array([topmost(folder, lon, lat) for folder in fields])
    assert wrong(nest, lon, lat, found) == []
    lon, lat = places(parent, 300)
    nearest = (vectors(lon, lat) @ vectors(nest.lon, nest.lat).reshape(-1, 3).T).max(axis=1)
    outside = np.arccos(np.minimum(nearest, 1.0)) * 6.37e6 > 1.5e4
    lon, lat = lon[outside], lat[outside]
    found = np.array([topmost(folder, lon, lat) for folder in fields])
    assert wrong(parent, lon, lat, found) == []
