"""The content of ``status.json`` as types: what a driver writes about once a second."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from burstlens.core.decode import Clock, Count


class ProgressPart(Struct, frozen=True, omit_defaults=True):
    """How far the model is, as :class:`burstlens.core.model.Progress` has it."""

    time: str | None = None
    elapsed_s: float | None = None
    total_s: float | None = None
    speed: float | None = None
    eta_s: float | None = None
    rate_mpps: float | None = None
    phase: str | None = None
    fraction: float | None = None


class FrameCounts(Struct, frozen=True):
    """Frames that are ready; frames that are lost or damaged."""

    ready: Count
    damaged: Count


class ProductCounts(Struct, frozen=True, omit_defaults=True):
    """A product: how many are published, how many failed, the latest reason; how often an attempt
    has computed one again to the same bytes, which was ``kept``."""

    published: Count
    failed: Count
    kind: str | None = None
    reason: str | None = None
    kept: Count = 0


class Latency(Struct, frozen=True):
    """Seconds from a frame's last byte to its product's publication."""

    last: float
    p50: float
    p95: float


class Ledger(Struct, frozen=True):
    """Bytes of raw frames against bytes of products."""

    raw_bytes: Count
    product_bytes: Count


class BufferPart(Struct, frozen=True):
    """The run's space on the buffer; ``fill`` is the part that raw frames hold."""

    path: str
    released: bool
    fill: float
    raw_bytes: Count
    capacity_bytes: Count
    name: str | None = None
    free_bytes: Count | None = None
    owned: bool | None = None
    """Whether the run may destroy the buffer of that name; a folder is always the run's."""
    created: str | None = None
    """When a persistent buffer was made, as the scheduler says it."""


class RawPart(Struct, frozen=True):
    """The raw files of a run that is over: how many came home with how many bytes, and of how many
    frames they were deleted before its end."""

    home: Count
    home_bytes: Count
    released: Count


class QueuePart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the job stands that the run waits for: the ``position``-th of ``of`` jobs that wait in
    the scheduler's ``partition``, and when it may begin by the estimate of ``by``, the scheduler.
    What that does not say is left out.
    """

    by: str
    partition: str = ""
    position: Count | None = None
    of: Count | None = None
    start: Clock | None = None


class SchedulerPart(Struct, frozen=True):
    """A scheduler that does not answer, by its title, and for how long it had not when this was
    written: what is said of its jobs is as old."""

    title: str
    silent_s: float


class AttachedPart(Struct, frozen=True, kw_only=True):
    """The folder that an attached run looks at: its real path, the model that it was taken for and
    why; products that its files cannot give.

    ``state`` of that model (unknown, waiting, running, quiet, ending, ended, failed), with its
    evidence, since when, and the seconds since its scheduler was asked for that (``age_s``).
    ``began`` says why the current attempt began, ``lost`` why the folder cannot be read now,
    ``gone`` that it never will be. ``unproven`` counts frames that no witness has confirmed.
    ``job`` or ``pid`` is that of the model, which may be stopped where ``allow_stop`` is set.
    """

    path: str
    model: str = ""
    reason: str = ""
    state: str | None = None
    evidence: str | None = None
    since: Clock | None = None
    age_s: float | None = None
    allow_stop: bool = False
    left_out: list[str] = []
    began: str | None = None
    lost: str | None = None
    gone: bool = False
    unproven: Count = 0
    job: str | None = None
    pid: Count | None = None


class Message(Struct, frozen=True, omit_defaults=True):
    """What a person should see, at ``t``; a frame or a product where it belongs to one."""

    text: str
    t: Clock | None = None
    stream: str | None = None
    time: str | None = None
    product: str | None = None


class GuardPart(Struct, frozen=True, omit_defaults=True):
    """The state of a guard: ``waiting``, ``good``, ``tripped`` or ``failed``, and why."""

    name: str | None = None
    text: str | None = None
    then: str | None = None
    state: str | None = None
    why: str | None = None
    repeats: Count | None = None


class TripPart(Struct, frozen=True):
    """A guard that tripped, at ``t``: what ``guard.tripped`` of the journal says of it."""

    t: Clock | UnsetType = UNSET
    guard: str | UnsetType = UNSET
    then: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    what: str | UnsetType = UNSET
    variable: str | UnsetType | None = UNSET
    value: float | UnsetType | None = UNSET
    limit: float | UnsetType | None = UNSET
    units: str | UnsetType | None = UNSET
    stream: str | UnsetType = UNSET
    time: str | UnsetType = UNSET
    attempt: Count | UnsetType = UNSET
    place: dict[str, Any] | UnsetType | None = UNSET
    after_end: bool | UnsetType = UNSET
    earlier: bool | UnsetType = UNSET


class OutputNow(Struct, frozen=True, omit_defaults=True):
    """One output of a stream: its valid time (or file), seconds, bytes/s, and what the MPI library
    reported: aggregators, the part of the time in which they received data."""

    took_s: float | None = None
    time: str | None = None
    rate: float | None = None
    aggregators: Count | None = None
    data_send: float | None = None


class StreamOutputPart(Struct, frozen=True, omit_defaults=True):
    """The output of a stream in the current attempt: how many, their seconds in all, bytes/s over
    them, and the latest of them, oldest first."""

    count: Count
    took_s: float
    rate: float | None = None
    latest: list[OutputNow] = []


class OutputPart(Struct, frozen=True, omit_defaults=True):
    """How long the model is at its output, by its log: ``part`` of its time between its first
    output and its last, node-hours so far, each stream."""

    streams: dict[str, StreamOutputPart]
    part: float | None = None
    node_hours: float | None = None


class TuningPart(Struct, frozen=True, omit_defaults=True):
    """The trials of a tuning: how many were measured, the phase and the seconds in output of the
    latest of them; whether it has its verdict."""

    trials: Count
    phase: str | None = None
    seconds: float | None = None
    concluded: bool = False


class SegmentPart(Struct, frozen=True, omit_defaults=True):
    """A stretch of model time and the attempt that owns it: after the valid time ``begin``, up to
    ``end``, which the newest one lacks; the id of its job, how that ended, what it has cost, and
    what of that while it waited for the attempt. What other attempts have computed there is
    stale."""

    attempt: Count
    begin: str = ""
    end: str | None = None
    job_id: str | None = None
    outcome: str | None = None
    core_hours: float | None = None
    lost_core_hours: float | None = None


class CheckpointPart(Struct, frozen=True, omit_defaults=True):
    """A whole checkpoint from which the run can continue: its valid ``time``, the attempt that
    wrote it, how many files it has and their size. ``state`` is ``good``; ``unjudged`` while guards
    have not read every frame up to its time; or ``suspect``, and then ``why``. ``home``: its files
    are in the run directory."""

    time: str
    attempt: Count
    state: str
    files: Count
    bytes: Count
    why: str = ""
    home: bool = False


class LastProduct(Struct, frozen=True):
    """The product that was published last."""

    product: str
    stream: str
    time: str
    name: str
    t: Clock


class DriverPart(Struct, frozen=True, omit_defaults=True):
    """The driver: its process, and when it last wrote. ``ticks`` tells processes of one id apart;
    ``loading``: it has not begun. ``uptime`` is the heartbeat by the monotonic clock of its host,
    which nobody sets."""

    host: str | None = None
    pid: Count | None = None
    ticks: Count | None = None
    epoch: Count | None = None
    heartbeat: Clock | None = None
    loading: bool | None = None
    uptime: Clock | None = None


class OutcomePart(Struct, frozen=True):
    """How the run ended."""

    state: str | None = None
    exit_code: Count | None = None
    message: str | None = None
    line: str | None = None
    saved_node_hours: float | None = None
    left: str | None = None
    advice: str | None = None


class StatusFile(Struct, frozen=True, kw_only=True):
    """The content of ``status.json``. What only a driver knows is unset before it has begun."""

    run: str
    title: str
    state: str
    frames: FrameCounts
    products: dict[str, ProductCounts]
    ledger: Ledger
    block: str
    pictures: str
    driver: DriverPart
    backlog: Count = 0
    alarms: list[Message] = []
    events: list[Message | str] = []
    progress: ProgressPart | None = None
    latency_s: Latency | None = None
    buffer: BufferPart | None = None
    attached: AttachedPart | UnsetType | None = UNSET
    outcome: OutcomePart | None = None
    attempt: Count | UnsetType | None = UNSET
    started: Clock | UnsetType | None = UNSET
    took_s: float | UnsetType | None = UNSET
    idle_s: float | UnsetType | None = UNSET
    paused: bool | UnsetType | None = UNSET
    block_waits: str | UnsetType | None = UNSET
    waits_for: str | UnsetType | None = UNSET
    queue: QueuePart | UnsetType | None = UNSET
    scheduler: SchedulerPart | UnsetType | None = UNSET
    last_product: LastProduct | UnsetType | None = UNSET
    output: OutputPart | UnsetType = UNSET
    tuning: TuningPart | UnsetType = UNSET
    trips: list[TripPart] | UnsetType | None = UNSET
    guards: list[GuardPart] | UnsetType | None = UNSET
    log_tail: list[str] | UnsetType | None = UNSET
    logs: list[str] | UnsetType | None = UNSET
    raw: RawPart | UnsetType = UNSET
    segments: list[SegmentPart] | UnsetType = UNSET
    lost_core_hours: float | UnsetType = UNSET
    checkpoints: list[CheckpointPart] | UnsetType = UNSET
    format: Count | None = None
    burstlens: str | None = None


class RequestedBuffer(Struct, frozen=True, omit_defaults=True):
    """A buffer that a dead driver had requested and not seen, and the job that makes it."""

    name: str
    job: str | None = None


class RunStatus(StatusFile, frozen=True, kw_only=True):
    """A snapshot with what its reader adds, as ``burstlens status --json`` prints it.

    ``driver_alive``: whether the driver lives, or can still begin; None while the run directory
    cannot be read. ``silent_s``: for how long a driver that lives has written nothing.
    ``model_ended``, of a run whose driver is dead: whether the newest attempt's supervisor has
    recorded that its model ended. ``hint`` is a note on the driver, for users.
    """

    driver_alive: bool | None = None
    silent_s: float | UnsetType = UNSET
    model_ended: bool | UnsetType = UNSET
    buffer_requested: RequestedBuffer | UnsetType = UNSET
    hint: str | UnsetType = UNSET

    @classmethod
    def of(cls, snapshot: StatusFile, **changes: Any) -> RunStatus:
        """The status of that snapshot, with other values for some of its keys."""
        known = {name: getattr(snapshot, name) for name in snapshot.__struct_fields__}
        return cls(**known | changes)
