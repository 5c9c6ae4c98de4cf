"""The events of a run's journal: frozen types, one for each name in docs/journal.md.

A field that may be absent or null has the default None. The journal sets ``t`` and ``driver`` when
it writes the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union, get_args

from msgspec import Struct, field

from burstlens.core.decode import Clock, Count, Limits, convert
from burstlens.core.run.event import Event as Event
from burstlens.core.run.event import Fingerprint as Fingerprint
from burstlens.core.run.event import FrameKey as FrameKey
from burstlens.core.run.event import Key as Key
from burstlens.core.run.occasional_events import AheadEnded as AheadEnded
from burstlens.core.run.occasional_events import AheadSubmitted as AheadSubmitted
from burstlens.core.run.occasional_events import AttemptObserved as AttemptObserved
from burstlens.core.run.occasional_events import BufferAdopted as BufferAdopted
from burstlens.core.run.occasional_events import BufferCreated as BufferCreated
from burstlens.core.run.occasional_events import BufferObserved as BufferObserved
from burstlens.core.run.occasional_events import BufferReleased as BufferReleased
from burstlens.core.run.occasional_events import BufferRequested as BufferRequested
from burstlens.core.run.occasional_events import CheckpointHome as CheckpointHome
from burstlens.core.run.occasional_events import CheckpointJudged as CheckpointJudged
from burstlens.core.run.occasional_events import CheckpointRemoved as CheckpointRemoved
from burstlens.core.run.occasional_events import CheckpointSuspect as CheckpointSuspect
from burstlens.core.run.occasional_events import CheckpointWhole as CheckpointWhole
from burstlens.core.run.occasional_events import FrameFingerprint as FrameFingerprint
from burstlens.core.run.occasional_events import GuardsCounted as GuardsCounted
from burstlens.core.run.occasional_events import ModelObserved as ModelObserved
from burstlens.core.run.occasional_events import NoticeDue as NoticeDue
from burstlens.core.run.occasional_events import NoticeFailed as NoticeFailed
from burstlens.core.run.occasional_events import NoticeSent as NoticeSent
from burstlens.core.run.occasional_events import OutputReported as OutputReported
from burstlens.core.run.occasional_events import OutputTimed as OutputTimed
from burstlens.core.run.occasional_events import PathBack as PathBack
from burstlens.core.run.occasional_events import PathLost as PathLost
from burstlens.core.run.occasional_events import ProductAdded as ProductAdded
from burstlens.core.run.occasional_events import ProductRefused as ProductRefused
from burstlens.core.run.occasional_events import RunAttached as RunAttached
from burstlens.core.run.occasional_events import TrialEnded as TrialEnded
from burstlens.core.run.occasional_events import TrialSubmitted as TrialSubmitted
from burstlens.core.run.occasional_events import TrialSubmitting as TrialSubmitting
from burstlens.core.run.occasional_events import TuningEnded as TuningEnded


class _DriverBegan(Event, frozen=True, omit_defaults=True):
    host: str = ""
    format: Count | None = None
    burstlens: str | None = None


class RunStarted(_DriverBegan, frozen=True, tag="run.started"):
    """The first driver began."""


class RunResumed(_DriverBegan, frozen=True, tag="run.resumed"):
    """A later driver began; for ``idle_s`` seconds before no model ran. A person wants it to resume
    from the ``checkpoint`` of that time, which the attempt ``written_by`` wrote, with changed
    ``settings`` of the model and another walltime of its jobs."""

    idle_s: float | None = None
    checkpoint: str | None = None
    written_by: Count | None = None
    settings: dict[str, str] | None = None
    walltime_s: float | None = None


class JournalContinued(Event, frozen=True, tag="journal.continued", omit_defaults=True):
    """The first line of a volume of the journal after the first: its number."""

    volume: Count
    format: Count | None = None
    burstlens: str | None = None


class RunEnded(Event, frozen=True, tag="run.ended"):
    """The run ended: outcome (done, failed, stopped), the log line that matters, what is left, what
    a person may do where to resume it as it was would end the same way."""

    outcome: str | None = None
    exit_code: Count | None = None
    message: str | None = None
    line: str | None = None
    saved_node_hours: float | None = None
    left: str | None = None
    advice: str | None = None


class StageInDone(Event, frozen=True, tag="stagein.done"):
    """The inputs are on the buffer; ``left`` files of earlier runs were left behind."""

    files: Count | None = None
    bytes: Count | None = None
    left: Count | None = None


class StageOutDone(Event, frozen=True, tag="stageout.done"):
    """The files of ``[stage_out]`` came home: name and bytes; ``missing`` in sentences. ``others``
    lie on the run's buffer and are not the run's."""

    outcome: str | None = None
    exit_code: Count | None = None
    files: list[tuple[str, Count]] | None = None
    missing: list[str] | None = None
    others: list[str] | None = None


class JobEvent(Event, frozen=True, omit_defaults=True):
    """What happened to a supervised job."""

    job: str
    attempt: Count | None = None
    job_id: str | None = None
    outcome: str | None = None
    message: str | None = None


class StepSubmitting(JobEvent, frozen=True, tag="step.submitting"):
    """A step is about to be submitted."""

    step: str | None = None


class StepStarted(JobEvent, frozen=True, tag="step.started"):
    """A step was submitted."""


class StepEnded(JobEvent, frozen=True, tag="step.ended"):
    """A step ended."""


class _Simulation(JobEvent, frozen=True):
    attempt: Count


class SimulationSubmitting(_Simulation, frozen=True, tag="simulation.submitting"):
    """An attempt is about to be submitted. It resumes from the checkpoint of that time that an
    earlier attempt has written, stops after so many seconds of the run, and changes these settings
    of the model from then on."""

    checkpoint: str | None = None
    written_by: Count | None = None
    until_s: float | None = None
    settings: dict[str, str] | None = None


class SimulationSubmitted(_Simulation, frozen=True, tag="simulation.submitted"):
    """An attempt was submitted."""


class SimulationEnded(_Simulation, frozen=True, tag="simulation.ended"):
    """An attempt ended. Its job has cost these ``core_hours``, of these ``lost_core_hours`` while
    it waited for the attempt, for ``idle_s``."""

    core_hours: float | None = None
    idle_s: float | None = None
    lost_core_hours: float | None = None


class ViewingQueued(Event, frozen=True, tag="viewing.queued"):
    """A viewing block was asked for."""

    label: str = ""


class ViewingStarted(Event, frozen=True, tag="viewing.started"):
    """The viewing block's first worker has answered."""

    label: str = ""


class ViewingEnded(Event, frozen=True, tag="viewing.ended"):
    """The viewing block ended or was replaced."""

    reason: str = ""


class FrameReady(Event, frozen=True, tag="frame.ready", omit_defaults=True):
    """A frame is whole; ``file`` is its first file, in the model's folder, ``fingerprint`` that
    file's in a run that others started. ``repeated``: it takes the place of an earlier record with
    the same time. ``calendar``: that of its time, as CF names it, where it is not Gregorian."""

    attempt: Count
    stream: str
    time: str
    record: Count | None = None
    bytes: Count | None = None
    written: Clock | None = None
    detected: Clock | None = None
    signal: str | None = None
    file: str | None = None
    fingerprint: Fingerprint | None = None
    repeated: bool = False
    calendar: str = ""


class FrameDamaged(Event, frozen=True, tag="frame.damaged"):
    """A frame will never be whole; ``time`` is None where neither name nor log shows it. Its file
    was ``written`` last then."""

    attempt: Count
    stream: str
    time: str | None = None
    record: Count | None = None
    reason: str | None = None
    paths: list[str] | None = None
    fingerprint: Fingerprint | None = None
    written: Clock | None = None


class _OfFrame(Event, frozen=True):
    stream: str
    time: str
    attempt: Count

    @property
    def frame(self) -> FrameKey:
        """Stream, valid time, attempt."""
        return self.stream, self.time, self.attempt


class StreamUndecoded(Event, frozen=True, tag="stream.undecoded"):
    """The times of a stream's files cannot be decoded; the first such file, and why."""

    stream: str
    attempt: Count
    file: str
    reason: str


class FrameReleased(_OfFrame, frozen=True, tag="frame.released"):
    """A raw frame may be deleted."""


class ReadingSummary(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a guard read of a frame, or why it could not."""

    least: float | None = None
    most: float | None = None
    mean: float | None = None
    points: Count | None = None
    bad: Count | None = None
    error: str | None = None


class FrameInspected(_OfFrame, frozen=True, tag="frame.inspected", omit_defaults=True):
    """Every guard of the stream has read the frame. ``calendar`` as of :class:`FrameReady`."""

    readings: dict[str, ReadingSummary]
    calendar: str = ""


class ReleaseDone(Event, frozen=True, tag="release.done"):
    """What the deletion of raw frames did; ``links`` stay, they hold no room."""

    files: Count = 0
    home: Count = 0
    bytes: Count = 0
    links: list[str] = field(default_factory=list)


class GuardTripped(_OfFrame, frozen=True, tag="guard.tripped"):
    """A guard tripped, at the Unix second ``found``.

    ``after_end``: the model had ended by then. ``earlier``: the guard had tripped on a later frame
    of the same episode, which was reported.
    """

    guard: str
    then: str
    text: str
    what: str
    found: Clock | None = None
    variable: str | None = None
    value: float | None = None
    limit: float | None = None
    units: str | None = None
    place: dict[str, Any] | None = None
    after_end: bool = False
    earlier: bool = False

    @property
    def moment(self) -> tuple[bool, str]:
        """For comparing by model time; what has none comes last."""
        return not self.time, self.time


class ProductLimits(Event, frozen=True, tag="product.limits", omit_defaults=True):
    """The colour limits of a product's pictures from now on, and the picture that needed them."""

    product: str
    limits: Limits
    stream: str | None = None
    time: str | None = None
    attempt: Count | None = None


class _Product(Event, frozen=True):
    product: str
    stream: str
    time: str
    attempt: Count

    @property
    def key(self) -> Key:
        """Product, stream, valid time."""
        return self.product, self.stream, self.time


class StagedFile(Struct, frozen=True, gc=False):
    """A file in ``products/.incoming`` and its final name, both relative to ``products/``."""

    incoming: str
    name: str
    bytes: Count
    crc32: Count


class _Receipt(_Product, frozen=True, omit_defaults=True):
    uuid: str
    incoming: str
    name: str
    bytes: Count
    crc32: Count
    clock: dict[str, float | None] | None = None
    facts: dict[str, Any] | None = None
    state: StagedFile | None = None
    limits: Limits | None = None
    values: tuple[StagedFile, ...] | None = None
    pieces: tuple[StagedFile, ...] | None = None


class ProductPublishing(_Receipt, frozen=True, tag="product.publishing"):
    """A product is about to get its final name."""


class ProductPublished(_Receipt, frozen=True, tag="product.published"):
    """A product has its final name."""


class ProductKept(_Receipt, frozen=True, tag="product.kept"):
    """A product that this attempt has computed again is equal, byte by byte, to the one that an
    earlier attempt has published: that file stays, and is this attempt's from now on."""


class ProductSuperseded(_Product, frozen=True, tag="product.superseded"):
    """A product is replaced; ``attempt`` is that of the one replaced."""


class ProductFailed(_Product, frozen=True, tag="product.failed"):
    """A product cannot be made of a frame."""

    reason: str | None = None


class ControlReceived(Event, frozen=True, tag="control.received", omit_defaults=True):
    """A request of a person, of a guard, or for want of space."""

    control: str
    by: str | None = None
    guard: str | None = None
    user: str | None = None


class Alarm(Event, frozen=True, tag="alarm"):
    """What a person should see."""

    text: str = ""


AnyEvent = Union[  # noqa: UP007  (its members are listed below)
    RunStarted, RunResumed, RunEnded, JournalContinued, RunAttached, AttemptObserved,
    ModelObserved, FrameFingerprint, PathLost, PathBack, BufferRequested, BufferObserved,
    BufferCreated, BufferAdopted, BufferReleased, CheckpointWhole, CheckpointJudged,
    CheckpointSuspect, CheckpointHome, CheckpointRemoved, StageInDone, StageOutDone,
    StepSubmitting,
    StepStarted, StepEnded,
    SimulationSubmitting, SimulationSubmitted, SimulationEnded, AheadSubmitted, AheadEnded,
    ViewingQueued, ViewingStarted,
    ViewingEnded, FrameReady, FrameDamaged, StreamUndecoded, FrameReleased, FrameInspected,
    ReleaseDone, GuardTripped, GuardsCounted, ProductLimits,
    ProductPublishing, ProductPublished, ProductKept, ProductSuperseded, ProductFailed,
    ProductAdded, ProductRefused, ControlReceived, Alarm, NoticeDue, NoticeSent, NoticeFailed,
    OutputTimed, OutputReported, TrialSubmitting, TrialSubmitted, TrialEnded, TuningEnded,
]  # fmt: skip
EVENTS: dict[str, type[Event]] = {kind.__struct_config__.tag: kind for kind in get_args(AnyEvent)}
"""The types by the names of their events."""


def event_of(value: Mapping[str, Any]) -> Event:
    """The event of a line's JSON values. Raises KeyError for an unknown name, ValueError for values
    that do not fit."""
    return convert(value, EVENTS[value["event"]])
