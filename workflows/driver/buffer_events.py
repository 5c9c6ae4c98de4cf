"""What the journal has of a buffer that is there, or gone."""

from __future__ import annotations

from dataclasses import asdict

from msgspec import structs

from burstlens.core.run import events as ev
from burstlens.core.run.journal import Journal
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.provision import Provision
from burstlens.workflows.publishing.snapshot import Snapshot


def note_buffer(
    journal: Journal, snapshot: Snapshot, provision: Provision, buffer: BufferRef, *, found: bool
) -> None:
    """Journal the buffer: ``found`` again, or new to the run, then with how it came to be."""
    origin = None if found else provision.origin(buffer)
    if origin is not None:
        journal.append(ev.BufferObserved(**structs.asdict(origin)))
        if origin.job and not origin.owned:
            text = f"buffer {origin.name} stays when the run ends: {origin.why}"
            journal.append(ev.Alarm(text=text))
            snapshot.alarm(text)
    event = ev.BufferAdopted if found else ev.BufferCreated
    journal.append(event(**asdict(buffer)))


def note_lost_frames(journal: Journal, snapshot: Snapshot) -> None:
    """Report that an earlier attempt's raw frames cannot be read any more, and what follows."""
    attempt = snapshot.history.attempt
    if snapshot.history.frames:
        text = (
            f"the buffer of attempt {attempt} is gone with its raw frames: the simulation "
            f"starts again from its inputs, as attempt {attempt + 1}"
        )
        journal.append(ev.Alarm(text=text))
        snapshot.alarm(text)
