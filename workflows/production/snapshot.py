"""The snapshot: what ``status.json`` says of a run, about once a second."""

from __future__ import annotations

import collections
import contextlib
import time
from collections.abc import Callable
from typing import Any, Protocol

from burstlens.core.durable import write_json
from burstlens.core.exit_codes import FRAMES_LOST
from burstlens.core.model import Failure, Frame, Progress
from burstlens.core.outcome import Outcome
from burstlens.core.printable import printable
from burstlens.core.quantity import counted
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.core.run.journal import Event
from burstlens.core.run.start import driver_process
from burstlens.viz.live.feed import write_status
from burstlens.workflows.frames.watch import Report
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.production.backlog import Backlog
from burstlens.workflows.production.space import Space
from burstlens.workflows.recipe.recipe import Recipe

CLOCK_JUMP_S = 5.0
"""A jump of more than this means that the clock was set, not slewed."""
LATENCIES = 500
"""How many of the latest products the latency covers; the journal has the whole run's."""
PERIOD_S = 1.0
END_PATIENCE_S = 60.0
"""How long the last snapshot waits for a disk that is full or away."""
TRIPS = 200


class SupervisedJobs(Protocol):
    """What it needs of the supervised jobs: which attempt runs, what the scheduler waits for,
    whether they were asked to stop and are over."""

    attempt: int
    asked: str | None

    @property
    def waits(self) -> str: ...
    @property
    def over(self) -> bool: ...


class Producing(Protocol):
    """What it needs of the production: how much is to be done, where the frames are."""

    backlog: Backlog
    buffer: BufferRef
    space: Space


class Snapshot:
    """Counts and latest values, written whole to ``status.json``."""

    def __init__(self, run: RunDir, recipe: Recipe, history: History, epoch: int) -> None:
        self.run = run
        self.recipe = recipe
        self.history = history
        self.state = "starting"
        self.block = "queued"
        self.waits_for = ""
        self.free_bytes: int | None = None
        self.alarms: collections.deque[dict[str, Any]] = collections.deque(maxlen=20)
        self.events: collections.deque[dict[str, Any]] = collections.deque(maxlen=30)
        self.log_tail: tuple[str, ...] = ()
        self.trips: collections.deque[dict[str, Any]] = collections.deque(maxlen=TRIPS)
        self.guards: Callable[[], list[dict[str, Any]]] = list
        self.outcome: Outcome | None = None
        self._epoch = epoch
        self._progress: Progress | None = None
        self._production: Producing | None = None
        self._latency: collections.deque[float] = collections.deque(maxlen=LATENCIES)
        self._asked_late = 0.0
        self._clock = time.time() - time.monotonic()
        self._last: dict[str, Any] | None = None
        self._reasons: dict[str, str] = {}
        self._attempt = 0
        self._written = 0.0

    def open(self, production: Producing) -> None:
        """Note that the buffer is known and production can begin."""
        self._production = production

    def ready(self, frame: Frame) -> None:
        """Note that a frame is ready."""
        self.note(f"frame {frame.stream} {frame.time} ready ({frame.signal})")

    def published(self, event: Event) -> None:
        """Note that a product is published."""
        clock: Any = event["clock"]
        self._note_clock()
        if clock.get("written") and clock.get("detected", 0.0) >= self._asked_late:
            latency = float(event["t"]) - clock["written"]  # type: ignore[arg-type]
            if latency >= 0:  # else a clock was set back in between
                self._latency.append(latency)
        self._last = {key: event[key] for key in ("product", "stream", "time", "name", "t")}

    def _note_clock(self) -> None:
        """After the clock was set, do not count the ages of earlier frames as latencies."""
        jump = time.time() - time.monotonic() - self._clock
        if abs(jump) > CLOCK_JUMP_S:
            self._clock += jump
            self.ask_late()

    def ask_late(self) -> None:
        """Do not count the ages of the frames found so far: their products are asked for now."""
        self._asked_late = time.time()

    def failed(self, failure: Failure) -> None:
        """Note that a product could not be made of a frame."""
        first = failure.product not in self._reasons
        self._reasons[failure.product] = failure.reason
        if first:
            self.alarm(f"{failure.product} of {failure.stream} {failure.time}: {failure.reason}")

    def alarm(self, text: str, **place: str) -> None:
        """Add what a person should see; ``stream``, ``time`` and ``product`` say where."""
        text = printable(text)
        self.alarms.append({"t": round(time.time(), 3), "text": text, **place})
        self.note(text)

    def note(self, text: str) -> None:
        """Add one line to the latest events."""
        self.events.append({"t": round(time.time(), 3), "text": text})

    def heard(self, report: Report, free_bytes: int | None) -> None:
        """Take the watcher's report on the model."""
        self._progress = report.progress or self._progress
        self.log_tail = (*self.log_tail, *map(printable, report.tail))[-5:]
        self.free_bytes = free_bytes
        if self.state == "starting" and (report.progress or report.frames):
            self.state = "running"

    @property
    def fraction(self) -> float | None:
        """The fraction of the simulation that is done, if the model's log gives it."""
        return self._progress.fraction if self._progress else None

    def look(self, jobs: SupervisedJobs, block: str) -> None:
        """Take the state of the supervised jobs and of the viewing block."""
        self._attempt = jobs.attempt
        self.block = block
        self.waits_for = jobs.waits
        if jobs.asked and not jobs.over:
            self.state = "stopping"
        elif jobs.over and self.state in {"running", "stopping", "starting"}:
            self.state = "draining"

    def judge(self, jobs: Outcome) -> Outcome:
        """The run's outcome: the jobs', unless a product could not be made of any frame, or frames
        are lost or damaged.

        A product that was added to the running run only raises an alarm: a mistake in it must not
        fail the run.
        """
        if jobs.state != "done":
            return jobs
        made = {key[0] for key in self.history.published if key not in self.history.holes}
        for product, reason in self.history.reasons.items():
            if product in made or not self.history.frames:
                continue  # without a whole frame it is not the product's fault
            message = f"product {product} could not be made of any frame: {reason}"
            if product not in self.history.added:
                return Outcome("failed", 1, message)
            self.alarm(message, product=product)
        lost = self.history.lost_frames()
        if lost:
            return Outcome("failed", FRAMES_LOST, f"the model ended well, but {_named(lost)}")
        return jobs

    def end(self, outcome: Outcome) -> None:
        """End the run. Raises OSError when the last snapshot cannot be written for a minute."""
        self.outcome = outcome
        self.state = outcome.state
        self.block = "gone"
        patience = time.monotonic() + END_PATIENCE_S
        while True:
            try:
                self._put()
                return
            except OSError:
                if time.monotonic() > patience:
                    raise
                time.sleep(PERIOD_S)

    def write(self) -> None:
        """Write ``status.json`` when it is due; a target that is away is passed over."""
        now = time.monotonic()
        if now - self._written >= PERIOD_S:
            self._written = now
            with contextlib.suppress(OSError):
                self._put()

    def _put(self) -> None:
        value = self.value()
        write_json(self.run.status, value, sync=False)
        write_status(self.run, value)

    def value(self) -> dict[str, Any]:
        """The whole snapshot as JSON values."""
        history, progress, production = self.history, self._progress, self._production
        kinds = {product.name: product.kind.name for product in self.recipe.products}
        return {
            "run": self.run.id,
            "title": self.recipe.title,
            "state": self.state,
            "attempt": self._attempt,
            "started": history.started,
            "progress": _progress(progress),
            "took_s": history.took_s(time.time()),
            "idle_s": round(history.idle_s, 3),
            "frames": history.counts(),
            "backlog": production.backlog.size if production else 0,
            "products": {
                name: {
                    "kind": kinds[name],
                    "published": history.standing[name],
                    "failed": history.failures[name],
                    **({"reason": self._reasons[name]} if name in self._reasons else {}),
                }
                for name in kinds
            },
            "latency_s": self._latencies(),
            "ledger": {"raw_bytes": history.raw_bytes, "product_bytes": history.product_bytes},
            "buffer": self._buffer(production) if production else None,
            "block": self.block,
            "paused": history.paused,
            "waits_for": self.waits_for,
            "last_product": self._last,
            "alarms": list(self.alarms),
            "trips": list(self.trips),
            "guards": self.guards(),
            "events": list(self.events),
            "log_tail": list(self.log_tail),
            "pictures": str(self.run.products),
            "driver": {
                **driver_process(),
                "epoch": self._epoch,
                "heartbeat": round(time.time(), 3),
            },
            "outcome": self.outcome
            and {
                "state": self.outcome.state,
                "exit_code": self.outcome.exit_code,
                "message": self.outcome.message,
                "line": self.outcome.line,
                "saved_node_hours": self.outcome.saved_node_hours,
            },
        }

    def _buffer(self, production: Producing) -> dict[str, Any]:
        return {
            "path": f"{production.buffer.path}/{production.buffer.folder}",
            "name": production.buffer.name,
            "released": self.history.buffer_released,
            "capacity_bytes": self.recipe.buffer.capacity,
            "raw_bytes": production.space.raw_bytes,
            "fill": round(production.space.fill(), 4),
            "free_bytes": self.free_bytes,
        }

    def _latencies(self) -> dict[str, float] | None:
        if not self._latency:
            return None
        values = sorted(self._latency)
        return {
            "last": round(self._latency[-1], 3),
            "p50": round(values[len(values) // 2], 3),
            "p95": round(values[min(len(values) - 1, int(0.95 * len(values)))], 3),
        }


def _named(lost: list[tuple[str, str]]) -> str:
    """How many frames are lost, with the first and the last of them."""
    first, last = " ".join(lost[0]), " ".join(lost[-1])
    which = first if len(lost) == 1 else f"{first} to {last}"
    are = "is" if len(lost) == 1 else "are"
    return f"{counted(len(lost), 'frame')} {are} lost or damaged ({which})"


def _progress(progress: Progress | None) -> dict[str, Any] | None:
    if progress is None:
        return None
    fields = {name: getattr(progress, name) for name in Progress.__dataclass_fields__}
    return {**fields, "fraction": progress.fraction}
