"""Frames of a checkpoint's own time that no attempt writes: WRF, killed after a nest's restart file
and before its frame, does not write that frame when it continues from there, and says nothing.

Whether a stream was to have a frame then is judged by its last two frames before: an interval of
the model's settings may not hold after a restart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from burstlens.core import valid_time
from burstlens.core.model import Damage, Frame
from burstlens.core.run.history import History
from burstlens.core.run.lineage import AFRESH

SAME_S = 2.1e-3
"""Keys of elapsed times have milliseconds: intervals between them that differ by less are one."""


class RestartHoles:
    """Finds them as soon as an attempt has written a later frame of the stream."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._judged: set[tuple[str, int]] = set()
        """Streams and attempts of which it is known."""

    def find(self, frames: Sequence[Frame]) -> Iterator[Damage]:
        """The frames that are missing before these, which the history has."""
        for frame in sorted(frames, key=lambda one: one.time):
            begin = self._history.lineage.begin_of(frame.attempt)
            about = frame.stream, frame.attempt
            if begin == AFRESH or frame.time <= begin or about in self._judged:
                continue
            self._judged.add(about)
            if self._is_missing(frame, begin):
                yield self._hole(frame, begin)

    def _is_missing(self, first: Frame, begin: str) -> bool:
        """Whether the stream lacks a frame of that time, between its last two and the ``first``."""
        history = self._history
        reported = history.frames | history.damaged
        if any((of, time) == (first.stream, begin) for of, time, _ in reported):
            return False
        known = [(time, number) for of, time, number in history.frames if of == first.stream]
        owned = (time for time, number in known if history.owns(first.stream, time, number))
        times = [*sorted(time for time in owned if time < begin)[-2:], begin, first.time]
        if len(times) < 4 or not all(map(valid_time.has_time, times)):
            return False
        before, across, after = (
            valid_time.seconds(later, first.calendar) - valid_time.seconds(one, first.calendar)
            for one, later in pairwise(times)
        )
        return abs(across - before) <= SAME_S and after <= before + SAME_S

    def _hole(self, first: Frame, begin: str) -> Damage:
        writer = self._history.lineage.owner(begin) or 0
        reason = (
            f"attempt {writer} ended before it was written, and attempt {first.attempt} has frames "
            "from after it"
        )
        return Damage(first.run, writer, first.stream, begin, (), 0, reason)
