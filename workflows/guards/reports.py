"""Guards that check the watcher's reports: the logs, the pace of frames and lines, the room left;
and the patterns that the watcher searches for.

Pure: times and sizes are arguments.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from burstlens.core.quantity import show_bytes, show_duration
from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.report import Report
from burstlens.workflows.guards.finding import Breach
from burstlens.workflows.guards.guard import (
    BufferGuard,
    Guard,
    LogGuard,
    OutputGuard,
    SilenceGuard,
    StallGuard,
)
from burstlens.workflows.models.base import Model

INTERVALS = 3
"""Intervals that must be known before something can be late."""
KEPT = 50
FLOOR_S = 30.0
"""Nothing is late earlier than this: replacing a viewing block also takes time."""
BLIND_S = 5.0
"""A longer gap between two looks is the watcher's own pause, and does not count."""
LOOKS = 5
"""Number of the latest looks with new frames over which the growth is measured."""
LEAST = 2
"""Frames that must have come in these looks."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for one guard: its breach, or None if all is well, and the stream and valid time
    of the frame, if there is one."""

    guard: str
    breach: Breach | None
    stream: str = ""
    time: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """The size of raw frames on the buffer, and the room left for more."""

    raw_bytes: int
    left_bytes: int

    @classmethod
    def of(cls, capacity: int, raw_bytes: int, free_bytes: int | None) -> Room:
        """From the recipe's capacity or the free space of the disk, whichever is less."""
        left = max(0, capacity - raw_bytes)
        return cls(raw_bytes, left if free_bytes is None else min(left, free_bytes))


@dataclass(slots=True)
class Pace:
    """How regularly something comes: gets looks, returns a silence that is too long. ``begun``: it
    has come at least once."""

    times: float
    begun: bool = False
    _intervals: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    _silent_s: float = 0.0
    _looked: float | None = None

    def look(self, now: float, *, came: bool) -> tuple[float, float] | None:
        """Look once, with a monotonic clock; ``came``: whether it came since the previous look.
        Returns the silence and the usual interval in seconds if the silence is too long."""
        passed = 0.0 if self._looked is None else now - self._looked
        self._looked = now
        self._silent_s += 0.0 if passed > BLIND_S else passed
        if came:
            # What was there at the first look has no known time of arrival.
            if self.begun:
                self._intervals.append(self._silent_s)
            self.begun, self._silent_s = True, 0.0
            return None
        if len(self._intervals) < INTERVALS:
            return None
        usual = statistics.median(self._intervals)
        late = self._silent_s > max(FLOOR_S, self.times * usual)
        return (self._silent_s, usual) if late else None


@dataclass(slots=True)
class Filling:
    """How the buffer fills: gets its size after new frames, returns the frames until it is full."""

    _count: int = 0
    _held: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=LOOKS + 1))

    def add(self, frames: int, raw_bytes: int) -> None:
        """Add that many new frames; raw frames now take ``raw_bytes``."""
        self._count += frames
        self._held.append((self._count, raw_bytes))

    def frames_left(self, room_bytes: int) -> float | None:
        """Frames until another ``room_bytes`` are used; None while it does not grow."""
        if not self._held:
            return None
        (first, before), (last, after) = self._held[0], self._held[-1]
        if last - first < LEAST or after <= before:
            return None
        return max(0, room_bytes) * (last - first) / (after - before)


class ReportGuards:
    """The guards of one attempt that need no fields. ``main`` is the model's first stream,
    ``lines`` how many lines of the log matched before the checkpoint from which it resumes."""

    def __init__(
        self, guards: Sequence[Guard], main: str | None, lines: Mapping[str, int] | None = None
    ) -> None:
        self._logs = {guard.called: guard for guard in guards if isinstance(guard, LogGuard)}
        self._before = {name: (lines or {}).get(name, 0) for name in self._logs}
        self._lines = dict(self._before)
        self._matched: list[tuple[str, str, int]] = []
        self._paced = [
            (guard, Pace(guard.stall if isinstance(guard, StallGuard) else guard.silence))
            for guard in guards
            if isinstance(guard, StallGuard | SilenceGuard)
        ]
        self._filling = [(guard, Filling()) for guard in guards if isinstance(guard, BufferGuard)]
        self._output = [guard for guard in guards if isinstance(guard, OutputGuard)]
        self._main = main
        self._time = ""

    def verdicts(
        self, report: Report, room: Room, now: float, output: float | None = None
    ) -> Iterator[Verdict]:
        """The result of the report for each guard; ``now`` is the time of a monotonic clock,
        ``output`` the part of the model's time that its output takes."""
        if report.progress and report.progress.time:
            self._time = report.progress.time
        yield from self._of_logs(report)
        yield from self._of_output(report, output)
        ended = report.ended or report.cursor.speech.ended_well
        if not ended:  # after the final frame nothing fills the buffer, and nothing is late
            yield from self._of_room(report, room)
        if not (ended or report.stopping):
            yield from self._of_pace(report, now)

    def lines_up_to(self, time: str) -> dict[str, int]:
        """How many lines of the log matched up to that model time, by guard."""
        lines = dict(self._before)
        for guard, moment, count in self._matched:
            if moment <= time:
                lines[guard] += count
        return lines

    def _of_logs(self, report: Report) -> Iterator[Verdict]:
        for hit in report.hits:
            guard = self._logs.get(hit.guard)
            if guard is None:
                continue
            self._lines[hit.guard] += hit.lines
            self._matched.append((hit.guard, hit.time, hit.lines))
            value = hit.points or self._lines[hit.guard]
            if value < guard.count:
                continue
            said = f"{hit.points} points" if hit.points else f"line {value}"
            text = f"{guard.log} in {hit.log} ({said}): {hit.line}"
            breach = Breach("log", text, None, float(value), float(guard.count))
            yield Verdict(hit.guard, breach, "", hit.time)

    def _of_room(self, report: Report, room: Room) -> Iterator[Verdict]:
        for guard, filling in self._filling:
            stream = guard.stream or self._main
            frames = [frame for frame in report.frames if stream in {None, frame.stream}]
            if not frames:
                continue
            filling.add(len(frames), room.raw_bytes)
            left, least = filling.frames_left(room.left_bytes), float(guard.buffer_full_in)
            breach = None
            if left is not None and left <= least:
                text = (
                    f"the buffer is full in {left:.1f} frames, as it fills now "
                    f"({show_bytes(room.left_bytes)} are left)"
                )
                breach = Breach("buffer_full_in", text, None, left, least)
            yield Verdict(guard.called, breach, frames[-1].stream, frames[-1].time)

    def _of_output(self, report: Report, part: float | None) -> Iterator[Verdict]:
        if part is None or not report.timed:
            return
        streams = [line.stream for line in report.timed if line.stream]
        at = (streams[-1] if streams else "", self._time)
        for guard in self._output:
            text = f"output takes {100 * part:.0f} % of the model's time"
            breach = Breach("io", text, None, part, guard.most_io)
            yield Verdict(guard.called, breach if part > guard.most_io else None, *at)

    def _of_pace(self, report: Report, now: float) -> Iterator[Verdict]:
        streams = {frame.stream for frame in report.frames}
        for guard, pace in self._paced:
            stream = guard.stream or self._main
            if isinstance(guard, SilenceGuard):
                what, came = "no log line", bool(report.tail)
            else:
                what = f"no frame{f' of {stream}' if stream else ''}"
                came = bool(streams) if stream is None else stream in streams
            late = pace.look(now, came=came)
            if not pace.begun:
                continue  # what has never come is not judged
            breach = None
            if late is not None:
                silent, usual = late
                text = (
                    f"{what} for {show_duration(silent)}, {silent / max(usual, 1e-3):.1f} times "
                    f"the usual {show_duration(usual)}"
                )
                breach = Breach(guard.watches, text, None, silent, pace.times * usual, "s")
            yield Verdict(guard.called, breach, stream or "", self._time)


def patterns_of(guards: Iterable[Guard], model: Model) -> tuple[LogPattern, ...]:
    """What each log guard searches for: the model's pattern of that name, else its own."""
    named = model.log_guards()
    return tuple(
        LogPattern(guard.called, named.get(guard.log, guard.log))
        for guard in guards
        if isinstance(guard, LogGuard)
    )
