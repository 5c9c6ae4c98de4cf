"""Which attempt's output is looked at: the current one's, and what a former driver has left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering.instructions import Watch
from burstlens.workflows.placement.buffer import BufferRef

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

WATCH_S, FIRST_WATCH_S, EARLY_WATCH_S = 2.0, 1.0, 0.1
"""Longest idle call of the watcher: what files in progress take of the buffer is as old. On the
early worker, which draws as well: the first one, in which a model may write a frame, and the
others."""


class OutputWatch:
    """Looks at the output of a run's attempts, one after the other. ``ended``: all of the current
    attempt's is seen."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self.attempt = 0
        self.ended = False
        self._cursor = Cursor()
        self._earlier: list[int] = []
        self._seen: set[int] = set()
        """The attempts whose output this driver looks at, or has."""

    def begin(self, attempt: int) -> None:
        """Look at that attempt from now on; before it at those whose frames are still to be made
        into products, or released, by this driver, and those that no driver has seen to their
        end."""
        history = self._state.history
        on_buffer = range(history.first_on_buffer, attempt)
        earlier = {one.attempt for one in history.lineage.segments if one.attempt in on_buffer}
        left = {number for *_, number in history.frames - history.released}
        self._earlier = sorted((earlier & (left | self._unseen(earlier))) - self._seen)
        self._seen |= {attempt, *self._earlier}
        self.attempt, self.ended, self._cursor = attempt, False, Cursor()

    def _unseen(self, earlier: set[int]) -> set[int]:
        """Those of which a driver that died has seen a part at most: without a journalled end, and
        the newest where the run had no end."""
        history = self._state.history
        jobs = {number: history.jobs.get(f"attempt-{number}") for number in earlier}
        begun = {number: job for number, job in jobs.items() if job is not None and job.job_id}
        newest = {max(begun)} if begun and not history.ended_before else set()
        return newest | {number for number, job in begun.items() if job.outcome is None}

    def look(self, buffer: BufferRef, patterns: Sequence[LogPattern]) -> None:
        """Have the watcher look for news."""
        state = self._state
        longest_s, poll_s = WATCH_S, state.site.viewing.poll_interval_s
        if state.block.early:
            longest_s = EARLY_WATCH_S if self._cursor.scans else FIRST_WATCH_S
        of = self._earlier[0] if self._earlier else self.attempt
        state.do(Watch(buffer, of, self._cursor, longest_s, poll_s, tuple(patterns)))

    def take(self, report: Report) -> int:
        """Take a report; returns the attempt that it is about."""
        if not self._earlier:
            self._cursor, self.ended = report.cursor, report.ended
            return self.attempt
        of = self._earlier[0]
        self._cursor = report.cursor
        if report.ended:
            self._earlier.pop(0)
            self._cursor = Cursor()
        return of
