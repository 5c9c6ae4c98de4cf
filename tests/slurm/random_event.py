"""One random event on the testbed in a random phase of a run, and what must be true afterwards.

The testbed is asked by its own commands and by the record of the service behind it, never by way
of Burstlens; ``burstlens status --json`` must say the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from batch_case import BatchCase
from cluster.daemons import CONTROLLER
from disturbed_run import VARIATIONS, Verdict, role_of
from run_case import Life
from run_checker import Evidence, violations
from testbed import ACTIVE, Testbed

RESUMES = 3
HELD_S = 200.0
LIMIT_S = 400.0
PHASE_S = 240.0
PHASES = {
    "create": ("buffer.requested", 2.0),
    "stage in": ("buffer.created", 3.0),
    "model queued": ("simulation.submitted", 2.0),
    "between frames": ("frame.ready", 2.0),
    "model ended": ("simulation.ended", 2.0),
    "giving back": ("stageout.done", 2.0),
}
"""The event that opens each phase, and about how many seconds it lasts."""
STOPS = ("stop", "stop --now")
SIGNALS = {"kill": signal.SIGKILL, "interrupt": signal.SIGINT, "terminate": signal.SIGTERM}
OUTAGES = ("slurmctld", "munge", "DataWarp", "slurmctld under a silent DataWarp")
KILLS = ("supervisor", "model", "worker", "manager", "interchange", "host")
CANCELLED = ("attempt-1", "parsl")
EVENTS = (
    *STOPS, *(f"{name} the driver" for name in SIGNALS), *(f"kill the {role}" for role in KILLS),
    *(f"no {part}" for part in OUTAGES * 3), *(f"scancel {job}" for job in CANCELLED),
)  # fmt: skip
STATES = {0: "done", 8: "done", 4: "stopped", 1: "failed", 5: "failed", 7: "failed"}
JOB_BUFFER = {"buffer": 'kind = "datawarp"\nlifetime = "job"', "placement": "same-job"}


@dataclass(frozen=True)
class RandomEvent:
    """What happens in which phase: the same for the same seed."""

    seed: int
    event: str
    phase: str
    after_s: float
    lasts_s: float
    """Of an outage."""
    per_job: bool
    """Whether the buffer belongs to the simulation's job."""
    kind: str = "testbed"

    @classmethod
    def draw(cls, seed: int) -> RandomEvent:
        """What that seed gives."""
        dice = random.Random(seed)
        event, phase = dice.choice(EVENTS), dice.choice(list(PHASES))
        after_s = dice.uniform(0, PHASES[phase][1])
        return cls(seed, event, phase, after_s, dice.uniform(3, 25), dice.random() < 0.3)

    def __str__(self) -> str:
        where = "per-job buffer" if self.per_job else "persistent buffer"
        lasts = f" for {self.lasts_s:.0f} s" if self.event.startswith("no ") else ""
        return f"{self.event}{lasts}, {self.phase} +{self.after_s:.1f} s, {where}"


class Foreign:
    """A persistent buffer of somebody else's, with a job that has it mounted, both there all the
    time."""

    NAME = "bl_foreign"

    def __init__(self, slurm: Testbed) -> None:
        self.slurm = slurm
        what = f"name={self.NAME} capacity=20GB access=striped type=scratch"
        create = f"#!/bin/sh\n#BB create_persistent {what}\ntrue\n"
        slurm.wait(slurm.submit(create))
        uses = (
            "#!/bin/sh\n#SBATCH --job-name=foreign --nodelist=dwn3\n"
            f"#DW persistentdw name={self.NAME}\n"
            f"echo mine > $DW_PERSISTENT_STRIPED_{self.NAME}/file\nsleep 100000\n"
        )
        self.job = slurm.submit(uses)
        slurm.wait(self.job, "RUNNING")

    def violations(self) -> Iterator[str]:
        """What was done to them."""
        if self.slurm.job(self.job).get("JobState") != "RUNNING":
            yield f"the foreign job is {self.slurm.job(self.job).get('JobState')}"
        if self.NAME not in self.slurm.burst():
            yield f"the foreign buffer is gone: {sorted(self.slurm.burst())}"
        places = (self.slurm.root / "datawarp" / "instances").glob("*/data/file")
        if not any(path.read_text() == "mine\n" for path in places):
            yield "the foreign buffer has lost its file"


def is_live(job: dict[str, str]) -> bool:
    """Whether a job waits or runs. A slurmctld that was restarted under a silent service may show
    a job that has ended as in STAGE_OUT for ever: whether it has a buffer, its row says."""
    return job["JobState"] in ACTIVE - {"STAGE_OUT", "COMPLETING"}


class EventRun:
    """A run on the testbed, disturbed by one event, resumed and judged."""

    def __init__(self, slurm: Testbed, library: Path, foreign: Foreign, of: RandomEvent) -> None:
        self.slurm, self.foreign, self.of = slurm, foreign, of
        self.variation = VARIATIONS["crops"]
        self.case = BatchCase(
            slurm, library, f"event-{of.seed}-{os.urandom(3).hex()}", interval=2.0,
            model=self.variation.model,
            recipe=self.variation.recipe,
            products=self.variation.products,
            **(JOB_BUFFER if of.per_job else {}),
        )  # fmt: skip
        self.verdict = Verdict(of)  # type: ignore[arg-type]

    def carry_out(self) -> Verdict:
        """Disturb, compare, resume, judge."""
        begin = time.monotonic()
        try:
            driver = self.case.launch()
            self.verdict.reached = self._disturb(driver)
            life = self._end_of(driver)
            self.verdict.lives.append(life.code)
            self.verdict.violations += self._compared(life.code)
            while self.verdict.lives[-1] != 0 and len(self.verdict.lives) <= RESUMES:
                if not (self.case.run / "run.json").exists():
                    life = self._end_of(self.case.launch())
                else:
                    life = self._end_of(self.case.start("resume", "r"))
                self.verdict.lives.append(life.code)
                self.verdict.violations += self._compared(life.code)
            self.verdict.violations += violations(self._evidence())
            buffers, jobs = self._record()
            self.verdict.violations += [f"left: {name}" for name in (*buffers, *jobs)]
            self.verdict.violations += self.foreign.violations()
        except (pytest.fail.Exception, AssertionError) as failed:
            self.verdict.violations.append(str(failed)[:3000])
        finally:
            self._clean_up()
            self.verdict.seconds = time.monotonic() - begin
        return self.verdict

    def _end_of(self, driver: Any) -> Life:
        """The driver's end. Slurm may leave a job for ever in the stage in that it was making as
        slurmctld went: then a person, whom ``status`` shows why it waits, stops the run, or cancels
        its viewing block, which is replaced."""
        held_until = time.monotonic() + HELD_S
        while driver.poll() is None and time.monotonic() < held_until:
            time.sleep(0.2)
        stuck = [
            job for job in self.case.jobs()
            if (job["JobState"], job.get("Reason")) == ("PENDING", "BurstBufferStageIn")
        ]  # fmt: skip
        for job in stuck if driver.poll() is None else ():
            if "-parsl-" in job["JobName"]:
                self.slurm.run(["scancel", job["JobId"]])
            else:
                self.case.burstlens("stop", "r")
        return self.case.wait(driver, LIMIT_S)

    def _evidence(self) -> Evidence:
        return replace(self.case.evidence(), exit_code=self.verdict.lives[-1])

    # The event

    def _disturb(self, driver: Any) -> bool:
        opens, _ = PHASES[self.of.phase]
        if self.of.per_job and opens == "buffer.requested":
            opens = "run.started"
        end = time.monotonic() + PHASE_S
        while opens not in [line["event"] for line in self.case.journal()]:
            if driver.poll() is not None or time.monotonic() > end:
                return False
            time.sleep(0.05)
        time.sleep(self.of.after_s)
        if driver.poll() is not None:
            return False
        verb, _, rest = self.of.event.partition(" ")
        if self.of.event in STOPS:
            return self.case.burstlens(*["stop", "r"], *rest.split()).code == 0
        if verb == "no":
            self._outage(rest)
            return True
        if verb == "scancel":
            jobs = [j for j in self.case.jobs(rest) if j["JobState"] in ACTIVE]
            for job in jobs:
                self.slurm.run(["scancel", job["JobId"]])
            return bool(jobs)
        role = rest.removeprefix("the ")
        if role == "driver":
            driver.send_signal(SIGNALS[verb])
            return True
        return self._kill(role, driver)

    def _kill(self, role: str, driver: Any) -> bool:
        end = time.monotonic() + 30
        while driver.poll() is None and time.monotonic() < end:
            for pid, command in self.case.processes().items():
                if role_of(command) == role or (role == "host" and "host.py" in command):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        return True
            time.sleep(0.05)
        return False

    def _outage(self, part: str) -> None:
        daemons = self.slurm.daemons
        if part == "DataWarp":
            with self.slurm.knobs(away=True):
                time.sleep(self.of.lasts_s)
        elif part == "munge":
            daemons.stop("munged")
            time.sleep(self.of.lasts_s)
            daemons.start("munged")
        elif part == "slurmctld":
            daemons.stop(CONTROLLER)
            time.sleep(self.of.lasts_s)
            daemons.start(CONTROLLER)
        else:
            with self.slurm.knobs(away=True):
                self.slurm.restart_controller()
                time.sleep(self.of.lasts_s)

    # What is true

    def _record(self) -> tuple[list[str], list[str]]:
        """The run's buffers and jobs by the testbed's own word, when that is complete."""
        end = time.monotonic() + 90
        while True:
            said = self.slurm.daemons.ask("scontrol", "show", "burst")
            whole = "Name=datawarp" in said and self.foreign.NAME in said
            if whole or time.monotonic() > end:
                break
            time.sleep(0.5)
        own = [self.case.buffer_name()] if (self.case.run / "run.json").exists() else []
        jobs = {job["JobId"]: job["JobName"] for job in self.case.jobs() if is_live(job)}
        burst = self.slurm.burst()
        buffers = [name for name in (*own, *jobs) if name in burst]
        return buffers, sorted(jobs.values())

    def _compared(self, code: int) -> Iterator[str]:
        """Where ``status --json`` and the testbed's record differ after a driver's end."""
        if not (self.case.run / "run.json").exists():
            return
        before = len(self.case.said())
        self.case.burstlens("status", "r", "--json")
        try:
            status = json.loads(self.case.said()[before:])
        except ValueError:
            yield f"status --json prints {self.case.said()[before:][:300]!r}"
            return
        outcome, buffer = status.get("outcome") or {}, status.get("buffer") or {}
        if code >= 0 and code != 130:
            self._await_end_of_cancelled()
        buffers, jobs = self._record()
        persistent = [name for name in buffers if not name.isdigit()]
        if code < 0 or code == 130:
            if outcome and "run.ended" not in [line["event"] for line in self.case.journal()]:
                yield f"a killed driver's run has the outcome {outcome}"
        else:
            if outcome.get("exit_code") != code or status["state"] != STATES.get(code):
                yield f"exit code {code}, status: {status['state']}, {outcome}"
            if jobs:
                yield f"a driver that ended with {code} left the jobs {jobs}"
            kept = code not in (
                0,
                8,
            )  # a run that can be resumed keeps its buffer, and status says so
            if persistent and not kept and persistent[0] not in (outcome.get("left") or ""):
                yield f"{persistent[0]} is there, left: {outcome.get('left')!r}"
            if not persistent and outcome.get("left"):
                yield f"nothing is there, left: {outcome['left']!r}"
            if code == 8 and not persistent:
                yield "exit code 8, and no buffer is there"
            if code == 0 and persistent:
                yield f"exit code 0, and {persistent[0]} is there"
        if persistent and buffer.get("released"):
            yield f"status says that {persistent[0]} was given back"
        if persistent and buffer.get("name") != persistent[0]:
            yield f"{persistent[0]} is there, status names {buffer.get('name')!r}"

    def _await_end_of_cancelled(self) -> None:
        """What was cancelled takes Slurm a moment."""
        end = time.monotonic() + 20
        while any(map(is_live, self.case.jobs())) and time.monotonic() < end:
            time.sleep(0.2)

    def _clean_up(self) -> None:
        """Nothing of this run disturbs the next one, whatever became of it."""
        daemons = self.slurm.daemons
        for name in ("munged", CONTROLLER):
            if daemons.pid(name) is None:
                daemons.start(name)
        for job in self.case.jobs():
            if job["JobState"] in ACTIVE:
                daemons.ask("scancel", job["JobId"])
        self.case.end()
        for name in self._record()[0]:
            if not name.isdigit():
                script = f"#!/bin/sh\n#BB destroy_persistent name={name} hurry\ntrue\n"
                self.slurm.wait(self.slurm.submit(script))
