"""The dashboard in a real JupyterLab, in a real Chromium, beside a run that goes on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from made_run import MadeRun
from playwright.sync_api import expect
from pointing import YELLOW, hover, index_of, pin, pixels, series
from valued_run import lambert, publish

import burstlens
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.values.script import ValuesFile

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

OPEN = "import burstlens, burstlens.clients.pages.widget"
SHOW = 'run = burstlens.open_run("storm")\nrun.dashboard(allow_stop={allow})'
WAIT_MS = 60_000
STEPS = "--interval 0.3 --each --go-on {go_on}"
"""A model whose frames after the first wait for :func:`step`, however slow the machine is."""


def run_cell(page: Page, number: int) -> None:
    """Run a cell to its end; again where JupyterLab drops it since its kernel has just started."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    prompt = cell.locator(".jp-InputPrompt").first
    for _ in range(5):
        cell.locator(".cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1000)
        if prompt.inner_text() != "[ ]:":
            break
    expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=WAIT_MS)


def has(view: Locator, pattern: str) -> None:
    expect(view).to_contain_text(re.compile(pattern), timeout=WAIT_MS)


def start(own_runs, pace: str = STEPS) -> burstlens.Run:
    own_runs.prepare("storm", pace.format(go_on=own_runs.folder / "go-on"))
    own_runs._start("storm")
    own_runs.await_that(lambda: (own_runs.runs / "storm" / "run.json").exists(), "storm")
    return burstlens.open_run(own_runs.runs / "storm")


def step(own_runs) -> None:
    """Let the model write its next frame."""
    go_on = own_runs.folder / "go-on"
    go_on.touch()
    own_runs.await_that(lambda: not go_on.exists(), "storm")


def test_frames_arrive_live_and_stop_in_the_widget_ends_the_run(lab, own_runs):
    page = lab.open(OPEN, SHOW.format(allow=True), "run.status")
    run_cell(page, 0)
    run = start(own_runs)
    run_cell(page, 1)
    view = page.locator(".burstlens")
    has(view, "Supercell")
    has(view, r"1 of 1(?!\d)")
    step(own_runs)
    has(view, r"2 of 2(?!\d)")
    view.get_by_role("button", name="Log…").click()
    has(view, "attempt 1, as driver 1 reads it")
    view.get_by_role("tab", name="Recipe").click()
    has(view, "As run, with every parameter filled in")
    view.get_by_role("button", name="Stop…").click()
    view.get_by_role("button", name="Stop now").click()
    status = run.wait(60)
    assert (status["state"], status["outcome"]["exit_code"]) == ("stopped", 4)
    has(view, "stopped")
    run_cell(page, 2)
    summary = page.locator(".jp-OutputArea-output").last
    has(summary, "storm: stopped")
    has(summary, "2 ready")


@pytest.mark.slow
def test_a_kernels_restart_leaves_the_run_alone_and_the_view_says_what_to_do(lab, own_runs):
    page = lab.open(OPEN, SHOW.format(allow=False))
    run_cell(page, 0)
    run = start(own_runs)
    run_cell(page, 1)
    view = page.locator(".burstlens")
    has(view, r"1 of 1(?!\d)")
    page.get_by_text("Kernel", exact=True).first.click()
    page.get_by_text("Restart Kernel…", exact=True).click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    has(view, "kernel is busy or gone")
    step(own_runs)
    step(own_runs)
    assert run.wait(60)["state"] == "done"
    run_cell(page, 0)
    run_cell(page, 1)
    has(page.locator(".burstlens"), r"3 of 3(?!\d)")


@pytest.mark.fault
def test_without_leave_to_stop_the_widget_shows_the_command(lab, own_runs):
    page = lab.open(OPEN, SHOW.format(allow=False))
    run_cell(page, 0)
    run = start(own_runs)
    run_cell(page, 1)
    view = page.locator(".burstlens")
    has(view, "Supercell")
    view.get_by_role("button", name="Stop…").click()
    has(view, "burstlens stop storm")
    assert view.get_by_role("button", name="Stop now").count() == 0
    assert run.directory.stop_requested() is None


@pytest.mark.slow
def test_a_saved_notebook_shows_the_last_state_without_its_kernel(
    lab, own_runs, jupyter_environment, monkeypatch
):
    import nbformat
    from nbclient import NotebookClient

    for name, value in own_runs.environment.items():
        monkeypatch.setenv(name, value)
    run = start(own_runs, "--interval 0.3")
    run.wait(60)
    cells = [nbformat.v4.new_code_cell(cell) for cell in (OPEN, SHOW.format(allow=False))]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute(cwd=str(own_runs.folder))
    path = lab.folder / "kept.ipynb"
    nbformat.write(notebook, path)
    output = lab.visit(path.name).locator(".jp-OutputArea-output").last  # not trusted yet
    has(output, "Supercell")
    has(output, "storm: done")
    expect(output.locator("img")).to_have_attribute("src", re.compile("^data:image/png;base64,"))
    trust = [sys.executable, "-m", "jupyter", "trust", str(path)]
    subprocess.run(trust, env=os.environ | jupyter_environment, check=True, capture_output=True)
    view = lab.visit(path.name).locator(".burstlens")
    has(view, "Supercell")
    has(view, "what the notebook kept")
    has(view, r"1 of 1(?!\d)")  # the newest picture


@pytest.mark.slow
def test_the_view_is_live_while_a_cell_runs(lab, own_runs):
    page = lab.open(OPEN, SHOW.format(allow=False), "run.wait()")
    run_cell(page, 0)
    start(own_runs)
    run_cell(page, 1)
    view = page.locator(".burstlens")
    has(view, r"1 of 1(?!\d)")
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").nth(2).click()
    page.keyboard.press("Shift+Enter")
    waiting = page.locator(".jp-Notebook .jp-CodeCell").nth(2).locator(".jp-InputPrompt")
    expect(waiting).to_have_text("[*]:")
    step(own_runs)
    has(view, r"2 of 2(?!\d)")
    expect(waiting).to_have_text("[*]:")


@pytest.mark.fault  # the test before it has the view while a cell runs
def test_the_view_is_live_when_all_cells_are_run_at_once(lab, own_runs):
    page = lab.open(OPEN, SHOW.format(allow=False), "run.wait()")
    run_cell(page, 0)
    start(own_runs)
    page.get_by_text("Run", exact=True).first.click()
    page.get_by_text("Run All Cells", exact=True).click()
    view = page.locator(".burstlens")
    waiting = page.locator(".jp-Notebook .jp-CodeCell").nth(2).locator(".jp-InputPrompt")
    has(view, r"1 of 1(?!\d)")
    step(own_runs)
    has(view, r"2 of 2(?!\d)")
    expect(waiting).to_have_text("[*]:")


def test_the_widget_has_values_series_of_the_kernel_and_own_limits(lab, own_runs):
    run, fields = MadeRun(own_runs.runs, "storm", "Storm"), {}
    case = lambert(own_runs.folder)
    for number in range(10):  # so many that the kernel is asked for the series
        key = f"20010203T{number:02d}0000"
        with netCDF4.Dataset(case.path, "a") as data:
            data["t"][0] = np.roll(np.asarray(data["t"][0]), 1, axis=1)
            fields[key] = np.asarray(data["t"][0], "f8")
        line = publish(run, "map", "t", case.path, key, variable="t", coast=False)
    run.update_status(state="done", products={"t": {"kind": "map", "published": 10, "failed": 0}})
    half = ValuesFile(run.run.products / line["values"]["name"]).fields[0].scale.scale / 2
    page = lab.open(OPEN, SHOW.format(allow=False))
    sent: list[bytes] = []
    page.on(
        "websocket", lambda socket: socket.on("framesent", lambda data: sent.append(as_bytes(data)))
    )
    page.reload()
    page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').first.wait_for()
    run_cell(page, 0)
    run_cell(page, 1)
    has(page.locator(".burstlens"), r"10 of 10(?!\d)")
    page.locator(".glass").first.scroll_into_view_if_needed()
    for across, down in ((0.45, 0.5), (0.55, 0.4)):
        found = hover(page, across, down)
        at = index_of(found["index"])
        assert abs(float(found["value"]) - fields[key][at["y"], at["x"]]) <= half * 1.0001
    pin(page, 0.55, 0.4)
    expect(page.locator(".places li")).to_have_count(1)
    caption = page.locator("[aria-label='Kept places'] figcaption")
    expect(caption).not_to_contain_text("of 10", timeout=WAIT_MS)
    assert any(b'"series"' in data for data in sent)
    rows = series(page, "t")
    assert len(rows) == 10
    for key, (value, *_) in rows.items():
        assert abs(float(value) - fields[key][at["y"], at["x"]]) <= 2 * half
    page.locator(".glass").first.scroll_into_view_if_needed()
    before = pixels(page, (0.45, 0.5))
    page.get_by_role("button", name="Colours").click()
    page.get_by_label("Colour map").select_option("viridis")
    page.get_by_label("Lowest value of the colours").fill("100")
    high = page.get_by_label("Highest value of the colours")
    high.fill("200")
    high.press("Tab")
    page.wait_for_timeout(500)
    assert pixels(page, (0.45, 0.5)) == [YELLOW] != before  # above the limits


def as_bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data
