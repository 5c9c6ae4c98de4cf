"""The events of the journal about a folder in which others started a model."""

from __future__ import annotations

from burstlens.core.decode import Count
from burstlens.core.run.event import Event, Fingerprint, Inode


class RunAttached(Event, frozen=True, tag="run.attached"):
    """The run looks at a folder that others write: its real path, the model that it was taken for
    and why, the folder's device and inode."""

    path: str
    model: str
    reason: str
    device: Inode | None = None
    inode: Inode | None = None


class AttemptObserved(Event, frozen=True, tag="attempt.observed"):
    """An attempt of a model that others started was recognised."""

    attempt: Count
    evidence: str


class ModelObserved(Event, frozen=True, tag="model.observed"):
    """The state of a model that others started has changed: unknown, waiting, running, quiet,
    ending, ended, failed."""

    attempt: Count
    state: str
    evidence: str


class FrameFingerprint(Event, frozen=True, tag="frame.fingerprint"):
    """The file of a known frame has another date, and the frame is the same: the file was closed,
    touched or copied. ``file`` and ``record`` are where the frame lies now."""

    attempt: Count
    stream: str
    time: str
    file: str
    record: Count
    fingerprint: Fingerprint


class PathLost(Event, frozen=True, tag="path.lost"):
    """The folder that the run looks at cannot be read any more; ``for_good``: it went with the disk
    of a job's node."""

    evidence: str
    for_good: bool = False


class PathBack(Event, frozen=True, tag="path.back"):
    """The folder can be read again; ``same``: whether it is the one from before, if known."""

    evidence: str
    same: bool | None = None
