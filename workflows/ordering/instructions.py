"""What the state of a run wants done: frozen types, which the driver's loop carries out.

A node takes its time, on a worker or beside the loop: it ends with the event of :mod:`.events` that
it names, or with NodeFailed. All others are done at once, in their order. An event of the run is
an instruction as well: it goes into the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar

from burstlens.core.model import Frame, Receipt
from burstlens.core.outcome import Outcome
from burstlens.core.run.event import Event
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.log_search import LogPattern
from burstlens.workflows.frames.watch import Attachment
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.notify.way import Way
from burstlens.workflows.notify.word import Word
from burstlens.workflows.ordering.batches import Batch
from burstlens.workflows.placement.buffer import BufferRef

URGENT, NEXT, LAST = range(3)
"""Priorities of what runs on the viewing block."""


class AskPlace(Enum):
    """Where a question is answered: by a worker of the viewing block, by a thread beside the loop,
    or by the loop, which waits for the answer."""

    BLOCK = "block"
    BESIDE = "beside"
    LOOP = "loop"


@dataclass(frozen=True, slots=True)
class ProvideBuffer:
    """Have the run's space there, the ``known`` one if it still is. Ends with BufferReady."""

    kind: ClassVar[str] = "buffer"
    known: BufferRef | None


@dataclass(frozen=True, slots=True)
class StageIn:
    """Bring the inputs to the buffer. Ends with StagedIn."""

    kind: ClassVar[str] = "stagein"
    buffer: BufferRef


@dataclass(frozen=True, slots=True)
class DescribeJobs:
    """Write what the supervisors of an attempt's jobs are to do: of ``simulation``, None: it has
    ended, and of the ``steps``, by the names of their jobs. ``fresh``: nothing of earlier attempts
    is on the buffer. The simulation starts as ``continuation`` says, with the files of a checkpoint
    that the attempt ``written_by`` has written. Ends with JobsDescribed."""

    kind: ClassVar[str] = "start"
    buffer: BufferRef
    attempt: int
    simulation: str | None
    steps: tuple[tuple[str, str], ...]
    fresh: bool
    continuation: Continuation = field(default_factory=Continuation)
    written_by: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """Start a supervised job, or find it again, when those named in ``after`` have ended well.
    JobSubmitted says its id. Ends with JobEnded. ``on_login``: on the driver's own machine."""

    kind: ClassVar[str] = "job"
    name: str
    after: tuple[str, ...] = ()
    on_login: bool = False


@dataclass(frozen=True, slots=True)
class SubmitAhead:
    """Submit the job of that ``name``, or find it again: it begins when the job ``after`` ends, and
    waits for the ``attempt``, or a later one. Ends with JobSubmitted."""

    kind: ClassVar[str] = "ahead"
    name: str
    attempt: int
    after: str


@dataclass(frozen=True, slots=True)
class Watch:
    """Look for news of an attempt's output, ``longest_s`` at most. Ends with FramesFound.

    ``poll_s`` is the pause between two looks at the files; ``attachment`` is of a folder in which
    others started the model.
    """

    kind: ClassVar[str] = "watch"
    buffer: BufferRef
    attempt: int
    cursor: Cursor
    longest_s: float
    poll_s: float
    patterns: tuple[LogPattern, ...] = ()
    attachment: Attachment | None = None


@dataclass(frozen=True, slots=True)
class Make:
    """Make products, as a batch of orders. ResultsRead says what is done before its end, which is
    WorkReturned."""

    kind: ClassVar[str] = "work"
    buffer: BufferRef
    batch: Batch
    priority: int = NEXT


@dataclass(frozen=True, slots=True)
class Release:
    """Delete raw frames from the buffer, as soon as the journal is on disk. What the patterns
    ``keep`` name is brought home first; ``shared`` as in BringHome. Ends with FramesReleased."""

    kind: ClassVar[str] = "released"
    buffer: BufferRef
    frames: tuple[Frame, ...]
    keep: tuple[str, ...]
    shared: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Warm:
    """Let a worker import what these kinds need."""

    kind: ClassVar[str] = "warm"
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BringHome:
    """Bring home what the recipe keeps of these streams, and the logs, of these attempts; of each
    without its ``stale`` files. Those that are ``given_up`` may be home since an earlier end. Files
    of the ``shared`` names hold frames of several attempts. Ends with BroughtHome."""

    kind: ClassVar[str] = "home"
    buffer: BufferRef
    attempts: tuple[int, ...]
    streams: frozenset[str]
    stale: Mapping[int, frozenset[str]] = field(default_factory=dict)
    given_up: Mapping[int, frozenset[str]] = field(default_factory=dict)
    shared: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Destroy:
    """Free the run's space before it ends with that outcome. Ends with BufferFreed.

    ``gives_back``: the scheduler takes it back, ``others`` were seen on it; else a worker deletes
    the run's folder.
    """

    kind: ClassVar[str] = "freed"
    buffer: BufferRef
    outcome: Outcome
    gives_back: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """Call a function for a policy. Ends with QuestionAnswered. ``again``: after a loss it is tried
    again."""

    kind: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    place: AskPlace = AskPlace.BLOCK
    about: Any = None
    priority: int = NEXT
    again: bool = False


@dataclass(frozen=True, slots=True)
class Publish:
    """Publish these products, bring the index, the page's list and the journal up to date. Then
    ProductsPublished. ``probe``: see also whether the run directory can be written at all;
    ``sweeps``: no worker lives, and what else was staged is of no use."""

    receipts: tuple[Receipt, ...]
    probe: bool = False
    sweeps: bool = False


@dataclass(frozen=True, slots=True)
class Discard:
    """Delete what was staged for a product that is not published."""

    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Sync:
    """Bring the journal to disk; with ``required`` the driver ends where its disk does not take it,
    else a later one brings it there."""

    required: bool = False


@dataclass(frozen=True, slots=True)
class SeeJobs:
    """Look at the jobs: of those that are ``live``, whether all programs have ended unreported;
    whether the simulation ``began``, what it ``staged``, whether the job with the buffer has ended,
    when the simulation's job has ``begun``, how the job ``ahead`` of its attempt has ended, each if
    asked for. Then JobsSeen."""

    live: frozenset[str]
    simulation: str
    began: bool = False
    staged: bool = False
    buffer: bool = False
    begun: bool = False
    ahead: str = ""


@dataclass(frozen=True, slots=True)
class CancelWaiting:
    """Cancel the jobs that wait for an attempt: none follows."""

    kind: ClassVar[str] = "cancel"


@dataclass(frozen=True, slots=True)
class OpenBlock:
    """Ask for the first viewing block, whose workers import these kinds. Then BlockOpened."""

    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LaunchBlock:
    """Launch the block that is held back for the early worker's first picture."""


@dataclass(frozen=True, slots=True)
class AskBlock:
    """Submit the block's job, to begin when the job ``after`` has begun."""

    after: str | None = None


@dataclass(frozen=True, slots=True)
class MendBlock:
    """Replace a viewing block that has ended, whose workers import these kinds. Then
    BlockReplaced, if one had."""

    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CloseBlock:
    """End the viewing block for good."""


@dataclass(frozen=True, slots=True)
class Request:
    """Make a request in ``control/``; a stop with its ``reason``, if no person makes it."""

    name: str
    reason: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class DropRequest:
    """Take a request that is obeyed out of ``control/``, when the journal is on disk."""

    name: str


@dataclass(frozen=True, slots=True)
class PrepareWord:
    """Journal a word that is due, to those who want it and in these ``ways`` of a guard."""

    word: Word
    ways: tuple[Way, ...] = ()


@dataclass(frozen=True, slots=True)
class SendWord:
    """Begin to send the word of that key, which was prepared."""

    key: str


@dataclass(frozen=True, slots=True)
class ClearRequests:
    """Take what was asked for and obeyed out of ``control/``."""


@dataclass(frozen=True, slots=True)
class End:
    """End the run."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Fail:
    """End the driver with an error; the run can be resumed."""

    error: Exception


Node = (
    ProvideBuffer | StageIn | DescribeJobs | Launch | SubmitAhead | CancelWaiting | Watch | Make
    | Release | Warm | BringHome | Destroy | Ask
)  # fmt: skip
Instruction = (
    Node | Event | Publish | Discard | Sync | SeeJobs | OpenBlock | LaunchBlock | AskBlock
    | MendBlock | CloseBlock | Request | DropRequest | PrepareWord | SendWord | ClearRequests
    | End | Fail
)  # fmt: skip
