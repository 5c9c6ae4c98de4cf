"""Runs that look at a folder, written by the driver's own writers, in any state."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.events import Event
from burstlens.core.run.facts import RunFacts, write_facts
from burstlens.core.run.heartbeat import driver_process
from burstlens.core.run.history import History, replay
from burstlens.core.run.journal import Journal, read
from burstlens.core.run.snapshot import attached_now, new_snapshot, write_snapshot
from burstlens.core.run.status_file import (
    AttachedPart,
    DriverPart,
    FrameCounts,
    OutcomePart,
    ProductCounts,
)
from burstlens.workflows.look.options import Look

QUIET = "nothing was written for 14 min, the newest file is wrfout_d01_2026-11-02_06:30:00"


class AttachedRun:
    """A run that looks at ``/scratch/storm``, taken for WRF; this process is its driver."""

    def __init__(self, folder: Path, name: str = "look-storm", **options: Any) -> None:
        known = {"model": "wrf", "reason": "namelist.input and 4 files wrfout_d01_*"}
        self.look = Look(**{"path": "/scratch/storm", **known, **options})
        self.run = RunDir(folder / name)
        self.run.create()
        write_facts(
            self.run,
            RunFacts(
                run=name, title="Storm", created=time.time(), attached=asdict(self.look),
                table={"simulation": {"model": "wrf"}, "product": []}, buffer_folder="x",
            ),
        )  # fmt: skip
        self.run.index.touch()

    def journal(self, *events: Event) -> History:
        """Append events; returns what all so far add up to."""
        journal = Journal(self.run.journal, 1)
        for event in events:
            journal.append(event)
        journal.close()
        return replay(read(self.run.journal))

    def begin(self, *events: Event) -> History:
        """The events of a look that has begun, and more."""
        look = self.look
        return self.journal(
            ev.RunStarted(host="login1"),
            ev.RunAttached(path=look.path, model=look.model, reason=look.reason),
            ev.AttemptObserved(attempt=1, evidence="what is there on arrival"),
            *events,
        )

    def show(
        self, state: str = "quiet", evidence: str | None = None, *, outcome: Outcome | None = None
    ) -> None:
        """Write the status, as the driver does; with ``evidence`` the model's state is the run's,
        else the one in the journal."""
        history = replay(read(self.run.journal))
        new = new_snapshot(self.run)
        assert isinstance(new.attached, AttachedPart)
        attached = attached_now(new.attached, history)
        if evidence is not None:
            attached = replace(attached, state=state, evidence=evidence)
        driver = DriverPart(**driver_process(), epoch=1, heartbeat=round(time.time(), 3))
        ended = (outcome.state, outcome.exit_code, outcome.message) if outcome else None
        snapshot = replace(
            new,
            state=outcome.state if outcome else state,
            attached=attached,
            attempt=history.attempt,
            frames=FrameCounts(**history.counts()),
            products={"t2": ProductCounts(len(history.ready), 0, "map")},
            block="running",
            driver=driver,
            outcome=OutcomePart(*ended) if ended else None,
        )
        write_snapshot(self.run, snapshot)


def ready(time: str = "20261102T063000", signal: str = "later", attempt: int = 1) -> ev.FrameReady:
    """A frame that is whole by that signal."""
    return ev.FrameReady(
        attempt=attempt, stream="d01", time=time, record=0, bytes=100, file=f"wrfout_d01_{time}",
        signal=signal,
    )  # fmt: skip
