"""What a run's history keeps of a supervised job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class JobRecord:
    """A supervised job, by the journal."""

    name: str
    job_id: str | None = None
    outcome: str | None = None
