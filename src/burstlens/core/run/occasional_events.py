"""Events of the journal about what only some runs have: a folder in which others started a model,
space on the buffer, checkpoints, added products, word to people and programs, timed output, the
trials of a tuning.
"""

from __future__ import annotations

from typing import Any

from msgspec import field

from burstlens.core.decode import Clock, Count
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


class BufferRequested(Event, frozen=True, tag="buffer.requested"):
    """Space is about to be asked for; ``name`` is that of a persistent buffer."""

    kind: str = ""
    name: str | None = None


class _Buffer(Event, frozen=True):
    kind: str
    path: str
    folder: str
    name: str | None = None
    owned: bool | None = None
    by: str | None = None
    created: str | None = None


class BufferObserved(Event, frozen=True, tag="buffer.observed"):
    """How a named persistent buffer came to be, and so whether it is the run's to destroy, before
    ``buffer.created``; times are the scheduler's."""

    name: str
    created: str = ""
    owned: bool = False
    why: str = ""
    job: str | None = None
    submitted: str | None = None
    absent: bool | None = None
    others: list[str] = field(default_factory=list)


class BufferCreated(_Buffer, frozen=True, tag="buffer.created"):
    """The buffer is there."""


class BufferAdopted(_Buffer, frozen=True, tag="buffer.adopted"):
    """The buffer of an earlier driver or of the user is used."""


class BufferReleased(Event, frozen=True, tag="buffer.released", omit_defaults=True):
    """The run's space on the buffer was given back."""

    host: str | None = None


class _Checkpoint(Event, frozen=True):
    attempt: Count
    time: str


class CheckpointWhole(_Checkpoint, frozen=True, tag="checkpoint.whole", omit_defaults=True):
    """All files of a checkpoint are whole, by that ``signal``: an attempt may resume from it.
    ``files`` are their names in the model's folder, ``sizes`` the bytes of each, ``bytes`` those of
    all."""

    files: list[str]
    bytes: Count
    written: Clock | None = None
    detected: Clock | None = None
    signal: str | None = None
    took_s: float | None = None
    sizes: list[Count] | None = None


class CheckpointJudged(_Checkpoint, frozen=True, tag="checkpoint.judged"):
    """The checkpoint's own fields were read, as no guard reads those of the frames: all values are
    finite."""


class CheckpointSuspect(_Checkpoint, frozen=True, tag="checkpoint.suspect"):
    """A guard has tripped on a frame up to the checkpoint's time, or its own fields are bad: no
    attempt resumes from it unless a person insists."""

    reason: str


class CheckpointHome(_Checkpoint, frozen=True, tag="checkpoint.home", omit_defaults=True):
    """All files of a checkpoint are in the run directory, verified: of each its name, bytes and
    CRC-32; ``bytes`` of all. ``ahead``: the job's host brought it without a driver, so that frames
    up to its time may lack their products."""

    files: list[tuple[str, Count, Count]]
    bytes: Count
    seconds: float | None = None
    ahead: bool = False


class CheckpointRemoved(_Checkpoint, frozen=True, tag="checkpoint.removed", omit_defaults=True):
    """The files of a checkpoint are deleted from the buffer, or from the run directory (``home``),
    as newer good ones are there."""

    home: bool = False


class GuardsCounted(Event, frozen=True, tag="guards.counted"):
    """By log guard, how many lines matched from the run's begin up to that checkpoint of an
    attempt, as far as the log was read."""

    attempt: Count
    time: str
    lines: dict[str, Count]


class _Notice(Event, frozen=True):
    key: str


class NoticeDue(_Notice, frozen=True, tag="notice.due", omit_defaults=True):
    """Word is to be sent, in these ways (their labels); ``time`` is the valid time of a word at a
    model time. Each way has its own notice.sent or notice.failed."""

    kinds: list[str]
    text: str
    ways: list[str]
    subject: str = ""
    time: str | None = None
    more: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


class NoticeSent(_Notice, frozen=True, tag="notice.sent"):
    """The word was sent in that way."""

    way: str


class NoticeFailed(_Notice, frozen=True, tag="notice.failed"):
    """The word could not be sent in that way, and is not sent in it again."""

    way: str
    reason: str | None = None


class OutputTimed(Event, frozen=True, tag="output.timed", omit_defaults=True):
    """The model's log says how long an output took; without a stream it holds no frame, as a
    restart file. ``late``: the line was not read as it came."""

    attempt: Count
    took_s: float
    stream: str | None = None
    time: str | None = None
    file: str | None = None
    record: Count | None = None
    late: bool = False


class AheadSubmitted(Event, frozen=True, tag="ahead.submitted"):
    """A job was submitted ahead: it begins when that of the current attempt has ended, and runs the
    ``attempt`` or a later one, once a driver gives it that."""

    job: str
    attempt: Count
    job_id: str


class AheadEnded(Event, frozen=True, tag="ahead.ended", omit_defaults=True):
    """A job that was submitted ahead has run no attempt: it is ``cancelled``, or was ``idle`` for
    so long that it has ended, which cost these core-hours."""

    job: str
    outcome: str
    idle_s: float | None = None
    lost_core_hours: float | None = None


class OutputReported(Event, frozen=True, tag="output.reported", omit_defaults=True):
    """What the MPI library reported of writing a file: aggregators, part of the time in which they
    received data (``data_send``), part of the writes that had the stripe's size, their mean size in
    bytes, net rate in bytes/s."""

    attempt: Count
    file: str
    aggregators: Count | None = None
    data_send: float | None = None
    stripe_sized: float | None = None
    mean_write: float | None = None
    rate: float | None = None


class ProductAdded(Event, frozen=True, tag="product.added"):
    """A product was added to the running run; ``gone`` frames are not on the buffer any more."""

    product: str
    table: dict[str, Any]
    request: str | None = None
    all_frames: bool | None = None
    gone: Count | None = None
    user: str | None = None


class ProductRefused(Event, frozen=True, tag="product.refused"):
    """A request to add products is not valid."""

    request: str | None = None
    reason: str | None = None


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
