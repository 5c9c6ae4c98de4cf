"""The checkpoints of a run: journalled, judged, brought home, and deleted when newer good ones are
there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstlens.core.run import events as ev
from burstlens.core.run.checkpoint_record import CheckpointRecord
from burstlens.workflows.deciding.home_copies import HomeCopies
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering.events import QuestionAnswered
from burstlens.workflows.ordering.instructions import LAST, Ask
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.placement.buffer import BufferRef, remove_checkpoint

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

_REMOVAL = "checkpoint"
"""The kind of the question that deletes one."""


class CheckpointKeeping:
    """Takes what the watcher finds, and decides which of them stay. ``lasts``: the buffer outlives
    its job."""

    def __init__(self, state: RunState, *, lasts: bool = True) -> None:
        self.home = HomeCopies(state, lasts=lasts)
        self._state, self._history = state, state.history
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
                took_s=found.took_s,
            )  # fmt: skip
            self._state.outbox.append(event)
        for text in report.unproven_checkpoints:
            self._state.alarm(text)

    def judge(self) -> None:
        """Journal which are suspect: a guard that stops the model has tripped on a frame up to
        their time."""
        for trip in self._history.stopping.values():
            for record in self._history.checkpoints.records:
                late = record.attempt == trip.attempt and trip.time <= record.time
                if late and not record.suspect:
                    about, reason = _key(record), f"{trip.guard}: {trip.text}"
                    self._state.outbox.append(
                        ev.CheckpointSuspect(attempt=about[0], time=about[1], reason=reason)
                    )

    def prune(self, buffer: BufferRef, production: Production) -> None:
        """Have the newest brought home where it is due, and those deleted before which there are
        enough good ones. While newer ones are not judged yet, or are suspect, the last good one
        stays."""
        if not self._history.checkpoints.records:
            return
        self.judge()
        self.home.look(buffer, production)
        self.home.prune()
        records = [one for one in self._history.checkpoints.records if one.on_buffer]
        if len(records) <= self._keep:
            return
        known = [
            one for one in self._history.checkpoints.on(self._history.lineage) if one.on_buffer
        ]
        unread = production.oldest_unread()
        good = [one for one in known if not one.suspect and (unread is None or one.time < unread)]
        oldest = good[-self._keep].time if len(good) >= self._keep else ""
        gone = [one for one in known if one.time < oldest]
        # Those of a branch that was given up are of no use.
        gone += [one for one in records if one not in known]
        for record in gone:
            if _key(record) not in self._going and _key(record) != self.home.under_way:
                self._going.add(_key(record))
                folders = [str(one) for one in self._holders(record)]
                about = buffer, folders, tuple(record.files)
                self._state.do(
                    Ask(_REMOVAL, remove_checkpoint, about, about=_key(record), priority=LAST)
                )

    def _holders(self, record: CheckpointRecord) -> list[int]:
        """The attempt that wrote it, and those that went on from it, which have links to it."""
        begins = self._history.lineage.begins.items()
        first = self._history.first_on_buffer
        return [record.attempt, *(n for n, time in begins if time == record.time and n >= first)]

    def answered(self, event: QuestionAnswered) -> None:
        """One is deleted, or at home."""
        self.home.answered(event)
        if event.ask.kind == _REMOVAL:
            attempt, time = event.ask.about
            self._state.outbox.append(ev.CheckpointRemoved(attempt=attempt, time=time))


def _key(record: CheckpointRecord) -> tuple[int, str]:
    return record.attempt, record.time
