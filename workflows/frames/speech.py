"""What the model's log has said so far, and which frames its lines call written.

A line may name a frame by its time or by its file, or only a record of the file that the model
writes now ("into time record = 0000003"). A log may come late, when the next file has begun, so the
newest file is not always the one that is meant. But each file begins with record 1: the file is as
old as the log's 1s are many. Such a line counts only if as many files have begun as the log has had
first records, and then for the newest of them.

Why a model ended says the line, or the group of lines, that explains it best: the adapters give
their lines a weight (:mod:`burstlens.workflows.models.base`), and the one with the largest weight
is kept, whatever was printed after it.
"""

from __future__ import annotations

import dataclasses
import re
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
from burstlens.workflows.models.base import BANNER, TROUBLE, LogLine

MAX_WRITTEN = 64
"""Log lines per stream that wait for their frame."""
Order = tuple[str, int, str]
"""A file's place among those of its stream; the last part is its name."""
LONGEST = 600
MOST_LINES = 12
MOST_LOGS = 16
"""Logs of which the bad end is kept: other ranks of a model end in the same way."""
MOST_AFTER, MOST_AFTER_BANNER = 100, 10
"""A model that has written more lines after it has survived: other ranks may write a few, as may
runtime systems."""
_ENDS = re.compile(
    r"(?i)error|fatal|kill|abort|terminat|exited|exit code|signal|fault|died|fail|cancel"
)
"""What a launcher's message says if it is about an end: others are remarks."""
_BACKTRACE = re.compile(
    r"\s*(?:#\d+ |\[?0x[0-9a-f]|[0-9a-f]{6,}-[0-9a-f]{6,} |\S+ +[0-9A-F]{8,16} |at \S+:\d+$)"
)


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


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason from a log, in one line, and its weight."""

    weight: int
    text: str

    def against(self, other: Reason | None) -> Reason:
        """The one with the larger weight; of equal ones the first, as others follow from it. Of
        plain trouble, which a model may survive, it is the latest."""
        if other is None or other.weight < self.weight:
            return self
        return self if self.weight == other.weight == TROUBLE else other


@dataclass(frozen=True, slots=True)
class Opened:
    """A line together with the following lines that belong to it, as far as they were read."""

    said: LogLine
    lines: int = 0

    def taking(self, line: str) -> Opened | None:
        """With that line, or None if the line does not belong to it."""
        if not line.strip():
            return self
        if self.lines >= MOST_LINES or not re.match(self.said.more, line):
            return None
        text = "; ".join(part for part in (self.said.text.strip(), line.strip(" -")) if part)
        said = dataclasses.replace(self.said, text=text[:LONGEST])
        return Opened(said, self.lines + 1)


@dataclass(frozen=True, slots=True)
class BadEnd:
    """The line of one log that says that the model has ended, and badly; ``followed``: by so many
    ordinary lines."""

    reason: Reason
    followed: int = 0

    @property
    def survived(self) -> bool:
        """Whether the log goes on after it, so that it was none."""
        banner = self.reason.weight == BANNER
        return self.followed > (MOST_AFTER_BANNER if banner else MOST_AFTER)


def with_reason(ends: Mapping[str, BadEnd], log: str, reason: Reason) -> Mapping[str, BadEnd]:
    """The bad ends by log, after an entry of trouble in that log. What a model may survive is no
    end, whatever it explains afterwards."""
    remark = reason.weight == BANNER and not _ENDS.search(reason.text)
    known = ends.get(log)
    full = known is None and len(ends) >= MOST_LOGS
    if reason.weight == TROUBLE or not reason.text or remark or full:
        return ends
    return {**ends, log: BadEnd(reason.against(known.reason if known else None))}


def with_line(ends: Mapping[str, BadEnd], log: str, line: str) -> Mapping[str, BadEnd]:
    """The bad ends by log, after a line of that log that is no trouble."""
    known = ends.get(log)
    if known is None or _BACKTRACE.match(line):
        return ends
    after = BadEnd(known.reason, known.followed + 1)
    if after.survived:
        return without(ends, log)
    return {**ends, log: after}


def without(ends: Mapping[str, BadEnd], *logs: str) -> Mapping[str, BadEnd]:
    return {name: end for name, end in ends.items() if name not in logs}


class Speech(Struct, frozen=True):
    """What the model's log has said so far.

    ``positions``: how far each log is read. ``written``: lines that wait for their frames.
    ``recorded``: lines that name a record and no file, by stream.
    ``declared``: the newest declared time of each stream. ``speaks``: the log has called a frame
    written at least once. ``pulse`` measures the speed. ``reason`` is the cause to report if the
    run ends badly, ``bad_ends`` the lines by log that show that it has, ``opened`` the logs'
    entries of trouble whose next lines may belong to them, ``last_line`` the latest line that is
    not from a launcher. ``calendar`` is that of its frames, empty where days are Gregorian.
    """

    positions: Mapping[str, Position] = msgspec.field(default_factory=dict)
    written: tuple[Written, ...] = ()
    recorded: Mapping[str, Recorded] = msgspec.field(default_factory=dict)
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
