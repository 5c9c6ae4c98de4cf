"""The snapshot: what ``status.json`` says of a run, about once a second."""

from __future__ import annotations

import collections
import contextlib
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from burstlens.cluster_configs.scheduler import QueuePlace, Scheduler
from burstlens.core.model import Progress
from burstlens.core.outcome import Outcome
from burstlens.core.printable import printable
from burstlens.core.run.directory import RunDir
from burstlens.core.run.event import Event
from burstlens.core.run.events import GuardTripped
from burstlens.core.run.heartbeat import driver_process
from burstlens.core.run.history import History
from burstlens.core.run.snapshot import (
    checkpoint_parts,
    journalled_buffer,
    segment_parts,
    write_snapshot,
)
from burstlens.core.run.status_file import (
    AttachedPart,
    BufferPart,
    DriverPart,
    FrameCounts,
    GuardPart,
    Ledger,
    Message,
    OutcomePart,
    ProductCounts,
    ProgressPart,
    QueuePart,
    RawPart,
    SchedulerPart,
    StatusFile,
    TripPart,
    TuningPart,
)
from burstlens.viz.live.feed import LogFeed, write_status
from burstlens.workflows.frames.report import Report
from burstlens.workflows.guards.finding import journalled_trip
from burstlens.workflows.publishing.full_disk import FullDisk
from burstlens.workflows.publishing.latencies import Latencies
from burstlens.workflows.publishing.live_log import LiveLog, log_names
from burstlens.workflows.publishing.messages import Messages
from burstlens.workflows.publishing.output_now import output_now
from burstlens.workflows.publishing.run_outcome import run_outcome
from burstlens.workflows.recipe.recipe import Recipe

PERIOD_S = 1.0
LOGS_PERIOD_S = 10.0
"""How often the names of the run's logs are listed."""
END_PATIENCE_S = 60.0
"""How long the last snapshot waits for a disk that is full or away."""
TRIPS = 200


@dataclass(frozen=True, slots=True)
class JobsNow:
    """The model's jobs as the snapshot shows them: which ``attempt`` runs, the request to stop that
    it has ``asked`` to obey, why a job ``waits`` for its scheduler and at which ``place`` in the
    queue, whether all are ``over``."""

    attempt: int = 0
    asked: str | None = None
    waits: str = ""
    place: QueuePlace | None = None
    over: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """How many products are to be made, and how full raw frames have made the buffer."""

    backlog: int
    raw_bytes: int = 0
    fill: float = 0.0


class Snapshot:
    """Counts and latest values, written whole to ``status.json``."""

    def __init__(self, run: RunDir, recipe: Recipe, history: History, epoch: int) -> None:
        self.run = run
        self.recipe = recipe
        self.history = history
        self.state = "starting"
        self.block, self.block_waits = "queued", ""
        self.waits_for = ""
        self.queue: QueuePart | None = None
        self.free_bytes: int | None = None
        self.messages, self.latencies = Messages(history), Latencies(history)
        self.alarm, self.note = self.messages.alarm, self.messages.note
        self.log_tail: tuple[str, ...] = ()
        self.trips: collections.deque[TripPart] = collections.deque(maxlen=TRIPS)
        self.guards: Callable[[], list[GuardPart]] = list
        self.outcome: Outcome | None = None
        self.unread: str | None = ""
        """The time of the oldest frame that guards are still to read, where checkpoints wait for
        that: None if there is none, "" while it is not known."""
        self.attached: AttachedPart | None = None
        """Of a run that looks at a folder; it has no buffer."""
        self._schedulers: list[Scheduler] = []
        self._epoch = epoch
        self._log, self._log_feed = LiveLog(run, epoch), LogFeed(run)
        self._logs: list[str] = []
        self._logs_due = 0.0
        self._progress: Progress | None = None
        self._load: Callable[[], Load] | None = None
        self.full_disk = FullDisk(run.path, self.alarm)
        self._attempt = 0
        self._written = 0.0

    def note_scheduler(self, scheduler: Scheduler | None) -> None:
        """Note that the driver asks that scheduler: its silence is shown, where it measures it."""
        if scheduler is not None:
            self._schedulers.append(scheduler)

    def open(self, load: Callable[[], Load]) -> None:
        """Note that the buffer is known and production can begin, whose load that gives."""
        self._load = load

    def apply(self, event: Event) -> None:
        """Take an event that this driver has journalled."""
        self.messages.apply(event)
        self.latencies.apply(event)
        if isinstance(event, GuardTripped):
            self.trips.append(TripPart(**journalled_trip(event).status()))

    @property
    def alarms(self) -> collections.deque[Message]:
        """What a person should see."""
        return self.messages.alarms

    def heard(self, report: Report, free_bytes: int | None) -> None:
        """Take the watcher's report on the model."""
        self._progress = report.progress or self._progress
        self.log_tail = (*self.log_tail, *map(printable, report.tail))[-5:]
        self._log.add(self._attempt, report.tail, report.missed)
        self.free_bytes = free_bytes
        if self.state == "starting" and (report.progress or report.frames):
            self.state = "running"

    @property
    def fill(self) -> float:
        """The part of the buffer's capacity that raw frames hold."""
        return 0.0 if self._load is None else self._load().fill

    @property
    def fraction(self) -> float | None:
        """The fraction of the simulation that is done, if the model's log gives it."""
        return self._progress.fraction if self._progress else None

    @property
    def speed(self) -> float | None:
        """The model's speed in model seconds per second, if its log gives it."""
        speed = self._progress.speed if self._progress else None
        return None if speed is None else float(f"{speed:.4g}")

    def look(self, jobs: JobsNow, block: str, block_waits: str = "") -> None:
        """Take the state of the supervised jobs and of the viewing block, and why that waits."""
        self._attempt = jobs.attempt
        self.block, self.block_waits = block, block_waits
        self.waits_for = jobs.waits
        self.queue = QueuePart(**asdict(jobs.place)) if jobs.place else None
        if jobs.asked and not jobs.over:
            self.state = "stopping"
        elif (
            self.attached is None
            and jobs.over
            and self.state in {"running", "stopping", "starting"}
        ):
            self.state = "draining"

    def judge(self, model: Outcome) -> Outcome:
        """The run's outcome, of a model that ended so."""
        recipe = self.recipe
        main = recipe.model.main_stream(recipe.inputs)
        streams = {product.name: product.common.stream or main for product in recipe.products}

        def alarm(text: str, product: str) -> None:
            self.alarm(text, product=product)

        return run_outcome(model, self.history, streams, alarm)

    def end(self, outcome: Outcome) -> None:
        """End the run. Raises OSError when the last snapshot cannot be written for a minute."""
        self.outcome = outcome
        self.state = outcome.state
        self.block, self.block_waits = "gone", ""
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
        self._log.write()
        now = time.monotonic()
        if now >= self._logs_due or self.outcome:  # listed seldom: a run may have many logs
            self._logs, self._logs_due = log_names(self.run), now + LOGS_PERIOD_S
        write_status(self.run, write_snapshot(self.run, self.value()))
        self._log_feed.write(self._logs, force=self.outcome is not None)

    def value(self) -> StatusFile:
        """The whole snapshot."""
        history, load = self.history, self._load and self._load()
        kinds = {product.name: product.kind.name for product in self.recipe.products}
        nodes = None if self.attached else self.recipe.simulation.nodes
        return StatusFile(
            run=self.run.id,
            title=self.recipe.title,
            state=self.state,
            attempt=self._attempt,
            started=history.started,
            progress=_progress(self._progress),
            took_s=history.took_s(time.time()),
            idle_s=round(history.idle_s, 3),
            frames=FrameCounts(**history.counts()),
            backlog=load.backlog if load else 0,
            products={
                name: ProductCounts(
                    history.standing[name],
                    history.failures[name],
                    kind,
                    self.messages.reasons.get(name),
                    history.kept[name],
                )
                for name, kind in kinds.items()
            },
            latency_s=self.latencies.value(),
            ledger=Ledger(history.raw_bytes, history.product_bytes),
            buffer=self._buffer(load),
            attached=self.attached or UNSET,
            block=self.block,
            block_waits=self.block_waits or UNSET,
            paused=history.paused,
            waits_for=self.waits_for,
            queue=self.queue or UNSET,
            scheduler=self._silent_scheduler(),
            last_product=self.latencies.last,
            output=output_now(history.output, nodes) or UNSET,
            alarms=list(self.messages.alarms),
            tuning=_tuning(history),
            trips=list(self.trips),
            guards=self.guards(),
            events=list(self.messages.events),
            log_tail=list(self.log_tail),
            logs=self._logs,
            pictures=str(self.run.products),
            driver=DriverPart(
                **driver_process(),
                epoch=self._epoch,
                heartbeat=round(time.time(), 3),
                uptime=round(time.monotonic(), 3),
            ),
            outcome=OutcomePart(**asdict(self.outcome)) if self.outcome else None,
            raw=self._raw(),
            segments=segment_parts(history) or UNSET,
            lost_core_hours=history.lost_core_hours or UNSET,
            checkpoints=checkpoint_parts(history, self.unread) or UNSET,
        )

    def _silent_scheduler(self) -> SchedulerPart | UnsetType:
        """The scheduler that has not answered for the longest time; unset while all answer."""
        silent = [
            SchedulerPart(one.title, round(one.silent_s, 1))
            for one in self._schedulers
            if one.silent_s > 0
        ]
        return max(silent, key=lambda part: part.silent_s) if silent else UNSET

    def _raw(self) -> RawPart | UnsetType:
        """What became of the raw files; unset before the end, and where no model was started."""
        history = self.history
        if self.outcome is None or self.attached is not None or not history.frames:
            return UNSET
        return RawPart(*history.home, len(history.released))

    def _buffer(self, load: Load | None) -> BufferPart | None:
        """The run's space; at the end also that of an earlier driver, which this one only had to
        give back."""
        if self.attached or (load is None and self.outcome is None):
            return None
        buffer = journalled_buffer(self.history, self.recipe.buffer.capacity)
        if buffer is None or load is None:
            return buffer
        full = {"raw_bytes": load.raw_bytes, "fill": round(load.fill, 4)}
        return replace(buffer, **full, free_bytes=self.free_bytes)


def _tuning(history: History) -> TuningPart | UnsetType:
    """Of a tuning, its trials; unset for an ordinary run."""
    if not history.trials:
        return UNSET
    counted = {"done", "failed"}  # of the others nothing is known: they are run again
    ended = [
        trial
        for trial in history.trials.values()
        if trial.ended is not None and trial.ended.outcome in counted
    ]
    last = ended[-1] if ended else None
    seconds = last.ended.seconds if last is not None and last.ended is not None else None
    return TuningPart(
        len(ended),
        last.submitting.phase if last is not None else None,
        round(sum(seconds.values()), 4) if seconds else None,
        history.concluded,
    )


def _progress(progress: Progress | None) -> ProgressPart | None:
    if progress is None:
        return None
    return ProgressPart(**asdict(progress), fraction=progress.fraction)
