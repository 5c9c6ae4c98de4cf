"""What the events of a run's attempts add up to: jobs, checkpoints, who owns a valid time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from burstlens.core.run import events as ev
from burstlens.core.run.checkpoint_record import Checkpoints
from burstlens.core.run.job_record import JobRecord
from burstlens.core.run.lineage import AFRESH, Lineage
from burstlens.core.run.product_record import ProductHistory


@dataclass(slots=True)
class AttemptHistory(ProductHistory):
    """The part of a run's history that is about the attempts of its model."""

    jobs: dict[str, JobRecord] = field(default_factory=dict)
    lineage: Lineage = field(default_factory=Lineage)
    """From where the attempts that Burstlens has started went on."""
    submitting: ev.SimulationSubmitting | None = None
    """What the latest of them was to do."""
    wanted: ev.RunResumed | None = None
    """What a person wants to go on from, until an attempt does."""
    settings: dict[str, str] = field(default_factory=dict)
    """The settings of the model that a person has changed since the run began."""
    walltime_s: float | None = None
    """The walltime of the model's jobs, where a person has changed it since."""
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    submitted: int = 0
    """How many attempts have begun since the run began, or was resumed after an end."""
    ended_before: bool = False
    """Whether the run had an end when this driver resumed it."""
    fresh_buffer: bool = False
    """Whether the buffer holds nothing of any attempt yet."""
    first_on_buffer: int = 1
    """The first attempt whose files can be on the present buffer."""

    def owns(self, stream: str, time: str, attempt: int) -> bool:
        """Whether that attempt owns that frame."""
        if attempt not in self.lineage.begins:
            return attempt == self.attempt
        return self.lineage.frame_owner(stream, time, self.frames) == attempt

    def is_stale(self, stream: str, time: str, attempt: int) -> bool:
        """Whether another attempt owns that frame by now, and with it what is made of it."""
        return self.lineage.is_stale(stream, time, attempt, self.frames)


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


def _job(history: AttemptHistory, event: ev.JobEvent) -> None:
    known = history.jobs.setdefault(event.job, JobRecord(event.job))
    if event.job_id:
        known.job_id = event.job_id


def _job_ended(history: AttemptHistory, event: ev.JobEvent) -> None:
    history.jobs.setdefault(event.job, JobRecord(event.job)).outcome = str(event.outcome)


def submitting(history: AttemptHistory, event: ev.SimulationSubmitting) -> None:
    """An attempt begins."""
    history.submitting, history.wanted, history.fresh_buffer = event, None, False
    history.settings.update(event.settings or {})
    if event.attempt not in history.lineage.begins:
        history.lineage.begin(event.attempt, event.checkpoint or AFRESH)
        history.submitted += 1
        if event.checkpoint is not None:  # a program of the user's may resume by itself
            history.states.begin_after(event.checkpoint)
    _submitted(history, event)


def _submitted(
    history: AttemptHistory, event: ev.SimulationSubmitting | ev.SimulationSubmitted
) -> None:
    _job(history, event)
    history.attempt = max(history.attempt, event.attempt)


def _ended(history: AttemptHistory, event: ev.SimulationEnded) -> None:
    _job_ended(history, event)
    history.attempt = max(history.attempt, event.attempt)


FOLDS: dict[type[ev.Event], Callable[[Any, Any], None]] = {
    ev.StepSubmitting: _job,
    ev.StepStarted: _job,
    ev.StepEnded: _job_ended,
    ev.SimulationSubmitted: _submitted,
    ev.SimulationEnded: _ended,
    ev.CheckpointWhole: lambda history, event: history.checkpoints.note_whole(event),
    ev.CheckpointSuspect: lambda history, event: history.checkpoints.note_suspect(event),
    ev.CheckpointHome: lambda history, event: history.checkpoints.note_home(event),
    ev.CheckpointRemoved: lambda history, event: history.checkpoints.note_removed(event),
}
