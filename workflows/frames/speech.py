"""What the model's log has said so far, and which frames its lines call written.

A line may name a frame by its time or by its file, or only a record of the file that the model
writes now ("into time record = 0000003"). A log may come late, when the next file has begun, so the
newest file is not always the one that is meant. But each file begins with record 1: the file is as
old as the log's 1s are many. Such a line counts only if as many files have begun as the log has had
first records, and then for the newest of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from burstlens.core.model import Progress
from burstlens.core.printable import printable
from burstlens.workflows.frames.log_file import Position
from burstlens.workflows.frames.log_search import BlockReader
from burstlens.workflows.frames.progress import Pulse
from burstlens.workflows.frames.reason import (
    BadEnd,
    Opened,
    Reason,
    with_reason,
)
from burstlens.workflows.models.base import BANNER, TROUBLE

MAX_WRITTEN = 64
"""Log lines per stream that wait for their frame."""
MAX_CHECKPOINTS = 256
"""Log lines that wait for their checkpoint."""
Order = tuple[str, int, str]
"""A file's place among those of its stream; the last part is its name."""


@dataclass(frozen=True, slots=True)
class Written:
    """A frame that the log calls written, named by its time (or the start of it) or by its file.
    ``record``, from 1: only that record of the file, and those before it."""

    stream: str | None
    time: str | None
    file: str | None
    cut: bool = False
    """Whether several frames may start like this: then it is not evidence for one of them."""
    record: int | None = None
    live: bool = field(default=True, compare=False)
    """Whether it was read as it was written, after the log had once been read to its end."""
    took_s: float | None = field(default=None, compare=False)
    """How long the model was at it, where the line says so."""


class Recorded(Struct, frozen=True):
    """One stream: how many ``files`` have begun, ``newest`` the last of them; ``begun``, how many
    of them the log has called begun, and the last ``record`` there, from 1."""

    files: int = 0
    newest: Order = ("", 0, "")
    begun: int = 0
    record: int = 0

    @property
    def file(self) -> str | None:
        """The file that the log's latest line means, None if it is not the newest that is known."""
        return self.newest[2] if self.begun == self.files and self.files else None

    def hearing(self, record: int) -> Recorded:
        """A copy after one more line. A smaller record than the last, other than 1, is a record
        that was written again."""
        if record == 1 or not self.begun:
            return replace(self, begun=self.begun + 1, record=record)
        return replace(self, record=max(record, self.record))

    def proves(self, file: str, index: int) -> bool:
        """Whether the log calls that record (from 0) of that file written."""
        return self.file == file and index < self.record


def with_files(
    recorded: Mapping[str, Recorded], files: Iterable[tuple[str, Order]]
) -> Mapping[str, Recorded]:
    """A copy in which these files, each with its stream, have begun."""
    none = Recorded()
    new = [file for file in files if file[1] > recorded.get(file[0], none).newest]
    found = dict(recorded)
    for stream, order in sorted(new, key=lambda file: file[1]):
        known = found.get(stream, none)
        if order > known.newest:  # not a second time
            found[stream] = replace(known, files=known.files + 1, newest=order)
    return found


class Speech(Struct, frozen=True):
    """What the model's log has said so far.

    ``positions``: how far each log is read. ``written``: lines that wait for their frames.
    ``recorded``: lines that name a record and no file, by stream.
    ``checkpoints``: lines that wait for their checkpoint, each with its part as the stream;
    ``steps``: the time of each log's latest progress, which is theirs if they name none.
    ``declared``: the newest declared time of each stream. ``speaks``: the log has called a frame
    written at least once. ``pulse`` measures the speed. ``reason`` is the cause to report if the
    run ends badly, ``bad_ends`` the lines by log that show that it has, ``opened`` the logs'
    entries of trouble whose next lines may belong to them, ``last_line`` the latest line that is
    not from a launcher. ``calendar`` is that of its frames, empty where days are Gregorian.
    """

    positions: Mapping[str, Position] = msgspec.field(default_factory=dict)
    written: tuple[Written, ...] = ()
    recorded: Mapping[str, Recorded] = msgspec.field(default_factory=dict)
    checkpoints: tuple[Written, ...] = ()
    steps: Mapping[str, str] = msgspec.field(default_factory=dict)
    declared: Mapping[str, str] = msgspec.field(default_factory=dict)
    speaks: bool = False
    asynchronous: bool = False
    ended_well: bool = False
    progress: Progress | None = None
    pulse: Pulse = msgspec.field(default_factory=Pulse)
    reason: Reason | None = None
    bad_ends: Mapping[str, BadEnd] = msgspec.field(default_factory=dict)
    opened: Mapping[str, Opened] = msgspec.field(default_factory=dict)
    last_line: str = ""
    calendar: str = ""
    caught_up: bool = False
    """Whether the logs were once read to their end."""
    blocks: Mapping[str, tuple[BlockReader, ...]] = msgspec.field(default_factory=dict)
    """What libraries report and have not completed yet, by log."""

    @property
    def why(self) -> str | None:
        """The reason to report for a bad end: its cause, else the model's own last line."""
        said = self.reason
        if said is not None and (said.weight > BANNER or not self.last_line):
            return printable(said.text)
        return printable(self.last_line) or None

    @property
    def bad_end(self) -> str | None:
        """How the model has ended badly, if the end of its logs shows that; the newest trouble
        before it, which may explain it. Trouble alone is no end."""
        ends = self.bad_ends
        for name, entry in self.opened.items():
            text = " ".join(entry.said.text.split())
            ends = with_reason(ends, name, Reason(entry.said.weight, text))
        if not ends:
            return None
        found = max((end.reason for end in ends.values()), key=lambda reason: reason.weight)
        said = self.reason
        if said is not None and found.weight < said.weight == TROUBLE:
            return printable(f"{found.text}; before it: {said.text}")
        return printable(self.last_line if found.weight == BANNER else "") or printable(found.text)


def matching(
    written: Iterable[Written], stream: str, time: str, files: tuple[str, ...], record: int = 0
) -> Iterator[Written]:
    """The log lines about the frame of that stream and time, or about that record (from 0) of one
    of its files."""
    for entry in written:
        named = time.startswith(entry.time) if entry.time is not None else entry.file in files
        begun = entry.record is None or record < entry.record
        if named and begun and entry.stream in (None, stream):
            yield entry


def with_declared(
    speech: Speech, stream: str, time: str, files: tuple[str, ...], record: int = 0
) -> Speech:
    """Without the lines about that frame, which is declared now."""
    spoken = {
        entry
        for entry in matching(speech.written, stream, time, files)
        if entry.record is None or entry.record <= record + 1
    }
    declared = {**speech.declared, stream: max(time, speech.declared.get(stream, ""))}
    written = tuple(entry for entry in speech.written if entry not in spoken)
    return replace(speech, written=written, declared=declared)
