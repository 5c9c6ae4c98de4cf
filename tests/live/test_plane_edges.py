"""How sheets find the edges of a magnified plane's cells: as the page's own modules do it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.viz import live
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.projection import longitude_latitude
from burstlens.viz.values.grid import Axis, pixel_grid

NODE = shutil.which("node")
PAGE = Path(__file__).parent / "sheets_of_page.js"
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(NODE is None, reason="no Node.js"),
]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What sheets have drawn in the end, by what they show, of cells in slanted rows."""
    assert NODE is not None
    lon, lat = np.meshgrid(np.linspace(40, 50, 11), np.linspace(60, 40, 9))
    lon = lon + lat / 10
    plane = Plane(lon, lat, "degrees", True, longitude_latitude(45.0))
    axes = [Axis(np.arange(float(size)), (-0.5, size - 0.5), "", "") for size in lon.shape]
    path = tmp_path_factory.mktemp("grids") / "grid.js"
    path.write_bytes(pixel_grid(plane, (40, 56, 38, 62), (80, 60), 1, *axes).text)
    command: list[str | Path] = [NODE, "--expose-gc", PAGE, Path(live.__file__).parent, path]
    return json.loads(subprocess.run(command, check=True, text=True, capture_output=True).stdout)


@pytest.mark.parametrize(
    "views", ["one view", "five views", "one view of five fields", "two views of one grid"]
)
def test_however_many_planes_take_turns_all_get_the_edges_of_their_cells(
    drawn: Any, views: str
) -> None:
    assert set(drawn[views]["found"]) == {"values"}
    assert drawn[views]["left"] == 0


def test_the_edges_that_two_views_of_one_grid_show_are_found_once(drawn: Any) -> None:
    one, two = (drawn[views]["turns"] for views in ("one view", "two views of one grid"))
    assert two < 1.1 * one


def test_a_view_that_is_closed_looks_for_no_edges(drawn: Any) -> None:
    assert drawn["one of two views is closed"]["found"] == ["values", "cells"]
    assert drawn["one of two views is closed"]["left"] == 0


def test_the_size_of_a_grid_s_cells_is_found_once_for_all_its_pictures(drawn: Any) -> None:
    assert drawn["reads"] == 1


def test_edges_that_are_held_hold_no_picture_s_values(drawn: Any) -> None:
    assert drawn["holdsValues"] is False
