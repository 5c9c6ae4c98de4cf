"""A small real run of a replayed model, ways to disturb it, and the checks after it."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest
from recipe_texts import wrf_recipe
from run_checker import ENDS_S as ENDS_S
from run_checker import Evidence, live_processes, violations

from burstlens.cluster_configs.site import SITES
from burstlens.core.run.directory import RunDir

TESTS = Path(__file__).parent
TRACE = TESTS / "data" / "traces" / "netcdf4_one"
TIMES = ("00010101T000000", "00010101T000100", "00010101T000200")
LIMIT_S = float(os.environ.get("FAULT_LIFE_S", "150"))
"""For one life of a driver; a run takes 12 s on two idle cores."""
WAITS = "--interval 0.5 --go-on HERE/go-on"
"""A model whose last frame waits for :meth:`Case.go_on`, however slow the machine is."""
BLOCK = ("interchange", "manager", "worker")
"""The roles that processes of the viewing block have in a run."""
PRODUCT = """
[[product]]
name = "core"
kind = "vtk"
variables = ["U", "V", "W"]
[stage_out]
keep = ["wrfout_*"]
"""
RECIPE = wrf_recipe("A run to be disturbed", PRODUCT)
_KEPT = tempfile.TemporaryDirectory(prefix="burstlens-undisturbed-")


@dataclass(frozen=True)
class Life:
    """One life of a driver: its exit code and output."""

    code: int
    said: str


@dataclass
class Case:
    """One run in a folder of its own: started, disturbed, resumed, examined."""

    folder: Path
    model: str = "--interval 0.5"
    capacity: str = "100 MiB"
    buffer_folder: Path | None = None
    recipe: str = RECIPE
    python: str = sys.executable
    trace: str = TRACE.name
    products: Mapping[str, str] = field(default_factory=lambda: {"w": "map", "core": "vtk"})
    """The kind of each product of the recipe."""
    kept: bool = True
    """Whether the recipe brings raw frames home."""
    made: bool = False
    """Whether another process has made the folder already."""
    block_only: bool = False
    """Whether all tasks wait for the viewing block. Else an early worker runs the first ones, in a
    short run all of them, and no worker of the block is ever needed."""
    environment: dict[str, str] = field(default_factory=dict)
    """Of all processes of the run, beside what they inherit; may change between lives."""
    inherited: Mapping[str, str] | None = None
    """Of all processes of the run; this process's own at each start if none. A run in a thread
    beside tests needs one: each test changes this process's."""

    def __post_init__(self) -> None:
        self.inputs = self.folder / "inputs"
        self.runs = self.folder / "runs"
        self.run = self.runs / "r"
        self.buffer = self.buffer_folder or self.folder / "buffer"
        self.calls = self.folder / "calls"
        if self.made:
            return
        self.inputs.mkdir(parents=True, exist_ok=True)
        self.buffer.mkdir(exist_ok=True)
        self.calls.mkdir()
        shutil.copy(TESTS / "replay.py", self.inputs)
        shutil.copy(TRACE.parent / "namelist.input", self.inputs)
        shutil.copytree(TRACE.parent / self.trace, self.inputs / "trace")
        program = self.inputs / "wrf.exe"
        model = self.model.replace("HERE", str(self.folder))
        program.write_text(f"#!/bin/sh\nexec {self.python} replay.py trace {model}\n")
        program.chmod(0o755)
        if self.block_only:  # lines of the site's shell are for workers of a block alone
            sites = self.folder / "sites"
            sites.mkdir()
            shell = '[viewing]\nworker_init = "true"'
            text = (SITES / "local.toml").read_text().replace("[viewing]", shell)
            (sites / "local.toml").write_text(text)
        (self.folder / "r.toml").write_text(self.recipe.format(capacity=self.capacity))

    def start(
        self, *words: str, kill: dict[str, Any] | None = None, counted: bool = False
    ) -> subprocess.Popen[str]:
        """``burstlens words``, with its output in a file of its own."""
        environment = {"BURSTLENS_RUNS": str(self.runs), "BURSTLENS_BUFFER": str(self.buffer)}
        if self.block_only:
            environment["BURSTLENS_SITES"] = str(self.folder / "sites")
        if counted or kill:
            paths = [str(TESTS / "fault" / "killer"), os.environ.get("PYTHONPATH")]
            environment |= {
                "PYTHONPATH": ":".join(filter(None, paths)),
                "FAULT_FOLDER": str(self.calls),
                "FAULT_ROOTS": f"{self.run}:{self.buffer}",
                "FAULT_KILL": json.dumps(kill),
            }
        command = [self.python, "-m", "burstlens", *words]
        # In a file: a process that outlives the driver would hold a pipe open.
        with (self.folder / "said").open("a") as said:
            return self.popen(command, environment, said)

    def popen(
        self, command: list[str], environment: dict[str, str], said: IO[str]
    ) -> subprocess.Popen[str]:
        """Start a command in the case's folder, with these variables beside the others."""
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env={**(self.inherited or os.environ), **self.environment, **environment},
            text=True,
            stdout=said,
            stderr=said,
        )

    def wait(self, driver: subprocess.Popen[str], limit_s: float = LIMIT_S) -> Life:
        """The driver's end. Fails when it takes longer."""
        try:
            code = driver.wait(limit_s)
        except subprocess.TimeoutExpired:
            driver.kill()
            pytest.fail(f"still running after {limit_s:.0f} s; it said:\n{self.said()}")
        return Life(code, self.said())

    def burstlens(self, *words: str, kill: dict[str, Any] | None = None, **how: Any) -> Life:
        """``burstlens words`` to its end."""
        return self.wait(self.start(*words, kill=kill, **how))

    def said(self) -> str:
        """All output of the drivers so far; none of those that write elsewhere."""
        said = self.folder / "said"
        return said.read_text() if said.exists() else ""

    def launch(self, *, notify: str = "", **how: Any) -> subprocess.Popen[str]:
        """Start the run; ``notify`` is a way of its word."""
        words = ["--notify", notify] if notify else []
        return self.start("run", "r.toml", "--name", "r", *words, **how)

    def go_on(self) -> None:
        """Let a model with ``WAITS`` write its last frame."""
        (self.folder / "go-on").touch()

    def finish(self) -> None:
        """Resume until it is done, at most twice."""
        for _ in range(2):
            if self.burstlens("resume", "r").code == 0:
                return
        pytest.fail(f"two resumes did not end the run:\n{self.said()}")

    def await_event(self, event: str, count: int = 1, limit_s: float = 120.0) -> None:
        """Wait until the journal has that event that many times."""
        self.await_that(
            lambda: sum(line["event"] == event for line in self.journal()) >= count, event, limit_s
        )

    def await_that(self, holds: Any, what: str, limit_s: float = 120.0) -> None:
        """Wait until ``holds()``."""
        end = time.monotonic() + limit_s
        while not holds():
            assert time.monotonic() < end, f"no {what} within {limit_s:.0f} s:\n{self.said()}"
            time.sleep(0.05)

    def journal(self) -> list[dict[str, Any]]:
        """The events of all of the journal's files; an incomplete line is left out."""
        try:
            texts = [path.read_text() for path in RunDir(self.run).journal_files]
        except OSError:
            return []
        return [json.loads(line) for text in texts for line in text.split("\n")[:-1]]

    def processes(self) -> dict[int, str]:
        """Live processes that belong to this run."""
        return live_processes(self.folder)

    def end(self) -> None:
        """End all remaining processes of this run."""
        end_processes(self.folder)

    def faults(self) -> list[str]:
        """The failed checks of a run that is done: empty when nothing was lost or done twice."""
        return violations(self.evidence())

    def evidence(self) -> Evidence:
        """What the checker of runs needs to know."""
        return Evidence(
            run=self.run.resolve(),
            reference=undisturbed(self.trace),
            record=self.folder / "record",
            products=self.products,
            exit_code=0,
            said=self.said(),
            kept=self.kept,
            owned_folders=(self.buffer,),
            marker=self.folder,
        )


def end_processes(folder: Path) -> None:
    """End all remaining processes of a folder."""
    for pid in live_processes(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@functools.cache
def undisturbed(trace: str) -> Path:
    """A folder with what the model of that trace leaves when nothing disturbs it."""
    folder = Path(_KEPT.name, trace)
    folder.mkdir()
    command = [sys.executable, TESTS / "replay.py", TRACE.parent / trace, "--speed", "1000"]
    subprocess.run(command, cwd=folder, check=True)
    return folder
