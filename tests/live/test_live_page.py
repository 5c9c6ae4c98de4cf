"""The page in a real browser: all ways to open it, its keys, its pictures, its times."""

from __future__ import annotations

import io
import json
import time

import pytest
from PIL import Image
from playwright.sync_api import expect

FOCUSED = """() => {
  const one = document.activeElement.shadowRoot?.activeElement;
  return one && (one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent).trim();
}"""
IS_WHOLE = """(one) => {
  const text = document.createRange();
  text.selectNodeContents(one);
  return text.getBoundingClientRect().width <= one.getBoundingClientRect().width;
}"""
GROUND = """() => {
  const live = document.querySelector(".burstlens").shadowRoot.querySelector(".live");
  return getComputedStyle(live).backgroundColor;
}"""


def grey(page):
    """The brightness in the middle of the picture, as it is seen."""
    seen = Image.open(io.BytesIO(page.locator("canvas.first").screenshot())).convert("L")
    return seen.getpixel((seen.width // 2, seen.height // 2))


@pytest.mark.parametrize("way", ["file", "plain", "serve"])
def test_a_run_is_seen_whichever_way_the_page_is_opened(way, eight, ways, page, greys, await_frame):
    page.goto(getattr(ways, way)("made"))
    await_frame(page, 7)
    expect(page.get_by_role("heading", level=1)).to_have_text("Eight")
    eight.publish(8, greys[0])
    eight.feed.write(force=True)
    await_frame(page, 8, 9)


def test_the_drawn_picture_is_that_of_the_time_that_is_shown(eight, ways, page, await_frame):
    page.goto(ways.serve("made"))
    await_frame(page, 7)
    assert grey(page) == 220
    page.keyboard.press("Home")
    await_frame(page, 0)
    assert grey(page) == 20


def test_keys_reach_every_time(eight, ways, page, await_frame):
    page.goto(ways.file("made"))
    await_frame(page, 7)
    for key, number in [("ArrowLeft", 6), ("ArrowLeft", 5), ("ArrowRight", 6), ("Home", 0)]:
        page.keyboard.press(key)
        await_frame(page, number)
    page.keyboard.press("Space")
    await_frame(page, 7)
    page.keyboard.press("ArrowLeft")
    newest = page.get_by_role("button", name="Newest")
    expect(newest).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("End")
    expect(newest).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_after_a_step_back_the_time_stays_while_new_frames_arrive(
    eight, ways, page, greys, await_frame
):
    page.goto(ways.serve("made"))
    await_frame(page, 7)
    page.keyboard.press("ArrowLeft")
    await_frame(page, 6)
    eight.publish(8, greys[0])
    await_frame(page, 6, 9)


def test_every_control_is_reached_by_tab_and_has_a_name(eight, ways, page, await_frame):
    page.goto(ways.file("made"))
    await_frame(page, 7)
    met = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        met.add(page.evaluate(FOCUSED))
    wanted = {"Stop…", "Light or dark", "Hold", "Open", "One back (←)", "Newest"}
    assert wanted | {"Valid time", "Compare with run", "Speed of playing"} <= met
    assert "" not in met


def test_a_torn_line_waits_for_its_end(eight, ways, page, greys, await_frame):
    page.goto(ways.serve("made"))
    await_frame(page, 7)
    line = (json.dumps(eight.line(8, greys[1])) + "\n").encode()
    (eight.run.products / "t2" / "t2_d01_t00000008.000.png").hardlink_to(greys[1])
    with eight.run.index.open("ab", buffering=0) as index:
        index.write(line[:40])
        page.wait_for_timeout(1200)
        await_frame(page, 7)
        index.write(line[40:])
    await_frame(page, 8, 9)


def test_an_index_that_was_rewritten_is_read_again(eight, ways, watched, await_frame):
    watched.page.goto(ways.serve("made"))
    await_frame(watched.page, 7)
    lines = eight.run.index.read_text().splitlines(keepends=True)
    eight.run.index.write_text("".join(lines[:3]))
    await_frame(watched.page, 2, 3)
    assert all("416" in text for text in watched.errors)
    watched.errors.clear()


def test_a_picture_that_is_published_again_replaces_the_former_one(
    eight, ways, page, greys, await_frame
):
    page.goto(ways.serve("made"))
    await_frame(page, 7)
    eight.publish(7, greys[3])
    end = time.monotonic() + 60
    while grey(page) == 220:
        assert time.monotonic() < end
    assert grey(page) == 20 + 200 * 3 // 7


def test_a_picture_with_other_colours_than_the_newest_says_so_until_it_is_made_again(
    eight, ways, page, greys
):
    eight.publish(0, greys[0], limits=[-1, 1])
    eight.publish(7, greys[7], limits=[-5, 5])
    eight.feed.write(force=True)
    page.goto(ways.file("made"))
    expect(page.locator(".range")).to_have_text("270 to 307 K")
    page.keyboard.press("Home")
    shown = "270 to 300 K; colours −1 to 1 (newest picture: −5 to 5)"
    expect(page.locator(".range")).to_have_text(shown)
    eight.publish(0, greys[1], limits=[-5, 5])
    eight.feed.write(force=True)
    expect(page.locator(".range")).to_have_text("270 to 300 K")


def test_a_missing_picture_is_reported_and_loading_is_retried(
    eight, ways, watched, greys, await_frame
):
    place = eight.publish(8, greys[2])
    place.unlink()
    watched.page.goto(ways.serve("made"))
    expect(watched.page.get_by_text("The picture cannot be loaded; trying again")).to_be_visible()
    place.hardlink_to(greys[2])
    await_frame(watched.page, 8, 9)
    assert all("404" in text for text in watched.errors)
    watched.errors.clear()


def test_a_hole_is_marked_and_named(eight, ways, page, greys):
    eight.publish(8, greys[2], placeholder=True, reason="the frame is damaged")
    page.goto(ways.serve("made"))
    label = "t2, t = 8 s, placeholder: the frame is damaged"
    expect(page.locator("canvas.first")).to_have_attribute("aria-label", label)
    assert page.locator(".timeline .holes").get_attribute("d").count("M") == 1
    assert page.locator(".timeline .frames").get_attribute("d").count("M") == 8


def test_magnifying_is_linked_between_pictures_and_undone(eight, ways, page, greys, await_frame):
    eight.publish(7, greys[0], product="u10")
    eight.feed.write(force=True)
    page.goto(ways.file("made"))
    await_frame(page, 7)
    both = page.locator("canvas.first")
    expect(both).to_have_count(2)
    before = [canvas.screenshot() for canvas in both.all()]
    for _ in range(6):
        page.keyboard.press("+")
    page.wait_for_timeout(200)
    assert all(canvas.screenshot() != old for canvas, old in zip(both.all(), before, strict=True))
    page.keyboard.press("0")
    page.wait_for_timeout(200)
    assert [canvas.screenshot() for canvas in both.all()] == before


def test_a_long_name_among_the_products_leaves_room_for_the_range(eight, ways, page, greys):
    eight.publish(7, greys[0], product="a_product_with_quite_a_long_name_of_its_own")
    eight.feed.write(force=True)
    page.goto(ways.file("made"))
    ranges = page.locator(".range")
    expect(ranges).to_have_count(2)
    expect(ranges.last).to_have_text("270 to 307 K")
    assert ranges.last.evaluate(IS_WHOLE)


@pytest.mark.parametrize(("suffix", "series"), [("vtr", "core.pvd"), ("vtkhdf", "core.vtkhdf")])
def test_a_series_for_paraview_is_offered_by_the_name_that_it_has(
    suffix, series, eight, ways, page, greys, tmp_path
):
    volume = tmp_path / f"volume.{suffix}"
    volume.write_bytes(greys[0].read_bytes())
    eight.publish(7, volume, product="core")
    eight.feed.write(force=True)
    page.goto(ways.file("made"))
    offered = page.get_by_role("link", name=series, exact=True)
    expect(offered).to_have_attribute("href", series)


def test_products_stand_in_the_recipes_order_and_can_be_added_until_all_are_shown(
    eight, ways, new_page, greys, await_frame
):
    for product in ("a_late_one", "u10"):
        eight.publish(7, greys[0], product=product)
    order = {
        name: {"kind": "map", "published": 1, "failed": 0} for name in ("u10", "t2", "a_late_one")
    }
    eight.update_status(products=order)
    page = new_page(viewport={"width": 1400, "height": 900}).page
    page.goto(ways.serve("made"))
    choices = page.get_by_role("combobox", name="Product")
    expect(choices).to_have_count(2)
    assert [choice.input_value() for choice in choices.all()] == ["u10 · d01", "t2 · d01"]
    add = page.get_by_role("button", name="Add view")
    add.click()
    expect(choices).to_have_count(3)
    expect(choices.last).to_have_value("a_late_one · d01")
    expect(add).to_be_disabled()
    expect(add).to_have_attribute("title", "All pictures are shown")


def test_a_long_title_is_whole_while_the_run_is_in_progress(eight, ways, new_page):
    progress = {"time": "t00000007.000", "fraction": 0.3, "eta_s": 146, "speed": 0.0913}
    title = "An earthquake crosses a basin"
    eight.update_status(
        title=title,
        run="a-run-with-a-long-name-20261121-095418-cc13",
        progress=progress,
        paused=False,
    )
    page = new_page(viewport={"width": 1400, "height": 900}).page
    page.goto(ways.serve("made"))
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(title)
    assert heading.evaluate(IS_WHOLE)


def test_the_text_about_a_stopped_run_wraps_on_a_phone(eight, ways, new_page):
    run = "a-run-with-a-long-name-20261121-095418-cc13-and-more"
    eight.update_status(state="stopped", outcome={"message": "stopped, as asked"})
    eight.run.path.rename(eight.run.path.with_name(run))
    page = new_page(viewport={"width": 420, "height": 850}).page
    page.goto(ways.serve(run))
    command = page.locator(".notice code")
    expect(command).to_have_text(f"burstlens resume {run}")
    box = command.bounding_box()
    assert box["x"] + box["width"] <= 420


def test_a_run_that_stops_can_only_be_stopped_sooner(eight, ways, page):
    eight.update_status(state="stopping", paused=False)
    page.goto(ways.serve("made", "--allow-stop"))
    expect(page.get_by_role("button", name="Pause pictures")).to_be_disabled()
    page.get_by_role("button", name="Stop…").click()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Stop now").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert eight.run.stop_requested() == "stop-now"


def test_the_pause_button_keeps_the_focus_and_the_same_key_resumes(eight, ways, page):
    eight.update_status(paused=False)
    page.goto(ways.serve("made", "--allow-stop"))
    page.get_by_role("button", name="Pause pictures").focus()
    for paused, offered in [(True, "Resume pictures"), (False, "Pause pictures")]:
        with page.expect_response("**/control"):
            page.keyboard.press("Enter")
        eight.update_status(paused=paused)
        expect(page.get_by_role("button", name=offered)).to_be_focused()
        assert eight.run.pause.exists() is paused


def test_a_phone_sees_the_picture_without_scrolling_sideways(eight, ways, new_page, await_frame):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True).page
    page.goto(ways.file("made"))
    await_frame(page, 7)
    width = page.evaluate("() => document.querySelector('.burstlens').scrollWidth")
    assert width <= 390
    box = page.locator("canvas.first").bounding_box()
    assert box["width"] > 340
    assert box["y"] + box["height"] < 844


def test_a_phone_on_its_side_has_room_for_a_whole_picture(eight, ways, new_page, await_frame):
    page = new_page(viewport={"width": 844, "height": 390}, has_touch=True).page
    page.goto(ways.file("made"))
    await_frame(page, 7)
    page.locator(".pane").evaluate("(pane) => pane.scrollIntoView()")
    picture = page.locator("canvas.first").bounding_box()
    times = page.locator("footer").bounding_box()
    assert picture["y"] >= 0
    assert picture["height"] > 200
    assert picture["y"] + picture["height"] <= times["y"]


def test_a_long_alarm_leaves_room_for_what_the_run_does(eight, ways, new_page, await_frame):
    eight.update_status(alarms=[{"t": 1.7e9 + 5, "text": "late " * 80}],
               products={"t2": {"kind": "map", "published": 8, "failed": 0}})  # fmt: skip
    page = new_page(viewport={"width": 1440, "height": 900}).page
    page.goto(ways.file("made"))
    await_frame(page, 7)
    sentence = page.get_by_text("8 frames, and every product of them is made.", exact=True)
    assert sentence.bounding_box()["height"] < 30
    page.set_viewport_size({"width": 390, "height": 844})
    picture = page.locator("canvas.first").bounding_box()
    assert picture["y"] + picture["height"] < 844 - page.locator("footer").bounding_box()["height"]


def test_dark_and_light_follow_the_system_until_the_button_says_otherwise(eight, ways, new_page):
    page = new_page(color_scheme="dark").page
    page.goto(ways.file("made"))
    assert page.evaluate(GROUND) == "rgb(18, 21, 24)"
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(GROUND) == "rgb(246, 247, 248)"
