"""A run of awm on the testbed that outlives its jobs, disturbed once, and compared with the run in
one piece.

The run in one piece is made once, on this machine, without a scheduler; what it left is what the
disturbed run must leave, bit by bit.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from awm_texts import block_of, surface_products
from batch_case import BatchCase
from disturbed_run import role_of
from run_case import Case, end_processes
from testbed import ACTIVE, Testbed

_NETCDF = threading.Lock()
"""netCDF4 is not safe in several threads, and runs are compared in some."""
RESUMES = 4
LIMIT_S = 900.0
WALLTIME_S = 60
"""The shortest that Slurm has."""
EVENTS = ("nothing", "driver", "supervisor", "model", "node")
OUTPUT = """\
surface_every = 50
peaks = true
station_every = 10
[[station]]
name = "A"
x_m = 2900.0
y_m = 3500.0"""
RECIPE = """
title = "Waves that outlive their jobs"
[simulation]
{simulation}
inputs = "inputs"
segments = {segments}
walltime = {walltime}
retries = 3
[checkpoint]
{checkpoint}
[buffer]
capacity = "1 GiB"
[stage_out]
keep = ["stations.nc", "surface_*.nc"]
{products}[[product]]
name = "crop"
kind = "netcdf"
stream = "surface"
variables = ["vx"]
"""

ASKED = 'model = "awm"', "lead = 50", ""
"""awm, which is asked 50 s before its job ends. Here and below: ``[simulation]``,
``[checkpoint]``, and what the inputs of awm have as well."""
CUT = (
    """
model = "command"
command = ["{python}", "-m", "burstlens.workflows.awm", "awm.toml"]
restart_command = [
    "{python}", "-m", "burstlens.workflows.awm", "awm.toml", "--restart", "{{checkpoint}}",
]
frames = {{ surface = "surface_*.nc" }}
""",
    """
files = "checkpoint_{step}.awm"
witness = "name"
step = "0.0075 s"
lead = 5
""",
    "[checkpoint]\nevery = 100\n",
)
"""The same program, of which nothing is known but its files: its job's end cuts it."""


@dataclass(frozen=True)
class Disturbance:
    """What happens when: the same for the same seed."""

    seed: int
    event: str
    after_s: float
    """After the first frame."""

    @classmethod
    def draw(cls, seed: int) -> Disturbance:
        """What that seed gives."""
        dice = random.Random(seed)
        return cls(seed, dice.choice(EVENTS), dice.uniform(0.0, 60.0))

    def __str__(self) -> str:
        return f"{self.event} {self.after_s:.1f} s after the first frame"


@dataclass
class SegmentedVerdict:
    """How a disturbed run ended."""

    of: Disturbance
    lives: list[int] = field(default_factory=list)
    attempts: int = 0
    seconds: float = 0.0
    violations: list[str] = field(default_factory=list)


def give_inputs(
    case: Case,
    steps: int,
    segments: str,
    recipe: tuple[str, str, str],
    *,
    walltime_s: int = 3600,
    python: str = sys.executable,
) -> None:
    """Give a case the inputs of awm and its recipe; ``python`` starts the model ``command``."""
    shutil.rmtree(case.inputs)
    case.inputs.mkdir()
    simulation, checkpoint, more = recipe
    (case.inputs / "awm.toml").write_text(block_of((96, 88, 72), steps, OUTPUT) + more)
    simulation = simulation.format(python=python)
    about = {"simulation": simulation, "checkpoint": checkpoint, "walltime": walltime_s}
    text = RECIPE.format(segments=segments, products=surface_products(300), **about)
    (case.folder / "r.toml").write_text(text)


def files(folder: Path) -> dict[str, bytes]:
    """The products of a run, by name; of the states of chained ones the values, without the attempt
    in their names: their archives have the version of Python."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_file() and "live" not in path.parts and path.suffix not in {".html", ".jsonl"}:
            if ".states" in name:
                with np.load(path) as state:
                    values = b"".join(state[one].tobytes() for one in sorted(state))
                found[name.rpartition("_")[0]] = values
            else:
                found[name] = path.read_bytes()
    return found


def raw_values(folder: Path) -> dict[tuple[str, str, str], bytes]:
    """The variables of the files that were brought home."""
    found = {}
    with _NETCDF:
        for path in folder.glob("*.nc"):
            with netCDF4.Dataset(path) as file:
                for name, variable in file.variables.items():
                    found[path.name, name] = variable[:].data.tobytes()
    return found


def shown_times(run: Path) -> list[str]:
    """The times of the pictures that the page shows, in order."""
    lines = [json.loads(line) for line in (run / "products" / "index.jsonl").open()]
    return sorted({line["time"] for line in lines if line["product"] == "motion"})


class SegmentedCase(BatchCase):
    """One such run; ``whole`` is the run directory of the run in one piece."""

    def __init__(
        self,
        slurm: Testbed,
        library: Path,
        name: str,
        whole: Path,
        *,
        steps: int,
        recipe: tuple[str, str, str] = ASKED,
    ) -> None:
        super().__init__(slurm, library, name, interval=1.0)
        self.whole = whole
        about = {"walltime_s": WALLTIME_S, "python": str(slurm.python)}
        give_inputs(self, steps, '"until done"', recipe, **about)
        for path in (self.inputs, *self.inputs.iterdir(), self.folder / "r.toml"):
            os.chown(path, slurm.user.pw_uid, slurm.user.pw_gid)

    def carry_out(self, of: Disturbance) -> SegmentedVerdict:
        """Disturb, resume until it is done, judge."""
        verdict, begin = SegmentedVerdict(of), time.monotonic()
        try:
            driver = self.launch()
            self._disturb(of, driver)
            verdict.lives.append(self.wait(driver, LIMIT_S).code)
            while verdict.lives[-1] != 0 and len(verdict.lives) <= RESUMES:
                verdict.lives.append(self.wait(self.start("resume", "r"), LIMIT_S).code)
            verdict.violations += self.differences()
        except (pytest.fail.Exception, AssertionError) as failed:
            verdict.violations.append(str(failed)[-3000:])
        finally:
            end_processes(self.folder)
            for job in self.jobs():
                if job["JobState"] in ACTIVE:
                    self.slurm.daemons.ask("scancel", job["JobId"])
            verdict.seconds = time.monotonic() - begin
        verdict.attempts = len(self._events("simulation.submitted"))
        return verdict

    def _disturb(self, of: Disturbance, driver: object) -> None:
        self.await_event("frame.ready", limit_s=240)
        time.sleep(of.after_s)
        if of.event == "node":
            self._lose_a_node()
        elif of.event != "nothing":
            end = time.monotonic() + 30
            while time.monotonic() < end and not self._kill(of.event):
                time.sleep(0.1)

    def _kill(self, role: str) -> bool:
        for pid, command in self.processes().items():
            is_driver = "burstlens" in command and " run " in command and role == "driver"
            if is_driver or role_of(command) == role or (role == "model" and ".awm" in command):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    return True
        return False

    def _lose_a_node(self) -> None:
        """The node of the simulation's job goes down, and comes back."""
        running = [one for one in self.jobs("attempt-") if one["JobState"] == "RUNNING"]
        if running:
            node = running[0]["NodeList"]
            set_state = ("scontrol", "update", f"nodename={node}")
            self.slurm.daemons.ask(*set_state, "state=down", "reason=test")
            time.sleep(10)
            self.slurm.daemons.ask(*set_state, "state=resume")

    def _events(self, name: str) -> list[dict[str, object]]:
        return [line for line in self.journal() if line["event"] == name]

    def differences(self) -> Iterator[str]:
        """What is not as in the run in one piece, or is left."""
        status = json.loads((self.run / "status.json").read_text())
        if status["state"] != "done":
            yield f"the run is {status['state']}: {status.get('outcome')}"
        for what, of in (("products", files), ("output", raw_values)):
            mine, others = of(self.run / what), of(self.whole / what)
            yield from (f"{what}: {name} is missing" for name in others.keys() - mine.keys())
            yield from (f"{what}: {name} is too much" for name in mine.keys() - others.keys())
            differ = [name for name in mine.keys() & others.keys() if mine[name] != others[name]]
            yield from (f"{what}: {name} differs" for name in differ)
        mine, others = (shown_times(folder) for folder in (self.run, self.whole))
        if mine != others:
            yield f"shown are {mine}, in the run in one piece {others}"
        yield from self.scheduler_faults()

    def scheduler_faults(self) -> Iterator[str]:
        """What Slurm still has of the run."""
        if self.buffer_name() in self.slurm.burst():
            yield f"the buffer is left: {sorted(self.slurm.burst())}"
        end = time.monotonic() + 60
        while self.has_live("") and time.monotonic() < end:
            time.sleep(0.2)
        live = [job["JobName"] for job in self.jobs() if job["JobState"] in ACTIVE]
        if live:
            yield f"jobs are left: {live}"
