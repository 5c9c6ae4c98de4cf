"""Which colours a field gets, and between which limits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from burstlens.viz.drawing import style
from burstlens.viz.drawing.colours import colours, norm
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context


@dataclasses.dataclass(frozen=True, slots=True)
class Values:
    """A field to be coloured."""

    values: np.ndarray
    name: str = "QVAPOR"
    long_name: str = "Water vapour mixing ratio"
    units: str = "g kg-1"

    def extent(self) -> tuple[float, float]:
        return float(self.values.min()), float(self.values.max())


def test_logarithmic_colours_of_a_field_within_a_decade_are_those_of_its_values(context: Context):
    _, limits, _ = colours(Values(np.array([20.5, 24.6])), MapOptions("Q", log=True), context)
    assert limits == (20.5, 24.6)


def test_logarithmic_colours_reach_over_four_decades_at_most(context: Context):
    _, limits, _ = colours(Values(np.array([0, 1e-9, 2.0])), MapOptions("Q", log=True), context)
    assert limits == pytest.approx((2e-4, 2))


def test_zero_gets_the_colour_below_the_lowest_and_nan_none():
    colormap = style.colormap("viridis")
    scale = norm(colormap, (0.1, 10.0), (), log=True)
    pixels = colormap(scale(np.ma.masked_invalid([0.0, -3.0, 1.0, np.nan])))
    assert pixels[0].tolist() == pixels[1].tolist() == colormap.get_under().tolist()
    assert pixels[2] == pytest.approx(colormap(0.5))
    assert pixels[3] == pytest.approx(colormap.get_bad())


@pytest.mark.parametrize(
    ("units", "long_name", "colormap"),
    [
        ("%", "relative humidity at 3 km above sea level", "matplotlib.BrBG"),
        ("J kg-1", "most unstable CAPE", "cmocean.matter"),
        ("J kg-1", "surface-based CIN", "cmocean.matter_r"),
        ("W m-2", "downward short wave flux", "cmocean.solar"),
        ("kg m-2", "precipitable water", "cmocean.rain"),
    ],
)
def test_a_quantity_has_colours_that_mean_something(units: str, long_name: str, colormap: str):
    assert style.colormap_name(units, long_name, signed=False) == colormap
    assert style.colormap(colormap).N >= 256


def test_nothing_at_all_of_an_amount_has_the_lowest_colour_and_still_air_the_middle_one(
    context: Context,
):
    nothing = Values(np.zeros(4))
    assert colours(nothing, MapOptions("QCLOUD"), context)[1] == (0.0, 1.0)
    still = Values(np.zeros(4), "W", "z-wind component", "m s-1")
    assert colours(still, MapOptions("W"), context)[:2] == ("cmocean.balance", (-1.0, 1.0))
