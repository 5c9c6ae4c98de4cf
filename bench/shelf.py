"""The list of a thousand runs: what a look costs the file system, and how fluent its page is."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.pipeline import Scratch, burstlens
from bench.report import Figure, median, percentile, spread
from burstlens.clients.serving.shelf import Shelf
from burstlens.core.decode import record
from burstlens.core.durable import write_json
from burstlens.core.run.directory import RunDir
from burstlens.core.run.snapshot import new_snapshot
from burstlens.core.valid_time import elapsed_key

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

RUNS = 1000
LIVE = 10
LATE_MS = 50.0
FRAMES = 200
CALLS = ("stat", "lstat", "open", "scandir", "listdir", "readlink")
"""The file system's calls of module os that are counted; what ``open()`` opens comes on top."""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Looks at a folder of runs, of which ten go on and the others are over."""
    count = 50 if quick else RUNS
    folder = scratch.runs / "many"
    for number in range(count):
        write_run(folder / f"run-{number:04d}", live=number < LIVE)
    shelf = Shelf((folder,))
    for number in range(LIVE):
        beat(RunDir(folder / f"run-{number:04d}"), live=True)
    with _counted() as calls:
        begin = time.perf_counter()
        rows = shelf.rows()
        first = time.perf_counter() - begin
        while not shelf.complete:
            rows = shelf.rows()
        whole, whole_calls = time.perf_counter() - begin, sum(calls.values())
        if len(rows) != count:
            raise RuntimeError(f"{len(rows)} rows of {count} runs")
        seconds, each = [], []
        for _ in range(3 if quick else 20):
            for number in range(LIVE):
                beat(RunDir(folder / f"run-{number:04d}"), live=True)
            calls.clear()
            begin = time.perf_counter()
            shelf.rows()
            seconds.append(time.perf_counter() - begin)
            each.append(sum(calls.values()))
            time.sleep(1.0)
    what = f"{count} runs, {LIVE} of them go on"
    size = len(json.dumps(rows))
    picture = _picture()
    for row in rows:
        place = folder / str(row["picture"])
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(picture)
    return [
        Figure("the list of runs: first look", first, "s", 2.0, note=f"{what}"),
        Figure("... until all are in it", whole, "s", note=f"{whole_calls} calls"),
        Figure("... each further look, one per second", 1e3 * median(seconds), "ms",
               note=f"{spread(seconds, ' s')}"),
        Figure("... its calls of the file system", median(each), "calls",
               note=spread(each)),
        *_page(scratch, folder, count),
        Figure("... runs.json", size / 1e3, "kB", note="sent only when it has changed"),
    ]  # fmt: skip


def _picture() -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.radial_gradient("L").resize((900, 700)).convert("RGB").save(out, "png")
    return out.getvalue()


TYPE = """async (text) => {
  const search = document.getElementById("search");
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  await painted();
  const begin = performance.now();
  search.value = text;
  search.dispatchEvent(new Event("input"));
  await painted();
  return performance.now() - begin;
}"""
SCROLL = """async () => {
  const steps = [];
  let before = performance.now();
  for (let n = 0; n < 120; n += 1) {
    scrollBy(0, 120);
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    steps.push(now - before);
    before = now;
  }
  scrollTo(0, 0);
  return steps;
}"""


def _page(scratch: Scratch, folder: Path, count: int) -> list[Figure]:
    """The list in Chromium: until it is there, a letter typed, scrolling with thumbnails."""
    from browser import provide
    from playwright.sync_api import sync_playwright

    server = subprocess.Popen(
        burstlens("serve", str(folder), "--json"),
        env=scratch.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())
        root = "--no-sandbox" if os.getuid() == 0 else "--no-first-run"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=provide(), args=[root])
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            begin = time.perf_counter()
            page.goto(address["url"])
            page.wait_for_selector("#runs li a")
            begun = time.perf_counter() - begin
            page.wait_for_selector(f"#runs li:nth-child({count}) a", state="attached")
            first = time.perf_counter() - begin
            page.wait_for_selector("#runs img")
            typed = [page.evaluate(TYPE, text) for text in ("storm", "storm 00", "9", "")]
            steps = page.evaluate(SCROLL)
            pictures = page.locator("#runs img").count()
            browser.close()
    finally:
        server.kill()
        server.wait()
    late = sum(step > LATE_MS for step in steps)
    return [
        Figure("page of the list: opened to the newest runs seen", begun, "s"),
        Figure("... to all runs in it", first, "s", note="the server has just started"),
        Figure("... a search typed to shown", max(typed), "ms", 100, note="the slowest of four"),
        Figure("... a step of scrolling, 95 of 100 within", percentile(steps, 0.95), "ms", LATE_MS,
               note=f"{late} of {len(steps)} later; software rendering, no GPU"),
        Figure("... pictures held at its top", pictures, "pictures"),
    ]  # fmt: skip


def write_run(path: Path, *, live: bool, frames: int = FRAMES) -> RunDir:
    """The files of a run that the list reads."""
    run = RunDir(path)
    run.create()
    facts = {"run": run.id, "title": f"Storm {run.id}", "created": 1.0}
    run.facts.write_text(json.dumps(facts))
    lines = []
    for number in range(frames):
        key = elapsed_key(60.0 * number)
        lines.append({"product": "slp", "stream": "d01", "time": key, "attempt": 1,
                      "name": f"slp/slp_d01_{key}.png", "bytes": 60_000, "crc32": number,
                      "t": 2.0 + number, "facts": {"min": 1.0, "max": 2.0}})  # fmt: skip
    run.index.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    beat(run, live=live, frames=frames)
    return run


def beat(run: RunDir, *, live: bool, frames: int = FRAMES) -> None:
    """Write the status, as the driver of a run that goes on does once a second."""
    driver = {"host": "elsewhere", "pid": 1, "heartbeat": time.time()}
    status = record(new_snapshot(run)) | {"driver": driver}
    status |= {"state": "running" if live else "done", "frames": {"ready": frames, "damaged": 0}}
    write_json(run.status, status, sync=False)


@contextlib.contextmanager
def _counted() -> Iterator[dict[str, int]]:
    calls: dict[str, int] = {}
    real: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in CALLS}

    def counting(name: str) -> Callable[..., Any]:
        def call(*words: Any, **how: Any) -> Any:
            calls[name] = calls.get(name, 0) + 1
            return real[name](*words, **how)

        return call

    for name in CALLS:
        setattr(os, name, counting(name))
    try:
        yield calls
    finally:
        for name, function in real.items():
            setattr(os, name, function)
