"""Series answer from the cell that contains the place, on grids of many kinds, thinned or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from model_grids import GRIDS as ANY_GRIDS
from ocean_grids import OCEAN_GRIDS
from place_truth import places, shown_field, wrong
from values_case import ValuesRun

from burstlens.clients.opened.pictured import Pictured
from burstlens.clients.opened.points import Files, Grids
from burstlens.clients.opened.series import sample
from burstlens.clients.opened.spot import Spot

GRIDS = ANY_GRIDS | OCEAN_GRIDS
QUICK = ("descending", "ROMS, u")


def answers(kind: str, every: int, count: int, folder: Path) -> list[str]:
    grid = GRIDS[kind]()
    made = ValuesRun(folder)
    entries = []
    for name, values in grid.fields().items():
        file = grid.write(folder / f"{name}.nc", values)
        one = shown_field(file, grid.variable, -(-max(grid.lon.shape) // every))
        made.publish(0, (one.values, one.grid), product=name, stride=every, units="1")
        entries += Pictured(made.run, name).entries()
    files, grids = Files(made.run.products), Grids()
    lon, lat = places(grid, count)
    found = np.full((2, lon.size), np.nan)
    for n, at in enumerate(zip(lon.tolist(), lat.tolist(), strict=True)):
        spot = Spot.of(at[1], at[0])
        for field, entry in enumerate(entries):
            value = sample(files, entry, spot, grids).value
            found[field, n] = np.nan if value is None else value
    return wrong(grid, lon, lat, found, every)


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("kind", QUICK)
def test_a_series_is_that_of_the_cell_with_the_place(kind: str, every: int, tmp_path: Path) -> None:
    assert answers(kind, every, 10, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("kind", GRIDS)
def test_every_series_is_that_of_the_cell_with_its_place(
    kind: str, every: int, tmp_path: Path
) -> None:
    assert answers(kind, every, 300, tmp_path) == []
