"""What the run directory has of checkpoints, as against the journal: a driver may have died between
a copy, or a deletion, and its line, and the host of a job brings checkpoints home without one."""

from __future__ import annotations

from burstlens.core.run import events as ev
from burstlens.workflows.deciding.home_copies import home_event
from burstlens.workflows.placement.checkpoint_home import copies_at_home
from burstlens.workflows.publishing.context import RunContext


def settle_home(context: RunContext) -> None:
    """Journal the checkpoints that came home or went since the last driver. No worker of an earlier
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
