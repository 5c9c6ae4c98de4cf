"""Two runs compared at the same valid time, in a real browser."""

from __future__ import annotations

import io
import time

import pytest
from PIL import Image
from playwright.sync_api import expect

DARK, BRIGHT = 20, 220


def row(page):
    """Brightness along the middle of the picture, left to right, as it is seen."""
    box = page.locator(".glass").bounding_box()
    seen = Image.open(io.BytesIO(page.screenshot())).convert("L")
    y = box["y"] + box["height"] * 0.45
    # The pictures are a little narrower than the pane.
    return [seen.getpixel((box["x"] + box["width"] * share, y)) for share in (0.3, 0.4, 0.6, 0.7)]


def settles(page, wanted):
    """Whether the picture comes to look as wanted."""
    end = time.monotonic() + 60
    while row(page) != wanted:
        if time.monotonic() > end:
            return False
        page.wait_for_timeout(50)
    return True


@pytest.fixture
def two(made, greys, ways_to, page, request):
    """A page of the dark run ``made``, compared with the bright run ``other``."""
    for name, grey in (("made", greys[0]), ("other", greys[-1])):
        run = made(name, title=name)
        run.publish(0, grey)
        run.feed.write(force=True)
        run.update_status(state="done")
    page.goto(getattr(ways_to(run.run.path.parent), request.param)("made"))
    page.get_by_label("Compare with run").fill("other")
    page.keyboard.press("Enter")
    expect(page.locator(".theirs")).to_have_text("other")
    return page


@pytest.mark.parametrize("two", ["file", "serve"], indirect=True)
def test_the_split_shows_one_run_on_each_side_and_moves_by_keys(two):
    assert settles(two, [DARK, DARK, BRIGHT, BRIGHT])
    two.get_by_role("slider", name="Where the two runs meet").focus()
    for _ in range(8):
        two.keyboard.press("ArrowRight")
    assert settles(two, [DARK, DARK, DARK, BRIGHT])


@pytest.mark.parametrize("width", [320, 390, 500])
@pytest.mark.parametrize("two", ["file"], indirect=True)
def test_a_phone_has_every_control_of_a_comparison(two, width):
    two.set_viewport_size({"width": width, "height": 844})
    two.get_by_label("How to compare").select_option("side")
    for control in (two.get_by_label("Compare with run"), two.get_by_label("How to compare"),
                    two.get_by_role("button", name="End"),
                    two.get_by_role("button", name="Newest")):  # fmt: skip
        box = control.bounding_box()
        assert 40 < box["width"] < width
        assert 0 <= box["x"] <= width - box["width"]
    two.get_by_role("button", name="End").click()
    expect(two.get_by_label("How to compare")).to_be_hidden()


@pytest.mark.parametrize("two", ["file"], indirect=True)
def test_pictures_without_values_have_no_difference_and_say_so(two):
    two.get_by_label("How to compare").select_option("difference")
    expect(two.locator(".word")).to_contain_text("both pictures need values")
    expect(two.locator("canvas.first")).to_be_hidden()


@pytest.mark.parametrize("two", ["file"], indirect=True)
def test_blinking_shows_one_and_then_the_other(two):
    two.get_by_label("How to compare").select_option("blink")
    assert settles(two, [DARK] * 4)
    assert settles(two, [BRIGHT] * 4)
    assert settles(two, [DARK] * 4)


@pytest.mark.parametrize("two", ["file"], indirect=True)
def test_a_run_that_does_not_exist_is_reported(two, watched):
    two.get_by_label("Compare with run").fill("nowhere")
    two.keyboard.press("Enter")
    expect(two.locator(".comparer")).to_contain_text("Run nowhere cannot be read")
    two.get_by_role("button", name="End").click()
    expect(two.locator(".second")).to_be_hidden()
    assert all("ERR_FILE_NOT_FOUND" in text for text in watched.errors)
    watched.errors.clear()


@pytest.mark.parametrize("two", ["serve"], indirect=True)
def test_the_unique_start_of_a_runs_name_is_enough_and_an_unknown_name_is_reported(two):
    name = two.get_by_label("Compare with run")
    name.fill("nowhere")
    two.keyboard.press("Enter")
    expect(two.locator(".comparer")).to_contain_text("There is no run nowhere")
    expect(two.locator(".glass")).to_have_attribute("data-mode", "off")
    name.fill("oth")
    two.keyboard.press("Enter")
    expect(name).to_have_value("other")
    expect(two.locator(".theirs")).to_have_text("other")
    expect(two.get_by_role("slider", name="Valid time")).to_be_focused()


def test_a_picture_without_its_counterpart_is_not_shown_as_a_difference(made, greys, ways_to, page):
    for name, count in (("made", 2), ("other", 1)):
        run = made(name, title=name)
        for number in range(count):
            run.publish(number, greys[0])
        run.feed.write(force=True)
        run.update_status(state="done")
    page.goto(ways_to(run.run.path.parent).file("made"))
    page.get_by_label("Compare with run").fill("other")
    page.keyboard.press("Enter")
    glass, word = page.locator(".glass"), page.locator(".word")
    expect(word).to_have_text("No picture of other at this time")
    expect(glass).to_have_attribute("data-mode", "off")
    page.get_by_label("How to compare").select_option("difference")
    expect(glass).to_have_attribute("data-mode", "without")
    expect(page.locator("canvas.first")).to_be_hidden()
    page.locator(".timeline").focus()
    page.keyboard.press("Home")
    expect(glass).to_have_attribute("data-mode", "without")
    expect(word).to_contain_text("both pictures need values")


@pytest.mark.parametrize("two", ["serve"], indirect=True)
def test_the_server_lists_the_other_runs(two):
    name = two.get_by_label("Compare with run")
    name.blur()
    name.focus()
    offered = two.locator("datalist option")
    expect(offered).to_have_count(1)
    expect(offered).to_have_attribute("value", "other")
