"""kill -9 of a random process of a run, at a random moment of a random phase.

``test_kill.py`` aims at each outside call; here a kill may come at any point of the process. The
phases are those before the first frame and after the last one. ``FAULT_SEED`` replays a series,
``FAULT_KILLS`` says how many, ``FAULT_PARALLEL`` how many at a time, ``FAULT_LIFE_S`` how long one
life of a driver may take (more than 150 s on a machine that does other work).
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from run_case import BLOCK, TIMES, Case

KILLS = int(os.environ.get("FAULT_KILLS", "300"))
PARALLEL = int(os.environ.get("FAULT_PARALLEL", "2"))
SEED = int(os.environ.get("FAULT_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
LOOK_S = 0.005
MODEL_LINGERS = "--interval 0.5 --pause-at 5391:1.5"
"""The pause is before the trace's last call, its word of success: all frames are whole by then."""
BEGIN_S = 120.0
"""How long a phase may let itself be awaited."""


@dataclass(frozen=True)
class Phase:
    """A stretch of a run: the events that open and close it, and about how long it lasts."""

    name: str
    opens: str | None
    closes: str
    lasts_s: float
    roles: tuple[str, ...]


VIEWING = ("early", *BLOCK)
MODEL = ("supervisor", "model")
FIRST, LAST = "the first frame", "the last frame"
PHASES = (
    Phase("starting", None, "run.started", 2.5, ("driver",)),
    Phase("making the buffer", "run.started", "buffer.created", 1.5, ("driver", "interchange")),
    Phase("staging in", "buffer.created", "simulation.submitted", 4.0, ("driver", *VIEWING)),
    Phase(
        "before the first frame", "simulation.submitted", FIRST, 1.5, ("driver", *MODEL, *VIEWING)
    ),
    Phase(
        "after the last frame",
        LAST,
        "stageout.done",
        2.0,
        ("driver", *MODEL, *VIEWING, "prober"),
    ),
    Phase("giving back", "stageout.done", "run.ended", 1.0, ("driver",)),
)


@dataclass(frozen=True)
class Drawn:
    """One kill: who, and how many seconds into which phase."""

    seed: int
    phase: Phase
    role: str
    after_s: float

    @classmethod
    def of(cls, seed: int) -> Drawn:
        """What that seed gives: the same each time."""
        draw = random.Random(seed)
        phase = draw.choice(PHASES)
        return cls(seed, phase, draw.choice(phase.roles), draw.uniform(0, phase.lasts_s))

    def row(self, verdict: str) -> str:
        """Its row of the table."""
        where = f"{self.role:<11}  {self.phase.name:<22}  {self.after_s:5.2f} s"
        return f"{self.seed:>8}  {where}  {verdict}"


def _role(command: str) -> str:
    for word, name in (
        ("supervisor.py", "supervisor"),
        ("interchange", "interchange"),  # Parsl gives it a title in place of its command
        ("cluster_configs.worker_pool", "manager"),
        ("replay.py", "model"),
        ("workflows.hdf5", "prober"),
    ):
        if word in command:
            return name
    if "multiprocessing.spawn" in command:
        return "early"
    return "worker" if "multiprocessing.forkserver" in command else ""


def _find(case: Case, role: str, draw: random.Random) -> int | None:
    commands = case.processes()
    found = [pid for pid, command in sorted(commands.items()) if _role(command) == role]
    return draw.choice(found) if found else None


def _seen(case: Case, event: str | None) -> bool:
    """Whether the journal has that event, or the first or the last frame."""
    events = [line["event"] for line in case.journal()]
    frames = events.count("frame.ready")
    if event in {FIRST, LAST}:
        return frames >= (1 if event == FIRST else len(TIMES))
    return event is None or event in events


def _kill(case: Case, driver: subprocess.Popen[str], drawn: Drawn) -> bool:
    """Wait for the phase and the moment, the phase's end at the latest, and kill; returns whether
    there was such a process."""
    end = time.monotonic() + BEGIN_S
    while not _seen(case, drawn.phase.opens) and driver.poll() is None and time.monotonic() < end:
        time.sleep(LOOK_S)
    moment = time.monotonic() + drawn.after_s
    while not _seen(case, drawn.phase.closes) and time.monotonic() < moment:
        time.sleep(LOOK_S)
    draw = random.Random(drawn.seed)
    while driver.poll() is None and time.monotonic() < end:
        pid = driver.pid if drawn.role == "driver" else _find(case, drawn.role, draw)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return True
        if _seen(case, drawn.phase.closes):
            return False
        time.sleep(LOOK_S)
    return False


def _disturb(folder: Path, drawn: Drawn, settle: Any) -> tuple[str, list[str]]:
    """One run with that kill in it; returns the verdict and what is wrong."""
    case = Case(folder, model=MODEL_LINGERS, block_only=drawn.role in BLOCK)
    try:
        driver = case.launch()
        killed = _kill(case, driver, drawn)
        faults = settle(case, case.wait(driver), drawn.role, killed)
        return ("WRONG" if faults else "ok" if killed else "not there"), faults
    except pytest.fail.Exception as failed:
        return "WRONG", [str(failed)]
    finally:
        case.end()


def _series(folder: Path, count: int, settle: Any, show: Any) -> list[str]:
    """That many kills that met their process, from the seed on; returns the wrong ones."""
    show(f"\n{count} kills from seed {SEED}; seed, role, phase, moment in it, verdict:")
    wrong: list[str] = []
    seeds = iter(range(SEED, SEED + 3 * count + 3))
    with ThreadPoolExecutor(PARALLEL) as pool:

        def begin() -> None:
            drawn = Drawn.of(next(seeds))
            waiting[pool.submit(_disturb, folder / str(drawn.seed), drawn, settle)] = drawn

        waiting: dict[Any, Drawn] = {}
        for _ in range(count):
            begin()
        while waiting:
            done = next(as_completed(waiting))
            drawn = waiting.pop(done)
            verdict, faults = done.result()
            show(drawn.row(verdict))
            if faults:
                said = (folder / str(drawn.seed) / "said").read_text()
                wrong.append("\n".join([drawn.row(verdict), *faults, said]))
                show("\n".join(faults))
            else:
                shutil.rmtree(folder / str(drawn.seed))
            if verdict == "not there":
                begin()
    return wrong


@pytest.mark.fault
@pytest.mark.timeout(0)
def test_a_random_kill_loses_nothing_and_does_nothing_twice(
    tmp_path: Path, settle: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        wrong = _series(tmp_path, KILLS, settle, lambda text: print(text, flush=True))
    assert not wrong, "\n\n".join(wrong)
