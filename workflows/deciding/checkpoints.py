"""The checkpoints of a run: journalled, judged, brought home, and deleted when newer good ones are
there."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from burstlens.core.run import events as ev
from burstlens.core.run.checkpoint_record import CheckpointRecord
from burstlens.core.valid_time import has_time, is_calendar, is_elapsed, label
from burstlens.workflows.deciding.home_copies import HomeCopies
from burstlens.workflows.deciding.judging import JUDGEMENT, CheckpointJudging
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering.events import QuestionAnswered
from burstlens.workflows.ordering.guarding import Guarding
from burstlens.workflows.ordering.instructions import LAST, Ask
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.placement.buffer import BufferRef, remove_checkpoint

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

_REMOVAL = "checkpoint"
"""The kind of the question that deletes one."""
_MANY = 100
"""Frames of several streams are among so many."""


class CheckpointKeeping:
    """Takes what the watcher finds, and decides which of them stay. ``lasts``: the buffer outlives
    its job."""

    def __init__(self, state: RunState, guarding: Guarding, *, lasts: bool = True) -> None:
        self.judging = CheckpointJudging(state)
        self.home = HomeCopies(state, self.judging, lasts=lasts)
        self._state, self._history, self._guarding = state, state.history, guarding
        self._keep = state.recipe.checkpoint.keep
        self._going: set[tuple[int, str]] = set()

    def take(self, report: Report, attempt: int) -> None:
        """Journal the checkpoints of an attempt that the watcher has found whole."""
        for found in report.checkpoints:
            if self._history.checkpoints.find(attempt, found.time):
                continue  # an earlier driver has journalled it
            event = ev.CheckpointWhole(
                attempt=attempt, time=found.time, files=list(found.files), bytes=found.bytes,
                written=found.written, detected=self._state.t, signal=found.signal,
                took_s=found.took_s, sizes=list(found.sizes) or None,
            )  # fmt: skip
            self._state.outbox.append(event)
        for text in report.unproven_checkpoints:
            self._state.alarm(text)

    def judge(self) -> None:
        """Journal which are suspect: a guard that stops the model has tripped on a frame up to
        their time, or its episode lasts since before a checkpoint from which the attempt resumed
        nevertheless; or their time is of another kind than the frames'."""
        for name, standing in self._guarding.judge.lasting():
            for record in self._history.checkpoints.records:
                within = standing.since <= record.time <= standing.last
                if within and record.attempt == standing.attempt and not record.suspect:
                    self._suspect(record, f"{name}: {standing.text}")
        for trip in self._history.stopping.values():
            for record in self._history.checkpoints.records:
                late = record.attempt == trip.attempt and trip.time <= record.time
                if late and not record.suspect:
                    self._suspect(record, f"{trip.guard}: {trip.text}")
        if time := self._time_of_a_frame():
            for record in self._history.checkpoints.records:
                if not (record.suspect or _compare(record.time, time)):
                    self._suspect(
                        record,
                        f"its time, {label(record.time)}, does not compare with those of frames, "
                        f"such as {label(time)}",
                    )

    def _time_of_a_frame(self) -> str:
        """The key of some frame, of one with a time where there are any; "" before the first."""
        if not self._history.checkpoints.records:
            return ""
        times = [time for _, time, _ in islice(self._history.frames, _MANY)]
        return next(filter(has_time, times), times[0] if times else "")

    def _suspect(self, record: CheckpointRecord, reason: str) -> None:
        event = ev.CheckpointSuspect(attempt=record.attempt, time=record.time, reason=reason)
        self._state.outbox.append(event)

    def prune(self, buffer: BufferRef, production: Production) -> None:
        """Have the newest brought home where it is due, and those deleted before which there are
        enough good ones. While newer ones are not judged yet, or are suspect, the last good one
        stays."""
        self.judge()
        if not self._history.checkpoints.records:
            return
        unread = production.oldest_unread()
        self._state.snapshot.unread = self.judging.first_open(unread)
        self.home.look(buffer, production)
        self.home.prune(production)
        records = [one for one in self._history.checkpoints.records if one.on_buffer]
        if len(records) <= self._keep:
            return
        known = [
            one for one in self._history.checkpoints.on(self._history.lineage) if one.on_buffer
        ]
        good = [one for one in self.judging.good(unread) if one.on_buffer]
        oldest = good[-self._keep].time if len(good) >= self._keep else ""
        gone = [one for one in known if one.time < oldest]
        # Those of a branch that was given up are of no use.
        gone += [one for one in records if one not in known]
        for record in gone:
            read = self.home.under_way, self.judging.under_way
            if _key(record) not in self._going and _key(record) not in read:
                self._going.add(_key(record))
                folders = [str(one) for one in self._holders(record)]
                about = buffer, folders, tuple(record.files)
                self._state.do(
                    Ask(_REMOVAL, remove_checkpoint, about, about=_key(record), priority=LAST)
                )

    def _holders(self, record: CheckpointRecord) -> list[int]:
        """The attempt that wrote it, and those that resumed from it, which have links to it."""
        begins = self._history.lineage.begins.items()
        first = self._history.first_on_buffer
        return [record.attempt, *(n for n, time in begins if time == record.time and n >= first)]

    def refused(self, ask: Ask, error: BaseException) -> None:
        """A question about one failed for good."""
        self.home.refused(ask, error)
        if ask.kind == JUDGEMENT:
            self.judging.answer(ask, f"it could not be read: {error}")

    def answered(self, event: QuestionAnswered) -> None:
        """One is deleted, at home, or its fields were read."""
        self.home.answered(event)
        if event.ask.kind == JUDGEMENT:
            self.judging.answer(event.ask, event.value)
        elif event.ask.kind == _REMOVAL:
            attempt, time = event.ask.about
            self._state.outbox.append(ev.CheckpointRemoved(attempt=attempt, time=time))


def _compare(time: str, other: str) -> bool:
    """Whether two keys are of one kind, so that the earlier one sorts first."""
    if has_time(time) or has_time(other):
        return (is_elapsed(time), is_calendar(time)) == (is_elapsed(other), is_calendar(other))
    return time[:1] == other[:1]


def _key(record: CheckpointRecord) -> tuple[int, str]:
    return record.attempt, record.time
