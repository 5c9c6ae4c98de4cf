"""What came home as against the journal: a driver may have died between a copy of a checkpoint, or
its deletion, and the line; the host of a job brings results home without a driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from burstlens.core.durable import read_json
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import LEFT
from burstlens.workflows.deciding.home_copies import home_event
from burstlens.workflows.placement.checkpoint_home import copies_at_home
from burstlens.workflows.placement.host import HOME
from burstlens.workflows.publishing.context import RunContext


def settle_home(context: RunContext) -> None:
    """Journal what came home or went since the last driver. No worker of an earlier
    driver may live. Raises OSError."""
    checkpoints, journal = context.history.checkpoints, context.journal
    there = set()
    for copy in copies_at_home(context.run):
        there.add((copy.attempt, copy.time))
        record = checkpoints.find(copy.attempt, copy.time)
        if record is None:
            names = [name for name, *_ in copy.files]
            whole = ev.CheckpointWhole(
                attempt=copy.attempt, time=copy.time, files=names, bytes=copy.bytes, signal="home"
            )
            journal.append(whole)
        if record is None or record.home != copy.files:
            journal.append(home_event(copy))
    for record in [one for one in checkpoints.records if one.home]:
        if (record.attempt, record.time) not in there:
            journal.append(
                ev.CheckpointRemoved(attempt=record.attempt, time=record.time, home=True)
            )
    for report, files in _left_files(context.run):
        journal.append(ev.StageOutDone(outcome=LEFT, files=files))
        report.rename(report.with_suffix(".taken"))


def _left_files(run: RunDir) -> Iterator[tuple[Path, list[tuple[str, int]]]]:
    """The reports of hosts that have brought files home, and these: names and bytes. Raises
    OSError."""
    for path in sorted(run.path.glob(f"steps/host-*/{HOME}")):
        found = read_json(path)
        if found is not None:
            yield path, [(str(name), int(size)) for name, size in found["files"]]
