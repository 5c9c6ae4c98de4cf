"""Links that restore a view: the fragment of the page's URL, in a real browser."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect


@pytest.fixture
def runs(made, greys, ways_to):
    """Three runs with the products ``t2`` and ``w``; returns the ways to them."""
    for name in ("made", "other", "third"):
        run = made(name, title=name.title())
        for number, grey in enumerate(greys):
            run.publish(number, grey)
            run.publish(number, grey, "w")
        run.feed.write(force=True)
        run.update_status(state="done", products={"t2": PRODUCT, "w": PRODUCT})
    return ways_to(run.run.path.parent)


PRODUCT = {"kind": "map", "published": 8, "failed": 0}


def fragment(page):
    return page.evaluate("decodeURIComponent(location.hash)")


def await_fragment(page, text):
    end = time.monotonic() + 60
    while fragment(page) != text:
        assert time.monotonic() < end, fragment(page)
        page.wait_for_timeout(50)


def products(page):
    return page.eval_on_selector_all(".pane header select", "all => all.map((one) => one.value)")


def await_products(page, wanted):
    held = page.locator(".pane header select")
    expect(held).to_have_count(len(wanted))
    for at, value in enumerate(wanted):
        expect(held.nth(at)).to_have_value(value)


@pytest.mark.parametrize("way", ["file", "plain", "serve"])
def test_a_link_opened_in_another_browser_shows_the_same_view(runs, new_page, way, await_frame):
    first = new_page().page
    url = getattr(runs, way)("made")
    first.goto(url)
    first.locator(".pane header select").first.select_option("w · d01")
    first.get_by_role("button", name="Remove this view").nth(1).click()
    first.get_by_label("Compare with run").fill("other")
    first.keyboard.press("Enter")
    first.get_by_label("How to compare").select_option("side")
    first.keyboard.press("Home")
    first.keyboard.press("ArrowRight")
    first.keyboard.press("+")
    first.keyboard.press("d")
    await_fragment(first, SAME)
    second = new_page().page
    second.goto(url + first.evaluate("location.hash"))
    await_products(second, ["w · d01"])
    expect(second.get_by_label("How to compare")).to_have_value("side")
    expect(second.locator(".theirs")).to_have_text("other")
    expect(second.locator("output.time")).to_have_text("t = 1 s")
    await_fragment(second, SAME)
    assert "token" not in second.url


SAME = "#show=w/d01&with=other,side&time=t00000001.000&zoom=1.25,0.58,0.5"


def test_back_goes_through_choices_and_not_through_times(runs, page):
    page.goto(runs.file("made"))
    await_products(page, ["t2 · d01", "w · d01"])
    assert fragment(page) == ""
    page.locator(".pane header select").nth(1).select_option("t2 · d01")
    await_fragment(page, "#show=t2/d01,t2/d01")
    page.locator(".timeline").focus()
    for key in ("Home", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    await_fragment(page, "#show=t2/d01,t2/d01&time=t00000002.000")
    page.get_by_role("button", name="Hold").first.click()
    await_fragment(page, "#show=t2/d01@t00000002.000,t2/d01&time=t00000002.000")
    page.go_back()
    expect(page.get_by_role("button", name="Hold").first).to_have_attribute("aria-pressed", "false")
    await_fragment(page, "#show=t2/d01,t2/d01&time=t00000002.000")
    page.go_back()
    await_products(page, ["t2 · d01", "w · d01"])
    page.go_forward()
    await_products(page, ["t2 · d01", "t2 · d01"])


@pytest.mark.parametrize(
    "hostile",
    [
        "show=<img src=x onerror=alert(1)>",
        "show=%25,%25%25@,,,@@@,%00",
        "show=w/d01,nothing/d01&time=%25E0%25A4%25A",
        "time=<script>&zoom=NaN,Infinity,1e999&with=..,split&beside=..,.,%2Fetc,a%2Fb,%5C",
        "with=%25&beside=%25ff&zoom=2&show=%25",
        "zoom=1e308,-1e308,1e308&__proto__=1&constructor=2&&&=&%",
        "time=zzzz&" + "x" * 9000,
    ],
)
def test_a_hostile_fragment_changes_nothing_and_breaks_nothing(runs, page, hostile):
    page.goto(f"{runs.file('made')}#{hostile}")
    expect(page.get_by_role("heading", name="Made")).to_be_visible()
    expect(page.locator(".count")).to_have_text("8 of 8")
    expect(page.locator("canvas.first").first).to_have_attribute("aria-label", LOADED)
    assert set(products(page)) <= {"t2 · d01", "w · d01"}
    assert page.locator(".guest").count() == 0
    assert page.locator("img").count() == 0


LOADED = re.compile("t = 7 s")


def test_a_time_between_frames_is_that_of_the_frame_before(runs, page):
    page.goto(f"{runs.file('made')}#time=t00000003.500")
    expect(page.locator("output.time")).to_have_text("t = 3 s")
    await_fragment(page, "#time=t00000003.000")


@pytest.mark.parametrize("way", ["file", "serve"])
def test_several_runs_stand_side_by_side_with_one_time(runs, page, way):
    page.goto(getattr(runs, way)("made") + "#beside=other,third&time=t00000002.000")
    expect(page.locator(".whose")).to_have_text(["made", "other · done", "third · done"])
    for at in range(3):
        canvas = page.locator("canvas.first").nth(at)
        expect(canvas).to_have_attribute("aria-label", "t2, t = 2 s")
    page.locator(".timeline").focus()
    page.keyboard.press("ArrowRight")
    for at in range(3):
        canvas = page.locator("canvas.first").nth(at)
        expect(canvas).to_have_attribute("aria-label", "t2, t = 3 s")
    page.locator(".pane header select").first.select_option("w · d01")
    expect(page.locator(".pane:nth-child(3) canvas.first")).to_have_attribute(
        "aria-label", "w, t = 3 s"
    )
    page.get_by_role("button", name="Remove this view").first.click()
    expect(page.locator(".whose")).to_have_text(["made", "third · done"])
    await_fragment(page, "#show=w/d01&beside=third&time=t00000003.000")


def test_a_compared_run_can_be_put_beside(runs, page):
    page.goto(runs.file("made"))
    page.get_by_label("Compare with run").fill("other")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Beside").click()
    expect(page.locator(".whose").nth(1)).to_have_text("other · done")
    assert "beside=other" in fragment(page)


def test_a_run_that_is_beside_and_cannot_be_read_hides_no_other(runs, page, watched):
    page.goto(runs.file("made") + "#beside=nowhere,third")
    expect(page.locator(".whose")).to_have_text(
        ["made", "nowhere · cannot be read", "third · done"]
    )
    expect(page.locator(".guest canvas.first").nth(1)).to_have_attribute("aria-label", LOADED)
    page.goto("about:blank")  # it would look for the run again
    assert all("ERR_FILE_NOT_FOUND" in text for text in watched.errors)
    watched.errors.clear()
