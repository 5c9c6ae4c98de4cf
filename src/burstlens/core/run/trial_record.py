"""What a run's history keeps of a trial of a tuning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from burstlens.core.run.job_record import JobRecord
from burstlens.core.run.trial_events import TrialEnded, TrialSubmitted, TrialSubmitting, TuningEnded


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
