"""The judge: from what was read and heard to trips, each told once.

Pure: no clock, no file. The driver has one, the sentinel has the same. A guard that trips is told
of once, further breaches are counted, and it is told of again after it was good in between.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from burstlens import valid_time
from burstlens.errors import FrameError
from burstlens.quantity import show_bytes, show_duration
from burstlens.workflows.guards.finding import Breach, Reading, Standing, Trip, Trouble
from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.guards.log import Hit
from burstlens.workflows.guards.pace import Filling, Pace

KEPT = 64
"""Readings a guard that are remembered: frames may come newest first."""
Remark = Trip | Trouble


@dataclass(slots=True)
class Series:
    """Readings of one guard in time order: the first of all, and the latest."""

    first: Reading | None = None
    latest: list[Reading] = field(default_factory=list)

    def add(self, reading: Reading) -> tuple[Reading | None, Reading | None]:
        """Take one in; returns its neighbours before and after."""
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


class Judge:
    """Judges what guards read and hear of one run, attempt after attempt."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        self.guards = {guard.called: guard for guard in guards}
        self.standings = {name: Standing() for name in self.guards}
        self._series = {name: Series() for name in self.guards}
        self._paces: dict[str, Pace] = {}
        self._fillings: dict[str, Filling] = {}
        self._attempt = 0

    def begin(self, attempt: int) -> None:
        """A new start of the model: logs and pace begin anew."""
        if attempt == self._attempt:
            return
        self._attempt = attempt
        for name, guard in self.guards.items():
            if not guard.of_frames and self.standings[name].attempt != attempt:
                self.standings[name] = Standing(attempt=attempt)
        times = {name: guard.stall or guard.silence for name, guard in self.guards.items()}
        self._paces = {name: Pace(value) for name, value in times.items() if value}
        full = (name for name, guard in self.guards.items() if guard.buffer_full_in)
        self._fillings = {name: Filling() for name in full}

    def remember(self, reading: Reading) -> None:
        """A reading that was judged before, by an earlier driver."""
        if reading.guard in self._series:
            self._series[reading.guard].add(reading)

    def told(self, trip: Trip) -> None:
        """A trip that was told before, by an earlier driver or by the sentinel."""
        standing = self.standings.get(trip.guard)
        if standing is not None:
            standing.state, standing.text = "tripped", trip.text
            standing.since = standing.last = trip.time
            standing.attempt = trip.attempt

    def read(self, reading: Reading, t: float) -> list[Remark]:
        """Judge what a guard read of a frame, at the Unix second ``t``."""
        guard = self.guards.get(reading.guard)
        if guard is None:
            return []
        if reading.error:
            return self._fail(guard, reading.error)
        before, after = self._series[guard.called].add(reading)
        try:
            breach = reading.breach or self._drifted(guard, reading)
        except FrameError as error:
            return self._fail(guard, str(error))
        if breach is not None:
            return self._trip(guard, breach, t, reading.stream, reading.time, reading.attempt)
        for first, second in ((before, reading), (reading, after)):
            fast = first and second and _raced(guard, first, second)
            if fast:
                assert second is not None
                at = second.stream, second.time, second.attempt
                return self._trip(guard, fast, t, *at)
        self._good(guard, reading)
        return []

    def _drifted(self, guard: Guard, reading: Reading) -> Breach | None:
        """Whether the mean is too far from that of the first frame. Raises FrameError."""
        first = self._series[guard.called].first
        if guard.drift is None or first is None or first.mean is None or reading.mean is None:
            return None
        limit, is_part = guard.drift
        away = abs(reading.mean - first.mean)
        if is_part and first.mean == 0:
            raise FrameError("the first frame's mean is 0: say max_drift in units")
        allowed = limit * abs(first.mean) if is_part else limit
        if away <= allowed:
            return None
        unit = f" {reading.units}".rstrip()
        since = valid_time.label(first.time)
        text = (
            f"the mean of {guard.variable} = {reading.mean:.6g}{unit} is {away:.4g}{unit} from "
            f"that of the first frame ({first.mean:.6g}, {since}), more than {allowed:.4g}"
        )
        return Breach("max_drift", text, guard.variable, away, allowed, reading.units)

    def heard(
        self, hits: Iterable[Hit], failed: Mapping[str, str], time: str, t: float
    ) -> list[Remark]:
        """Judge what the logs said; ``time`` is the valid time that the model has reached."""
        remarks: list[Remark] = []
        for hit in hits:
            guard, standing = self.guards.get(hit.guard), self.standings.get(hit.guard)
            if guard is None or standing is None:
                continue
            standing.lines += hit.lines
            value = hit.points or standing.lines
            if value < guard.count:
                continue
            said = f"{hit.points} points" if hit.points else f"line {standing.lines}"
            text = f"{guard.log} in {hit.log} ({said}): {hit.line}"
            breach = Breach("log", text, None, float(value), float(guard.count))
            remarks += self._trip(guard, breach, t, "", time, self._attempt)
        for name, text in failed.items():
            if name in self.guards:
                remarks += self._fail(self.guards[name], text)
        return remarks

    def looked(
        self, now: float, t: float, *, streams: set[str], spoke: bool, main: str | None, time: str
    ) -> list[Remark]:
        """Judge the pace after a look by a monotonic clock: the streams of which frames came, and
        whether the log spoke. Call it only while the model runs and says that it is not done."""
        remarks: list[Remark] = []
        for name, pace in self._paces.items():
            guard = self.guards[name]
            stream = guard.stream or main
            came = (
                spoke if guard.silence else bool(streams if stream is None else stream in streams)
            )
            late = pace.look(now, came=came)
            if late is None:
                self._recover(name)
                continue
            silent, usual = late
            what = (
                "no log line" if guard.silence else f"no frame{f' of {stream}' if stream else ''}"
            )
            text = (
                f"{what} for {show_duration(silent)}, {silent / max(usual, 1e-3):.1f} times the "
                f"usual {show_duration(usual)}"
            )
            kind = "silence" if guard.silence else "stall"
            breach = Breach(kind, text, None, silent, pace.times * usual, "s")
            remarks += self._trip(guard, breach, t, stream or "", time, self._attempt)
        return remarks

    def filled(
        self, stream: str, time: str, raw_bytes: int, room_bytes: int, main: str | None, t: float
    ) -> list[Remark]:
        """Judge the room after a frame: what raw frames hold and what is left, in bytes."""
        remarks: list[Remark] = []
        for name, filling in self._fillings.items():
            guard = self.guards[name]
            if (guard.stream or main or stream) != stream:
                continue
            filling.add(raw_bytes)
            left = filling.frames_left(room_bytes)
            assert guard.buffer_full_in is not None
            if left is None or left > guard.buffer_full_in:
                self._recover(name)
                continue
            text = (
                f"the buffer is full in {left:.1f} frames, as it fills now "
                f"({show_bytes(max(0, room_bytes))} are left)"
            )
            breach = Breach("buffer_full_in", text, None, left, float(guard.buffer_full_in))
            remarks += self._trip(guard, breach, t, stream, time, self._attempt)
        return remarks

    def _trip(
        self, guard: Guard, breach: Breach, t: float, stream: str, time: str, attempt: int
    ) -> list[Remark]:
        standing = self.standings[guard.called]
        if standing.state == "tripped" and attempt <= standing.attempt:
            known = guard.of_frames and time == standing.since
            standing.repeats += not known
            # The newest breach: only a good frame after it makes the guard good again.
            standing.last = max(standing.last, time)
            return []
        self.standings[guard.called] = replace(
            standing, state="tripped", text=breach.text, repeats=0, attempt=attempt,
            since=time, last=time,
        )  # fmt: skip
        return [
            Trip(
                t, guard.called, guard.then, breach.text, breach.what, breach.variable,
                breach.value, breach.limit, breach.units, stream, time, attempt, breach.place,
            )
        ]  # fmt: skip

    def _good(self, guard: Guard, reading: Reading) -> None:
        standing = self.standings[guard.called]
        newer = (reading.attempt, reading.time) > (standing.attempt, standing.last)
        if standing.state != "tripped" or newer:
            standing.state, standing.text = "good", ""

    def _recover(self, name: str) -> None:
        standing = self.standings[name]
        standing.state, standing.text = "good", ""

    def _fail(self, guard: Guard, text: str) -> list[Remark]:
        standing = self.standings[guard.called]
        if standing.state != "tripped":
            standing.state, standing.text = "failed", text
        if standing.troubled:
            return []
        standing.troubled = True
        return [Trouble(guard.called, text)]

    def status(self) -> list[dict[str, Any]]:
        """How each guard stands, as JSON values."""
        return [
            {
                "name": name,
                "text": guard.text,
                "then": guard.then,
                "state": self.standings[name].state,
                "why": self.standings[name].text,
                "repeats": self.standings[name].repeats,
            }
            for name, guard in self.guards.items()
        ]


def _raced(guard: Guard, before: Reading, after: Reading) -> Breach | None:
    """Whether an extreme changed too fast from one frame to the next one known."""
    if guard.max_rate is None or before.least is None or after.least is None:
        return None
    assert before.most is not None
    assert after.most is not None
    passed = valid_time.seconds(after.time) - valid_time.seconds(before.time)
    if passed <= 0:
        return None
    changes = {"largest": (before.most, after.most), "smallest": (before.least, after.least)}
    which = max(changes, key=lambda name: abs(changes[name][1] - changes[name][0]))
    old, new = changes[which]
    rate = abs(new - old) / passed
    if rate <= guard.max_rate:
        return None
    unit = f" {after.units}".rstrip()
    text = (
        f"the {which} {guard.variable} went from {old:.4g} to {new:.4g}{unit} in {passed:g} s, "
        f"{rate:.3g} a second, more than {guard.max_rate:g}"
    )
    place = after.most_at if which == "largest" else after.least_at
    units = f"{after.units} s-1".strip()
    return Breach("max_rate", text, guard.variable, rate, guard.max_rate, units, place)
