"""Bent cells have the pixels of filled quadrilaterals, though only numbers of cells are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import BoundaryNorm, Normalize
from numpy.typing import NDArray

from burstlens.core.allowance import MEMORY_VARIABLE
from burstlens.viz.drawing import style
from burstlens.viz.drawing.maps import cells
from burstlens.viz.drawing.maps.cells import BentCells
from burstlens.viz.drawing.maps.reach import corners
from burstlens.viz.drawing.picture import blank, placed
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.plane_cache import SHARE

STEPS = style.SCALES["nws_reflectivity"]
LOOKS: dict[str, tuple[Any, Any]] = {
    "even": (Normalize(-8, 9.5), style.colormap("cmocean.thermal")),
    "steps": (BoundaryNorm(STEPS.edges, len(STEPS.colours)), style.colormap("nws_reflectivity")),
}


def axes(plane: Plane, margin: float = 0.0) -> Any:
    x, y = (edges[np.isfinite(edges)] for edges in corners(plane))
    wide, tall = margin * np.ptp(x), margin * np.ptp(y)
    limits = {"xlim": (x.min() - wide, x.max() + wide), "ylim": (y.min() - tall, y.max() + tall)}
    figure = blank(341, 297, 90)
    box = (31 / 341, 20 / 297, 290 / 341, 251 / 297)
    return figure.add_axes(box, autoscale_on=False, facecolor="#123456", **limits)


def drawn(on: Any, artist: Any) -> NDArray[np.uint8]:
    on.figure.canvas.draw()
    artist.draw(on.figure.canvas.get_renderer())
    return np.array(on.figure.canvas.buffer_rgba())


def whirl(rows: int, columns: int, turn: float = 2.0) -> Plane:
    """Rows that turn about the middle, and fold over where they turn fast."""
    j, i = np.mgrid[-1 : 1 : rows * 1j, -1 : 1 : columns * 1j]
    angle = turn * np.exp(-3 * (i**2 + j**2))
    return Plane(
        i * np.cos(angle) - j * np.sin(angle), i * np.sin(angle) + j * np.cos(angle), "degrees"
    )


def values(plane: Plane, seed: int = 0) -> NDArray[np.float32]:
    found = np.random.default_rng(seed).normal(5, 12, plane.x.shape).astype(np.float32)
    found[::9, ::4], found[3] = np.nan, np.inf
    return found


def expected(plane: Plane, field: NDArray[Any], look: str, margin: float) -> NDArray[np.uint8]:
    on, (norm, colours) = axes(plane, margin), LOOKS[look]
    points = np.stack(corners(plane), axis=-1)
    mesh = QuadMesh(points, array=field, antialiased=False, norm=norm, cmap=colours)
    return drawn(on, placed(mesh, on))


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    cells._kept.clear()
    monkeypatch.setattr(cells, "_NUMBERED_AT_ONCE", 5000)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("margin", [0.0, 0.2, -0.25])
@pytest.mark.parametrize(("rows", "columns"), [(40, 30), (500, 410), (2, 3)])
def test_the_pixels_are_those_of_filled_quadrilaterals(
    look: str, margin: float, rows: int, columns: int
) -> None:
    plane = whirl(rows, columns)
    field = values(plane) if rows > 3 else np.ones((rows, columns), np.float32)
    on = axes(plane, margin)
    ours = drawn(on, placed(BentCells(plane, field, *LOOKS[look]), on))
    np.testing.assert_array_equal(ours, expected(plane, field, look, margin))


def test_the_next_frame_of_a_series_uses_the_numbers_of_the_one_before() -> None:
    plane = whirl(60, 50)
    for seed in range(3):
        again = Plane(plane.x.copy(), plane.y.copy(), "degrees")  # each frame is read anew
        field, on = values(plane, seed), axes(plane)
        ours = drawn(on, placed(BentCells(again, field, *LOOKS["even"]), on))
        np.testing.assert_array_equal(ours, expected(plane, field, "even", 0.0))
    assert len(cells._kept) == 1


def test_what_is_kept_of_planes_is_a_part_of_the_workers_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def keep(memory: int, steps: int) -> int:
        monkeypatch.setenv(MEMORY_VARIABLE, str(memory))
        for step in range(steps):
            plane = whirl(20, 30, turn=1 + step / 10)
            on = axes(plane)
            drawn(on, placed(BentCells(plane, values(plane), *LOOKS["even"]), on))
        return cells._kept.nbytes

    one = keep(10**9, 1)
    assert keep(int(2.5 * one / SHARE), 5) <= 2.5 * one
    assert len(cells._kept) == 2
    keep(1, 5)
    assert len(cells._kept) == 1


def test_a_plane_that_moves_is_numbered_anew_and_few_planes_are_kept() -> None:
    for step in range(9):
        plane = whirl(20, 30, turn=1 + step / 10)
        field, on = values(plane), axes(plane)
        ours = drawn(on, placed(BentCells(plane, field, *LOOKS["even"]), on))
        np.testing.assert_array_equal(ours, expected(plane, field, "even", 0.0))
    assert len(cells._kept) == 6


def test_points_that_are_nowhere_leave_holes() -> None:
    plane = whirl(50, 40)
    plane.x[10:14, 5:9] = plane.y[10:14, 5:9] = np.nan
    field, on = np.full((50, 40), 4.0, np.float32), axes(plane)
    ours = drawn(on, placed(BentCells(plane, field, *LOOKS["even"]), on))
    np.testing.assert_array_equal(ours, expected(plane, field, "even", 0.0))
