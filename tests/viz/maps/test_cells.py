"""Cells are painted a band at a time, to the bit as matplotlib paints them at once."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import BoundaryNorm, Normalize
from matplotlib.image import AxesImage, PcolorImage
from numpy.typing import NDArray

from burstlens.viz.drawing import style
from burstlens.viz.drawing.colours import norm
from burstlens.viz.drawing.maps.cells import cells
from burstlens.viz.drawing.maps.reach import corners
from burstlens.viz.drawing.picture import blank, placed
from burstlens.viz.geometry.grid import Plane

WIDTH, HEIGHT = 320, 256


def axes(
    x: tuple[float, float], y: tuple[float, float], size: tuple[int, int] = (WIDTH, HEIGHT)
) -> Any:
    figure = blank(size[0] + 40, size[1] + 30, 100)
    box = (
        20 / (size[0] + 40),
        10 / (size[1] + 30),
        size[0] / (size[0] + 40),
        size[1] / (size[1] + 30),
    )
    return figure.add_axes(box, xlim=x, ylim=y, autoscale_on=False, facecolor="#123456")


def pixels(on: Any, artist: Any) -> NDArray[np.uint8]:
    canvas = on.figure.canvas
    canvas.draw()
    artist.draw(canvas.get_renderer())
    return np.array(canvas.buffer_rgba())


def waves(rows: int, columns: int, holes: int = 0) -> NDArray[np.float32]:
    y, x = np.mgrid[0:rows, 0:columns]
    noise = np.random.default_rng(rows).normal(size=(rows, columns))
    values = (10 * np.sin(x / 9) * np.cos(y / 7) + noise).astype(np.float32)
    flat = values.reshape(-1)
    flat[:: 97 if holes else values.size + 1] = np.nan
    flat[1 :: 211 if holes else values.size + 1] = np.inf
    return values


NORMS = {
    "even": ("cmocean.thermal", lambda name: Normalize(-8, 9.5)),
    "log": ("viridis", lambda name: norm(style.colormap(name), (0.1, 10.0), (), log=True)),
    "steps": (
        "nws_reflectivity",
        lambda name: BoundaryNorm(style.SCALES[name].edges, style.colormap(name).N),
    ),
}


@pytest.mark.parametrize("scale", NORMS)
@pytest.mark.parametrize(
    ("rows", "columns", "margin"),
    [(1024, 900, 0.0), (777, 333, 0.0), (1500, 161, 0.3), (256, 320, 0.0), (140, 1281, -0.2)],
)
def test_small_cells_are_painted_as_one_image_is(
    scale: str, rows: int, columns: int, margin: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burstlens.viz.drawing.maps.cells._AT_ONCE", 1 << 14)
    name, of = NORMS[scale]
    values, looks = waves(rows, columns, holes=1), {"norm": of(name), "cmap": style.colormap(name)}
    plane = Plane(3e3 * np.arange(columns), 3e3 * np.arange(rows), "m")
    x, y = corners(plane)
    wide, tall = margin * (x[-1] - x[0]), margin * (y[-1] - y[0])
    limits = (x[0] - wide, x[-1] + wide), (y[0] - tall, y[-1] + tall)
    on = axes(*limits)
    ours = pixels(on, cells(on, plane, values, looks["norm"], looks["cmap"], smooth=False))
    on = axes(*limits)
    whole = AxesImage(on, origin="lower", extent=(x[0], x[-1], y[0], y[-1]), **looks)
    whole.set_data(values)
    np.testing.assert_array_equal(ours, pixels(on, placed(whole, on)))


@pytest.mark.parametrize(("rows", "columns"), [(700, 900), (20, 2000), (33, 41), (1, 7)])
@pytest.mark.parametrize("margin", [0.0, 0.25, -0.3])
@pytest.mark.parametrize("even", [True, False])
def test_a_pixel_shows_the_large_or_uneven_cell_of_its_middle(
    rows: int, columns: int, margin: float, even: bool
) -> None:
    if even and columns > WIDTH / 2:
        columns, rows = 100, 90
    values = waves(rows, columns, holes=1)
    plane = Plane(np.cumsum(1.0 + np.arange(columns) % 3), -(np.linspace(0, 9, rows) ** 2), "m")
    if even:
        plane = Plane(2.5 * np.arange(columns), -3.0 * np.arange(rows), "m")
    x, y = corners(plane)
    wide, tall = margin * np.ptp(x), margin * np.ptp(y)
    limits = (x.min() - wide, x.max() + wide), (y.min() - tall, y.max() + tall)
    looks: dict[str, Any] = {"norm": Normalize(-8, 9.5), "cmap": style.colormap("cmocean.thermal")}
    on = axes(*limits)
    artist = cells(on, plane, values, looks["norm"], looks["cmap"], smooth=False)
    ours = pixels(on, artist)
    on = axes(*limits)
    whole = PcolorImage(on, x, y[::-1], values[::-1], **looks)
    np.testing.assert_array_equal(ours, pixels(on, placed(whole, on)))


@pytest.mark.parametrize("kind", ["even", "uneven"])
def test_painting_takes_less_memory_than_the_field(kind: str) -> None:
    rows, columns = 3000, 2500
    values = waves(rows, columns)
    y = np.linspace(0, 1, rows) ** (1 if kind == "even" else 2)
    plane = Plane(np.arange(columns) * 1.0, y, "m")
    on = axes((0, columns), (0, 1))
    on.figure.canvas.draw()
    colours = style.colormap("cmocean.thermal")
    tracemalloc.start()
    artist = cells(on, plane, values, Normalize(-8, 9), colours, smooth=False)
    artist.draw(on.figure.canvas.get_renderer())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < values.nbytes
