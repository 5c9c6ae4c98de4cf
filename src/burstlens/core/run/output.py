"""What the journal says about the model's output: seconds, rates, and their part of its time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from burstlens.core.run.occasional_events import OutputReported, OutputTimed

if TYPE_CHECKING:
    from burstlens.core.run.events import FrameReady

LATEST = 60
"""Outputs of a stream that are kept one by one."""
CUT = 30
"""Characters of a file's name in WRF's log; it cuts longer ones."""
WAITING = 8
"""Sizes of frames, and reports of files, that wait for the log's line about them."""
LEAST = 3
"""Outputs of one stream that must have come as they were written before the part of the time is
known: the first outputs of several streams follow each other without any computing."""
MEASURED = 24
"""The latest outputs, of all streams, by which the part of the time is measured: storage that
becomes slow must not be hidden by all that went well before."""
OVERLAP = 1.1
"""Outputs that take longer than this part of the time overlap, or were read late, all at once. A
line is read a moment after it was written, so a model that does nothing but write comes above 1."""


@dataclass(slots=True)
class Written:
    """One output: which, how long it took, its size; aggregators and the part of the time in which
    they received data, where the MPI library reported that."""

    time: str | None
    file: str | None
    took_s: float | None = None
    bytes: int | None = None
    aggregators: int | None = None
    data_send: float | None = None

    @property
    def rate(self) -> float | None:
        """Bytes per second; None where time or size are unknown."""
        return self.bytes / self.took_s if self.bytes and self.took_s else None

    def is_frame(self, time: str, file: str | None) -> bool:
        """Whether the log's line is about that frame: its time may be cut, or missing."""
        return time.startswith(self.time) if self.time else self.file in {None, file}


@dataclass(slots=True)
class StreamOutput:
    """The outputs of one stream in the current attempt: how many, their seconds; seconds and bytes
    of those whose size is known; the latest ones."""

    count: int = 0
    took_s: float = 0.0
    sized_s: float = 0.0
    sized_bytes: int = 0
    latest: list[Written] = field(default_factory=list)
    unspoken: list[Written] = field(default_factory=list)
    """Frames of which the log has not yet said how long they took."""

    @property
    def rate(self) -> float | None:
        """Bytes per second over all outputs whose size is known."""
        return self.sized_bytes / self.sized_s if self.sized_s else None

    def timed(self, written: Written) -> None:
        """Note an output of which the log says how long it took."""
        self.count += 1
        self.took_s += written.took_s or 0.0
        frames = (one for one in self.unspoken if written.is_frame(one.time or "", one.file))
        if (frame := next(frames, None)) is not None:
            self.unspoken.remove(frame)
            self._size(written, frame.bytes)
        self.latest = [*self.latest, written][-LATEST:]

    def ready(self, time: str, file: str | None, size: int | None) -> None:
        """Note a frame's size."""
        for written in reversed(self.latest):
            if written.bytes is None and written.is_frame(time, file):
                self._size(written, size)
                return
        self.unspoken = [*self.unspoken, Written(time, file, bytes=size)][-WAITING:]

    def _size(self, written: Written, size: int | None) -> None:
        written.bytes = size
        if size and written.took_s:
            self.sized_bytes += size
            self.sized_s += written.took_s


@dataclass(slots=True)
class Taken:
    """An output that the log named as it came, at ``t``; of a stream, or without frames."""

    t: float
    took_s: float
    stream: str | None = None


@dataclass(slots=True)
class Output:
    """The model's output in its current attempt."""

    attempt: int = 0
    lines: int = 0
    blocks: int = 0
    """Lines of the log and reports of the MPI library that the journal has."""
    streams: dict[str, StreamOutput] = field(default_factory=dict)
    reports: list[OutputReported] = field(default_factory=list)
    """Reports of files that the log has not yet called written, and those of no frame."""
    measured: list[Taken] = field(default_factory=list)
    """The latest that the log named as they came, without a gap."""

    def note(self, event: FrameReady | OutputTimed | OutputReported) -> None:
        """Take an event; one of an earlier attempt is passed over."""
        if event.attempt < self.attempt:
            return
        if isinstance(event, OutputTimed):
            self.timed(event)
        elif isinstance(event, OutputReported):
            self.reported(event)
        else:
            self.ready(event)

    @property
    def part(self) -> float | None:
        """The part of the model's time that its latest outputs took, from the first of them to the
        last; None while fewer than three of a stream are known, and of outputs that overlap."""
        counts = Counter(one.stream for one in self.measured if one.stream is not None)
        if max(counts.values(), default=0) < LEAST or self._time <= 0:
            return None
        return min(1.0, self._taken / self._time)

    @property
    def _time(self) -> float:
        return self.measured[-1].t - self.measured[0].t

    @property
    def _taken(self) -> float:
        """Seconds of all but the first: time is counted from its end."""
        return sum(one.took_s for one in self.measured[1:])

    def timed(self, event: OutputTimed) -> None:
        """Note how long an output took."""
        self.lines += 1
        self._measure(event)
        if event.stream is None:
            return
        written = Written(event.time, event.file, event.took_s)
        for report in self.reports:
            if _same_file(report.file, event.file):
                _explain(written, report)
        self.reports = [one for one in self.reports if not _same_file(one.file, event.file)]
        self.streams.setdefault(event.stream, StreamOutput()).timed(written)

    def _measure(self, event: OutputTimed) -> None:
        """Measure the part up to this output."""
        if event.late:  # when it ended is unknown: without a driver, nobody had read the line
            self.measured = []
            return
        taken = Taken(event.t, event.took_s, event.stream)
        self.measured = [*self.measured, taken][-MEASURED:]
        if self._taken > OVERLAP * self._time:  # also if the clock was set back
            self.measured = [taken]

    def reported(self, event: OutputReported) -> None:
        """Note what the MPI library reported of a file."""
        self.blocks += 1
        for stream in self.streams.values():
            for written in reversed(stream.latest):
                if _same_file(event.file, written.file):
                    _explain(written, event)
                    return
        self.reports = [*self.reports, event][-WAITING:]

    def ready(self, event: FrameReady) -> None:
        """Note a frame's size."""
        stream = self.streams.setdefault(event.stream, StreamOutput())
        stream.ready(event.time, event.file, event.bytes)


def _same_file(reported: str, named: str | None) -> bool:
    """Whether the MPI library's name is that of the model's log: it may have folders before it, and
    the log may have cut it."""
    if named is None:
        return False
    cut = len(named) == CUT and f"/{named}" in f"/{reported}"
    return cut or f"/{reported}".endswith(f"/{named}")


def _explain(written: Written, report: OutputReported) -> None:
    if report.aggregators is not None:
        written.aggregators = report.aggregators
    if report.data_send is not None:
        written.data_send = report.data_send
