"""The live page: ten thousand frames scrubbed in Chromium, and played with kept places beside them;
what its feed costs the driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bench.pipeline import Scratch, burstlens, run
from bench.report import Figure, median, spread
from burstlens.clients.serving.access import Access
from burstlens.core.run.directory import RunDir
from burstlens.core.valid_time import calendar_key
from burstlens.viz.live.feed import CHUNK, FrameFeed
from burstlens.viz.live.page import page_text

if TYPE_CHECKING:
    from playwright.sync_api import Page

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / part) for part in ("", "live")]

RATE = 30.0
WRITES = 10
PAGE_BYTES = 320_000
OPENED_S = 1.0
KNOWN = (
    "count => document.querySelector('.burstlens').shadowRoot"
    ".querySelector('.timeline').ariaValueMax === count"
)
VIEW = {"width": 1440, "height": 900}
PLACES = "45.1;-96.5_45;-91_46;-97_44;-98"
PLAYED_S = 4.0
NUMBER = (
    "() => [performance.now(), document.querySelector('.burstlens').shadowRoot"
    ".querySelector('.timeline').ariaValueNow]"
)


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Real maps, each under many names, served by ``burstlens serve``."""
    from made_run import MadeRun

    frames = 200 if quick else 10_000
    ran = run(scratch, "maps", {"frames": 4 if quick else 16, "variables": 1, "period": 0.3})
    maps = sorted((ran.path / "products").glob("*/*.png"))
    made = MadeRun(scratch.runs, "long")
    for number in range(frames):
        made.publish(number, maps[number % len(maps)])
    made.feed.write(force=True, end=made.index.bytes)
    made.update_status(state="running", frames={"ready": frames, "damaged": 0})
    kilobytes = maps[-1].stat().st_size / 1000
    note = f"{frames} frames, maps of {kilobytes:.0f} kB, {VIEW['width']} x {VIEW['height']}"
    weight = len(page_text().encode())
    return [
        *_seen(scratch, 1.0 if quick else 5.0, note),
        *_opened(scratch, maps[0], quick=quick),
        _played(scratch, frames),
        Figure("page without pictures", weight, "B", PAGE_BYTES),
        *_feed(scratch, made.line(0, maps[0])),
    ]


@contextmanager
def served(scratch: Scratch) -> Iterator[tuple[Page, str, str]]:
    """A page of Chromium, the root of ``burstlens serve``, and the query with its token."""
    from browser import provide
    from playwright.sync_api import sync_playwright

    server = subprocess.Popen(
        burstlens("serve", str(scratch.runs), "--json"),
        env=scratch.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())
        sandbox = "--no-sandbox" if os.getuid() == 0 else "--no-first-run"
        folder = Access(address["token"], address["port"]).folder
        root = f"http://127.0.0.1:{address['port']}{folder}"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=provide(), args=[sandbox])
            yield browser.new_page(viewport=VIEW), root, f"?token={address['token']}"
            browser.close()
    finally:
        server.kill()
        server.wait()


def _played(scratch: Scratch, frames: int) -> Figure:
    """Two products with values, whose lines of the index share a picture, at four places."""
    from made_run import MadeRun
    from playwright.sync_api import expect
    from valued_run import lambert, publish

    made, case = MadeRun(scratch.runs, "places"), lambert(scratch.runs.parent)
    moments = [datetime(2001, 2, 3, tzinfo=UTC) + timedelta(minutes=at) for at in range(frames)]
    keys = [calendar_key(*at.timetuple()[:6]) for at in moments]
    for product in "tu":
        line = publish(made, "map", product, case.path, keys[0], variable="t", coast=False)
        for key in keys[1:]:
            made.index.append(line | {"time": key})
    made.update_status(state="done", frames={"ready": frames, "damaged": 0})
    with served(scratch) as (page, root, query):
        page.goto(f"{root}/places/products/index.html{query}#pins={PLACES}")
        captions = page.locator("[aria-label='Kept places'] figcaption")
        expect(captions).to_have_text(["t K", "u K"], timeout=120_000)
        page.locator("select[aria-label='Speed of playing']").select_option(str(int(RATE)))
        page.locator(".timeline").press("Home")
        page.get_by_label("Play (space)").click()
        page.wait_for_timeout(500)
        begin, first = page.evaluate(NUMBER)
        page.wait_for_timeout(1000 * PLAYED_S)
        end, last = page.evaluate(NUMBER)
    rate = 1000 * (int(last) - int(first)) / (end - begin)
    note = f"{frames} frames, {int(RATE)} asked for; {VIEW['width']} x {VIEW['height']}, no GPU"
    name = "pictures played beside 4 places of 2 products"
    return Figure(name, rate, "1/s", 0.95 * RATE, True, note)


def _seen(scratch: Scratch, scrub_s: float, note: str) -> list[Figure]:
    from scrubbing import scrub

    with served(scratch) as (page, root, query):
        begin = time.perf_counter()
        page.goto(f"{root}/long/products/index.html{query}")
        page.wait_for_selector("canvas.first[aria-label^='t2']")
        first_s = time.perf_counter() - begin
        rates = scrub(page, scrub_s)
    return [
        Figure("page opened to newest picture seen", first_s, "s", note=note),
        Figure("refreshes while scrubbing", rates["refreshes"], "1/s", RATE, True, note),
        Figure("other pictures while scrubbing", rates["pictures"], "1/s", RATE, True,
               "each refresh asks for another picture; software rendering, no GPU"),
    ]  # fmt: skip


def _opened(scratch: Scratch, picture: Path, *, quick: bool) -> list[Figure]:
    """A run of 100,000 frames, opened by turns with no page; only its last picture is asked for."""
    from made_run import MadeRun

    count = 3_000 if quick else 100_000
    made = MadeRun(scratch.runs, "huge")
    for number in range(count - 1):
        line = made.line(number, picture)
        made.index.append(line)
        made.feed.add(line)
        if number % (10 * CHUNK) == 0:
            made.feed.write(force=True)  # which frees its memory
    made.publish(count - 1, picture)
    made.feed.write(force=True, end=made.index.bytes)
    made.update_status(state="running", frames={"ready": count, "damaged": 0})
    newest, known = [], []
    with served(scratch) as (page, root, query):
        for _ in range(5):
            page.goto("about:blank")
            begin = time.perf_counter()
            page.goto(f"{root}/huge/products/index.html{query}", wait_until="commit")
            page.wait_for_selector(f"canvas.first[aria-label='t2, t = {count - 1} s']")
            newest.append(time.perf_counter() - begin)
            page.wait_for_function(KNOWN, arg=str(count), timeout=120_000)
            known.append(time.perf_counter() - begin)
    return [
        Figure(f"page of {count} frames opened to newest picture", median(newest), "s", OPENED_S,
               note=spread(newest, " s")),
        Figure("... to all frames known", median(known), "s", note=spread(known, " s")),
    ]  # fmt: skip


def _feed(scratch: Scratch, line: dict[str, object]) -> list[Figure]:
    """The most expensive case: a nearly full file of index lines is written every second."""
    fed = RunDir(scratch.runs / "fed")
    fed.create()
    feed = FrameFeed(fed)
    begin = time.process_time()
    for _ in range(CHUNK - WRITES):
        feed.add(line)
    add_s = (time.process_time() - begin) / (CHUNK - WRITES)
    writes = []
    for _ in range(WRITES):
        feed.add(line)
        begin = time.process_time()
        feed.write(force=True)
        writes.append(time.process_time() - begin)
    return [
        Figure("feed, driver's CPU per publication", 1e6 * add_s, "µs"),
        Figure("feed, driver's CPU per second at most", 1e3 * median(writes), "ms"),
    ]
