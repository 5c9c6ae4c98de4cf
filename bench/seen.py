"""Seen: from the close of a frame to its map painted on the live page that is open in Chromium."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from bench.latency import WARM_S
from bench.live import served
from bench.pipeline import Ran, Scratch, run
from bench.report import Figure, median, percentile
from burstlens.core import valid_time

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOST_S, LATE_S = 0.5, 1.0
PERIOD_S = 1.37
"""Between two frames: no multiple of the page's or the driver's periods."""
GIVE_UP_S = 60.0
FIRST = 2
"""Frames that are left out: the page opens meanwhile."""
WATCH = """() => {
  const root = document.querySelector(".burstlens").shadowRoot;
  const canvas = root.querySelector("canvas.first");
  window.painted = [];
  const note = () => window.painted.push([canvas.ariaLabel, Date.now() / 1000]);
  // The label changes as the canvas is drawn; the next refresh comes when that was on the screen.
  new MutationObserver(() => requestAnimationFrame(note))
    .observe(canvas, { attributeFilter: ["aria-label"] });
}"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Maps of 150 MB frames: the page served by ``burstlens serve``, and opened as a file."""
    figures = []
    for how in ("served", "file share"):
        frames, variables = (8, 1) if quick else (40, 10)
        waits, published = _run(scratch, how, frames, variables)
        note = f"{len(waits)} frames, one each {PERIOD_S} s; to published {median(published):.3f} s"
        name = f"{variables * 15} MB frame closed to map painted, page as {how}"
        figures += [
            Figure(f"{name}, p50", median(waits), "s", MOST_S, note=note),
            Figure(f"{name}, p95", percentile(waits, 0.95), "s", LATE_S,
                   note=f"{min(waits):.3f} to {max(waits):.3f} s; software rendering, no GPU"),
        ]  # fmt: skip
    return figures


def _run(
    scratch: Scratch, how: str, frames: int, variables: int
) -> tuple[list[float], list[float]]:
    """Seconds from close to paint and to publication, of each frame that was painted."""
    name = f"seen-{how.partition(' ')[0]}"
    writer = {"frames": frames, "variables": variables, "period": PERIOD_S, "start": WARM_S}
    found: list[Ran] = []
    thread = threading.Thread(target=lambda: found.append(run(scratch, name, writer)))
    thread.start()
    page_of_run = scratch.runs / name / "products" / "index.html"
    until = time.monotonic() + GIVE_UP_S
    while not page_of_run.is_file() and time.monotonic() < until:
        time.sleep(0.05)
    with served(scratch) as (page, root, query):
        address = f"{root}/{name}/products/index.html{query}"
        page.goto(address if how == "served" else page_of_run.as_uri())
        painted = _painted(page, thread)
    if not found:
        raise RuntimeError(f"{name}: the run has failed")
    ran, clocks = found[0], {}
    for label, moment in painted:
        clocks.setdefault(label, moment)  # a picture is drawn again, finer, with the same label
    waits, published = [], []
    for event in ran.published[FIRST:]:
        closed = ran.closed[event["time"]]
        moment = clocks.get(f"map, t = {valid_time.seconds(event['time']):g} s")
        if moment is not None:
            waits.append(moment - closed)
            published.append(float(event["t"]) - closed)
    if len(waits) < (frames - FIRST) // 2:
        raise RuntimeError(f"{name}: {len(waits)} of {frames} frames were painted: {painted[:3]}")
    return waits, published


def _painted(page: Page, running: threading.Thread) -> list[tuple[str, float]]:
    """What the page has painted, each with its Unix second, when the run has ended."""
    page.wait_for_selector("canvas.first[aria-label^='map']", timeout=1000 * GIVE_UP_S)
    page.evaluate(WATCH)
    while running.is_alive():
        page.wait_for_timeout(200)
    page.wait_for_timeout(2000)
    return [(label, float(moment)) for label, moment in page.evaluate("window.painted")]
