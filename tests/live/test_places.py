"""Kept places on the page, in a real browser: their series where frames do not hold them, how the
page asks for them, their list and their links."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect
from pointing import hover, pin, readout, series
from valued_run import ground, idealised, publish

from burstlens.core.run.index import values_path
from burstlens.viz.geometry.place import End

MANY = 1200
COUNTED = """
  const get = Map.prototype.get;
  window.looked = 0;
  Map.prototype.get = function (key) { looked += 1; return get.call(this, key); };
"""


@pytest.fixture
def lengthened(eight_maps):
    """Returns a function that gives a run of eight maps so many later frames, which share the
    picture and the values of the eighth."""
    run, _ = eight_maps

    def lengthen(count):
        line = json.loads(run.run.index.read_text().splitlines()[-1])
        for number in range(count):
            time = f"20010204T{number // 60:02d}{number % 60:02d}00"
            run.index.append(line | {"time": time})
            run.feed.add(line | {"time": time})
        run.feed.write(force=True)
        return run

    return lengthen


@pytest.fixture
def opened_at(new_page, ways_to, tmp_path):
    """Opens the page of a made run with kept places, in one of the ways."""

    def open_(pins, way="serve", prepare=lambda page: None):
        page = new_page().page
        prepare(page)
        page.goto(f"{getattr(ways_to(tmp_path / 'runs'), way)('made')}#pins={pins}")
        drawn = page.locator("canvas.first").first
        expect(drawn).not_to_have_attribute("aria-label", "Loading")
        return page

    return open_


def caption_of(page):
    """The heading of the first plot of kept places."""
    return page.locator("[aria-label='Kept places'] figcaption").first


def curves_of(page):
    """The curves of kept places that are drawn."""
    return page.locator("[aria-label='Kept places'] figure .curve[d^=M]")


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


def test_a_page_asks_for_few_series_at_once_and_keeps_connections_for_the_rest(
    lengthened, opened_at
):
    lengthened(4)
    asked = []

    def hold(route):
        asked.append(route)
        if len(asked) > 2:
            route.continue_()

    pins = "_".join(f"{44 + number / 4};-96.5" for number in range(6))
    page = opened_at(pins, prepare=lambda page: page.route("**/series?*", hold))
    expect(caption_of(page)).to_contain_text("0 of 12 frames")
    assert len(asked) == 2
    for route in asked[:2]:
        route.continue_()
    expect(caption_of(page)).to_have_text("t K")
    expect(curves_of(page)).to_have_count(6)


def test_values_that_were_away_are_read_once_they_are_back(lengthened, opened_at):
    run = lengthened(4)
    path = values_path(run.run.products / "t/t_d01_20010203T030000.png")
    away = path.rename(path.with_suffix(".away"))
    page = opened_at("45.1;-96.5", prepare=lambda page: page.clock.install())
    expect(caption_of(page)).to_contain_text("11 of 12 frames")
    expect(curves_of(page)).to_have_attribute("d", re.compile("^M.*M"))
    away.rename(path)
    page.clock.fast_forward(6000)
    expect(caption_of(page)).to_have_text("t K")
    expect(curves_of(page)).to_have_attribute("d", re.compile("^M[^M]*$"))


def test_a_draw_does_not_look_at_all_frames_of_kept_places(lengthened, opened_at):
    lengthened(MANY)
    page = opened_at("45.1;-96.5_45;-91", prepare=lambda page: page.add_init_script(COUNTED))
    expect(caption_of(page)).to_have_text("t K")
    hover(page, 0.5, 0.5)
    page.evaluate("looked = 0")
    hover(page, 0.51, 0.5)
    assert 0 < page.evaluate("looked") < MANY


def test_the_list_names_the_places_of_an_edited_link_and_removes_them(eight_maps, opened_at):
    page = opened_at("45.1;-96.5", "file")
    places = page.locator(".places li")
    expect(places).to_have_text("A45.100\u00b0 N 96.500\u00b0 W\u00d7")
    hover(page, 0.5, 0.5)  # values, and so units, are there
    page.evaluate("location.hash = '#pins=40;-90'")
    expect(places).to_have_text("A40.000\u00b0 N 90.000\u00b0 W\u00d7")
    page.get_by_label("Remove place A").click()
    expect(page.get_by_label("Kept places")).to_be_hidden()


def test_a_link_keeps_the_letters_of_places_and_keys_stay_in_their_list(eight_maps, opened_at):
    page = opened_at("45.1;-96.5_45;-91_44;-92", "file")
    page.get_by_label("Remove place A").press("Enter")
    expect(page.get_by_label("Remove place B")).to_be_focused()
    page.wait_for_function("() => location.hash.includes('pins=B')")
    pins = page.evaluate("new URLSearchParams(location.hash.slice(1)).get('pins')")
    assert pins == "B45;-91_C44;-92"
    other = opened_at(pins, "file")
    for one in (page, other):
        expect(one.locator(".places .pin")).to_have_text(["B", "C"])
        expect(one.locator(".flag")).to_have_text(["B", "C"])
    page.keyboard.press("Enter")
    page.get_by_label("Remove place C").press("Enter")
    expect(page.get_by_label("Kept places")).to_be_hidden()


def test_what_is_not_a_place_in_a_link_is_left_out(eight_maps, opened_at):
    page = opened_at("25.3;_;_45; _45;-9999999999_x;4_A45.1;263.5_A45;-91", "file")
    expect(page.locator(".places .pin")).to_have_text(["A", "B"])
    expect(page.locator(".places li").first).to_contain_text("45.100\u00b0 N 263.500\u00b0 E")
