"""Ways to open a page: the real server, any web server, no server."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from browser import Watched
    from playwright.sync_api import Page

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from made_run import MadeRun, pictures
from valued_run import lambert, moved, publish

from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.live.page import module_text

PAGE = "products/index.html"
DRAWN = "canvas.first[data-plane]:not([data-plane=''])"
"""A picture of which the page draws all but the plane."""


class Ways:
    """URLs of a run's page in a folder of runs; the servers end with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []

    def file(self, run: str) -> str:
        """Straight from the file system."""
        return (self.folder / run / PAGE).as_uri()

    def plain(self, run: str, port: str = "0") -> str:
        """Behind a web server that gives whole files only."""
        command = ["-u", "-m", "http.server", port, "--bind", "127.0.0.1"]
        line = self._start([*command, "--directory", str(self.folder)])
        found = re.search(r"port (\d+)", line)
        assert found, line
        return f"http://127.0.0.1:{found[1]}/{run}/{PAGE}"

    def serve(self, run: str, *words: str) -> str:
        """By ``burstlens serve``."""
        line = self._start(["-m", "burstlens", "serve", str(self.folder), "--json", *words])
        address = json.loads(line)
        root, _, token = address["url"].partition("?")
        return f"{root}{run}/{PAGE}?{token}"

    def _start(self, words: list[str]) -> str:
        process = subprocess.Popen(
            [sys.executable, *words],
            env=os.environ | {"BURSTLENS_RUNS": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.processes.append(process)
        assert process.stdout is not None
        return process.stdout.readline()

    def end(self) -> None:
        """End the servers."""
        for process in self.processes:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        self.processes.clear()


@pytest.fixture
def ways_to() -> Iterator[Callable[[Path], Ways]]:
    """Returns a function that makes the ways to a folder of runs."""
    made: list[Ways] = []

    def make(folder: Path) -> Ways:
        made.append(Ways(folder))
        return made[-1]

    yield make
    for ways in made:
        ways.end()


@pytest.fixture
def new_page(ways_to: Any, new_page: Callable[..., Watched]) -> Callable[..., Watched]:
    """Pages are closed before the servers end: a page that polls a server which is gone logs it."""
    return new_page


@pytest.fixture
def greys(tmp_path: Path) -> list[Path]:
    """Eight pictures, from dark to bright."""
    return pictures(tmp_path / "greys", 8)


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., MadeRun]:
    """Returns a function that makes a run in ``tmp_path / "runs"``."""
    return lambda *words, **values: MadeRun(tmp_path / "runs", *words, **values)


@pytest.fixture
def eight(made: Callable[..., MadeRun], greys: list[Path]) -> MadeRun:
    """A run in progress with eight frames."""
    run = made(title="Eight")
    for number, picture in enumerate(greys):
        run.publish(number, picture)
    run.feed.write(force=True)
    run.update_status(frames={"ready": 8, "damaged": 0})
    return run


@pytest.fixture
def ways(eight: MadeRun, ways_to: Callable[[Path], Ways]) -> Ways:
    """The ways to that run."""
    return ways_to(eight.run.path.parent)


@pytest.fixture
def await_frame() -> Callable[..., None]:
    """Returns a function that waits until frame ``number`` of ``count`` is chosen and drawn."""
    from playwright.sync_api import expect

    def wait(page: Page, number: int, count: int = 8) -> None:
        words = f"t = {number} s, frame {number + 1} of {count}"
        slider = page.get_by_role("slider", name="Valid time")
        expect(slider).to_have_attribute("aria-valuetext", words)
        drawn = page.locator("canvas.first").first
        expect(drawn).to_have_attribute("aria-label", f"t2, t = {number} s")

    return wait


@pytest.fixture
def opened(new_page, ways_to, tmp_path):
    """Opens the page of a made run in one of the ways."""

    from playwright.sync_api import TimeoutError, expect

    def open_(way="file", run="made"):
        page = new_page()
        page.page.goto(getattr(ways_to(tmp_path / "runs"), way)(run))
        drawn = page.page.locator("canvas.first").first
        expect(drawn).not_to_have_attribute("aria-label", "Loading")
        if page.page.locator(".readout").first.inner_text():  # of a map with values
            with contextlib.suppress(TimeoutError):
                page.page.wait_for_selector(DRAWN, timeout=4000)
        return page

    return open_


@pytest.fixture(scope="session")
def eight_drawn(tmp_path_factory):
    """A run's folder, the eight frames' files, the index's lines, and each frame's field."""
    folder = tmp_path_factory.mktemp("drawn")
    run, case = MadeRun(folder), lambert(folder)
    files, lines, fields = [], [], []
    for number in range(8):
        files.append(moved(folder / f"{number}.nc", case.path, "t", number))
        key = f"20010203T{number:02d}0000"
        lines.append(publish(run, "map", "t", files[-1], key, variable="t", coast=False))
        with netCDF4.Dataset(files[-1]) as data:
            fields.append(np.asarray(data["t"][0], "f8"))
    return run.run.products, files, lines, fields


@pytest.fixture
def eight_maps(made, eight_drawn, tmp_path):
    """A run of eight frames whose field moves on; returns it and each frame's field.

    The frames' files lie in ``tmp_path``, ``0.nc`` to ``7.nc``.
    """
    products, files, lines, fields = eight_drawn
    run = made()
    for path in files:
        shutil.copy(path, tmp_path)
    for grid in products.glob("live/grid-*.js"):
        shutil.copy(grid, run.run.products / "live")
    shutil.copytree(products / "t", run.run.products / "t")
    for line in lines:
        run.index.append(line)
        run.feed.add(line)
    run.feed.write(force=True)
    return run, list(fields)


@pytest.fixture(scope="module")
def ask(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Calls a function of a module of the page: ``ask("digits.showNumber", 1, 0.1)``."""
    page = chromium.new_page()
    text = module_text()
    names = re.findall(r"^const (\$\w+)=\(", text, re.MULTILINE)
    page.add_script_tag(type="module", content=f"{text}globalThis.parts={{{','.join(names)}}};")
    page.wait_for_function("() => globalThis.parts")
    yield lambda name, *values: page.evaluate(
        "([part, name, values]) => parts[`$${part}`][name](...values)", [*name.split("."), values]
    )
    page.close()
