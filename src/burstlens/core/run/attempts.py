"""What the events of a run's attempts add up to: jobs, checkpoints, who owns a valid time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from burstlens.core.run import events as ev
from burstlens.core.run.checkpoint_record import Checkpoints
from burstlens.core.run.job_record import JobRecord
from burstlens.core.run.lineage import AFRESH, Lineage
from burstlens.core.run.product_record import ProductHistory, narrow

REPEATABLE = frozenset({"cut", "done"})
"""Outcomes of an attempt whose frames come out the same when they are computed again."""

REQUEUED = "requeued"
"""The outcome of an attempt whose job the scheduler has put back into its queue."""


@dataclass(slots=True)
class AttemptHistory(ProductHistory):
    """The part of a run's history that is about the attempts of its model."""

    jobs: dict[str, JobRecord] = field(default_factory=dict)
    lineage: Lineage = field(default_factory=Lineage)
    """From where the attempts that Burstlens has started resumed."""
    submitting: ev.SimulationSubmitting | None = None
    """What the latest of them was to do."""
    wanted: ev.RunResumed | None = None
    """What a person wants to resume from, until an attempt does."""
    resumed_from: dict[int, float] = field(default_factory=dict)
    """When the checkpoints were written from which attempts resumed, by attempt."""
    settings: dict[str, str] = field(default_factory=dict)
    """The settings of the model that a person has changed since the run began."""
    walltime_s: float | None = None
    """The walltime of the model's jobs, where a person has changed it since."""
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    submitted: int = 0
    """How many attempts have begun since the run began, or was resumed after an end; without those
    whose job was requeued, and runs the next one as well."""
    ahead: ev.AheadSubmitted | None = None
    """The job that waits for an attempt after the current one, as far as is known."""
    ended_ahead: dict[str, float] = field(default_factory=dict)
    """Those that ended without an attempt, by name, and the core-hours that each has lost."""
    ended_before: bool = False
    """Whether the run had an end when this driver resumed it."""
    fresh_buffer: bool = False
    """Whether the buffer holds nothing of any attempt yet."""
    first_on_buffer: int = 1
    """The first attempt whose files can be on the present buffer."""

    @property
    def lost_core_hours(self) -> float:
        """What jobs have cost that waited for an attempt in vain."""
        return round(sum(self.ended_ahead.values()), 4)

    def owns(self, stream: str, time: str, attempt: int) -> bool:
        """Whether that attempt owns that frame."""
        if attempt not in self.lineage.begins:
            return attempt == self.attempt
        return self.lineage.frame_owner(stream, time, self.frames) == attempt

    def is_stale(self, stream: str, time: str, attempt: int) -> bool:
        """Whether another attempt owns that frame by now, and with it what is made of it."""
        return self.lineage.is_stale(stream, time, attempt, self.frames)


def is_computed_again(history: AttemptHistory, attempt: int, written: float | None) -> bool:
    """Whether what an attempt wrote last at that time, whatever its valid time, is computed again
    or was given up: by a later attempt that resumed from a checkpoint written before. One that has
    ended well ended with its checkpoint."""
    owners = [segment.attempt for segment in history.lineage.segments]
    if attempt not in owners:
        return attempt != history.attempt
    follower = next(iter(owners[owners.index(attempt) + 1 :]), None)
    job = history.jobs.get(f"attempt-{attempt}")
    if follower is None or (job is not None and job.outcome == "done"):
        return False
    checkpoint = history.resumed_from.get(follower)
    return written is None or checkpoint is None or written >= checkpoint


def resumed(history: AttemptHistory, event: ev.RunResumed, *, ended: bool) -> bool:
    """Note what a person wants to change from now on, of a run that had ``ended`` or whose driver
    had died; whether it is to resume from a checkpoint."""
    history.settings.update(event.settings or {})
    history.walltime_s = event.walltime_s or history.walltime_s
    history.ended_before = ended
    history.submitted = 0 if ended else history.submitted
    if event.checkpoint is not None:
        history.wanted = event
    return event.checkpoint is not None


def run_ended(history: AttemptHistory) -> None:
    """The run has ended: forget what a person wants to resume from where that is gone."""
    wanted = history.wanted
    if wanted and not history.checkpoints.find(wanted.written_by or 0, wanted.checkpoint or ""):
        history.wanted = None


def _job(history: AttemptHistory, event: ev.JobEvent) -> None:
    known = history.jobs.setdefault(event.job, JobRecord(event.job))
    if event.job_id:
        known.job_id = event.job_id


def _job_ended(history: AttemptHistory, event: ev.JobEvent) -> None:
    history.jobs.setdefault(event.job, JobRecord(event.job)).outcome = str(event.outcome)


def submitting(history: AttemptHistory, event: ev.SimulationSubmitting) -> None:
    """An attempt begins."""
    changes = event.settings or (history.wanted and history.wanted.settings)
    history.submitting, history.wanted, history.fresh_buffer = event, None, False
    history.settings.update(event.settings or {})
    if event.attempt not in history.lineage.begins:
        history.lineage.begin(event.attempt, event.checkpoint or AFRESH)
        history.submitted += 1
        if event.checkpoint is not None:  # a program of the user's may resume by itself
            history.states.begin_after(event.checkpoint)
            before = history.jobs.get(f"attempt-{event.attempt - 1}")
            if changes or before is None or before.outcome not in REPEATABLE:
                narrow(history, lambda frame: history.is_stale(*frame), event.t)
            record = history.checkpoints.find(event.written_by or 0, event.checkpoint)
            if record is not None and record.written is not None:
                history.resumed_from[event.attempt] = record.written
    _submitted(history, event)


def _submitted(
    history: AttemptHistory, event: ev.SimulationSubmitting | ev.SimulationSubmitted
) -> None:
    ahead, known = history.ahead, {job.job_id for job in history.jobs.values()}
    if ahead is not None and event.attempt >= ahead.attempt and event.job_id not in {None, *known}:
        # It has the attempt, or is gone: only a requeued job has one while another job waits.
        history.ahead = None
    _job(history, event)
    history.attempt = max(history.attempt, event.attempt)


def _ended(history: AttemptHistory, event: ev.SimulationEnded) -> None:
    _job_ended(history, event)
    record = history.jobs[event.job]
    record.core_hours, record.lost_core_hours = event.core_hours, event.lost_core_hours
    history.attempt = max(history.attempt, event.attempt)
    if event.outcome == REQUEUED:
        history.submitted -= 1


def _ahead_submitted(history: AttemptHistory, event: ev.AheadSubmitted) -> None:
    history.ahead = event


def _ahead_ended(history: AttemptHistory, event: ev.AheadEnded) -> None:
    history.ahead = None
    history.ended_ahead[event.job] = event.lost_core_hours or 0.0


FOLDS: dict[type[ev.Event], Callable[[Any, Any], None]] = {
    ev.StepSubmitting: _job,
    ev.StepStarted: _job,
    ev.StepEnded: _job_ended,
    ev.SimulationSubmitted: _submitted,
    ev.SimulationEnded: _ended,
    ev.AheadSubmitted: _ahead_submitted,
    ev.AheadEnded: _ahead_ended,
    ev.CheckpointWhole: lambda history, event: history.checkpoints.note_whole(event),
    ev.CheckpointJudged: lambda history, event: history.checkpoints.note_judged(event),
    ev.CheckpointSuspect: lambda history, event: history.checkpoints.note_suspect(event),
    ev.CheckpointHome: lambda history, event: history.checkpoints.note_home(event),
    ev.CheckpointRemoved: lambda history, event: history.checkpoints.note_removed(event),
}
