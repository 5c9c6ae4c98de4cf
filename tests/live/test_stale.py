"""Attempts of the model that resume from each other's checkpoints, as the page shows them."""

from __future__ import annotations

import pytest
from made_run import MadeRun
from playwright.sync_api import expect

from burstlens.core.valid_time import elapsed_key

HOSTILE = "<img src=x onerror='window.hurt=1'>"
FORKED = [
    {"attempt": 1, "end": elapsed_key(3.0), "job_id": "4711", "outcome": "failed"},
    {"attempt": 2, "begin": elapsed_key(3.0), "job_id": HOSTILE},
]
WHY = "computed by attempt 1 before the run resumed from t = 3 s; attempt 2 has not replaced it yet"
BANDS = [
    "attempt 1, job 4711, from the beginning to t = 3 s, ended: failed",
    f"attempt 2, job {HOSTILE}, from t = 3 s",
]


@pytest.fixture
def forked(eight, ways_to, page):
    """A run with eight frames of its first attempt, whose second one has resumed from the fourth;
    its page is open."""
    eight.update_status(segments=FORKED)
    page.goto(ways_to(eight.run.path.parent).file("made"))
    return eight


def sees(page, number, state=""):
    """Wait until frame ``number`` of eight is drawn, dimmed where it is stale."""
    but = f", {state}" if state else ""
    words = f"t = {number} s, frame {number + 1} of 8{but}"
    slider = page.get_by_role("slider", name="Valid time")
    expect(slider).to_have_attribute("aria-valuetext", words)
    drawn = page.locator("canvas.first")
    expect(drawn).to_have_attribute("aria-label", f"t2, t = {number} s{but}")
    expect(drawn).to_have_attribute("data-stale", "true" if state else "false")
    dimmed = drawn.evaluate("canvas => getComputedStyle(canvas).filter !== 'none'")
    assert dimmed == bool(state)


def test_a_stale_picture_is_dimmed_until_that_of_the_owner_is_published(forked, page, greys):
    sees(page, 3)  # the newest that is not stale
    expect(page.locator(".pane .why-stale")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    sees(page, 4, "stale")
    expect(page.locator(".pane .why-stale")).to_have_text(f"Stale: {WHY}")
    shaded = page.get_by_role("img", name="Range").and_(page.get_by_label("shaded: stale"))
    expect(shaded).to_be_visible()
    forked.publish(4, greys[0], attempt=2)
    forked.feed.write(force=True)
    sees(page, 4)
    expect(page.locator(".pane .caveat")).to_have_text("")
    expect(page.locator(".pane .why-stale")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    sees(page, 5, "stale")
    for number in (5, 6, 7):
        forked.publish(number, greys[0], attempt=2)
    forked.feed.write(force=True)
    sees(page, 5)
    expect(shaded).to_be_hidden()


def test_a_picture_that_is_seen_is_dimmed_as_soon_as_the_run_goes_on_from_before_it(
    eight, ways_to, page
):
    page.goto(ways_to(eight.run.path.parent).file("made"))
    sees(page, 7)
    page.keyboard.press("ArrowLeft")
    sees(page, 6)
    expect(page.locator(".bands g")).to_have_count(0)
    eight.update_status(segments=FORKED)
    sees(page, 6, "stale")
    page.keyboard.press("l")
    sees(page, 3)
    eight.update_status(segments=[{"attempt": 2}])  # it begins afresh
    page.keyboard.press("Home")
    sees(page, 0, "stale")
    expect(page.locator(".pane .why-stale")).to_contain_text("before the run began again")


def test_playing_shows_stale_pictures_and_ends_at_the_newest_that_counts(forked, page):
    sees(page, 3)
    page.get_by_label("Speed of playing").select_option("5")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    page.locator("canvas.first[data-stale='true']").wait_for()
    sees(page, 3)
    expect(page.get_by_role("button", name="Newest")).to_have_attribute("aria-pressed", "true")


def test_each_segment_is_a_band_with_its_words(forked, page):
    sees(page, 3)
    assert page.locator(".bands title").all_text_contents() == BANDS
    attempts = page.get_by_role("list", name="Attempts of the model")
    assert attempts.get_by_role("listitem").all_text_contents() == BANDS
    assert page.evaluate("window.hurt") is None
    separator, first, second = (
        page.locator(f".bands {one}").bounding_box()
        for one in ("path", "g:first-child rect", "g:last-child rect")
    )
    assert first["x"] + first["width"] == pytest.approx(second["x"], abs=1)
    assert separator["x"] == pytest.approx(second["x"], abs=1)
    assert first["width"] == pytest.approx(second["width"] * 3 / 4, rel=0.05)
    # A band whose name has no room is still there.
    names = page.locator(".bands text")
    assert names.all_text_contents() == ["attempt 1", "attempt 2"]
    page.set_viewport_size({"width": 150, "height": 800})
    expect(names.first).to_have_text("1")


def test_a_run_in_one_piece_and_one_that_began_afresh_have_no_bands(eight, ways_to, page):
    url = ways_to(eight.run.path.parent).file("made")
    heights = []
    for segments in ({}, {"segments": [{"attempt": 2}]}, {"segments": FORKED}):
        eight.update_status(**segments)
        page.goto(url)
        page.locator("canvas.first[data-stale]").wait_for()
        heights.append(page.locator(".timeline svg").get_attribute("height"))
        several = len(segments.get("segments", [])) > 1
        expect(page.locator(".bands g")).to_have_count(2 if several else 0)
        assert page.get_by_role("list", name="Attempts of the model").is_visible() == several
    assert heights[0] == heights[1] < heights[2]


def test_both_runs_of_a_comparison_are_dimmed_for_themselves(forked, tmp_path, page, greys):
    other = MadeRun(tmp_path / "runs", "other")
    for number in range(8):
        other.publish(number, greys[number])
    other.feed.write(force=True)
    other.update_status(segments=[*FORKED[:1], {"attempt": 5, "begin": elapsed_key(3.0)}])
    forked.publish(5, greys[0], attempt=2)
    forked.feed.write(force=True)
    sees(page, 5)
    name = page.get_by_label("Compare with run")
    name.fill("other")
    name.press("Enter")
    first, second = page.locator("canvas.first"), page.locator("canvas.second")
    expect(second).to_have_attribute("data-stale", "true")
    expect(first).to_have_attribute("data-stale", "false")
    words = WHY.replace("attempt 2", "attempt 5")
    expect(page.locator(".pane .why-stale")).to_have_text(f"Stale in other: {words}")
    expect(second).to_have_attribute("aria-label", "other, t2, t = 5 s, stale")
    page.keyboard.press("ArrowRight")
    expect(first).to_have_attribute("data-stale", "true")
    expect(page.locator(".pane .why-stale")).to_have_text(f"Stale: {WHY}. Stale in other: {words}")


@pytest.mark.parametrize("width", [1440, 700, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_words_are_whole_and_overlap_nothing(eight, ways_to, new_page, width, theme):
    eight.update_status(segments=FORKED)
    page = new_page(viewport={"width": width, "height": 900}, color_scheme=theme).page
    page.goto(ways_to(eight.run.path.parent).file("made"))
    sees(page, 3)
    page.keyboard.press("ArrowRight")
    sees(page, 4, "stale")
    boxes = page.locator(".pane").evaluate(
        """pane => [...pane.querySelectorAll('header > *, .glass')]
          .map((one) => one.getBoundingClientRect())
          .filter(({ width, height }) => width && height)
          .map(({ left, top, right, bottom }) => [left, top, right, bottom])"""
    )
    why = page.locator(".pane .why-stale")
    assert why.evaluate("one => one.scrollWidth <= one.clientWidth || !one.clientWidth")
    box = why.bounding_box()
    left, top, right, bottom = box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]
    assert 0 <= left < right <= width
    apart = [
        one[0] >= right or one[2] <= left or one[1] >= bottom or one[3] <= top for one in boxes
    ]
    assert apart.count(False) == 1  # itself
