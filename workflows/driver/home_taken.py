"""What came home as against the journal: a driver may have died between a copy of a checkpoint, or
its deletion, and the line; the host of a job brings results home without a driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from burstlens.core.durable import read_json
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import LEFT, History
from burstlens.workflows.deciding.home_copies import home_event
from burstlens.workflows.placement.checkpoint_home import copies_at_home
from burstlens.workflows.placement.host import HOME
from burstlens.workflows.publishing.context import RunContext


def settle_home(context: RunContext) -> None:
    """Journal what came home or went since the last driver. No worker of an earlier
    driver may live. Raises OSError."""
    for event in unsettled(context.run, context.history):
        context.journal.append(event)
    for report, files in _left_files(context.run):
        context.journal.append(ev.StageOutDone(outcome=LEFT, files=files))
        report.rename(report.with_suffix(".taken"))


def unsettled(run: RunDir, history: History) -> Iterator[ev.Event]:
    """The events of checkpoints that came home or went, which the journal lacks. Each is to be
    applied to ``history`` before the next one is asked for. Raises OSError."""
    checkpoints = history.checkpoints
    there = set()
    for copy in copies_at_home(run):
        there.add((copy.attempt, copy.time))
        record = checkpoints.find(copy.attempt, copy.time)
        if record is None:
            names = [name for name, *_ in copy.files]
            yield ev.CheckpointWhole(
                attempt=copy.attempt, time=copy.time, files=names, bytes=copy.bytes, signal="home"
            )
        if record is None or record.home != copy.files:
            yield home_event(copy)
    for record in [one for one in checkpoints.records if one.home]:
        if (record.attempt, record.time) not in there:
            yield ev.CheckpointRemoved(attempt=record.attempt, time=record.time, home=True)


def _left_files(run: RunDir) -> Iterator[tuple[Path, list[tuple[str, int]]]]:
    """The reports of hosts that have brought files home, and these: names and bytes. Raises
    OSError."""
    for path in sorted(run.path.glob(f"steps/host-*/{HOME}")):
        found = read_json(path)
        if found is not None:
            yield path, [(str(name), int(size)) for name, size in found["files"]]
