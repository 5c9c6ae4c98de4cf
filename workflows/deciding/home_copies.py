"""The newest good checkpoint in the run directory, before the buffer can go with its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from burstlens.core import valid_time
from burstlens.core.run import events as ev
from burstlens.core.run.checkpoint_record import CheckpointRecord
from burstlens.workflows.deciding.judging import CheckpointJudging
from burstlens.workflows.deciding.target import AWAY_PAUSE_S, PATIENCE_S, may_come_back
from burstlens.workflows.ordering.events import QuestionAnswered
from burstlens.workflows.ordering.instructions import LAST, Ask, AskPlace
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.checkpoint_home import (
    CheckpointCopy,
    bring_checkpoint,
    remove_copy,
)

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

COPY, REMOVAL = "checkpoint-home", "checkpoint-home-removal"
"""The kinds of the questions that bring one home, and that delete one there."""
PAUSE_S = 1.0
"""Between looks for one to bring: a look goes through all frames on the buffer."""
AGAIN_S = 30.0
"""After one that could not be brought."""
SILENT_INTERVALS = 3.0
"""A stream without a frame for so many of its intervals is not waited for."""


class HomeCopies:
    """Has checkpoints brought home one at a time, and deletes those that newer ones supersede.

    ``lasts``: the buffer outlives its job. Then the newest good one comes at the end of the run.
    Else each as it becomes good, once all that was written up to its time is published: what is not
    would be missing in a run that continues from it on another buffer.
    """

    def __init__(self, state: RunState, judging: CheckpointJudging, *, lasts: bool) -> None:
        self._state, self._history, self._lasts = state, state.history, lasts
        self._judging = judging
        simulation, checkpoint = state.recipe.simulation, state.recipe.checkpoint
        self._keep = checkpoint.keep
        self._is_wanted = simulation.is_cut or checkpoint.every is not None
        self._again_at = 0.0
        self._going: set[tuple[int, str]] = set()
        self.under_way: tuple[int, str] | None = None
        """The one that is being brought: attempt and time."""
        self._refused: set[tuple[int, str]] = set()
        self._given_up: dict[tuple[int, str], str] = {}
        self._is_last, self._last_again_at = False, 0.0
        self._waits_since: float | None = None
        """Since when the last one has been refused."""

    def look(self, buffer: BufferRef, production: Production) -> None:
        """Have the newest one brought whose frames are published, where the buffer ends with its
        job. Nothing is left to compute from one at the run's end."""
        now = self._state.now
        if self._lasts or self.under_way or now < self._again_at:
            return
        self._again_at = now + PAUSE_S
        unsettled = production.space.oldest_unsettled()
        for one in reversed(self._before_end(production)):
            if one.home or _key(one) in self._given_up:
                return
            if one.on_buffer and _before(one.time, unsettled) and not self._awaits(one):
                self._bring(buffer, one)
                return

    def brings_last(self, buffer: BufferRef, production: Production, *, done: bool = False) -> bool:
        """Have the newest good one brought before the run leaves its buffer, all frames being seen
        and published. Whether that is under way; a run directory that is full or away is waited
        for, and one that cannot be brought is given up. A run that is ``done`` needs none, unless
        its recipe asks for checkpoints, and then one before its end."""
        self._is_last = True
        if self.under_way is not None:
            return True
        if done and not self._is_wanted:
            return False
        good = self._before_end(production) if done else self._good(production)
        record = next(reversed(good), None)
        if record is None or record.home or not record.on_buffer or _key(record) in self._given_up:
            return False
        if self._state.now >= self._last_again_at:
            self._bring(buffer, record)
        return True

    def _bring(self, buffer: BufferRef, record: CheckpointRecord) -> None:
        self.under_way = _key(record)
        about = buffer, self._state.run, record.attempt, record.time, tuple(record.files)
        self._state.do(
            Ask(COPY, bring_checkpoint, about, about=_key(record), priority=LAST, again=True)
        )

    def _good(self, production: Production) -> list[CheckpointRecord]:
        return self._judging.good(production.oldest_unread())

    def _before_end(self, production: Production) -> list[CheckpointRecord]:
        facts = self._state.context.facts
        return [one for one in self._good(production) if not facts.is_end(one.time)]

    def _awaits(self, record: CheckpointRecord) -> bool:
        """Whether a stream's next frame lies before the checkpoint, by its interval so far: the
        watcher may know it to be whole by the frame after it alone."""
        times: defaultdict[str, list[str]] = defaultdict(list)
        for stream, time, attempt in self._history.frames | self._history.damaged:
            if attempt == record.attempt:
                times[stream].append(time)
        return any(_is_due(sorted(found)[-2:], record.time) for found in times.values())

    def prune(self, production: Production) -> None:
        """Have those at home deleted before which there are enough good ones at home, and those of
        branches that were given up."""
        at_home = [one for one in self._history.checkpoints.records if one.home]
        if len(at_home) <= self._keep:
            return
        read = filter(self._judging.is_read, self._good(production))
        good = [one for one in read if one.home and not one.ahead]
        if len(good) < self._keep:
            return
        oldest = good[-self._keep].time
        known = self._history.checkpoints.on(self._history.lineage)
        for record in at_home:
            is_needed = record in known and record.time >= oldest
            if not is_needed and _key(record) not in self._going:
                self._going.add(_key(record))
                folder = self._state.run.checkpoint(*_key(record))
                ask = Ask(REMOVAL, remove_copy, (folder,), AskPlace.BESIDE, _key(record))
                self._state.do(ask)

    def answered(self, event: QuestionAnswered) -> None:
        """One is at home, or deleted there."""
        if event.ask.kind == COPY:
            self.under_way = None
            self._state.outbox.append(home_event(event.value))
        elif event.ask.kind == REMOVAL:
            attempt, time = event.ask.about
            self._going.discard(event.ask.about)
            self._state.outbox.append(ev.CheckpointRemoved(attempt=attempt, time=time, home=True))

    def refused(self, ask: Ask, error: BaseException) -> None:
        """One could not be brought; another one is tried after a while."""
        if ask.kind != COPY:
            return
        self.under_way = None
        now = self._state.now
        self._again_at, self._last_again_at = now + AGAIN_S, now + AWAY_PAUSE_S
        what = f"the checkpoint of {valid_time.label(ask.about[1])}"
        text = f"{what} could not be brought home: {error}"
        if self._is_last:
            self._waits_since = now if self._waits_since is None else self._waits_since
            is_late = now - self._waits_since >= PATIENCE_S
            if is_late or not may_come_back(error, self._state.run):
                self._given_up[ask.about] = text
        if ask.about in self._refused:
            return  # it was said
        self._refused.add(ask.about)
        self._state.snapshot.alarm(text)

    @property
    def problem(self) -> str:
        """Why the last one that was given up is not at home; empty where none was."""
        return next(reversed(self._given_up.values()), "")


def home_event(copy: CheckpointCopy) -> ev.CheckpointHome:
    """The event of a checkpoint that is in the run directory."""
    return ev.CheckpointHome(
        attempt=copy.attempt, time=copy.time, files=copy.files, bytes=copy.bytes,
        seconds=copy.seconds, ahead=copy.ahead,
    )  # fmt: skip


def _before(time: str, limit: str | None) -> bool:
    return limit is None or time < limit


def _is_due(latest: Sequence[str], time: str) -> bool:
    """Whether the frame after these two of a stream is of that time or an earlier one."""
    try:
        wanted_s, *seconds = map(valid_time.seconds, (time, *latest))
    except ValueError:  # frames without a time
        return False
    if len(seconds) < 2 or seconds[-1] >= wanted_s:
        return False
    interval_s = seconds[1] - seconds[0]
    return seconds[1] + interval_s <= wanted_s < seconds[1] + SILENT_INTERVALS * interval_s


def _key(record: CheckpointRecord) -> tuple[int, str]:
    return record.attempt, record.time
