"""What is written along a section: places that differ, and clear of each other."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.picture import blank
from burstlens.viz.geometry.place import End
from burstlens.viz.kinds.section.axes import label_axes, section_axes, shown_range
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.kinds.section.read import read_sections

START = End(i=20, j=10)


@pytest.mark.parametrize(
    ("end", "size"),
    [
        (End(i=45, j=40), (900, 560)),
        (End(i=45, j=40), (600, 400)),
        (End(i=21.5, j=12.5), (900, 560)),
        (End(i=20.4, j=10.2), (900, 560)),
    ],
)
def test_places_below_a_section_differ_and_none_stands_on_another(
    cyclone: Path, end: End, size: tuple[int, int]
):
    with open_frame([cyclone]) as frame:
        sections = read_sections(SectionOptions("wind", START, end), frame)
    figure = blank(*size, 100)
    axes = section_axes(figure, sections.line.distance, shown_range(sections.vertical, None))
    label_axes(axes, sections)
    canvas: Any = figure.canvas
    canvas.draw()
    words = axes.get_xticklabels()
    places = [text.get_text().partition("\n")[2] for text in words]
    assert len(places) > 1
    assert len(set(places)) == len(places)
    boxes = [text.get_window_extent() for text in words]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert boxes[0].x0 > 0
