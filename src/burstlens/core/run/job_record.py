"""What a run's history keeps of supervised jobs, and of those that are trials of a tuning."""

from __future__ import annotations

from dataclasses import dataclass

from burstlens.core.run.occasional_events import TrialEnded, TrialSubmitting


@dataclass(slots=True)
class JobRecord:
    """A supervised job, by the journal."""

    name: str
    job_id: str | None = None
    outcome: str | None = None
    core_hours: float | None = None
    """What the job of an attempt has cost."""
    lost_core_hours: float | None = None
    """Of these, while it waited for the attempt."""


@dataclass(slots=True)
class TrialRecord:
    """A trial, by the journal: what was submitted, and how it ended if it has."""

    submitting: TrialSubmitting
    ended: TrialEnded | None = None
