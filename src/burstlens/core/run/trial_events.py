"""The events of a tuning: its trials, each a short run of the model, and its verdict."""

from __future__ import annotations

from typing import Any

from burstlens.core.decode import Clock, Count
from burstlens.core.run.event import Event


class TrialSubmitting(Event, frozen=True, tag="trial.submitting", omit_defaults=True):
    """A trial is about to be submitted: its phase (pilot, search, pair), its values by dotted key,
    and why it was chosen."""

    job: str
    phase: str
    origin: str
    values: dict[str, Any]
    reason: str | None = None


class TrialSubmitted(Event, frozen=True, tag="trial.submitted"):
    """A trial was submitted."""

    job: str
    job_id: str


class TrialEnded(Event, frozen=True, tag="trial.ended", omit_defaults=True):
    """A trial ended: ``done`` with seconds and frames of output by stream, ``failed``, ``lost``
    (it says nothing about its values, and is run again) or ``stopped``. ``wall_s`` is the time of
    the whole program, ``load`` the load average of its node at the end."""

    job: str
    outcome: str
    seconds: dict[str, float] | None = None
    frames: dict[str, Count] | None = None
    wall_s: float | None = None
    load: float | None = None
    message: str | None = None
    ended: Clock | None = None


class TuningEnded(Event, frozen=True, tag="tuning.ended", omit_defaults=True):
    """The verdict: whether the leader's ``values`` gain beyond noise, and why; medians of the pairs
    and their ratio."""

    gain: bool
    reason: str
    values: dict[str, Any] | None = None
    default_s: float | None = None
    leader_s: float | None = None
    factor: float | None = None
    least: float | None = None
    most: float | None = None
