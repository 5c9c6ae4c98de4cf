"""The judge: turns readings and reports into trips, each reported once.

Pure: no clock, no file. The driver and the sentinel both use it. A guard reports once per episode:
later breaches are counted, and it reports again only after it was good in between.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from burstlens.core import valid_time
from burstlens.core.digits import format_number
from burstlens.core.errors import FrameError
from burstlens.core.run.events import (
    Event,
    FrameInspected,
    GuardsCounted,
    GuardTripped,
    SimulationSubmitting,
)
from burstlens.core.run.status_file import GuardPart
from burstlens.workflows.frames.report import Report
from burstlens.workflows.guards import finding
from burstlens.workflows.guards.finding import Breach, Reading, Standing, Trip, Trouble
from burstlens.workflows.guards.guard import Guard, LogGuard, VariableGuard
from burstlens.workflows.guards.reports import ReportGuards, Room
from burstlens.workflows.guards.shown_units import ShownUnits

Remark = Trip | Trouble
RECALLED = (FrameInspected, GuardTripped, GuardsCounted, SimulationSubmitting)
"""The events that the judge's state is restored from."""
KEPT = 64
"""Readings kept per series: frames may come newest first."""


@dataclass(slots=True)
class Series:
    """Readings of one guard in one attempt, in time order: the very first, and the latest.

    Frames may come in any order: a rate is taken between the nearest known ones. Between distant
    ones it is the mean of the rates in between, so it never exceeds the largest of them.
    """

    first: Reading | None = None
    latest: list[Reading] = field(default_factory=list)

    def add(self, reading: Reading) -> tuple[Reading | None, Reading | None]:
        """Add a reading; returns its neighbours before and after."""
        if reading.mean is None:
            return None, None
        if self.first is None or reading.time <= self.first.time:
            self.first = reading
        self.latest = [one for one in self.latest if one.time != reading.time]
        place = bisect.bisect_left([one.time for one in self.latest], reading.time)
        before = self.latest[place - 1] if place else None
        after = self.latest[place] if place < len(self.latest) else None
        self.latest.insert(place, reading)
        del self.latest[:-KEPT]
        return before, after

    def up_to(self, time: str) -> Series:
        """The series as it was at that valid time."""
        first = self.first if self.first is not None and self.first.time <= time else None
        return Series(first, [one for one in self.latest if one.time <= time])

    def breaches(self, guard: Guard, reading: Reading) -> Iterator[tuple[Reading, Breach]]:
        """Add a reading; yields its breach, and those of its and its neighbours' changes, each with
        the reading that it is of. Raises FrameError if the limit is a part of a mean of 0."""
        before, after = self.add(reading)
        if reading.breach is not None:
            yield reading, reading.breach
        if isinstance(guard, VariableGuard):
            if (drift := _drift(guard, self.first, reading)) is not None:
                yield reading, drift
            for first, second in ((before, reading), (reading, after)):
                if first and second and (race := _race(guard, first, second)) is not None:
                    yield second, race


class Judge:
    """Judges the readings and reports for the guards of one run, attempt by attempt."""

    def __init__(self, guards: Sequence[Guard], main: str | None) -> None:
        self.guards = {guard.called: guard for guard in guards}
        self.standings = {name: Standing() for name in self.guards}
        # One per attempt; one that resumes from a checkpoint begins with the frames up to it.
        self._series: defaultdict[tuple[str, int], Series] = defaultdict(Series)
        self._shown: dict[str, ShownUnits] = {}
        self._main = main
        self._attempt = 0
        self._report_guards = ReportGuards((), main)
        self._lines: dict[int, dict[str, int]] = {}
        """Matching lines of the log up to the checkpoint from which an attempt resumes."""
        self._counted: defaultdict[int, dict[str, dict[str, int]]] = defaultdict(dict)
        """By attempt, the same up to its checkpoints, as it is journalled."""
        self.continued: set[int] = set()
        """The attempts that have begun, of those that Burstlens starts."""

    def recall(self, events: Iterable[Event]) -> list[Trip]:
        """Restore the state from the journal's events; returns the trips among them."""
        trips = []
        for event in events:
            if isinstance(event, FrameInspected):
                for name, numbers in event.readings.items():
                    if name in self.guards:
                        reading = finding.journalled_reading(name, event, numbers)
                        self._series[name, reading.attempt].add(reading)
                        self._begin_with(name, reading.error)
            elif isinstance(event, GuardsCounted):
                self._counted[event.attempt][event.time] = dict(event.lines)
            elif isinstance(event, SimulationSubmitting):
                self.resume(event.attempt, event.checkpoint, event.written_by or 0)
            elif isinstance(event, GuardTripped):
                trips.append(finding.journalled_trip(event))
                self.mark_tripped(trips[-1])
        return trips

    def resume(self, attempt: int, time: str | None, written_by: int) -> None:
        """An attempt begins: from the checkpoint of that time that ``written_by`` wrote, with the
        state of that time; None: afresh. What was found after it is computed again."""
        if attempt in self.continued:
            return
        self.continued.add(attempt)
        if time is None:
            return
        self._lines.setdefault(attempt, self._lines_up_to(time, written_by))
        for name, guard in self.guards.items():
            self._series[name, attempt] = self._series[name, written_by].up_to(time)
            standing = self.standings[name]
            if not _lasts(guard) or standing.state != "tripped":
                continue
            if standing.since <= time:
                standing.attempt, standing.last = attempt, min(standing.last, time)
            else:
                self.standings[name] = Standing("good", troubled=standing.troubled)

    def new_counts(
        self, attempt: int, times: Iterable[str]
    ) -> Iterator[tuple[str, dict[str, int]]]:
        """By log guard, how many lines matched up to the checkpoints of an attempt of these times,
        where these are more than is journalled. A driver that comes later reads the log anew."""
        for time in sorted(times):
            known, lines = self._journalled(time, attempt), self._lines_up_to(time, attempt)
            if any(count > known.get(name, 0) for name, count in lines.items()):
                self._counted[attempt][time] = lines
                yield time, lines

    def _lines_up_to(self, time: str, attempt: int) -> dict[str, int]:
        """The same up to that time of an attempt, as far as is known."""
        if attempt != self._attempt:
            return self._journalled(time, attempt)
        lines = self._report_guards.lines_up_to(time)
        return {name: count for name, count in lines.items() if count}

    def _journalled(self, time: str, attempt: int) -> dict[str, int]:
        """The same up to its newest checkpoint not after that time, by the journal."""
        counted = self._counted[attempt]
        newest = max((one for one in counted if one <= time), default=None)
        return self._lines.get(attempt, {}) if newest is None else counted[newest]

    def _begin_with(self, name: str, error: str) -> None:
        """Set the state of a guard that has checked something, or tried to, for the first time."""
        standing = self.standings[name]
        if standing.state == "waiting":
            standing.state, standing.text = ("failed", error) if error else ("good", "")

    def lasting(self) -> Iterator[tuple[str, Standing]]:
        """The guards that stop the model whose episode lasts, perhaps over a checkpoint."""
        for name, standing in self.standings.items():
            if standing.state == "tripped" and self.guards[name].stops:
                yield name, standing

    def mark_tripped(self, trip: Trip) -> None:
        """Record a trip that an earlier driver or the sentinel has reported."""
        if trip.guard in self.standings:
            known = self.standings[trip.guard]
            last = max(known.last, trip.time) if trip.earlier else trip.time
            standing = Standing("tripped", trip.text, 0, trip.attempt, trip.time, last)
            self.standings[trip.guard] = standing

    def read(self, reading: Reading, t: float) -> list[Remark]:
        """Judge a guard's reading of a frame, at the Unix second ``t``."""
        guard = self.guards.get(reading.guard)
        if guard is None:
            return []
        if reading.error:
            return self._fail(guard.called, reading.error)
        self._shown[guard.called] = reading.printed
        try:
            for of, breach in self._series[guard.called, reading.attempt].breaches(guard, reading):
                return self._trip(guard.called, breach, t, of.stream, of.time, of.attempt)
        except FrameError as error:
            return self._fail(guard.called, str(error))
        standing = self.standings[guard.called]
        newer = (reading.attempt, reading.time) > (standing.attempt, standing.last)
        if standing.state != "tripped" or newer:
            self._recover(guard.called)
        return []

    def watched(
        self, report: Report, room: Room, attempt: int, *, now: float, t: float,
        output: float | None = None,
    ) -> list[Remark]:  # fmt: skip
        """Judge the watcher's report of an attempt: the logs, the pace, the room and the output.
        ``now`` is the time of a monotonic clock, ``t`` the Unix second, ``output`` the part of the
        model's time that its output takes."""
        self._begin(attempt)
        remarks: list[Remark] = []
        for verdict in self._report_guards.verdicts(report, room, now, output):
            if verdict.breach is None:
                self._recover(verdict.guard)
            else:
                at = verdict.stream, verdict.time, attempt
                remarks += self._trip(verdict.guard, verdict.breach, t, *at)
        for name, text in report.given_up.items():
            if name in self.guards:
                remarks += self._fail(name, text)
        if report.tail:  # log guards without a hit have also read the lines
            for name, guard in self.guards.items():
                if isinstance(guard, LogGuard):
                    self._begin_with(name, "")
        return remarks

    def _begin(self, attempt: int) -> None:
        """Reset the guards of pace and room, and of logs without a checkpoint, when a new attempt
        begins."""
        if attempt == self._attempt:
            return
        self._attempt = attempt
        lines = self._lines.get(attempt, {})
        self._report_guards = ReportGuards([*self.guards.values()], self._main, lines)
        for name, guard in self.guards.items():
            if not guard.of_frames and self.standings[name].attempt != attempt:
                self.standings[name] = Standing()

    def _trip(
        self, name: str, breach: Breach, t: float, stream: str, time: str, attempt: int
    ) -> list[Remark]:
        standing, guard = self.standings[name], self.guards[name]
        trip = Trip.of(name, guard.then, breach, t, stream, time, attempt)
        if standing.state == "tripped" and attempt <= standing.attempt:
            again = guard.of_frames and time == standing.since  # the same frame, read again
            standing.repeats += not again
            standing.last = max(standing.last, time)  # only a good frame after it clears the trip
            known = attempt == standing.attempt and guard.of_frames and guard.stops
            if known and time < standing.since:  # frames are read newest first
                standing.since, standing.text = time, breach.text
                return [replace(trip, earlier=True)]
            return []
        troubled = standing.troubled
        self.standings[name] = Standing("tripped", breach.text, 0, attempt, time, time, troubled)
        return [trip]

    def _recover(self, name: str) -> None:
        standing = self.standings[name]
        standing.state, standing.text = "good", ""

    def _fail(self, name: str, text: str) -> list[Remark]:
        standing = self.standings[name]
        if standing.state != "tripped":
            standing.state, standing.text = "failed", text
        if standing.troubled:
            return []
        standing.troubled = True
        return [Trouble(name, text)]

    def blind(self, streams: Collection[str]) -> list[str]:
        """A sentence for each guard that never checked a frame because its stream is not among
        ``streams``."""
        texts = []
        for name, guard in self.guards.items():
            stream = guard.stream or self._main
            absent = not streams if stream is None else stream not in streams
            if guard.of_streams and absent and self.standings[name].state == "waiting":
                there = ", ".join(sorted(streams)) or "none"
                what = f"no frame of stream {stream} came" if stream else "no frame came"
                texts.append(f'guard "{name}" never looked: {what} (there were: {there})')
        return texts

    def status(self) -> list[GuardPart]:
        """The state of each guard, as ``status.json`` has it."""
        return [
            GuardPart(
                name, guard.text_in(self._shown.get(name, ShownUnits())), guard.then,
                at.state, at.text, at.repeats,
            )
            for (name, guard), at in zip(self.guards.items(), self.standings.values(), strict=True)
        ]  # fmt: skip


def _lasts(guard: Guard) -> bool:
    """Whether a guard's episode can last over a checkpoint: the pace of each job is its own."""
    return guard.of_frames or isinstance(guard, LogGuard)


def _drift(guard: VariableGuard, first: Reading | None, reading: Reading) -> Breach | None:
    """The breach if the mean is too far from that of the first frame."""
    if guard.drift is None or first is None or first.mean is None or reading.mean is None:
        return None
    limit, is_part = guard.drift
    away = abs(reading.mean - first.mean)
    if is_part and first.mean == 0:
        raise FrameError("the first frame's mean is 0: say max_drift in units")
    allowed = limit * abs(first.mean) if is_part else limit
    if away <= allowed:
        return None
    printed = reading.printed
    far, most = printed.difference(away), printed.difference(allowed)
    since = valid_time.label(first.time)
    began = printed.number(first.mean, reading.mean)
    text = (
        f"the mean of {guard.variable} = {printed.text(reading.mean, first.mean)} is "
        f"{printed.text_of_difference(away)} from that of the first frame ({began}, {since}), "
        f"more than {format_number(most)}"
    )
    return Breach("max_drift", text, guard.variable, far, most, printed.units)


def _race(guard: VariableGuard, before: Reading, after: Reading) -> Breach | None:
    """The breach if an extreme changed too fast from one frame to the next known one. None for
    frames without a time."""
    if guard.max_rate is None or before.least is None or after.least is None:
        return None
    assert before.most is not None
    assert after.most is not None
    if not (valid_time.has_time(before.time) and valid_time.has_time(after.time)):
        return None
    # An older journal does not name it.
    calendar = after.calendar or before.calendar
    passed = valid_time.seconds(after.time, calendar) - valid_time.seconds(before.time, calendar)
    if passed <= 0:
        return None
    changes = {"largest": (before.most, after.most), "smallest": (before.least, after.least)}
    which = max(changes, key=lambda name: abs(changes[name][1] - changes[name][0]))
    old, new = changes[which]
    rate = abs(new - old) / passed
    if rate <= guard.max_rate:
        return None
    printed = after.printed
    faster, most = printed.difference(rate), printed.difference(guard.max_rate)
    text = (
        f"the {which} {guard.variable} went from {printed.number(old, new)} to "
        f"{printed.text(new, old)} in {passed:g} s, "
        f"{format_number(faster)} a second, more than {format_number(most)}"
    )
    place = after.most_at if which == "largest" else after.least_at
    units = f"{printed.units} s-1".strip()
    return Breach("max_rate", text, guard.variable, faster, most, units, place)
