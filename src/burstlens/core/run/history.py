"""The state of a run by its journal: pure replay, the basis of resume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from burstlens.core import valid_time
from burstlens.core.exit_codes import FRAMES_LOST
from burstlens.core.model import Damage, in_model_folder
from burstlens.core.run.journal import Event
from burstlens.core.run.states import States

Key = tuple[str, str, str]
"""Product, stream, valid time: what is published exactly once."""


@dataclass(slots=True)
class JobRecord:
    """A supervised job, by the journal."""

    name: str
    job_id: str | None = None
    outcome: str | None = None


@dataclass(slots=True)
class History:
    """The state that the journal's events add up to."""

    state: str = "new"
    buffer: dict[str, Any] | None = None
    buffer_requested: bool = False
    """Whether space was requested since it was last released: it may exist in any case."""
    buffer_released: bool = False
    staged_in: bool = False
    brought_home: bool = False
    kept_home: bool = False
    """Whether the files of ``[stage_out]`` came home after the model ended, well or not."""
    attempt: int = 0
    jobs: dict[str, JobRecord] = field(default_factory=dict)
    frames: set[tuple[str, str, int]] = field(default_factory=set)
    damaged: set[tuple[str, str, int]] = field(default_factory=set)
    undated: set[tuple[str, str, int, int]] = field(default_factory=set)
    """Damaged frames of unknown valid time: stream, file, record, attempt."""
    files: dict[int, set[str]] = field(default_factory=dict)
    """The files that hold ready frames, by attempt."""
    released: set[tuple[str, str, int]] = field(default_factory=set)
    inspected: set[tuple[str, str, int]] = field(default_factory=set)
    """Frames that every guard of their stream has read."""
    tripped: set[tuple[str, str, str, int]] = field(default_factory=set)
    """Guard, stream, valid time and attempt of each trip."""
    published: dict[Key, int] = field(default_factory=dict)
    publishing: dict[Key, Event] = field(default_factory=dict)
    failed: dict[Key, int] = field(default_factory=dict)
    holes: set[Key] = field(default_factory=set)
    """Published, but only as a placeholder."""
    standing: Counter[str] = field(default_factory=Counter)
    """How many of each product are published, without placeholders."""
    failures: Counter[str] = field(default_factory=Counter)
    """How many of each product are failed."""
    reasons: dict[str, str] = field(default_factory=dict)
    """The latest reason why a product failed."""
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The colour limits of each product whose limits follow its frames."""
    drawn: dict[Key, tuple[float, float]] = field(default_factory=dict)
    """The limits that pictures of these products are drawn with."""
    states: States = field(default_factory=States)
    paused: bool = False
    """Whether products are not to be made for now."""
    added: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The tables of products that were added to the running run, by name."""
    passed_over: dict[str, frozenset[tuple[str, str, int]]] = field(default_factory=dict)
    """For each product that was added: the earlier frames that it skips."""
    raw_bytes: int = 0
    product_bytes: int = 0
    started: float | None = None
    outcome: dict[str, Any] | None = None
    """How the run ended, as ``status.json`` has it."""
    last: float = 0.0
    """When the latest event was journalled."""
    idle_s: float = 0.0
    """How long neither a driver nor a model ran."""
    ready: set[tuple[str, str]] = field(default_factory=set)
    """Stream and valid time of the frames that are ready, of any attempt."""

    def has_damage(self, damage: Damage) -> bool:
        """Whether that damage is known already."""
        if damage.time is not None:
            return (damage.stream, damage.time, damage.attempt) in self.damaged
        file = in_model_folder(damage.paths[0])
        return (damage.stream, file, damage.record, damage.attempt) in self.undated

    def lost_frames(self) -> list[tuple[str, str]]:
        """Stream and valid time (or file), as text, of each lost or damaged frame, in order.

        Those of the latest attempt, and those of earlier ones that no attempt has written whole.
        """
        dated = {
            (stream, time)
            for stream, time, attempt in self.damaged
            if attempt == self.attempt or (stream, time) not in self.ready
        }
        undated = [
            (stream, f"{file} record {record}")
            for stream, file, record, attempt in sorted(self.undated)
            if attempt == self.attempt
        ]
        return [(stream, valid_time.label(time)) for stream, time in sorted(dated)] + undated

    def counts(self) -> dict[str, int]:
        """How many frames are ready (each valid time of a stream counts once, also when a later
        attempt has written it again), and how many are lost or damaged."""
        return {"ready": len(self.ready), "damaged": len(self.lost_frames())}

    def took_s(self, until: float) -> float | None:
        """Seconds until then in which a driver or the model ran; None before the first start."""
        if self.started is None:
            return None
        return round(max(0.0, until - self.started - self.idle_s), 3)

    def settled(self, key: Key, attempt: int) -> bool:
        """Whether that product of this attempt (or a later one) is published or finally failed."""
        return self.published.get(key, 0) >= attempt or self.failed.get(key, 0) >= attempt

    def outgrown(self, key: Key) -> bool:
        """Whether that picture is published and its series' colour limits have widened since."""
        limits = self.limits.get(key[0])
        if limits is None or key not in self.published or key in self.holes:
            return False
        return self.drawn.get(key) != limits

    def apply(self, event: Event) -> None:
        """Apply one event to the state."""
        fold = _FOLDS.get(str(event["event"]))
        if fold is not None:
            fold(self, event)
        self.last = max(self.last, _number(event.get("t")))


def replay(events: Iterable[Event]) -> History:
    """The history after these events."""
    history = History()
    for event in events:
        history.apply(event)
    return history


def _frame(event: Event) -> tuple[str, str, int]:
    return str(event["stream"]), str(event["time"]), _int(event["attempt"])


def key_of(event: Event) -> Key:
    """The key of a product event."""
    return str(event["product"]), str(event["stream"]), str(event["time"])


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0.0


def _started(history: History, event: Event) -> None:
    history.state, history.outcome = "running", None
    history.idle_s += max(0.0, _number(event.get("idle_s")))
    if history.started is None:
        history.started = float(event["t"])  # type: ignore[arg-type]


def _ended(history: History, event: Event) -> None:
    history.state = str(event.get("outcome", "failed"))
    fields = {key: event.get(key) for key in ("exit_code", "message", "line", "saved_node_hours")}
    history.outcome = {"state": history.state, **fields}


_BUFFER = ("kind", "path", "folder", "name", "owned", "by")


def _buffer_requested(history: History, event: Event) -> None:
    history.buffer_requested = True


def _buffer(history: History, event: Event) -> None:
    history.buffer_requested = True
    history.buffer = {key: event[key] for key in _BUFFER if key in event}
    history.buffer_released = False


def _buffer_released(history: History, event: Event) -> None:
    history.buffer_released = True
    history.buffer_requested = False
    history.staged_in = False


def _staged_in(history: History, event: Event) -> None:
    history.staged_in = True


def _job(history: History, event: Event) -> None:
    name = str(event["job"])
    if event["event"] == "simulation.submitting":
        history.kept_home = False
    record = history.jobs.setdefault(name, JobRecord(name))
    if event["event"] in {"simulation.ended", "step.ended"}:
        record.outcome = str(event.get("outcome"))
    elif event.get("job_id"):
        record.job_id = str(event["job_id"])
    if str(event["event"]).startswith("simulation."):
        history.attempt = max(history.attempt, _int(event["attempt"]))


def _ready(history: History, event: Event) -> None:
    if _frame(event) not in history.frames:
        history.frames.add(_frame(event))
        history.ready.add(_frame(event)[:2])
        history.raw_bytes += _int(event.get("bytes"))
        history.files.setdefault(_int(event["attempt"]), set()).add(str(event.get("file", "")))


def _damaged(history: History, event: Event) -> None:
    stream, time, attempt = str(event["stream"]), event["time"], _int(event["attempt"])
    if time:
        history.damaged.add((stream, str(time), attempt))
    else:
        paths: Any = event.get("paths") or ("",)
        file = in_model_folder(str(paths[0]))
        history.undated.add((stream, file, _int(event.get("record")), attempt))


def _released(history: History, event: Event) -> None:
    history.released.add(_frame(event))


def _inspected(history: History, event: Event) -> None:
    history.inspected.add(_frame(event))


def _tripped(history: History, event: Event) -> None:
    history.tripped.add((str(event["guard"]), *_frame(event)))


def _limits(history: History, event: Event) -> None:
    history.limits[str(event["product"])] = _pair(event["limits"])


def _pair(limits: Any) -> tuple[float, float]:
    return float(limits[0]), float(limits[1])


def _publishing(history: History, event: Event) -> None:
    history.publishing[key_of(event)] = event


def _published(history: History, event: Event) -> None:
    key, product = key_of(event), str(event["product"])
    stood = key in history.published and key not in history.holes
    history.publishing.pop(key, None)
    history.published[key] = _int(event["attempt"])
    if event.get("limits") is not None:
        history.drawn[key] = _pair(event["limits"])
    else:
        history.drawn.pop(key, None)
    if history.failed.pop(key, None) is not None:
        history.failures[product] -= 1
    facts = event.get("facts")
    if isinstance(facts, Mapping) and facts.get("placeholder"):
        history.holes.add(key)
    else:
        history.holes.discard(key)
    history.standing[product] += (key not in history.holes) - stood
    history.product_bytes += _int(event.get("bytes"))
    state = event.get("state")
    if isinstance(state, Mapping):
        history.states.note(*key, str(state["name"]), _int(state.get("bytes")))


def _failed(history: History, event: Event) -> None:
    key, product = key_of(event), str(event["product"])
    history.failures[product] += key not in history.failed
    history.failed[key] = _int(event["attempt"])
    history.reasons[product] = str(event.get("reason"))


def _control(history: History, event: Event) -> None:
    if event["control"] in {"pause", "resume-watching"}:
        history.paused = event["control"] == "pause"


def _added(history: History, event: Event) -> None:
    table: Any = event["table"]
    name = str(event["product"])
    history.added[name] = table
    before = frozenset() if event.get("all_frames") else frozenset(history.frames | history.damaged)
    history.passed_over[name] = before


def _brought_home(history: History, event: Event) -> None:
    history.brought_home = (
        event.get("outcome") == "done" or _int(event.get("exit_code")) == FRAMES_LOST
    )
    history.kept_home = True


_FOLDS = {
    "run.started": _started,
    "run.resumed": _started,
    "run.ended": _ended,
    "buffer.requested": _buffer_requested,
    "buffer.created": _buffer,
    "buffer.adopted": _buffer,
    "buffer.released": _buffer_released,
    "stagein.done": _staged_in,
    "stageout.done": _brought_home,
    "simulation.submitting": _job,
    "simulation.submitted": _job,
    "simulation.started": _job,
    "simulation.ended": _job,
    "step.submitting": _job,
    "step.started": _job,
    "step.ended": _job,
    "frame.ready": _ready,
    "frame.damaged": _damaged,
    "frame.released": _released,
    "frame.inspected": _inspected,
    "guard.tripped": _tripped,
    "control.received": _control,
    "product.added": _added,
    "product.limits": _limits,
    "product.publishing": _publishing,
    "product.published": _published,
    "product.failed": _failed,
}
