"""The state of a run by its journal: pure replay, the basis of resume."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from burstlens.core import valid_time
from burstlens.core.exit_codes import BUFFER_LEFT, COMPLETE, DONE
from burstlens.core.model import Damage, in_model_folder
from burstlens.core.run import attached, attempts, product_record
from burstlens.core.run import events as ev
from burstlens.core.run.attempts import AttemptHistory
from burstlens.core.run.columns import FrameSet, Times, TimeSet
from burstlens.core.run.events import Event, FrameKey, Key
from burstlens.core.run.follow import uncollected
from burstlens.core.run.job_record import JobRecord, TrialRecord
from burstlens.core.run.output import Output

LEFT = "left"
"""The outcome of a stage out that the job's host made, without a driver."""
UNPROVEN = "unproven"
"""The signal of a frame that was taken to be whole after long quiet, without any witness."""


@dataclass(slots=True)
class History(AttemptHistory):
    """The state that the journal's events add up to."""

    volume: int = 0
    """The journal's volume after which it was kept on disk; 0 for none."""
    indexed: tuple[int, int] = (0, 0)
    """Up to which byte and line the index was on disk then, with all that was published."""
    state: str = "new"
    buffer: dict[str, Any] | None = None
    buffer_requested: bool = False
    """Whether space was requested since it was last released: it may exist in any case."""
    others: list[str] = field(default_factory=list)
    """What was seen on the run's buffer at its end that is not the run's."""
    buffer_name: str = ""
    """The name of the persistent buffer that was requested last."""
    buffer_released: bool = False
    staged_in: bool = False
    brought_home: bool = False
    kept_home: bool = False
    """Whether the files of ``[stage_out]`` came home after the model ended, well or not."""
    home: tuple[int, int] = (0, 0)
    """How many of them came, and their bytes."""
    home_names: dict[str, int] = field(default_factory=dict)
    """The files that came home when a job ended with its buffer, and the attempt that left each."""
    times: Times = field(default_factory=Times)
    """The valid times that the columns share."""
    damaged: FrameSet = field(default_factory=FrameSet)
    undated: dict[tuple[str, str, int, int], float | None] = field(default_factory=dict)
    """Damaged frames of unknown valid time (stream, file, record, attempt), and when each file was
    written last."""
    undecoded: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Streams whose times cannot be decoded: the latest attempt of which it is known, and the file
    and the reason."""
    hollow: dict[int, set[str]] = field(default_factory=dict)
    """Of the files that are ``reached``, those that hold no ready frame, by attempt."""
    reached: dict[int, dict[str, int]] = field(default_factory=dict)
    """How many records of each file are known to be ready or damaged, by attempt."""
    repeated: dict[FrameKey, tuple[str, int]] = field(default_factory=dict)
    """Frames whose time came twice in their attempt: file and record of the one that counts."""
    inspected: FrameSet = field(default_factory=FrameSet)
    """Frames that every guard of their stream has read."""
    tripped: set[tuple[str, str, str, int]] = field(default_factory=set)
    """Guard, stream, valid time and attempt of each trip."""
    stopping: dict[str, ev.GuardTripped] = field(default_factory=dict)
    """The earliest trip of each guard that may stop the model, of the latest attempt with any."""
    paused: bool = False
    """Whether products are not to be made for now."""
    added: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The tables of products that were added to the running run, by name."""
    passed_over: dict[str, FrameSet] = field(default_factory=dict)
    """For each product that was added: the earlier frames that it skips."""
    raw_bytes: int = 0
    started: float | None = None
    outcome: dict[str, Any] | None = None
    """How the run ended, as ``status.json`` has it."""
    last: float = 0.0
    """When the latest event was journalled."""
    epoch: int = 0
    """The driver that wrote the latest event."""
    idle_s: float = 0.0
    """How long neither a driver nor a model ran."""
    trials: dict[str, TrialRecord] = field(default_factory=dict)
    """The trials of a tuning, by the name of their job, in order."""
    concluded: bool = False
    """Whether a tuning has its verdict: no further trial can change it."""
    newest: dict[tuple[str, int], str] = field(default_factory=dict)
    """The latest valid time of the frames of a stream in an attempt."""
    ready: TimeSet = field(default_factory=TimeSet)
    """Stream and valid time of the frames that are ready, of any attempt."""
    output: Output = field(default_factory=Output)
    """How long the model was at its output."""

    def __post_init__(self) -> None:
        for frames in (self.frames, self.damaged, self.released, self.inspected):
            frames.times = self.times
        for passed_over in self.passed_over.values():
            passed_over.times = self.times
        self.ready.times = self.times
        for mapping in (self.published, self.failed, self.drawn, self.sums):
            mapping.times = self.times

    def has_damage(self, damage: Damage) -> bool:
        """Whether that damage is known already."""
        if damage.time is not None:
            return (damage.stream, damage.time, damage.attempt) in self.damaged
        file = in_model_folder(damage.paths[0])
        return (damage.stream, file, damage.record, damage.attempt) in self.undated

    def lost_frames(self) -> list[tuple[str, str]]:
        """Stream and valid time (or file), as text, of each lost or damaged frame, in order. Those
        of the attempts that own these times, and those that no attempt has written whole, or has
        passed over where its times are others."""
        dated = {
            (stream, time)
            for stream, time, attempt in self.damaged
            if self.owns(stream, time, attempt)
            or not ((stream, time) in self.ready or self._is_passed(stream, time, attempt))
        }
        undated = [
            (stream, f"{file} record {record}")
            for (stream, file, record, attempt), written in sorted(
                self.undated.items(), key=lambda one: one[0]
            )
            if not attempts.is_computed_again(self, attempt, written)
        ]
        return [(stream, valid_time.label(time)) for stream, time in sorted(dated)] + undated

    def _is_passed(self, stream: str, time: str, attempt: int) -> bool:
        """Whether another attempt owns that frame, and has later ones of its stream."""
        owner = self.lineage.frame_owner(stream, time, self.frames)
        return owner not in {None, attempt} and time < self.newest.get((stream, owner or 0), "")

    def counts(self) -> dict[str, int]:
        """How many frames are ready (each valid time of a stream counts once, also when a later
        attempt has written it again), and how many are lost or damaged."""
        return {"ready": len(self.ready), "damaged": len(self.lost_frames())}

    def took_s(self, until: float) -> float | None:
        """Seconds until then in which a driver or the model ran; None before the first start."""
        if self.started is None:
            return None
        return round(max(0.0, until - self.started - self.idle_s), 3)

    def holds_frames(self, file: str, attempt: int) -> bool:
        """Whether that file of the attempt holds a ready frame."""
        known = file in self.reached.get(attempt, ())
        return known and file not in self.hollow.get(attempt, ())

    def settled(self, key: Key, attempt: int) -> bool:
        """Whether that product of this attempt (or a later one) is published or finally failed."""
        if key in self.outdated:
            return False
        return self.published.get(key, 0) >= attempt or self.failed.get(key, 0) >= attempt

    def outgrown(self, key: Key) -> bool:
        """Whether that picture is published and its series' colour limits have widened since."""
        limits = self.limits.get(key[0])
        if limits is None or key not in self.published or key in self.holes:
            return False
        return self.drawn.get(key) != limits

    def apply(self, event: Event) -> None:
        """Apply one event to the state."""
        fold = _FOLDS.get(type(event))
        if fold is not None:
            fold(self, event)
        self.last = max(self.last, event.t)
        self.epoch = event.driver


def replay(events: Iterable[Event]) -> History:
    """The history after these events."""
    history = History()
    with uncollected():
        for event in events:
            history.apply(event)
    return history


def _started(history: History, event: ev.RunStarted | ev.RunResumed) -> None:
    history.state, history.outcome = "running", None
    history.noticed.begin()
    if history.started is None:
        history.started = event.t


def _resumed(history: History, event: ev.RunResumed) -> None:
    ended = history.outcome is not None
    if ended:
        product_record.retry(history)
    _started(history, event)
    history.idle_s += max(0.0, event.idle_s or 0.0)
    if attempts.resumed(history, event, ended=ended):
        history.brought_home = history.kept_home = False


def _ended(history: History, event: ev.RunEnded) -> None:
    history.noticed.end()
    attempts.run_ended(history)
    history.state = event.outcome or "failed"
    names = ("exit_code", "message", "line", "saved_node_hours", "left", "advice")
    history.outcome = {"state": history.state} | {name: getattr(event, name) for name in names}


def _buffer_requested(history: History, event: ev.BufferRequested) -> None:
    history.buffer_requested = True
    history.buffer_name = event.name or ""


def _buffer(history: History, event: ev.BufferCreated | ev.BufferAdopted) -> None:
    history.buffer_requested = True
    if isinstance(event, ev.BufferCreated):
        history.fresh_buffer = True
        history.ahead = None  # it has this buffer, or has ended
        history.first_on_buffer = history.attempt + 1
        history.checkpoints.lose_buffer()
    names = ("kind", "path", "folder", "name", "owned", "by", "created")
    fields = {name: getattr(event, name) for name in names}
    history.buffer = {name: value for name, value in fields.items() if value is not None}
    history.buffer_released = False


def _buffer_released(history: History, event: ev.BufferReleased) -> None:
    history.buffer_released = True
    history.buffer_requested = False
    history.staged_in = False
    history.checkpoints.lose_buffer()
    if history.outcome is not None and history.outcome.get("left"):  # by `free`, after the end
        code = history.outcome["exit_code"]
        code = DONE if code == BUFFER_LEFT else code
        history.outcome = {**history.outcome, "exit_code": code, "left": None}


def _staged_in(history: History, event: ev.StageInDone) -> None:
    history.staged_in = True


def _brought_home(history: History, event: ev.StageOutDone) -> None:
    if event.outcome != LEFT:  # the job's host came after a driver that may have brought all
        history.brought_home = event.outcome == "done" or event.exit_code in COMPLETE
        history.others = event.others or []
    history.kept_home = True
    history.home_names |= {name: history.attempt for name, _ in event.files or ()}
    sizes = [size for _, size in event.files or ()]
    history.home = len(sizes), sum(sizes)


def _submitting(history: History, event: ev.SimulationSubmitting) -> None:
    history.kept_home = False
    attempts.submitting(history, event)


def _trial(history: History, event: ev.TrialSubmitting | ev.TrialSubmitted | ev.TrialEnded) -> None:
    job = history.jobs.setdefault(event.job, JobRecord(event.job))
    if isinstance(event, ev.TrialSubmitting):
        history.trials.setdefault(event.job, TrialRecord(event))
    elif isinstance(event, ev.TrialSubmitted):
        job.job_id = event.job_id
    else:
        job.outcome = event.outcome
        if event.job in history.trials:
            history.trials[event.job].ended = event


def _concluded(history: History, event: ev.TuningEnded) -> None:
    history.concluded = True


def _output(history: History, event: ev.FrameReady | ev.OutputTimed | ev.OutputReported) -> None:
    """Take an event; with one of a later attempt all begins anew."""
    if event.attempt > history.output.attempt:
        history.output = Output(event.attempt)
    history.output.note(event)


def _ready(history: History, event: ev.FrameReady) -> None:
    frame = event.stream, event.time, event.attempt
    if event.repeated:
        history.repeated[frame] = event.file or "", event.record or 0
        history.inspected.discard(frame)
        history.released.discard(frame)
        product_record.outdate(history, frame)
    if event.repeated or frame not in history.frames:
        history.frames.add(frame)
        history.ready.add(frame[:2])
        of = event.stream, event.attempt
        history.newest[of] = max(event.time, history.newest.get(of, ""))
        history.noticed.note_frame(*frame[:2])
        history.raw_bytes += event.bytes or 0
        _reach(history, event.attempt, event.file or "", event.record)
        history.hollow.get(event.attempt, set()).discard(event.file or "")
    if event.signal == UNPROVEN:
        history.unproven.add(frame[:2])
    elif history.unproven:
        history.unproven.discard(frame[:2])
    _output(history, event)
    attached.keep_fingerprint(history, event, event.file or "")


def _reach(history: History, attempt: int, file: str, record: int | None) -> None:
    known = history.reached.setdefault(attempt, {})
    known[file] = max(known.get(file, 0), (record or 0) + 1)


def _damaged(history: History, event: ev.FrameDamaged) -> None:
    file = in_model_folder(event.paths[0]) if event.paths else ""
    attached.keep_fingerprint(history, event, file)
    if file not in history.reached.get(event.attempt, ()):
        history.hollow.setdefault(event.attempt, set()).add(file)
    _reach(history, event.attempt, file, event.record)
    if event.time:
        history.damaged.add((event.stream, event.time, event.attempt))
    else:
        history.undated[event.stream, file, event.record or 0, event.attempt] = event.written


def _undecoded(history: History, event: ev.StreamUndecoded) -> None:
    history.undecoded[event.stream] = event.attempt, f"{event.file}: {event.reason}"


def _tripped(history: History, event: ev.GuardTripped) -> None:
    history.tripped.add((event.guard, *event.frame))
    if event.then == "alarm":
        return
    if any(trip.attempt < event.attempt for trip in history.stopping.values()):
        history.stopping.clear()
    known = history.stopping.setdefault(event.guard, event)
    if event.attempt == known.attempt and event.moment < known.moment:
        history.stopping[event.guard] = event


def _control(history: History, event: ev.ControlReceived) -> None:
    if event.control in {"pause", "resume-watching"}:
        history.paused = event.control == "pause"


def _added(history: History, event: ev.ProductAdded) -> None:
    history.added[event.product] = event.table
    before = history.passed_over[event.product] = FrameSet()
    before.times = history.times
    if not event.all_frames:
        before |= history.frames | history.damaged


_FOLDS: dict[type[Event], Callable[[History, Any], None]] = {
    ev.NoticeDue: lambda history, event: history.noticed.note_due(event),
    ev.NoticeSent: lambda history, event: history.noticed.note_done(event),
    ev.NoticeFailed: lambda history, event: history.noticed.note_done(event),
    ev.RunStarted: _started,
    ev.RunResumed: _resumed,
    ev.RunEnded: _ended,
    **attached.FOLDS,
    ev.BufferRequested: _buffer_requested,
    ev.BufferCreated: _buffer,
    ev.BufferAdopted: _buffer,
    ev.BufferReleased: _buffer_released,
    ev.StageInDone: _staged_in,
    ev.StageOutDone: _brought_home,
    **attempts.FOLDS,
    ev.SimulationSubmitting: _submitting,
    ev.OutputTimed: _output,
    ev.OutputReported: _output,
    ev.FrameReady: _ready,
    ev.FrameDamaged: _damaged,
    ev.StreamUndecoded: _undecoded,
    ev.FrameReleased: lambda history, event: history.released.add(event.frame),
    ev.FrameInspected: lambda history, event: history.inspected.add(event.frame),
    ev.GuardTripped: _tripped,
    ev.ControlReceived: _control,
    ev.ProductAdded: _added,
    ev.ProductLimits: product_record.limits,
    ev.ProductPublishing: product_record.publishing,
    ev.ProductPublished: product_record.published,
    ev.ProductKept: product_record.kept,
    ev.ProductFailed: product_record.failed,
    ev.TrialSubmitting: _trial,
    ev.TrialSubmitted: _trial,
    ev.TrialEnded: _trial,
    ev.TuningEnded: _concluded,
}
