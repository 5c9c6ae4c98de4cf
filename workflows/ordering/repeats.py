"""Valid times that come twice in one stream of one attempt: of each the later record counts.

A model that was restarted repeats the hour of its restart, or goes back some hours and on again, in
the same file or in the next one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from burstlens.core.model import Frame, in_model_folder
from burstlens.core.run.event import FrameKey
from burstlens.core.run.history import History


@dataclass(frozen=True, slots=True)
class SortedFrames:
    """The frames of a report: those that count, in its order, and the others. ``repeated`` are the
    counting ones that take the place of another record of their time, which is news."""

    counting: Sequence[Frame]
    others: Sequence[Frame]
    repeated: Sequence[Frame]


@dataclass(slots=True)
class Repeats:
    """Which records count, and which have lost their time to a later one.

    Of a run that others started, a time in two files is :mod:`.rewrites`' affair.
    """

    history: History

    def sort_out(self, frames: Sequence[Frame]) -> SortedFrames:
        """The frames that count of these."""
        records: defaultdict[FrameKey, list[Frame]] = defaultdict(list)
        for frame in frames:
            records[frame_key(frame)].append(frame)
        counting: set[int] = set()
        repeated: list[Frame] = []
        for key, found in records.items():
            if len(found) > 1:
                found.sort(key=_order)
            chosen, is_repeated = self._choose(key, found)
            if chosen is not None:
                counting.add(id(chosen))
            if chosen is not None and is_repeated:
                repeated.append(chosen)
        return SortedFrames(
            [frame for frame in frames if id(frame) in counting],
            [frame for frame in frames if id(frame) not in counting],
            repeated,
        )

    def _choose(self, key: FrameKey, found: Sequence[Frame]) -> tuple[Frame | None, bool]:
        """The one that counts of the records of one time; whether it takes another one's place."""
        if key not in self.history.frames:
            return found[-1], len(found) > 1
        later = [frame for frame in found if self._is_later(frame)]
        if later:
            return later[-1], True
        known = self.history.repeated.get(key)
        if known is None:
            return found[0], False
        same = [frame for frame in found if (_file(frame), frame.record) == known]
        return (same[0] if same else None), False

    def _is_later(self, frame: Frame) -> bool:
        """Whether a frame of a time that is known is of a later record than any that was seen."""
        file = _file(frame)
        known = self.history.fingerprints.get((frame.stream, frame.time))
        if known is not None:
            return known[1] == file and frame.record > known[2]
        return frame.record >= self.history.reached.get(frame.attempt, {}).get(file, 0)


def is_stale(history: History, frame: Frame) -> bool:
    """Whether a later record has the frame's time, by the journal, or another attempt owns it."""
    if history.is_stale(*frame_key(frame)):
        return True
    current = history.repeated.get(frame_key(frame))
    return current is not None and current != (_file(frame), frame.record)


def frame_key(frame: Frame) -> FrameKey:
    """Stream, valid time and attempt."""
    return frame.stream, frame.time, frame.attempt


def _file(frame: Frame) -> str:
    return in_model_folder(frame.paths[0])


def _order(frame: Frame) -> tuple[float, int, tuple[str, ...], int]:
    """Sort key of records of one time: those written later are later, then as people count."""
    return frame.written, len(frame.paths[0]), frame.paths, frame.record
