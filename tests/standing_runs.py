"""Real runs of a recorded WRF, one of each way to end and one in progress, to ask about."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

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
    """A folder with inputs and a recipe ``r.toml``; each run is made when it is first asked for.

    ``done``; ``failed``: killed in its second frame, with a real blow-up in its log; ``stopped`` by
    ``burstlens stop`` after its first frame; ``live``: both products of its first frame stand,
    the second frame never comes.
    """

    def __init__(self, folder: Path) -> None:
        self.case = Case(folder, recipe=RECIPE.replace("A run to be disturbed", "Supercell"))
        self.folder = folder
        self.runs = self.case.runs
        self.ended: dict[str, Ended] = {}
        self._drivers: dict[str, subprocess.Popen[str]] = {}

    def done(self) -> Ended:
        """The run ``done``, at its end."""
        return self._once("done", "--interval 0.3")

    def failed(self) -> Ended:
        """The run ``failed``, at its end."""
        replay = _replay()
        second = replay.Trace.load(self.case.inputs / "trace").frame_starts()[1]
        return self._once("failed", f"--interval 0.3 --cut-at {second + 3}", blow_up=True)

    def stopped(self) -> Ended:
        """The run ``stopped``, at its end."""
        if "stopped" not in self.ended:
            self.start("stopped")
            self.call("stop", "stopped")
        return self._end("stopped")

    def live(self) -> None:
        """The run ``live``, in progress."""
        if "live" not in self._drivers:
            self.start("live")

    def words(self, name: str) -> list[str]:
        """What is typed to start a run whose inputs are prepared."""
        return ["run", "r.toml", "--name", name, "--set", f"simulation.inputs=inputs-{name}"]

    def start(self, name: str) -> subprocess.Popen[str]:
        """A run whose model goes on; returns its driver, when its status tells both products."""
        self.prepare(name, f"--interval {FOREVER_S}")
        driver = self._start(name)
        self.await_that(lambda: self._published(name) == 2, name)
        return driver

    def call(
        self, *words: str, text: bool = True, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[Any]:
        """``burstlens words`` in the folder, to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "burstlens", *words],
            cwd=self.folder,
            env=os.environ | self.environment | (env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=text,
            timeout=LIMIT_S,
        )
        assert "Traceback" not in str(done.stdout) + str(done.stderr)
        return done

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the place."""
        return {
            "BURSTLENS_RUNS": str(self.runs),
            "BURSTLENS_BUFFER": str(self.case.buffer),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
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

    def _once(self, name: str, pace: str, *, blow_up: bool = False) -> Ended:
        if name not in self._drivers:
            self.prepare(name, pace, blow_up=blow_up)
            self._start(name)
        return self._end(name)

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

    def _end(self, name: str) -> Ended:
        if name not in self.ended:
            code = self._drivers[name].wait(LIMIT_S)
            self.ended[name] = Ended(code, (self.folder / name).read_text())
        return self.ended[name]


def _replay() -> ModuleType:
    spec = importlib.util.spec_from_file_location("replay_standing", TESTS / "replay.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["replay_standing"] = module
    spec.loader.exec_module(module)
    return module
