"""What a run's history keeps of its checkpoints."""

from __future__ import annotations

from dataclasses import dataclass, field

from burstlens.core.run.lineage import Lineage
from burstlens.core.run.occasional_events import (
    CheckpointHome,
    CheckpointJudged,
    CheckpointRemoved,
    CheckpointSuspect,
    CheckpointWhole,
)


@dataclass(slots=True)
class CheckpointRecord:
    """A whole checkpoint, by the journal; ``suspect`` says why none is to resume from it.

    ``sizes`` are the bytes of each file, where known. ``judged``: its own fields were read, and are
    finite. ``home`` has name, bytes and CRC-32 of its files in the run directory, none where they
    are not all there; ``ahead``: frames up to its time may lack their products.
    """

    attempt: int
    time: str
    files: list[str]
    bytes: int
    suspect: str = ""
    written: float | None = None
    """When its last byte was written, by the model's node."""
    sizes: list[int] = field(default_factory=list)
    judged: bool = False
    on_buffer: bool = True
    home: list[tuple[str, int, int]] = field(default_factory=list)
    ahead: bool = False

    @property
    def size_of(self) -> dict[str, int | None]:
        """The bytes of each file by its name, None where they are not known."""
        sizes: list[int | None] = [*self.sizes] or [None] * len(self.files)
        return dict(zip(self.files, sizes, strict=False))


@dataclass(slots=True)
class Checkpoints:
    """The whole checkpoints whose files are on the buffer or in the run directory, in the order in
    which they came."""

    records: list[CheckpointRecord] = field(default_factory=list)
    longest_s: float | None = None
    """The longest that the model took to write one, by its log; None where that does not say."""

    def find(self, attempt: int, time: str) -> CheckpointRecord | None:
        """The checkpoint of that attempt and time."""
        wanted = attempt, time
        return next((one for one in self.records if (one.attempt, one.time) == wanted), None)

    def on(self, lineage: Lineage) -> list[CheckpointRecord]:
        """Those on the stretch that their attempt owns, in order of model time."""
        owned = (one for one in self.records if lineage.owner(one.time) == one.attempt)
        return sorted(owned, key=lambda one: one.time)

    def note_whole(self, event: CheckpointWhole) -> None:
        """Add one; one that was written anew takes the place of the one before."""
        self._drop(event.attempt, event.time)
        record = CheckpointRecord(
            event.attempt, event.time, event.files, event.bytes, written=event.written
        )
        record.sizes = event.sizes or []
        self.records.append(record)
        if event.took_s is not None:
            self.longest_s = max(event.took_s, self.longest_s or 0.0)

    def note_suspect(self, event: CheckpointSuspect) -> None:
        """Note why a checkpoint is suspect."""
        if record := self.find(event.attempt, event.time):
            record.suspect = event.reason

    def note_judged(self, event: CheckpointJudged) -> None:
        """Note that the fields of a checkpoint are finite."""
        if record := self.find(event.attempt, event.time):
            record.judged = True

    def note_home(self, event: CheckpointHome) -> None:
        """Note that its files are in the run directory."""
        if record := self.find(event.attempt, event.time):
            record.home, record.ahead = event.files, event.ahead

    def note_removed(self, event: CheckpointRemoved) -> None:
        """Forget its files in that place, and the checkpoint where no others are left."""
        if record := self.find(event.attempt, event.time):
            if event.home:
                record.home = []
            else:
                record.on_buffer = False
            self._forget_lost()

    def lose_buffer(self) -> None:
        """The buffer is gone with the files that lay there."""
        for record in self.records:
            record.on_buffer = False
        self._forget_lost()

    def _forget_lost(self) -> None:
        self.records = [one for one in self.records if one.on_buffer or one.home]

    def _drop(self, attempt: int, time: str) -> None:
        if record := self.find(attempt, time):
            self.records.remove(record)
