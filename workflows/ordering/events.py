"""What happens to a run, as its driver's state takes it: frozen types, one union.

Each says when, by both clocks, so that the state reads none: ``now`` in monotonic seconds, ``t`` in
Unix seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burstlens.cluster_configs.scheduler import QueuePlace
from burstlens.core.run.event import Event
from burstlens.workflows.frames.report import Report
from burstlens.workflows.making.order import OrderResult
from burstlens.workflows.ordering.batches import Batch
from burstlens.workflows.ordering.instructions import Ask, Node
from burstlens.workflows.placement.buffer import BufferRef, Home
from burstlens.workflows.placement.buffer_origin import BufferOrigin
from burstlens.workflows.placement.supervised import Ended
from burstlens.workflows.recipe.recipe import MadeProduct


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedEvent:
    """When an event reached the state."""

    now: float = 0.0
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class LoopBegun(TimedEvent):
    """The driver's loop has begun."""


@dataclass(frozen=True, slots=True)
class BufferReady(TimedEvent):
    """The run's space is there. ``adopted``: it was the run's before; else ``origin`` says how it
    came to be, where that was observed."""

    buffer: BufferRef
    adopted: bool = False
    origin: BufferOrigin | None = None


@dataclass(frozen=True, slots=True)
class StagedIn(TimedEvent):
    """The inputs are on the buffer: files, bytes, files of earlier runs left behind."""

    files: int | None
    bytes: int | None
    left: int | None


@dataclass(frozen=True, slots=True)
class JobsDescribed(TimedEvent):
    """Supervisors can read what they are to do."""


@dataclass(frozen=True, slots=True)
class JobSubmitted(TimedEvent):
    """A job has its id."""

    name: str
    job_id: str


@dataclass(frozen=True, slots=True)
class JobEnded(TimedEvent):
    """A job has ended. ``end`` is None where it never ran, for that ``problem``; ``said`` is the
    last line of a step's log where it failed."""

    name: str
    end: Ended | None
    problem: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class JobsSeen(TimedEvent):
    """What can be seen of a run's jobs. ``waits``: why one has not begun, in the scheduler's words;
    ``place`` in its queue. ``began``: the simulation's program was started. ``silent``: the
    programs of all live jobs have ended, which the run directory has not taken yet. ``staged``:
    what the first job has brought. ``buffer_end``: how the job with the buffer ended, empty while
    it runs, None while that is not known. ``begun``: when the simulation's job has begun, in Unix
    seconds. ``idle_s``: how long the job ahead has waited for an attempt, where it has ended."""

    waits: str = ""
    place: QueuePlace | None = None
    began: bool = True
    silent: bool = False
    staged: StagedIn | None = None
    buffer_end: str | None = ""
    begun: float | None = None
    idle_s: float | None = None


@dataclass(frozen=True, slots=True)
class FramesFound(TimedEvent):
    """The watcher has reported."""

    report: Report
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class WorkReturned(TimedEvent):
    """A batch of orders has ended, or died with an error."""

    batch: Batch
    results: Mapping[int, OrderResult] = field(default_factory=dict)
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class ResultsRead(TimedEvent):
    """What has become of orders of a batch that is still under way, by their numbers."""

    batch: Batch
    results: Mapping[int, OrderResult]


@dataclass(frozen=True, slots=True)
class ProductsPublished(TimedEvent):
    """Products stand under their final names; or none does where the run directory could not be
    written, for that ``error``: they can be given again."""

    error: OSError | None = None


@dataclass(frozen=True, slots=True)
class FramesReleased(TimedEvent):
    """Raw frames are deleted, or stay for that error."""

    frames: Any
    did: Any = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class BroughtHome(TimedEvent):
    """What the recipe keeps is home."""

    buffer: BufferRef
    home: Home


@dataclass(frozen=True, slots=True)
class BufferFreed(TimedEvent):
    """The run has no space any more, and ends with that outcome."""

    buffer: BufferRef
    outcome: Any


@dataclass(frozen=True, slots=True)
class BlockOpened(TimedEvent):
    """The first viewing block is asked for."""

    label: str


@dataclass(frozen=True, slots=True)
class BlockReplaced(TimedEvent):
    """A viewing block had ended, for that reason, and another one is asked for."""

    reason: str


@dataclass(frozen=True, slots=True)
class BlockSeen(TimedEvent):
    """The viewing block as it is: its state (:meth:`.Graph.block_state`), why it waits, how many
    workers it has. ``early``: an early worker still runs its tasks."""

    state: str = "queued"
    waits: str = ""
    label: str = ""
    workers: int = 1
    early: bool = False


@dataclass(frozen=True, slots=True)
class StopRequested(TimedEvent):
    """The request to stop that stands: ``stop`` or ``stop-now``; ``leave`` ends a look; None: there
    is none. ``reason`` says who made it, empty for a person."""

    control: str | None
    reason: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PauseSeen(TimedEvent):
    """Whether a user asks that no products are made for now."""

    asked: bool


@dataclass(frozen=True, slots=True)
class AdditionRequested(TimedEvent):
    """A ``user`` asks for more products, each with its table in a recipe, ``all_frames``: also of
    earlier frames. ``refusal``: why none of them can be made."""

    request: str
    products: tuple[tuple[MadeProduct, Mapping[str, Any]], ...] = ()
    all_frames: bool = False
    user: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class GuardsRecalled(TimedEvent):
    """What earlier drivers have ``judged``: the events that a judge's state is restored from."""

    judged: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class TripsFound(TimedEvent):
    """Trips that were found without a driver, as JSON values, perhaps again."""

    lines: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class EndReported(TimedEvent):
    """The supervisor of that attempt has reported the model's end, which JobEnded will bring, and
    ``why`` it was told directly to stop, if it was."""

    attempt: int
    why: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class QuestionAnswered(TimedEvent):
    """A policy's question has its answer."""

    ask: Ask
    value: Any


@dataclass(frozen=True, slots=True)
class NodeFailed(TimedEvent):
    """A node has failed."""

    node: Node
    error: BaseException


@dataclass(frozen=True, slots=True)
class Turn(TimedEvent):
    """All that had happened is taken: the loop goes round. So many ``workers`` make products, or
    only an ``early`` one."""

    workers: int = 1
    early: bool = False


@dataclass(frozen=True, slots=True)
class Tick(TimedEvent):
    """Half a second has passed."""


@dataclass(frozen=True, slots=True)
class RunOver(TimedEvent):
    """The run has its outcome, and the loop ends."""


GuardRecord = GuardsRecalled | TripsFound | EndReported
StateEvent = (
    LoopBegun | BufferReady | StagedIn | JobsDescribed | JobSubmitted | JobEnded | JobsSeen
    | FramesFound | ResultsRead | WorkReturned | ProductsPublished | FramesReleased | BroughtHome
    | BufferFreed | BlockOpened | BlockReplaced | BlockSeen | StopRequested | PauseSeen
    | AdditionRequested | GuardsRecalled | TripsFound | EndReported | QuestionAnswered
    | NodeFailed | Turn | Tick | RunOver
)  # fmt: skip
