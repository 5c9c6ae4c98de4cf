"""Values: what they cost a worker beside a map, how large they are, how soon the page answers."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.pipeline import Scratch
from bench.report import Figure, median

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / part) for part in ("", "live")]

CPU_MS = {500: 10.0, 1000: 25.0}
BYTES = {500: 300e3, 1000: 1.2e6}
RATIO = 1.2
CURSOR_MS = 50.0
DIFFERENCE_MS = 50.0
PAINTED_RATE = 20.0
FRAMES = 24


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Smooth fields of 500 and 1000 points along each side, 12 bits."""
    repeats = 3 if quick else 15
    figures = [figure for size in CPU_MS for figure in _encoded(size, repeats)]
    return [*figures, *_drawn(scratch, repeats), *_page(scratch, 6 if quick else FRAMES)]


def smooth(size: int, shift: float = 0.0) -> Any:
    """A field of waves of several lengths, float32, with noise of a thousandth of its range."""
    y, x = np.mgrid[0:size, 0:size] / size
    noise = np.random.default_rng(0).standard_normal((size, size))
    waves = 20 * np.sin(3 * x + shift) * np.cos(4 * y) + 2 * np.sin(40 * x + 9 * y)
    return (280 + waves + 0.04 * noise).astype("f4")


def _encoded(size: int, repeats: int) -> list[Figure]:
    from burstlens.viz.values.quantised import quantised
    from burstlens.viz.values.script import script

    field, times = smooth(size), []
    for _ in range(repeats + 1):
        begin = time.process_time()
        text = script({}, [({"grid": ""}, *quantised(field, 12))])
        times.append(1e3 * (time.process_time() - begin))
    name = f"values of {size} x {size}"
    return [
        Figure(f"{name}, CPU of a worker", median(times[1:]), "ms", CPU_MS[size]),
        Figure(f"{name}, base64 included", len(text), "B", BYTES[size]),
    ]


def _frame(path: Path, field: Any) -> Path:
    """A CF file with a field ``t`` on a Lambert plane."""
    from burstlens.viz.frames.reader import netCDF4

    size = field.shape[0]
    with netCDF4.Dataset(path, "w") as data:
        for name, length in (("time", None), ("y", size), ("x", size)):
            data.createDimension(name, length)
        moment = data.createVariable("time", "f8", ("time",))
        moment.units = "hours since 2001-02-03 00:00:00"
        moment[0] = 1.0
        for name in ("y", "x"):
            along = data.createVariable(name, "f8", (name,))
            along.setncatts({"units": "m", "standard_name": f"projection_{name}_coordinate"})
            along[:] = (np.arange(size) - size / 2) * 3e3
        data.createVariable("crs", "i4").setncatts(
            {"grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [30.0, 60.0],
             "longitude_of_central_meridian": -97.0, "latitude_of_projection_origin": 45.0,
             "earth_radius": 6_370_000.0}
        )  # fmt: skip
        t = data.createVariable("t", "f4", ("time", "y", "x"))
        t.setncatts({"units": "K", "standard_name": "air_temperature", "grid_mapping": "crs"})
        t[0] = field
    return path


def _drawn(scratch: Scratch, repeats: int) -> list[Figure]:
    """The same maps with values and without, in turn."""
    from burstlens.viz.diagnostics.derived import open_frame
    from burstlens.viz.product import Context
    from burstlens.viz.registry import product_kind

    kind, path = product_kind("map"), _frame(scratch.runs / "map.nc", smooth(1000))
    options = kind.options(variable="t")
    taken: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(repeats + 1):
        for kept in taken:
            folder = scratch.runs / "values" if kept else None
            context = Context("r", "", "t", "d01", "20010203T010000", scratch.runs, values=folder)
            with open_frame([path], 0, stream="d01", time="") as frame:
                begin = time.process_time()
                kind.make(options, frame, scratch.runs / "map.png", context)
                taken[kept].append(1e3 * (time.process_time() - begin))
    with_, without = (median(taken[kept][1:]) for kept in (True, False))
    note = f"{with_:.0f} ms with values of 500 points and the overlay, {without:.0f} ms without"
    return [Figure("CPU per map, with values to without", with_ / without, "", RATIO, note=note)]


def _page(scratch: Scratch, frames: int) -> list[Figure]:
    """Fields of 1000 x 1000 from a file share, as the page meets them: nothing is warm."""
    from browser import provide
    from made_run import MadeRun
    from playwright.sync_api import sync_playwright
    from valued_run import publish

    from burstlens.viz.values.options import Values

    made = MadeRun(scratch.runs, "valued")
    for number in range(frames):
        path = _frame(scratch.runs / "frame.nc", smooth(1000, number / 5))
        key = f"20010203T{number:02d}0000"
        publish(made, "map", "t", path, key, variable="t", values=Values(points=1000))
    made.update_status(state="done", frames={"ready": frames})
    root = "--no-sandbox" if os.getuid() == 0 else "--no-first-run"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=provide(), args=[root])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(_TIMED)
        page.goto(made.page.as_uri())
        page.wait_for_selector("canvas.first[aria-label^='t,']")
        figures = [*_cursor(page, frames), *_painted(page, frames), *_difference(page, frames)]
        browser.close()
    return figures


def _cursor(page: Any, frames: int) -> list[Figure]:
    box = page.locator(".glass").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.5)
    page.wait_for_function(_READ)
    waits = [page.evaluate(_STEP, number) for number in range(frames - 1)]
    note = "file share; from the key to the value of the new frame, its picture included"
    return [
        Figure(
            "value under the cursor after a time step", median(waits), "ms", CURSOR_MS, note=note
        )
    ]


def _painted(page: Any, frames: int) -> list[Figure]:
    page.get_by_role("button", name="Colours").click()
    page.get_by_label("Colour map").select_option("viridis")
    page.keyboard.press("Home")
    page.get_by_label("Speed of playing").select_option("30")
    rate = page.evaluate(_PLAY, frames)
    return [Figure("own colours while playing", rate, "1/s", PAINTED_RATE, True, "file share")]


def _difference(page: Any, frames: int) -> list[Figure]:
    page.get_by_label("What is taken away").select_option("before")
    page.get_by_role("button", name="Colours").click()  # its histogram is not measured
    page.keyboard.press("End")
    taken = [page.evaluate(_MINUS) for _ in range(frames - 2)]
    note = "the longest drawing of a step, on the page's main thread; painted in colours"
    name = "difference of 1000 x 1000"
    return [Figure(name, median(taken), "ms", DIFFERENCE_MS, note=note)]


_ROOT = "document.querySelector('.burstlens').shadowRoot"
_READ = f"() => {_ROOT}.querySelector('.readout').dataset.value"
_STEP = f"""async () => {{
  const root = {_ROOT};
  const readout = root.querySelector('.readout');
  const before = readout.textContent;
  const begin = performance.now();
  root.querySelector('.live').dispatchEvent(
    new KeyboardEvent('keydown', {{ key: 'ArrowLeft', bubbles: true, composed: true }}));
  while (readout.textContent === before || !readout.dataset.value) {{
    await new Promise(requestAnimationFrame);
    if (performance.now() - begin > 5000) break;
  }}
  return performance.now() - begin;
}}"""
_TIMED = """{
  const draw = window.requestAnimationFrame.bind(window);
  window.longest = 0;
  window.requestAnimationFrame = (drawn) => draw((time) => {
    const begin = performance.now();
    drawn(time);
    window.longest = Math.max(window.longest, performance.now() - begin);
  });
}"""
_MINUS = f"""async () => {{
  const root = {_ROOT};
  const label = root.querySelector('.range');
  const before = label.textContent;
  window.longest = 0;
  root.querySelector('.live').dispatchEvent(
    new KeyboardEvent('keydown', {{ key: 'ArrowLeft', bubbles: true, composed: true }}));
  const begin = performance.now();
  while (label.textContent === before || !label.textContent.startsWith('difference')) {{
    await new Promise((done) => setTimeout(done, 5));
    if (performance.now() - begin > 5000) break;
  }}
  return window.longest;
}}"""
_PLAY = f"""async (frames) => {{
  const root = {_ROOT};
  const slider = root.querySelector('[role=slider][aria-label="Valid time"]');
  const begin = performance.now();
  root.querySelector('.live').dispatchEvent(
    new KeyboardEvent('keydown', {{ key: ' ', bubbles: true, composed: true }}));
  while (!slider.getAttribute('aria-valuetext').includes(`frame ${{frames}} of`)) {{
    await new Promise(requestAnimationFrame);
    if (performance.now() - begin > 30000) break;
  }}
  return (frames - 1) / (performance.now() - begin) * 1000;
}}"""
