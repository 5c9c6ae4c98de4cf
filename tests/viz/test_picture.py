"""Sizes of pictures, and how large letters are on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.heading import Heading
from burstlens.viz.drawing.picture import blank, letters_dpi
from burstlens.viz.product import Context
from burstlens.viz.registry import product_kind


@pytest.mark.parametrize(("size", "dpi"), [((900, 870), 95), ((1920, 1080), 52), ((901, 333), 61)])
def test_a_blank_picture_has_exactly_the_pixels_that_were_asked_for(
    size: tuple[int, int], dpi: int
):
    figure = blank(*size, dpi)
    # 900 / 95 * 95 is less than 900, and renderers cut.
    assert (int(figure.bbox.width), int(figure.bbox.height)) == size
    canvas: Any = figure.canvas
    canvas.draw()
    assert np.asarray(canvas.buffer_rgba()).shape == (*size[::-1], 4)


def test_letters_are_as_large_as_asked_unless_the_picture_is_small():
    assert letters_dpi(900, 700, 100) == 100
    assert letters_dpi(3000, None, 300) == 300
    assert letters_dpi(430, None, 100) == pytest.approx(72)
    # A thumbnail leaves words out, so that the others can be read.
    assert letters_dpi(330, None, 100) == pytest.approx(72)
    assert letters_dpi(3000, 130, 100) == pytest.approx(36)


@pytest.mark.parametrize(
    ("kind", "options", "size"),
    [
        ("map", {"variable": "wind10"}, {"width_px": 300}),
        ("map", {"variable": "wind10"}, {"width_px": 900, "dpi": 300}),
        ("section", {"variable": "W", "start": {"i": 2, "j": 2}, "end": {"i": 40, "j": 40}},
         {"width_px": 300, "height_px": 200}),
        ("section", {"variable": "W", "start": {"i": 2, "j": 2}, "end": {"i": 40, "j": 40}},
         {"width_px": 3000, "height_px": 600, "dpi": 300}),
    ],
)  # fmt: skip
def test_a_small_picture_shows_the_field_and_not_only_words(
    kind: str, options: dict[str, Any], size: dict[str, int], cyclone: Path, context: Context
):
    made = product_kind(kind)
    asked = TypeAdapter(made.options).validate_python(options | size)
    with open_frame([cyclone]) as frame:
        facts = made.make(asked, frame, context.files / "small.png", context).facts
    left, top, right, bottom = facts["box"]
    wide, tall = facts["size"]
    assert (right - left) * (bottom - top) > 0.25 * wide * tall


def test_a_thumbnail_has_its_valid_time_below_the_title_and_no_word_is_cut():
    figure = blank(300, 260, letters_dpi(300, None, 100))
    heading = Heading(figure, "10 m wind speed", "d01  ·  WRF overview", "run-1  ·  Burstlens")
    valid = "valid 2005-08-28 12:00:00 UTC"
    heading.write(valid, "init 2005-08-28 00:00:00 UTC  ·  +12 h", "wind10: 12 to 85 kn")
    shown = {text.get_text(): text.get_window_extent() for text in figure.texts if text.get_text()}
    assert set(shown) == {"10 m wind speed", "d01  ·  WRF overview", valid, "wind10: 12 to 85 kn"}
    boxes = list(shown.values())
    assert not any(one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[n + 1 :])


def test_a_title_that_needs_the_whole_line_is_not_cut_for_the_valid_time():
    figure = blank(600, 400, letters_dpi(600, 400, 100))
    title, valid = "10 m wind speed and rain water mixing ratio", "valid 2005-08-28 12:00:00 UTC"
    Heading(figure, title, "d01", "run-1").write(valid, "init ...  ·  +12 h", "wind10: 12 to 85 kn")
    shown = {text.get_text(): text.get_window_extent() for text in figure.texts if text.get_text()}
    assert set(shown) == {title, "d01", valid, "wind10: 12 to 85 kn", "run-1"}
    assert shown[valid].y1 < shown[title].y0
