"""The colour bar beside a picture: its unit is shown in full."""

from __future__ import annotations

import pytest
from matplotlib.colors import Normalize
from matplotlib.text import Annotation

from burstlens.viz.drawing import style
from burstlens.viz.drawing.colour_bar import ColourBar, low_to_high
from burstlens.viz.drawing.picture import blank


@pytest.mark.parametrize("unit", ["K", "kg kg⁻¹", "mol mol⁻¹ of dry air per model level"])
@pytest.mark.parametrize("dpi", [60, 200])
def test_a_unit_stands_above_the_bar_and_on_the_picture(unit: str, dpi: int):
    figure = blank(1200, 900, dpi)
    point = dpi / 72
    right = 1 - 84 * point / 1200
    axes = figure.add_axes((0.1, 0.1, right - 0.1, 0.7))
    ColourBar(figure, axes, style.colormap("viridis"), Normalize(0, 1), unit)
    bar = figure.axes[-1]
    (words,) = (child for child in bar.get_children() if isinstance(child, Annotation))
    box = words.get_window_extent()
    assert words.get_text() == unit
    assert box.x1 <= 1200 - 11 * point
    assert box.x0 <= bar.bbox.x0 + 1
    assert bar.bbox.y1 < box.y0 < bar.bbox.y1 + 20 * point


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (3.4e-8, 264.663, "0 to 264.7"),  # rain as float32 accumulates it
        (-22.4949, 50.4, "−22.49 to 50.4"),
        (1e-9, 1e-3, "1e−09 to 0.001"),  # a species, on a logarithmic scale
        (0.0, 0.0, "0 to 0"),
    ],
)
def test_the_ends_of_a_range_have_no_digits_that_its_values_lack(
    low: float, high: float, words: str
):
    assert low_to_high(low, high) == words
