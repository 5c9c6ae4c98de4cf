"""Ten thousand frames in a real browser."""

from __future__ import annotations

import pytest
from made_run import MadeRun, pictures
from playwright.sync_api import expect
from scrubbing import scrub

FRAMES = 10_000
SCRUB_S = 3.0
RATE = 30
BUSY = 3
"""How many times slower a machine that does other things may be."""


@pytest.fixture(scope="module")
def long_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    greys = pictures(folder / "greys", 8)
    run = MadeRun(folder / "runs", title="Long")
    for number in range(FRAMES):
        run.publish(number, greys[number % len(greys)])
    run.feed.write(force=True)
    run.tell(frames={"ready": FRAMES, "damaged": 0})
    return run


def test_ten_thousand_frames_are_scrubbed_smoothly(long_run, ways_to, page, await_frame):
    page.goto(ways_to(long_run.run.path.parent).serve("made"))
    await_frame(page, FRAMES - 1, FRAMES)
    rates = scrub(page, SCRUB_S)
    print(rates)
    assert rates["refreshes"] > RATE / BUSY
    assert rates["pictures"] > RATE / BUSY
    # What is on the page does not grow with the frames.
    nodes = "() => document.querySelector('.burstlens').shadowRoot.querySelectorAll('*').length"
    assert page.evaluate(nodes) < 500
    page.keyboard.press("Home")
    await_frame(page, 0, FRAMES)


def test_ten_thousand_frames_are_read_without_a_server(long_run, ways_to, page, await_frame):
    page.goto(ways_to(long_run.run.path.parent).file("made"))
    await_frame(page, FRAMES - 1, FRAMES)
    expect(page.get_by_text("10000 of 10000")).to_be_visible()


def test_over_a_slow_line_the_first_frames_are_seen_before_the_last_are_known(
    long_run, ways_to, page
):
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    slow = {"offline": False, "latency": 50, "downloadThroughput": 400e3, "uploadThroughput": 400e3}
    network.send("Network.emulateNetworkConditions", slow)
    page.goto(ways_to(long_run.run.path.parent).serve("made"))
    shown = page.locator(".count")
    expect(shown).to_contain_text(" of ")
    assert 0 < int(shown.inner_text().partition(" of ")[2]) < FRAMES
    expect(shown).to_have_text(f"{FRAMES} of {FRAMES}", timeout=60_000)
