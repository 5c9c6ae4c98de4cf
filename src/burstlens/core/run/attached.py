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


def _attached(history: Attached, event: ev.RunAttached) -> None:
    history.attached = event


def _attempt_began(history: Attached, event: ev.AttemptObserved) -> None:
    if event.attempt >= history.attempt:
        history.attempt, history.began = event.attempt, event.evidence


def _model_observed(history: Attached, event: ev.ModelObserved) -> None:
    history.observed = event


def _path_lost(history: Attached, event: ev.PathLost) -> None:
    history.path_lost, history.path_gone = event.evidence, event.for_good


def _path_back(history: Attached, event: ev.PathBack) -> None:
    history.path_lost, history.path_gone = None, False


def keep_fingerprint(
    history: Attached, event: ev.FrameReady | ev.FrameDamaged | ev.FrameFingerprint, file: str
) -> None:
    """Keep the fingerprint of a frame's file, of its latest attempt."""
    if event.time is None or event.fingerprint is None:
        return
    key = event.stream, event.time
    if key not in history.fingerprints or event.attempt >= history.fingerprints[key][0]:
        record = event.record or 0
        history.fingerprints[key] = event.attempt, file, record, event.fingerprint


def _refresh_fingerprint(history: Attached, event: ev.FrameFingerprint) -> None:
    key = event.stream, event.time
    if key in history.fingerprints:  # a frame that is known
        keep_fingerprint(history, event, event.file)


FOLDS: dict[type[ev.Event], Callable[[Any, Any], None]] = {
    ev.RunAttached: _attached,
    ev.AttemptObserved: _attempt_began,
    ev.ModelObserved: _model_observed,
    ev.FrameFingerprint: _refresh_fingerprint,
    ev.PathLost: _path_lost,
    ev.PathBack: _path_back,
}
"""What changes it, by the type of the event."""
