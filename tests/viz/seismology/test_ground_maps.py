"""Maps of a moving ground: the epicentre's star, the shade of mountains, colours between points."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from map_picture import Picture

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.drawing.maps.relief import hillshade
from burstlens.viz.product import Context

SHAPE = 21, 31
FLAT = {"variable": "vz", "limits": (-1.0, 1.0), "colormap": "matplotlib.Greys"}


def reddish(picture: Picture) -> Any:
    """Where the map is a pure red, not a grey; the legend below it shows the star again."""
    red, green, blue = np.moveaxis(picture.pixels[: picture.facts["box"][3]], -1, 0)
    return (red > 190) & (green < 80) & (blue < 80)


@pytest.mark.parametrize("source", [{"x": 4000.0, "y": 2500.0}, {}])
def test_a_star_stands_at_the_epicentre(
    surface: Callable[..., Path], context: Context, source: Any
):
    attributes = {"source_x_m": 4000.0, "source_y_m": 2500.0, "source_depth_m": 5000.0}
    path = surface(1.0, {"vz": np.zeros(SHAPE)}, **attributes)
    picture = Picture(path, context, **FLAT, source=source)
    rows, columns = np.nonzero(reddish(picture))
    row, column = picture.at(4000.0, 2500.0)
    assert rows.size > 40
    assert abs(rows.mean() - row) < 2.5
    assert abs(columns.mean() - column) < 1.5


def test_on_lon_and_lat_the_star_is_given_by_them(surface: Callable[..., Path], context: Context):
    path = surface(1.0, {"vz": np.zeros(SHAPE)}, geographic=True)
    picture = Picture(path, context, **FLAT, source={"lat": 35.12, "lon": -117.8})
    rows, columns = np.nonzero(reddish(picture))
    row, column = picture.place(35.12, -117.8)
    assert abs(rows.mean() - row) < 2.5
    assert abs(columns.mean() - column) < 1.5


def test_a_missing_source_is_reported(surface: Callable[..., Path], context: Context):
    path = surface(1.0, {"vz": np.zeros(SHAPE)})
    with pytest.raises(FrameError, match="source: neither the recipe nor the file"):
        Picture(path, context, **FLAT, source={})


@pytest.mark.parametrize("geographic", [False, True])
def test_slopes_towards_the_upper_left_are_lighter(
    surface: Callable[..., Path], context: Context, geographic: bool
):
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    hill = 2000.0 * np.exp(-((x - 15) ** 2 + (y - 10) ** 2) / 30.0)
    path = surface(1.0, {"vz": np.zeros(SHAPE), "topography": hill}, geographic=geographic)
    picture = Picture(path, context, **FLAT, relief="topography", coast=False)
    plain = Picture(path, context, **FLAT, coast=False)
    step, first = ((0.01, 0.01), (-118.0, 35.0)) if geographic else ((500.0, 500.0), (0.0, 0.0))

    def brightness(column: float, row: float) -> float:
        at = picture.at(first[0] + column * step[0], first[1] + row * step[1])
        return float(picture.pixels[at].mean() - plain.pixels[at].mean())

    assert brightness(12, 13) > 20
    assert brightness(18, 7) < -20
    assert abs(brightness(1, 1)) < 3


def test_shade_is_nothing_on_a_level_and_where_no_height_is():
    assert (hillshade(np.full((4, 5), 812.0), 100.0, 100.0) == 0).all()
    hole = np.add.outer(np.arange(6.0), np.arange(7.0))
    hole[2, 3] = np.nan
    shade = hillshade(hole, 10.0, 10.0)
    assert shade[2, 3] == 0
    assert np.isfinite(shade).all()


def test_a_slope_that_faces_the_light_is_as_bright_as_it_can_be():
    """Horn (1981): the cosine is one where the normal points to the light."""
    # Light from the north-west, so a slope that falls to the north-west.
    y, x = np.mgrid[:5, :5]
    falls = 100.0 * (x - y)
    facing, away = hillshade(falls, 100.0, 100.0), hillshade(-falls, 100.0, 100.0)
    assert facing.min() > 0.5
    assert away.max() < -0.3


def test_heights_without_a_length_are_refused(surface: Callable[..., Path], context: Context):
    path = surface(1.0, {"vz": np.zeros(SHAPE), "vx": np.ones(SHAPE)})
    with pytest.raises(RecipeError, match="relief: units: m s-1 cannot be shown as 'm'"):
        Picture(path, context, **FLAT, relief="vx")


def test_smooth_colours_go_over_and_hold_at_the_points(
    surface: Callable[..., Path], context: Context
):
    ramp = np.broadcast_to(np.linspace(-1, 1, SHAPE[1]), SHAPE)
    path = surface(1.0, {"vz": ramp})
    cells, smooth = (Picture(path, context, **FLAT, smooth=s) for s in (False, True))
    row, left = cells.at(0.0, 5000.0)
    _, right = cells.at(15000.0, 5000.0)
    steps = [len(np.unique(p.pixels[row, left:right, 0])) for p in (cells, smooth)]
    assert steps[0] <= SHAPE[1]
    assert steps[1] > 4 * steps[0]
    for column in (5, 15, 25):
        at = cells.at(column * 500.0, 5000.0)
        assert np.abs(cells.pixels[at] - smooth.pixels[at]).max() <= 4
