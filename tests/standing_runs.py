"""Real runs of a recorded WRF, one per kind of end and one in progress, for tests to read."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import program
from filelock import FileLock
from run_case import RECIPE, Case

TESTS = Path(__file__).parent
LIMIT_S = 180.0
FOREVER_S = 3000
"""From one frame to the next, of a model that is to be found running."""


@dataclass(frozen=True)
class Ended:
    """A driver that has ended."""

    returncode: int
    said: str


class StandingRuns:
    """A folder with inputs and a recipe ``r.toml``; each run is made on first use.

    ``done``; ``failed``: killed in its second frame, with a real blow-up in its log; ``stopped`` by
    ``burstlens stop`` after its first frame; ``live``: both products of its first frame stand,
    the second frame never comes. Several processes may share the folder: the first one makes
    the run, the others wait for it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        with self._alone("inputs"):
            recipe = RECIPE.replace("A run to be disturbed", "Supercell")
            self.case = Case(folder, recipe=recipe, made=(folder / "calls").is_dir())
        self.runs = self.case.runs
        self._drivers: dict[str, subprocess.Popen[str]] = {}

    def done(self) -> Ended:
        """The run ``done``, at its end."""
        return self._ended("done", lambda: self._begin("done", "--interval 0.3"))

    def failed(self) -> Ended:
        """The run ``failed``, at its end."""

        def begin() -> None:
            second = _replay().Trace.load(self.case.inputs / "trace").frame_starts()[1]
            self._begin("failed", f"--interval 0.3 --cut-at {second + 3}", blow_up=True)

        return self._ended("failed", begin)

    def stopped(self) -> Ended:
        """The run ``stopped``, at its end."""

        def begin() -> None:
            self.start("stopped")
            self.call("stop", "stopped")

        return self._ended("stopped", begin)

    def live(self) -> None:
        """The run ``live``, in progress."""
        with self._alone("live"):
            if not (self.folder / "live").exists():
                self.start("live")

    def words(self, name: str) -> list[str]:
        """The command that starts a run whose inputs are prepared."""
        return ["run", "r.toml", "--name", name, "--set", f"simulation.inputs=inputs-{name}"]

    def start(self, name: str) -> subprocess.Popen[str]:
        """A run in progress; returns its driver once its status shows both products."""
        self.prepare(name, f"--interval {FOREVER_S}")
        driver = self._start(name)
        self.await_that(lambda: self._published(name) == 2, name)
        return driver

    def call(
        self, *words: str, text: bool = True, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[Any]:
        """``burstlens words`` in the folder, to its end."""
        environment = {**os.environ, **self.environment, **(env or {})}
        done = program.burstlens(words, self.folder, environment, LIMIT_S)
        decoded = program.as_text(done)
        return decoded if text else done

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of the folder."""
        return {
            "BURSTLENS_RUNS": str(self.runs),
            "BURSTLENS_BUFFER": str(self.case.buffer),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_STATE_HOME": str(self.folder / "state"),
        }

    def events(self, name: str) -> list[str]:
        """The events in a run's journal so far."""
        try:
            text = (self.runs / name / "journal.jsonl").read_text()
        except OSError:
            return []
        return [json.loads(line)["event"] for line in text.split("\n")[:-1]]

    def on_buffer(self, name: str) -> Path:
        """A run's folder on the buffer."""
        facts = json.loads((self.runs / name / "run.json").read_text())
        folder: str = facts["buffer_folder"]
        return self.case.buffer / f"burstlens-{os.getuid()}" / folder

    def await_that(self, holds: Any, what: str) -> None:
        """Wait until ``holds()``."""
        end = time.monotonic() + LIMIT_S
        while not holds():
            assert time.monotonic() < end, f"no {what}:\n{(self.folder / what).read_text()}"
            time.sleep(0.05)

    def _published(self, name: str) -> int:
        try:
            status = json.loads((self.runs / name / "status.json").read_text())
        except OSError:
            return 0
        return sum(product["published"] for product in status["products"].values())

    def _begin(self, name: str, pace: str, *, blow_up: bool = False) -> None:
        self.prepare(name, pace, blow_up=blow_up)
        self._start(name)

    def prepare(self, name: str, pace: str, *, blow_up: bool = False) -> None:
        """Make the inputs of a run, with the pace of its model."""
        inputs = self.folder / f"inputs-{name}"
        shutil.copytree(self.case.inputs, inputs)
        program = f"#!/bin/sh\n{sys.executable} replay.py trace {pace}\n"
        if blow_up:
            shutil.copy(TESTS / "data" / "logs" / "blowup.rsl.error.0000", inputs / "end.log")
            program += "cat end.log >> rsl.error.0000\nkill -ABRT $$\n"
        (inputs / "wrf.exe").write_text(program)

    def _start(self, name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "burstlens", *self.words(name)]
        with (self.folder / name).open("w") as said:
            self._drivers[name] = self.case.popen(command, self.environment, said)
        return self._drivers[name]

    def _ended(self, name: str, begin: Callable[[], None]) -> Ended:
        """Wait for the end of a run, which this process or another one has started."""
        kept = self.folder / f"{name}.ended"
        with self._alone(name):
            if not kept.exists():
                if name not in self._drivers:
                    begin()
                code = self._drivers[name].wait(LIMIT_S)
                kept.write_text(json.dumps([code, (self.folder / name).read_text()]))
        return Ended(*json.loads(kept.read_text()))

    def _alone(self, name: str) -> FileLock:
        return FileLock(self.folder / f"{name}.lock", timeout=2 * LIMIT_S)


def _replay() -> ModuleType:
    spec = importlib.util.spec_from_file_location("replay_standing", TESTS / "replay.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["replay_standing"] = module
    spec.loader.exec_module(module)
    return module
