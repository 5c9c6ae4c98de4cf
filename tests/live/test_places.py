"""Kept places on the page, in a real browser: their series where frames do not hold them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from valued_run import ground, publish


@pytest.mark.parametrize("way", ["file", "serve"])
def test_frames_that_do_not_hold_a_place_are_a_gap_of_its_line(
    made, tmp_path, new_page, ways_to, way
):
    run = made()
    for number in range(7):
        path = ground(tmp_path / f"{number}.nc", float(number), 5000.0 if number == 3 else 0.0)
        publish(run, "map", "ground", path, f"t0000000{number}.000", variable="vx")
    page = new_page().page
    page.goto(f"{getattr(ways_to(tmp_path / 'runs'), way)('made')}#pins=x4010;3040")
    figure = page.get_by_label("Kept places").locator("figure")
    expect(figure.locator("figcaption")).to_have_text("ground m s\u207b\u00b9")
    two = re.compile(r"^M[^M]+L[^M]+M[^M]+L[^M]+$")
    expect(figure.locator(".curve[d^=M]")).to_have_attribute("d", two)
