"""Ten thousand frames in a real browser."""

from __future__ import annotations

import pytest
from made_run import MadeRun, pictures
from PIL import Image
from playwright.sync_api import expect
from scrubbing import scrub

FRAMES = 10_000
SCRUB_S = 3.0
HELD_BYTES = 256 * 2**20
"""Bytes of decoded pictures; a page may hold one more picture than fits: the one that it shows."""
NODES = "() => document.querySelector('.burstlens').shadowRoot.querySelectorAll('*').length"
COUNTED = """
  const decode = createImageBitmap;
  window.decoded = { now: 0, most: 0, ever: 0 };
  window.createImageBitmap = async (...words) => {
    const bitmap = await decode(...words);
    const bytes = 4 * bitmap.width * bitmap.height;
    const close = bitmap.close.bind(bitmap);
    bitmap.close = () => { decoded.now -= bytes; close(); };
    decoded.now += bytes;
    decoded.ever += bytes;
    decoded.most = Math.max(decoded.most, decoded.now);
    return bitmap;
  };
"""


@pytest.fixture(scope="module")
def long_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    greys = pictures(folder / "greys", 8)
    run = MadeRun(folder / "runs", title="Long")
    for number in range(FRAMES):
        run.publish(number, greys[number % len(greys)])
    run.feed.write(force=True, end=run.index.bytes)
    run.update_status(frames={"ready": FRAMES, "damaged": 0})
    return run


def test_only_the_frames_that_are_shown_are_loaded_of_ten_thousand(
    long_run, ways_to, page, await_frame
):
    """The rate is measured by ``python -m bench --only live``; target: 30 pictures per second."""
    loaded = []
    page.on("request", lambda request: loaded.append(request.url) if ".png" in request.url else 0)
    page.goto(ways_to(long_run.run.path.parent).serve("made"))
    await_frame(page, FRAMES - 1, FRAMES)
    assert len(loaded) < 10
    assert scrub(page, SCRUB_S)["pictures"] > 0
    assert 10 < len(loaded) < FRAMES / 4
    # The page does not grow with the number of frames.
    assert page.evaluate(NODES) < 500
    page.keyboard.press("Home")
    await_frame(page, 0, FRAMES)


def test_decoded_pictures_are_released_after_many_were_shown(
    made, ways_to, page, await_frame, tmp_path
):
    side, count = 3000, 11
    picture = tmp_path / "large.png"
    Image.new("L", (side, side), 90).save(picture)
    run = made()
    for number in range(count):
        run.publish(number, picture)
    page.add_init_script(COUNTED)
    page.goto(ways_to(run.run.path.parent).serve("made"))
    await_frame(page, count - 1, count)
    for number in reversed(range(count - 1)):
        page.keyboard.press("ArrowLeft")
        await_frame(page, number, count)
    decoded = page.evaluate("decoded")
    assert decoded["ever"] > HELD_BYTES + 4 * side**2
    assert 0 < decoded["most"] <= HELD_BYTES + 4 * side**2


def test_ten_thousand_frames_are_read_without_a_server(long_run, ways_to, page, await_frame):
    page.goto(ways_to(long_run.run.path.parent).file("made"))
    await_frame(page, FRAMES - 1, FRAMES)
    expect(page.get_by_text("10000 of 10000")).to_be_visible()


def test_over_a_slow_connection_the_first_frames_are_shown_before_the_final_ones_are_known(
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
