"""Kept places on the page, in a real browser: their series where frames do not hold them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from pointing import pin, readout, series
from valued_run import ground, idealised, publish

from burstlens.viz.geometry.place import End


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


@pytest.mark.parametrize("way", ["file", "serve"])
def test_a_place_in_a_section_is_none_of_the_map_off_the_earth(made, tmp_path, opened, way):
    run, path, key = made(), idealised(tmp_path).path, "00010101T000800"
    ends = End(x=1000.0, y=20000.0), End(x=80000.0, y=60000.0)
    publish(run, "map", "w", path, key, variable="W", level=10)
    publish(run, "section", "cut", path, key, variable="W", path=ends)
    page = opened(way).page
    page.goto(f"{page.url.partition('#')[0]}#show=w/d01,cut/d01")
    # In km and km of the section; as metres they lie in the first cell of the map.
    found = pin(page, 0.5, 0.5, 1)
    expect(page.locator(".readout").first).to_have_text(re.compile("^Point at the map"))
    expect(page.locator(".cross:not([hidden])")).to_have_count(1)
    expect(page.locator(".places li")).to_contain_text(re.compile("distance .* km, height .* km"))
    expect(page.locator(".flag:not([hidden])")).to_have_count(1)
    pin(page, 0.5, 0.5)
    expect(page.locator(".places li")).to_have_count(2)
    kept = readout(page)
    page.mouse.move(2, 2)
    page.goto("about:blank")
    page.go_back()
    expect(page.locator(".flag:not([hidden])")).to_have_count(2)
    shown = page.locator("[aria-label='Kept places'] figure .curve[d^=M]")
    expect(shown).to_have_count(2)
    assert series(page, "w")[key][0] == ""
    assert float(series(page, "w")[key][1]) == pytest.approx(float(kept["value"]), abs=0.01)
    assert series(page, "cut")[key][1] == ""
    assert float(series(page, "cut")[key][0]) == pytest.approx(float(found["value"]), abs=0.01)
