"""What the events of a run that others started add up to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from burstlens.core.run import events as ev
from burstlens.core.run.columns import ProductNumbers


@dataclass(slots=True)
class Attached:
    """The part of a run's history that only one with a model of others has."""

    attempt: int = 0
    attached: ev.RunAttached | None = None
    """The folder that the run looks at, where others started the model."""
    observed: ev.ModelObserved | None = None
    """The latest observation of that model."""
    began: str = ""
    """Why the latest attempt of that model was recognised as one."""
    unproven: set[tuple[str, str]] = field(default_factory=set)
    """Stream and valid time of the frames that no witness has confirmed."""
    path_lost: str | None = None
    """Why that folder cannot be read now."""
    path_gone: bool = False
    """Whether it is gone for good."""
    fingerprints: dict[tuple[str, str], tuple[int, str, int, ev.Fingerprint]] = field(
        default_factory=dict
    )
    """Attempt, file, record and fingerprint of each stream's frames by valid time: the latest.
    After a file was closed or touched only its last record has the file's own."""
    sums: ProductNumbers = field(default_factory=ProductNumbers)
    """CRC-32 of each published product, in a run that others started."""


def attached(history: Attached, event: ev.RunAttached) -> None:
    """Keep the folder that the run looks at."""
    history.attached = event


def attempt_began(history: Attached, event: ev.AttemptObserved) -> None:
    """Count an attempt, and keep why it is one."""
    if event.attempt >= history.attempt:
        history.attempt, history.began = event.attempt, event.evidence


def model_observed(history: Attached, event: ev.ModelObserved) -> None:
    """Keep the latest observation."""
    history.observed = event


def path_lost(history: Attached, event: ev.PathLost) -> None:
    """Note that the folder cannot be read, and why."""
    history.path_lost, history.path_gone = event.evidence, event.for_good


def path_back(history: Attached, event: ev.PathBack) -> None:
    """Note that the folder can be read again."""
    history.path_lost, history.path_gone = None, False


def keep_fingerprint(history: Attached, event: ev.FrameReady | ev.FrameDamaged, file: str) -> None:
    """Keep the fingerprint of a frame's file, of its latest attempt."""
    if event.time is None or event.fingerprint is None:
        return
    key = event.stream, event.time
    if key not in history.fingerprints or event.attempt >= history.fingerprints[key][0]:
        record = event.record or 0
        history.fingerprints[key] = event.attempt, file, record, event.fingerprint


def refresh_fingerprint(history: Attached, event: ev.FrameFingerprint) -> None:
    """Keep the new fingerprint of a known frame's file."""
    key = event.stream, event.time
    if key in history.fingerprints and event.attempt >= history.fingerprints[key][0]:
        found = event.attempt, event.file, event.record, event.fingerprint
        history.fingerprints[key] = found


FOLDS: dict[type[ev.Event], Callable[[Any, Any], None]] = {
    ev.RunAttached: attached,
    ev.AttemptObserved: attempt_began,
    ev.ModelObserved: model_observed,
    ev.FrameFingerprint: refresh_fingerprint,
    ev.PathLost: path_lost,
    ev.PathBack: path_back,
}
"""What changes it, by the type of the event."""
