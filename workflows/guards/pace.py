"""What guards measure over time: how regularly something comes, and how fast the buffer fills.

Pure: times and counts are arguments.
"""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class Pace:
    """How regularly something comes: gets looks, returns a silence that is too long.

    ``floor_s`` is the shortest silence that counts.
    """

    times: float
    floor_s: float = FLOOR_S
    intervals: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    _silent_s: float = 0.0
    _looked: float | None = None
    _begun: bool = False

    @property
    def begun(self) -> bool:
        """Whether it has come at least once."""
        return self._begun

    def look(self, now: float, *, came: bool) -> tuple[float, float] | None:
        """Look once, with a monotonic clock; ``came``: whether it came since the previous look.

        Returns the silence and the usual interval in seconds if the silence is too long.
        """
        passed = 0.0 if self._looked is None else now - self._looked
        self._looked = now
        self._silent_s += 0.0 if passed > BLIND_S else passed
        if came:
            # What was there at the first look has no known time of arrival.
            if self._begun:
                self.intervals.append(self._silent_s)
            self._begun, self._silent_s = True, 0.0
            return None
        if len(self.intervals) < INTERVALS:
            return None
        usual = statistics.median(self.intervals)
        late = self._silent_s > max(self.floor_s, self.times * usual)
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
