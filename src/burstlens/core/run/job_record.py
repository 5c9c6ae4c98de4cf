"""What a run's history keeps of supervised jobs, and of those that are trials of a tuning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from burstlens.core.run.occasional_events import (
    TrialEnded,
    TrialSubmitted,
    TrialSubmitting,
    TuningEnded,
)


@dataclass(slots=True)
class JobRecord:
    """A supervised job, by the journal."""

    name: str
    job_id: str | None = None
    outcome: str | None = None


@dataclass(slots=True)
class TrialRecord:
    """A trial, by the journal: what was submitted, and how it ended if it has."""

    submitting: TrialSubmitting
    ended: TrialEnded | None = None


class HasTrials(Protocol):
    """What a run's history keeps of them: the trials, and their jobs beside all others."""

    jobs: dict[str, JobRecord]
    trials: dict[str, TrialRecord]
    concluded: bool


def note(history: HasTrials, event: TrialSubmitting | TrialSubmitted | TrialEnded) -> None:
    """Take an event of a trial."""
    job = history.jobs.setdefault(event.job, JobRecord(event.job))
    if isinstance(event, TrialSubmitting):
        history.trials.setdefault(event.job, TrialRecord(event))
    elif isinstance(event, TrialSubmitted):
        job.job_id = event.job_id
    else:
        job.outcome = event.outcome
        if event.job in history.trials:
            history.trials[event.job].ended = event


def conclude(history: HasTrials, event: TuningEnded) -> None:
    """Take the verdict."""
    history.concluded = True
