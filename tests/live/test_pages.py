"""The index of a long run in pages: the newest frames are there first, the others follow."""

from __future__ import annotations

import re

import pytest
from made_run import MadeRun, pictures
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

FRAMES = 3500
EARLY = re.compile(r"frames-000[0-2]\.js")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    greys = pictures(folder / "greys", 8)
    run = MadeRun(folder / "runs")
    for number in range(FRAMES):
        run.publish(number, greys[number % len(greys)])
    run.feed.write(force=True, end=run.index.bytes)
    run.update_status(frames={"ready": FRAMES, "damaged": 0})
    return run


@pytest.fixture(params=["serve", "file"])
def address(request, run, ways_to):
    return getattr(ways_to(run.run.path.parent), request.param)("made")


@pytest.fixture
def held(page):
    """Requests of earlier pages wait; a call lets them go."""
    waiting = []
    gone = []
    page.route(EARLY, lambda route: route.continue_() if gone else waiting.append(route))

    def let_go():
        gone.append(True)
        for route in waiting:
            route.continue_()

    return let_go


def test_the_newest_frames_are_shown_while_earlier_pages_are_read(address, page, held):
    page.goto(address, wait_until="commit")
    slider = page.get_by_role("slider", name="Valid time")
    newest = f"t = {FRAMES - 1} s, frame"
    expect(slider).to_have_attribute("aria-valuetext", f"{newest} 500 of 500")
    expect(page.locator("canvas.first").first).to_have_attribute(
        "aria-label", f"t2, t = {FRAMES - 1} s"
    )
    held()
    expect(slider).to_have_attribute("aria-valuetext", f"{newest} {FRAMES} of {FRAMES}")


def test_all_frames_are_known_in_the_end_and_their_order_is_that_of_time(
    address, page, await_frame
):
    page.goto(address)
    await_frame(page, FRAMES - 1, FRAMES)
    page.keyboard.press("Home")
    await_frame(page, 0, FRAMES)
    page.keyboard.press("ArrowRight")
    await_frame(page, 1, FRAMES)


def test_a_link_to_an_early_frame_waits_for_its_page(address, page, held, await_frame):
    page.goto(f"{address}#time=t00000100.000", wait_until="commit")
    expect(page.get_by_role("slider", name="Valid time")).to_have_attribute("aria-valuemax", "500")
    held()
    await_frame(page, 100, FRAMES)


def test_the_index_is_not_read_as_a_whole(run, ways_to, page, await_frame):
    read = []
    page.on(
        "request",
        lambda asked: (
            read.append(asked.headers.get("range")) if asked.url.endswith("index.jsonl") else None
        ),
    )
    page.goto(ways_to(run.run.path.parent).serve("made"))
    await_frame(page, FRAMES - 1, FRAMES)
    assert set(read) == {f"bytes={run.index.bytes - 1}-"}


def test_a_picture_that_was_made_again_stands_over_its_earlier_one(
    ways_to, page, await_frame, tmp_path
):
    greys = pictures(tmp_path / "greys", 2)
    run = MadeRun(tmp_path / "runs")
    for number in range(1500):
        run.publish(number, greys[0])
    run.publish(7, greys[1], max=999.0)
    run.feed.write(force=True, end=run.index.bytes)
    run.update_status(frames={"ready": 1500, "damaged": 0})
    page.goto(ways_to(run.run.path.parent).serve("made") + "#time=t00000007.000")
    await_frame(page, 7, 1500)
    expect(page.get_by_text("999")).to_be_visible()


def test_a_page_that_is_lost_is_left_out(address, watched):
    page = watched.page
    page.route(re.compile(r"frames-0001\.js"), lambda route: route.abort())
    page.goto(address)
    slider = page.get_by_role("slider", name="Valid time")
    left = FRAMES - 1000
    newest = f"t = {FRAMES - 1} s, frame {left} of {left}"
    expect(slider).to_have_attribute("aria-valuetext", newest, timeout=60_000)
    watched.errors.clear()  # the browser's, of the lost file
