"""The cursor on the page, in a real browser: in several panes, over two runs' pictures, by keys."""

from __future__ import annotations

import io
import re

import pytest
from PIL import Image
from playwright.sync_api import expect
from pointing import FRAME, at_plane, hover, readout
from valued_run import ground, publish

KEY = "t00000001.000"
PIN = (0, 128, 200)
"""The colour of the first kept place."""


@pytest.fixture
def two(made, tmp_path, opened):
    """Opens the page of a run that is over, compared with one whose map begins 3 km further on;
    returns it and the facts of the other map."""
    for name, west in (("made", 0.0), ("other", 3000.0)):
        run = made(name, title=name)
        path = ground(tmp_path / f"{name}.nc", 1.0, west)
        for product in ("a", "b"):
            line = publish(run, "map", product, path, KEY, variable="vx")
        run.update_status(state="done")

    def open_(fragment):
        page = opened().page
        page.goto(f"{page.url.partition('#')[0]}#{fragment}")
        expect(page.locator("canvas.second").first).to_be_attached()
        return page, line["facts"]

    return open_


@pytest.mark.parametrize("panes", ["show=a/d01,b/d01", "show=a/d01&beside=other"])
def test_all_panes_show_the_place_under_a_pointer_that_rests(two, panes):
    page, _ = two(panes)
    expect(page.locator(".pane")).to_have_count(2)
    for across in (0.7, 0.75, 0.6) if "beside" not in panes else (0.3, 0.35, 0.25):
        found = hover(page, across, 0.5, 1)
        page.evaluate(FRAME)
        assert readout(page, 0)["x"] == found["x"]


@pytest.mark.parametrize("mode", ["split", "blink"])
def test_over_the_other_run_s_picture_its_own_places_are_read(two, mode):
    page, facts = two(f"show=a/d01&with=other,{mode}")
    expect(page.locator(".theirs")).to_have_text("other")
    hover(page, 0.4, 0.5)
    expect(page.locator(".theirs")).to_have_text("other")
    at_plane(page, facts, 8000.0, 2500.0)
    said = page.locator(".readout")
    expect(said).to_have_text(re.compile(r"^other: .* · {2}x (8|7\.99\d*|8\.0\d*) km, y 2\.\d+ km"))


def test_a_click_on_the_second_picture_keeps_its_place(two):
    page, _ = two("show=a/d01&with=other,side&zoom=4,0.3,0.5")
    expect(page.locator(".theirs")).to_have_text("other")
    hover(page, 0.8, 0.5)
    said = page.locator(".readout")
    expect(said).to_have_text(re.compile("other: "))
    place = re.search(r"x [\d.]+ k?m, y [\d.]+ k?m", said.inner_text())[0]
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(2, 2)  # as a finger that is lifted
    expect(page.locator(".places li")).to_contain_text(place)


def test_marks_lie_over_the_picture_that_holds_their_place(two):
    page, _ = two("show=a/d01&with=other,side&zoom=4,0.1,0.5&pins=x3200;2500")
    glass = page.locator(".glass").bounding_box()
    expect(page.locator(".flag:not([hidden])")).to_have_count(1)
    page.mouse.move(2, 2)
    page.evaluate(FRAME)
    with Image.open(io.BytesIO(page.screenshot(clip=glass))) as shot:
        image = shot.convert("RGB")
    spots = [
        (x, y)
        for x in range(image.width)
        for y in range(image.height)
        if image.getpixel((x, y)) == PIN
    ]
    (left, *_, right), low = sorted(x for x, _ in spots), max(y for _, y in spots)
    assert right - left < 40
    page.mouse.move(glass["x"] + left + 4, glass["y"] + low - 4)
    expect(page.locator(".readout")).to_have_text(re.compile(r"other: .* · {2}x 3\.[12]\d* km"))


def test_a_line_that_is_drawn_is_one_step_back_and_ends_with_the_button(two):
    page, _ = two("show=a/d01")
    words = page.get_by_role("region", name="Profile").locator("p")
    hover(page, 0.35, 0.4)
    steps = page.evaluate("history.length")
    page.keyboard.down("Shift")
    page.mouse.down()
    for across in (0.4, 0.5, 0.6):
        hover(page, across, 0.5)
    page.mouse.move(2, 2)
    page.evaluate(FRAME)
    assert page.evaluate("history.length") == steps
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_function("() => location.hash.includes('profile=')")
    assert page.evaluate("history.length") == steps + 1
    line = words.inner_text()
    hover(page, 0.5, 0.6)
    page.evaluate(FRAME)
    expect(words).to_have_text(line)
    page.go_back()
    expect(words).to_be_hidden()


def test_keys_alone_move_the_cursor_and_keep_a_place(two):
    page, _ = two("show=a/d01")
    page.get_by_role("link", name="Open").focus()
    page.keyboard.press("Tab")
    picture = page.get_by_role("group", name="Alt and the arrows move the cursor")
    expect(picture).to_be_focused()
    said = page.locator(".readout")
    page.keyboard.press("Alt+ArrowRight")
    expect(said).to_contain_text("x ")
    first = float(readout(page)["x"])
    page.keyboard.press("Shift+Alt+ArrowLeft")
    page.evaluate(FRAME)
    assert float(readout(page)["x"]) < first - 300
    page.keyboard.press("Enter")
    expect(page.locator(".places li")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Alt ← → ↑ ↓")
    page.keyboard.press("Escape")
    hover(page, 0.5, 0.5)
    page.mouse.down()
    page.mouse.up()
    expect(picture).to_be_focused()


def test_a_picture_without_values_is_no_stop_of_the_keyboard(eight, opened):
    expect(opened().page.locator(".glass")).to_have_attribute("tabindex", "-1")


def test_each_view_has_its_own_profile_which_stays_while_values_are_loaded(eight_maps, opened):
    page = opened().page
    page.goto(f"{page.url}#show=t/d01@20010203T020000,t/d01&profile=45;-100_45;-92")
    captions = page.get_by_role("region", name="Profile").locator("figcaption")
    held = "t K · 2001-02-03 02:00:00 UTC"
    expect(captions).to_have_text([held, "t K"])
    captions.last.evaluate("one => { one.kept = true; }")
    line = page.get_by_role("region", name="Profile").locator(".curve").last
    before = line.get_attribute("d")
    page.keyboard.press("Home")
    expect(line).not_to_have_attribute("d", before)
    assert captions.last.evaluate("one => one.kept")
    page.get_by_role("button", name="Remove this view").last.click()
    expect(captions).to_have_text([held])


def test_a_finger_that_taps_leaves_the_value_that_it_has_tapped(eight_maps, opened):
    page = opened().page
    box = page.locator(".glass").first.bounding_box()
    at = {"clientX": box["x"] + box["width"] * 0.45, "clientY": box["y"] + box["height"] * 0.5}
    touch = at | {"pointerType": "touch", "pointerId": 7, "button": 0, "isPrimary": True}
    for kind in ("pointerdown", "pointerup", "pointerout", "pointerleave"):
        page.locator(".glass").first.dispatch_event(kind, touch)
    expect(page.locator(".readout").first).to_contain_text("grid point")
    page.wait_for_timeout(600)
    expect(page.locator(".readout").first).to_contain_text("grid point")
