"""What a run's history keeps of a trial of a tuning."""

from __future__ import annotations

from dataclasses import dataclass

from burstlens.core.run.trial_events import TrialEnded, TrialSubmitting


@dataclass(slots=True)
class TrialRecord:
    """A trial, by the journal: what was submitted, and how it ended if it has."""

    submitting: TrialSubmitting
    ended: TrialEnded | None = None
