"""Readings of one guard in one attempt in time order: how fast they change, how far they drift.

Pure. Frames may come in any order: a rate is taken between the nearest known frames. Between
distant frames it is the mean of the rates in between, so it never exceeds the largest of them.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field

from burstlens.core import valid_time
from burstlens.core.digits import format_number
from burstlens.core.errors import FrameError
from burstlens.workflows.guards.finding import Breach, Reading
from burstlens.workflows.guards.guard import Guard, VariableGuard

KEPT = 64
"""Readings kept per series: frames may come newest first."""


@dataclass(slots=True)
class Series:
    """Readings of one guard in one attempt, in time order: the very first, and the latest."""

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
    """The breach if an extreme changed too fast from one frame to the next known one.

    None for frames without a time.
    """
    if guard.max_rate is None or before.least is None or after.least is None:
        return None
    assert before.most is not None
    assert after.most is not None
    if not (valid_time.has_time(before.time) and valid_time.has_time(after.time)):
        return None
    # An older journal does not name it.
    calendar = after.calendar or before.calendar
    begin, end = (valid_time.seconds(one.time, calendar) for one in (before, after))
    passed = end - begin
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
