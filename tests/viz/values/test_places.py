"""Every place answers from the cell that contains it, on every kind of grid.

Two fields tell: one that is its own longitude, and one that is its own latitude. What is right is
found by force, among all points of the grid on the sphere.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from model_grids import GRIDS as ANY_GRIDS
from ocean_grids import OCEAN_GRIDS
from place_truth import answered, places, shown, wrong

from burstlens.viz import live
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.projection import longitude_latitude
from burstlens.viz.values.grid import Axis, pixel_grid
from burstlens.viz.values.lookup import Grid, Place

GRIDS = ANY_GRIDS | OCEAN_GRIDS
PLACES = 1000
PAGE = Path(__file__).parent / "points_of_page.js"


QUICK = ("EASE", "displaced pole", "across 180 degrees", "tripolar", "ROMS around the pole, psi")


def answers(kind: str, count: int, every: int, path: Path) -> list[str]:
    """The wrong answers of a kind of grid at so many places, of every so many-th point kept."""
    grid = GRIDS[kind]()
    points = -(-max(grid.lon.shape) // every)
    on, fields, stride = shown(grid, path, points)
    assert stride == every
    lon, lat = places(grid, count)
    return wrong(grid, lon, lat, answered(on, fields, lon, lat), every)


@pytest.mark.parametrize("kind", QUICK)
def test_a_place_answers_from_the_cell_that_contains_it(kind: str, tmp_path: Path) -> None:
    assert answers(kind, 20, 1, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("kind", GRIDS)
def test_every_place_answers_from_the_cell_that_contains_it(
    kind: str, every: int, tmp_path: Path
) -> None:
    assert answers(kind, PLACES, every, tmp_path) == []


def test_a_picture_shows_at_each_pixel_the_cell_that_contains_it(tmp_path: Path) -> None:
    grid = GRIDS["tripolar"]()
    on, (lons, lats), _ = shown(grid, tmp_path)
    left, right, bottom, top = on.facts["extent"]
    rows, columns = np.mgrid[3:112:7, 3:140:7]
    cell = on._pixels[0][rows, columns].astype(int), on._pixels[1][rows, columns].astype(int)
    seen = cell[0] < on.rows
    lon = left + (columns[seen] + 0.5) / 140 * (right - left)
    lat = top - (rows[seen] + 0.5) / 112 * (top - bottom)
    found = tuple(np.array(values)[cell[0][seen], cell[1][seen]] for values in (lons, lats))
    assert seen.mean() > 0.9
    assert wrong(grid, lon, lat, found) == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("kind", GRIDS)
def test_the_page_answers_from_the_same_cells(kind: str, every: int, tmp_path: Path) -> None:
    grid = GRIDS[kind]()
    _, (lons, lats), _ = shown(grid, tmp_path, -(-max(grid.lon.shape) // every))
    lon, lat = places(grid, PLACES)
    done = subprocess.run(
        ["node", PAGE, Path(live.__file__).parent, tmp_path / "grid.js"], check=True, text=True,
        input="\n".join(f"{one} {other}" for one, other in zip(lat, lon, strict=True)),
        capture_output=True, timeout=100,
    )  # fmt: skip
    points = np.array(done.stdout.split(), int)
    found = np.where(points < 0, np.nan, [np.ravel(lons)[points], np.ravel(lats)[points]])
    assert wrong(grid, lon, lat, found, every) == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("kind", ["displaced pole", "across 180 degrees", "tripolar"])
def test_the_page_gives_pixels_of_a_magnified_picture_the_cells_that_contain_them(
    kind: str, tmp_path: Path
) -> None:
    grid = GRIDS[kind]()
    shown(grid, tmp_path, max(grid.lon.shape))
    page = PAGE.with_name("pixels_of_page.js")
    done = subprocess.run(
        ["node", page, Path(live.__file__).parent, tmp_path / "grid.js"],
        check=True, text=True, capture_output=True, timeout=100,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["before"] > 0
    assert found["after"] == 0
    assert found["asked"] > 500
    assert found["other"] <= 0.01 * found["asked"]


@pytest.fixture
def without_a_place() -> bytes:
    """The grid file of points of which one has no longitude, and one no latitude."""
    lon, lat = np.meshgrid(np.linspace(40, 50, 11), np.linspace(60, 40, 9))
    lon, lat = lon + lat / 10, lat + 0.0
    lon[2, 3], lat[6, 8] = np.nan, np.inf
    plane = Plane(lon, lat, "degrees", True, longitude_latitude(45.0))
    rows, columns = (Axis(np.arange(float(size)), (-0.5, size - 0.5), "", "") for size in lon.shape)
    return pixel_grid(plane, (40, 56, 38, 62), (80, 60), 1, rows, columns).text


OFF, ON = [(20.0, 20.0), (0.0, 0.0), (0.0, 50.6), (49.0, 0.0)], (50.0, 50.0)
"""Latitudes and longitudes beside that grid, and of its point in row 4, column 5."""


def test_points_without_a_place_are_nowhere(without_a_place: bytes, tmp_path: Path) -> None:
    file = tmp_path / "grid.js"
    file.write_bytes(without_a_place)
    on = Grid.read(file)
    assert [on.point(Place(lat=lat, lon=lon)) for lat, lon in OFF] == [None] * 4
    assert on.point(Place(lat=ON[0], lon=ON[1])) == (4, 5)
    assert on.place(2, 3) == on.place(6, 8) == Place()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_on_the_page_they_are_nowhere_either(without_a_place: bytes, tmp_path: Path) -> None:
    (tmp_path / "grid.js").write_bytes(without_a_place)
    done = subprocess.run(
        ["node", PAGE, Path(live.__file__).parent, tmp_path / "grid.js"], check=True, text=True,
        input="\n".join(f"{lat} {lon}" for lat, lon in [*OFF, ON]),
        capture_output=True, timeout=100,
    )  # fmt: skip
    assert [int(point) for point in done.stdout.split()] == [-1, -1, -1, -1, 4 * 11 + 5]
