"""Judging checkpoints by their own fields, in runs whose guards do not read those of the frames.

A guard that stops the model when a prognostic field of a frame is bad judges the checkpoints up to
that frame as well (:mod:`.checkpoints`). Without one a worker of the viewing block reads the fields
of each checkpoint when nothing else is to be done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstlens.core import valid_time
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.checkpoint_record import CheckpointRecord
from burstlens.workflows.guards.guard import VariableGuard
from burstlens.workflows.making.checkpoint_fields import judge_checkpoint
from burstlens.workflows.ordering.instructions import LAST, Ask
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.recipe.recipe import Recipe

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

JUDGEMENT = "judgement"
"""The kind of the question about a checkpoint's fields."""


def guards_judge(recipe: Recipe) -> bool:
    """Whether a guard that stops the model reads a prognostic field of its frames."""
    prognostic = recipe.model.prognostic
    return any(
        isinstance(guard, VariableGuard)
        and guard.stops
        and (not prognostic or guard.variable in prognostic)
        for guard in recipe.guards
    )


class CheckpointJudging:
    """Has the fields of checkpoints read, one checkpoint at a time, and journals what was found."""

    def __init__(self, state: RunState) -> None:
        self._state, self._history = state, state.history
        self._is_needed = not guards_judge(state.recipe)
        self._keep = state.recipe.checkpoint.keep
        self.under_way: tuple[int, str] | None = None
        """Attempt and time of the one that is being read."""

    def next_one(self, buffer: BufferRef) -> None:
        """Have the newest checkpoint read of which nothing is known, those of an earlier driver
        included."""
        record = next(reversed(self._to_read()), None)
        if record is not None and self.under_way is None:
            self.under_way = record.attempt, record.time
            args = buffer, self._state.recipe.model, str(record.attempt), record.size_of
            about = self.under_way
            self._state.do(
                Ask(JUDGEMENT, judge_checkpoint, args, about=about, priority=LAST, again=True)
            )

    def is_open(self, record: CheckpointRecord) -> bool:
        """Whether it is still to be read whether that checkpoint is good."""
        return record.on_buffer and not (self.is_read(record) or record.suspect)

    def is_read(self, record: CheckpointRecord) -> bool:
        """Whether its own fields were read, or guards read those of the frames."""
        return record.judged or not self._is_needed

    def good(self, unread: str | None) -> list[CheckpointRecord]:
        """The good ones on the lineage, in order of model time. Guards have yet to read frames from
        the time ``unread`` on; None: they have read all."""
        known = [one for one in self._on_lineage() if not (one.suspect or self.is_open(one))]
        return [one for one in known if unread is None or one.time < unread]

    def first_open(self, unread: str | None) -> str | None:
        """The time from which on it is not known of all whether they are good; None: of all."""
        times = [one.time for one in self._to_read()]
        return min([*times, unread] if unread is not None else times, default=None)

    @property
    def is_done(self) -> bool:
        """Whether each checkpoint that stays is known to be good or suspect. An attempt that cannot
        begin with the newest one takes the one before."""
        return not self._to_read()

    def may_end(self, outcome: Outcome) -> bool:
        """Whether a run may end so: one that did not end well may be resumed from a checkpoint."""
        return outcome.state == "done" or self.is_done

    def _to_read(self) -> list[CheckpointRecord]:
        """Those that are to be read, in order of model time: not those before which there are
        enough good ones, as these are deleted."""
        good = [one for one in self.good(None) if one.on_buffer]
        oldest = good[-self._keep].time if len(good) >= self._keep else ""
        return [one for one in self._on_lineage() if self.is_open(one) and one.time >= oldest]

    def _on_lineage(self) -> list[CheckpointRecord]:
        return self._history.checkpoints.on(self._history.lineage)

    def answer(self, ask: Ask, fault: str) -> None:
        """A checkpoint was read, or could not be."""
        attempt, time = ask.about
        self.under_way = None
        record = self._history.checkpoints.find(attempt, time)
        if record is None or record.suspect:
            return  # it was deleted meanwhile, or a guard has found more
        if not fault:
            self._state.outbox.append(ev.CheckpointJudged(attempt=attempt, time=time))
            return
        self._state.outbox.append(ev.CheckpointSuspect(attempt=attempt, time=time, reason=fault))
        place = valid_time.label(time)
        self._state.alarm(f"the checkpoint of {place} is suspect and will not be used: {fault}")
