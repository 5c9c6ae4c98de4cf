"""Attempts of the model that resume from each other's checkpoints, and who owns a valid time.

An attempt that resumes from a checkpoint owns what comes after the checkpoint's time; what an
earlier attempt has computed there is stale. One that starts afresh owns all times. A checkpoint of
which an attempt resumes lies on the stretch that its writer owns, so that the newest attempt with
an earlier begin is the owner.
"""

from __future__ import annotations

import bisect
from collections.abc import Container
from dataclasses import dataclass, field

from burstlens.core.run.event import FrameKey

AFRESH = ""
"""In the place of a checkpoint's time: it sorts before all of them."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of model time and the attempt that owns it: after ``begin``, up to ``end``; None
    where nothing follows yet."""

    attempt: int
    begin: str
    end: str | None = None


@dataclass(slots=True)
class Lineage:
    """Where each attempt begins: the time of its checkpoint, or ``AFRESH``."""

    begins: dict[int, str] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    """The stretches of the newest attempt's lineage, in order of model time."""

    def begin(self, attempt: int, time: str = AFRESH) -> None:
        """Note that an attempt resumes from a checkpoint of that time."""
        self.begins[attempt] = time
        self.segments = self._segments()

    def begin_of(self, attempt: int) -> str:
        """The time of the checkpoint from which an attempt resumes; ``AFRESH`` for none."""
        return self.begins.get(attempt, AFRESH)

    @property
    def is_forked(self) -> bool:
        """Whether an attempt has followed another one: then frames may be stale."""
        return len(self.begins) > 1

    def _segments(self) -> list[Segment]:
        found: list[Segment] = []
        end = None
        for attempt in sorted(self.begins, reverse=True):
            begin = self.begins[attempt]
            if end is not None and begin >= end:
                continue  # a branch that was given up
            found.append(Segment(attempt, begin, end))
            if begin == AFRESH:
                break
            end = begin
        return found[::-1]

    def owner(self, time: str) -> int | None:
        """The attempt that owns a valid time; None where none does. At a checkpoint's own time it
        is the one that wrote the checkpoint: a model that writes a frame there again as it resumes
        lacks in it what it only computes in a step."""
        place = bisect.bisect_left(self.segments, time, key=lambda one: one.begin)
        return self.segments[place - 1].attempt if place else None

    def frame_owner(self, stream: str, time: str, whole: Container[FrameKey]) -> int | None:
        """The attempt that owns a frame, where these are whole. A stream whose frame of a
        checkpoint's own time was not whole when its writer ended has it of the attempt that
        resumes there."""
        owner = self.owner(time)
        if (stream, time, owner) in whole:
            return owner
        for one in reversed(self.segments):
            if one.begin == time != AFRESH and (stream, time, one.attempt) in whole:
                return one.attempt
        return owner

    def is_stale(self, stream: str, time: str, attempt: int, whole: Container[FrameKey]) -> bool:
        """Whether another attempt owns the frame that this one has. Attempts of which nothing is
        known, as those of a model that others started, have no stale frames."""
        if not self.is_forked or attempt not in self.begins:
            return False
        return self.frame_owner(stream, time, whole) != attempt
