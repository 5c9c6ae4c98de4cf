"""The segments of a run, as its readers have them, and which of its products are stale by them.

A product is stale where the attempt that computed it no longer owns its valid time: the run was
resumed from an earlier checkpoint, and the owner's product replaces it as soon as there is one.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.index import Published
from burstlens.core.run.snapshot import read_snapshot
from burstlens.core.run.status_file import SegmentPart, StatusFile


@dataclass(frozen=True, slots=True)
class Segments:
    """The stretches of model time, in order, and the attempts that own them; none of a run in one
    piece, which has nothing stale."""

    parts: tuple[SegmentPart, ...] = ()

    @classmethod
    def of(cls, status: StatusFile) -> Segments:
        """The segments in a status."""
        parts = status.segments if isinstance(status.segments, list) else []
        return cls(tuple(sorted(parts, key=attrgetter("begin"))))

    def owner(self, time: str) -> SegmentPart | None:
        """The segment in which a valid time lies: the last one that begins before it."""
        at = bisect_left(self.parts, time, key=attrgetter("begin"))
        return self.parts[at - 1] if at else None

    def is_stale(self, time: str, attempt: int) -> bool:
        """Whether a published product of that attempt is stale; one of an unknown attempt, 0, is
        not. At a checkpoint's own time a product of the attempt that resumes there is only
        published where the earlier one has no whole frame: it counts."""
        owner = self.owner(time)
        if owner is None or not attempt or attempt == owner.attempt:
            return False
        return not any(one.begin == time and one.attempt == attempt for one in self.parts)

    def mark(self, entries: Iterable[Published]) -> Iterator[Published]:
        """The same entries, of which those that are stale say so."""
        for entry in entries:
            yield entry.as_stale() if self.is_stale(entry.time, entry.attempt) else entry


def segments_of(run: RunDir) -> Segments:
    """The segments of a run; none where its status cannot be read."""
    with contextlib.suppress(RunError, OSError):
        return Segments.of(read_snapshot(run))
    return Segments()
