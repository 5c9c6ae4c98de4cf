"""The events of the journal about a run's space on the buffer."""

from __future__ import annotations

from msgspec import field

from burstlens.core.run.event import Event


class BufferRequested(Event, frozen=True, tag="buffer.requested"):
    """Space is about to be asked for; ``name`` is that of a persistent buffer."""

    kind: str = ""
    name: str | None = None


class _Buffer(Event, frozen=True):
    kind: str
    path: str
    folder: str
    name: str | None = None
    owned: bool | None = None
    by: str | None = None
    created: str | None = None


class BufferObserved(Event, frozen=True, tag="buffer.observed"):
    """How a named persistent buffer came to be, and so whether it is the run's to destroy, before
    ``buffer.created``; times are the scheduler's."""

    name: str
    created: str = ""
    owned: bool = False
    why: str = ""
    job: str | None = None
    submitted: str | None = None
    absent: bool | None = None
    others: list[str] = field(default_factory=list)


class BufferCreated(_Buffer, frozen=True, tag="buffer.created"):
    """The buffer is there."""


class BufferAdopted(_Buffer, frozen=True, tag="buffer.adopted"):
    """The buffer of an earlier driver or of the user is used."""


class BufferReleased(Event, frozen=True, tag="buffer.released", omit_defaults=True):
    """The run's space on the buffer was given back."""

    host: str | None = None
