"""What guards judge over time: how regularly something comes, and how fast the buffer fills.

Pure: clocks and counts are handed in.
"""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass, field

INTERVALS = 3
"""Intervals that must be known before something can be called late."""
KEPT = 50
FLOOR_S = 30.0
"""Nothing is late before: a viewing block that is replaced takes a while too."""
BLIND_S = 5.0
"""A longer pause between two looks is the watcher's, and does not count."""
LOOKS = 5
"""The latest looks that brought frames, by which the growth is taken."""
LEAST = 2
"""Frames that must have come in them."""


@dataclass(slots=True)
class Pace:
    """How regularly something comes: looks in, and the silence that is too long out.

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
        """Whether it has come at all."""
        return self._begun

    def look(self, now: float, *, came: bool) -> tuple[float, float] | None:
        """Look once, with a monotonic clock; ``came`` says whether it came since the last look.

        Returns seconds of silence and the usual interval when the silence is too long.
        """
        passed = 0.0 if self._looked is None else now - self._looked
        self._looked = now
        self._silent_s += 0.0 if passed > BLIND_S else passed
        if came:
            # What was there at the first look came at once, whenever it was made.
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
    """How the buffer fills: what lies there after some frames in, frames until it is full out."""

    _count: int = 0
    _held: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=LOOKS + 1))

    def add(self, frames: int, raw_bytes: int) -> None:
        """So many more frames are there, and raw frames hold so much now."""
        self._count += frames
        self._held.append((self._count, raw_bytes))

    def frames_left(self, room_bytes: int) -> float | None:
        """Frames until ``room_bytes`` more are used; None while it does not grow."""
        if not self._held:
            return None
        (first, before), (last, after) = self._held[0], self._held[-1]
        if last - first < LEAST or after <= before:
            return None
        return max(0, room_bytes) * (last - first) / (after - before)
