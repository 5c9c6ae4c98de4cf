"""What the events of a run's notices add up to: which word is still to be sent, in which ways."""

from __future__ import annotations

from dataclasses import dataclass, field

from burstlens.core.run import events as ev
from burstlens.core.valid_time import series_calendar


@dataclass(slots=True)
class Pending:
    """A word that was not yet sent in the ways with these labels."""

    due: ev.NoticeDue
    ways: list[str]


@dataclass(slots=True)
class Noticed:
    """The part of a run's history that is about notices."""

    known: set[str] = field(default_factory=set)
    """The keys of all words."""
    pending: dict[str, Pending] = field(default_factory=dict)
    """The words that were not yet sent in all of their ways, by key."""
    until: str = ""
    """The valid time of the latest word at a model time."""
    settled: dict[str, str] = field(default_factory=dict)
    """The newest valid time at which each product is published or has failed."""
    began: dict[str, str] = field(default_factory=dict)
    """The earliest valid time of each stream's ready frames."""
    first: dict[str, str] = field(default_factory=dict)
    """The one from which model times count: of a model that others started the one that was settled
    first (of frames that were there before, the newest), else the stream's first frame."""
    calendars: dict[str, str] = field(default_factory=dict)
    """That of each product's valid times, empty where it is Gregorian."""
    over: bool = True
    """Whether the run has ended, or not begun."""

    def note_due(self, event: ev.NoticeDue) -> None:
        """Note a word that is to be sent."""
        self.known.add(event.key)
        self.pending[event.key] = Pending(event, list(event.ways))
        if event.time is not None:
            self.until = max(self.until, event.time)

    def note_done(self, event: ev.NoticeSent | ev.NoticeFailed) -> None:
        """Note that a word was sent in one way, or will not be."""
        found = self.pending.get(event.key)
        if found is None:
            return
        if event.way in found.ways:
            found.ways.remove(event.way)
        if not found.ways:
            del self.pending[event.key]

    def note_frame(self, stream: str, time: str) -> None:
        """Note that a frame of that valid time is ready."""
        self.began[stream] = min(time, self.began.get(stream, time))

    def note_product(
        self, event: ev.ProductPublished | ev.ProductKept | ev.ProductFailed, *, looked: bool
    ) -> None:
        """Note that a product is published or has failed; ``looked``: others started the model."""
        product, time = event.product, event.time
        if not isinstance(event, ev.ProductFailed):
            named = str((event.facts or {}).get("calendar", ""))
            self.calendars[product] = series_calendar(self.calendars.get(product, ""), named)
        self.settled[product] = max(time, self.settled.get(product, time))
        # Where several frames are waiting, the newest is made first: it is not the run's first.
        first = time if looked else min(time, self.began.get(event.stream, time))
        self.first.setdefault(product, first)

    def begin(self) -> None:
        """A driver has begun: word of an end that its predecessor did not live to journal is not
        true."""
        if not self.over:
            for key in [key for key in self.pending if key.startswith("end ")]:
                del self.pending[key]
        self.over = False

    def end(self) -> None:
        """The run has ended."""
        self.over = True
