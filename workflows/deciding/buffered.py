"""From nothing to inputs on the buffer: what all kinds of run that have a buffer do first."""

from __future__ import annotations

from dataclasses import asdict, replace

from msgspec import structs

from burstlens.core.run import events as ev
from burstlens.workflows.deciding.state import Policy, RunState
from burstlens.workflows.ordering.events import BufferReady, StagedIn
from burstlens.workflows.ordering.instructions import ProvideBuffer, StageIn, Sync
from burstlens.workflows.placement.buffer import BufferRef


class BufferedRun(Policy):
    """A kind of run with a ``buffer``. ``buffer_name`` is that of a persistent one that is asked
    for; ``lasts``: the space can stay for a person to look at."""

    buffer: BufferRef | None = None

    def __init__(self, state: RunState, *, buffer_name: str, lasts: bool) -> None:
        super().__init__(state)
        self.buffer_name, self.lasts = buffer_name, lasts

    @property
    def known(self) -> BufferRef | None:
        """The buffer of earlier drivers, unless it was given back."""
        history = self.state.history
        if not history.buffer or history.buffer_released:
            return None
        return BufferRef(**history.buffer)

    def ask_for_buffer(self) -> None:
        """Have the space there. On disk before anything is asked for: `free` looks for it even
        after a kill."""
        state = self.state
        state.snapshot.state = "waiting for the buffer"
        known = self.known
        if known is None:
            kind = state.site.buffer.kind
            state.outbox.append(ev.BufferRequested(kind=kind, name=self.buffer_name))
            state.do(Sync(required=True))
        state.do(ProvideBuffer(known))

    def take_buffer(self, event: BufferReady) -> BufferRef:
        """Journal the buffer, with how it came to be where it is new to the run."""
        state = self.state
        site = state.site.buffer
        self.buffer = buffer = replace(event.buffer, by=event.buffer.by or site.stager or "")
        if not event.adopted:
            state.history.staged_in = False
        origin = event.origin
        if origin is not None:
            state.outbox.append(ev.BufferObserved(**structs.asdict(origin)))
            if origin.job and not origin.owned:
                state.alarm(f"buffer {origin.name} stays when the run ends: {origin.why}")
        kind = ev.BufferAdopted if event.adopted else ev.BufferCreated
        state.outbox.append(kind(**asdict(buffer)))
        return buffer

    def stage_in(self) -> None:
        """Have the inputs brought there."""
        assert self.buffer is not None
        self.state.snapshot.state = "staging in"
        self.state.do(StageIn(self.buffer))

    def note_stage_in(self, event: StagedIn) -> None:
        """Journal that they are there."""
        self.state.outbox.append(
            ev.StageInDone(files=event.files, bytes=event.bytes, left=event.left)
        )
