"""What guards find: readings of a frame as a worker returns them, trips as they are journalled.

Plain values that can be pickled and written as JSON: NaN and infinity become None there, and the
text names them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import msgspec

from burstlens.core import valid_time
from burstlens.core.digits import format_number
from burstlens.core.run.events import FrameInspected, GuardTripped, ReadingSummary
from burstlens.workflows.guards.shown_units import ShownUnits


@dataclass(frozen=True, slots=True)
class Breach:
    """A condition met in one frame.

    ``what`` names the condition (``finite``, ``max`` ...), ``value`` is compared with ``limit``
    in ``units``; ``place`` is ``{"index": {dimension: number}, ...}`` with ``lon`` and ``lat``, or
    ``x`` and ``y`` in ``xy_units``, and ``z`` in ``z_units`` if the file has them.
    """

    what: str
    text: str
    variable: str | None = None
    value: float | None = None
    limit: float | None = None
    units: str = ""
    place: Mapping[str, Any] | None = None

    @property
    def label(self) -> str:
        """A short label next to a mark in a picture."""
        text = "not finite"
        if self.value is not None:
            text = f"{format_number(self.value)} {self.units}".rstrip()
        return f"{self.variable or ''} {text}".lstrip()


@dataclass(frozen=True, slots=True)
class Reading:
    """What one guard read in one frame.

    ``least``, ``most`` and ``mean`` are over the finite values (None if there are none);
    ``points`` is the number of values, ``bad`` of those that are not finite; all in ``units``, the
    file's, and ``shown`` are those of an alarm. ``error`` says why the frame could not be read,
    ``unreadable`` that this is the frame's fault, not the guard's. ``calendar`` is the frame's.
    """

    guard: str
    stream: str
    time: str
    attempt: int
    least: float | None = None
    most: float | None = None
    mean: float | None = None
    points: int = 0
    bad: int = 0
    units: str = ""
    shown: ShownUnits | None = None
    breach: Breach | None = None
    least_at: Mapping[str, Any] | None = None
    most_at: Mapping[str, Any] | None = None
    error: str = ""
    unreadable: bool = False
    calendar: str = ""

    @property
    def printed(self) -> ShownUnits:
        """The units of an alarm; the file's where no map has others."""
        return self.shown or ShownUnits(self.units)

    def summary(self) -> ReadingSummary:
        """Its numbers, as ``frame.inspected`` has them."""
        if self.error:
            return ReadingSummary(error=self.error)
        least, most, mean = map(finite, (self.least, self.most, self.mean))
        return ReadingSummary(least, most, mean, self.points, self.bad)


@dataclass(frozen=True, slots=True)
class Trip:
    """A guard that tripped, at the Unix second ``t``, as it is journalled.

    ``after_end``: the model had ended by then. ``earlier``: an earlier frame of an episode that was
    reported; it is journalled, and nobody gets word of it.
    """

    t: float
    guard: str
    then: str
    text: str
    what: str
    variable: str | None = None
    value: float | None = None
    limit: float | None = None
    units: str = ""
    stream: str = ""
    time: str = ""
    attempt: int = 0
    place: Mapping[str, Any] | None = None
    after_end: bool = False
    earlier: bool = False

    @classmethod
    def of(
        cls, guard: str, then: str, breach: Breach, t: float, stream: str, time: str, attempt: int
    ) -> Trip:
        """The trip of a guard because of that breach."""
        found = {one.name: getattr(breach, one.name) for one in fields(breach)}
        return cls(t=t, guard=guard, then=then, stream=stream, time=time, attempt=attempt, **found)

    def why(self) -> dict[str, Any]:
        """The content of the control file of the stop that it requests."""
        return {"by": "guard", **self.fields(), "text": self.sentence}

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Each trip is reported once per key: guard, stream, valid time, attempt."""
        return self.guard, self.stream, self.time, self.attempt

    @property
    def sentence(self) -> str:
        """The full text for users."""
        words = (self.stream, valid_time.label(self.time)) if self.time else ()
        frame = f", {' '.join(filter(None, words))}" if words else ""
        late = " (after the model's end)" if self.after_end else ""
        return f'guard "{self.guard}": {self.text}{frame}{late}'

    def fields(self) -> dict[str, Any]:
        """The fields as JSON values, without ``t``."""
        names = (name for name in Trip.__dataclass_fields__ if name != "t")
        return {name: getattr(self, name) for name in names}

    def status(self) -> dict[str, Any]:
        """The fields as ``status.json`` has them."""
        return {"t": round(self.t, 3), **self.fields()}


@dataclass(frozen=True, slots=True)
class Trouble:
    """A guard that failed, and why: it raises an alarm, and never stops the run."""

    guard: str
    text: str

    @property
    def sentence(self) -> str:
        """The full text for users."""
        return f'guard "{self.guard}" fails: {self.text}'


@dataclass(slots=True)
class Standing:
    """The state of a guard: ``waiting`` (nothing seen yet), ``good``, ``tripped`` or ``failed``.

    ``since`` and ``last`` are the valid times of the first and the latest breach, ``repeats`` the
    number of breaches after the first; ``troubled``: its failure was reported.
    """

    state: str = "waiting"
    text: str = ""
    repeats: int = 0
    attempt: int = 0
    since: str = ""
    last: str = ""
    troubled: bool = False


def finite(value: float | None) -> float | None:
    """The value if JSON can hold it, else None."""
    return value if value is not None and math.isfinite(value) else None


def trip_of(line: Mapping[str, Any]) -> Trip:
    """A trip from its JSON fields. Raises TypeError when some are missing, or of other types."""
    try:
        return msgspec.convert(line, Trip)
    except msgspec.ValidationError as error:
        raise TypeError(str(error)) from None


def journalled_trip(event: GuardTripped) -> Trip:
    """A trip from the journal, whose own ``t`` is the time of writing."""
    found = event.t if event.found is None else event.found
    fields = {name: getattr(event, name) for name in Trip.__dataclass_fields__ if name != "t"}
    return Trip(t=found, **fields | {"units": event.units or ""})


def journalled_reading(guard: str, frame: FrameInspected, numbers: ReadingSummary) -> Reading:
    """A reading from its summary in the journal."""
    return Reading(
        guard, frame.stream, frame.time, frame.attempt, numbers.least, numbers.most, numbers.mean,
        numbers.points or 0, numbers.bad or 0, error=numbers.error or "", calendar=frame.calendar,
    )  # fmt: skip
