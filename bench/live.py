"""The live page: ten thousand frames scrubbed in Chromium, and what its feed costs the driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.pipeline import Scratch, burstlens, run
from bench.report import Figure, median
from burstlens.clients.serving.access import Access
from burstlens.core.run.directory import RunDir
from burstlens.viz.live.feed import CHUNK, FrameFeed
from burstlens.viz.live.page import page_text

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / part) for part in ("", "live")]

RATE = 30.0
WRITES = 10
PAGE_BYTES = 250_000
VIEW = {"width": 1440, "height": 900}


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Real maps, each under many names, served by ``burstlens serve``."""
    from made_run import MadeRun

    frames = 200 if quick else 10_000
    ran = run(scratch, "maps", {"frames": 4 if quick else 16, "variables": 1, "period": 0.3})
    maps = sorted((ran.path / "products").glob("*/*.png"))
    made = MadeRun(scratch.runs, "long")
    for number in range(frames):
        made.publish(number, maps[number % len(maps)])
    made.update_status(state="running", frames={"ready": frames, "damaged": 0})
    kilobytes = maps[-1].stat().st_size / 1000
    note = f"{frames} frames, maps of {kilobytes:.0f} kB, {VIEW['width']} x {VIEW['height']}"
    weight = len(page_text().encode())
    return [
        *_seen(scratch, 1.0 if quick else 5.0, note),
        Figure("page without pictures", weight, "B", PAGE_BYTES),
        *_feed(scratch, made.line(0, maps[0])),
    ]


def _seen(scratch: Scratch, scrub_s: float, note: str) -> list[Figure]:
    from browser import provide
    from playwright.sync_api import sync_playwright
    from scrubbing import scrub

    server = subprocess.Popen(
        burstlens("serve", str(scratch.runs), "--json"),
        env=scratch.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())
        root = "--no-sandbox" if os.getuid() == 0 else "--no-first-run"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=provide(), args=[root])
            page = browser.new_page(viewport=VIEW)
            begin = time.perf_counter()
            folder = Access(address["token"], address["port"]).folder
            place = f"http://127.0.0.1:{address['port']}{folder}/long/products/index.html"
            page.goto(f"{place}?token={address['token']}")
            page.wait_for_selector("canvas.first[aria-label^='t2']")
            first_s = time.perf_counter() - begin
            rates = scrub(page, scrub_s)
            browser.close()
    finally:
        server.kill()
        server.wait()
    return [
        Figure("page opened to newest picture seen", first_s, "s", note=note),
        Figure("refreshes while scrubbing", rates["refreshes"], "1/s", RATE, True, note),
        Figure("other pictures while scrubbing", rates["pictures"], "1/s", RATE, True,
               "each refresh asks for another picture; software rendering, no GPU"),
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
