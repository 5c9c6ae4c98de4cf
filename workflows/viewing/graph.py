"""The graph of a run: nodes on its viewing block, and beside the driver's loop.

Nodes are added while the run goes on. Their results arrive, in the order in which they end, in one
queue, which the driver's loop reads: no polling, no locks.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.programs import ensure_programs
from burstlens.cluster_configs.scheduler import Scheduler
from burstlens.cluster_configs.site import Site
from burstlens.core.run.directory import RunDir
from burstlens.workflows.making import tasks
from burstlens.workflows.making.early import DRAWS, EarlyWorker
from burstlens.workflows.ordering.events import JobSubmitted
from burstlens.workflows.ordering.instructions import NEXT, Launch, Node, Warm, Watch
from burstlens.workflows.placement.launch import Launcher
from burstlens.workflows.placement.supervised import Ended, run_job
from burstlens.workflows.viewing.orphans import end_orphans

if TYPE_CHECKING:
    from burstlens.cluster_configs.parsl_config import Block
    from burstlens.workflows.viewing.blocks import ViewingBlocks

_log = logging.getLogger(__name__)
FIRST_LABEL = "viewing-1"


@dataclass(frozen=True, slots=True)
class NodeResult:
    """A node that ended: its value, or why it failed."""

    node: Node
    value: Any = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class _Call:
    """A node that waits for what will run it."""

    node: Node
    function: Callable[..., Any]
    args: tuple[Any, ...]
    priority: int


class Graph:
    """The nodes of a run. With an ``early`` worker, which runs the first of them, Parsl is loaded
    by :meth:`launch_late`: to load it takes as long as to make a picture. Jobs that wait for no
    other begin before that, on threads.

    Use as a context manager from the main thread, as :class:`.ViewingBlocks`.
    """

    def __init__(
        self,
        site: Site,
        run: RunDir,
        jobs: int,
        block: Block | None = None,
        early: EarlyWorker | None = None,
    ) -> None:
        self.site = site
        self.run = run
        self.leaving = threading.Event()
        self._batch = block
        self._jobs = jobs
        self._early, self._early_kinds = early, set[str]()
        self._loading: threading.Thread | None = None
        self._threads = ThreadPoolExecutor(jobs, "early")
        self._held: list[Callable[[], None]] = []
        self._waiting: list[_Call] = []
        self.ended: queue.SimpleQueue[NodeResult | JobSubmitted] = queue.SimpleQueue()
        self._blocks: ViewingBlocks | None = None
        self._pending: dict[Future[Any], Node] = {}

    def __enter__(self) -> Graph:
        end_orphans(self.run.parsl)
        if self._early is None:
            self._load()
        else:
            _log.debug("the viewing block is held back for the early worker")
            self._early.allow(self.site.viewing.memory)
            ensure_programs()
        return self

    def __exit__(self, *_: object) -> None:
        self.leaving.set()  # or the threads that await jobs hold up the end of this process
        if self._early is not None:
            self._early.end()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._blocks is not None:
            self._blocks.close()
        end_orphans(self.run.parsl)

    def _load(self) -> ViewingBlocks:
        from burstlens.workflows.viewing.blocks import ViewingBlocks, require_room

        require_room(self.run.parsl)
        late = self._early is not None
        self._blocks = ViewingBlocks(self.site, self.run, self._jobs, self._batch, late=late)
        return self._blocks

    @property
    def _ready(self) -> ViewingBlocks:
        assert self._blocks is not None, "Parsl is not loaded yet"
        return self._blocks

    @property
    def workers(self) -> int:
        """Workers on all nodes that make products, as the block has counted them."""
        return self.site.workers() if self._blocks is None else self._blocks.workers

    def open_block(self) -> str:
        """Start a viewing block on an interchange of its own; returns its label.

        A block that is a batch job is submitted by :meth:`ask_block`, when it is of use. Raises
        SiteError when Parsl's interchange does not start, three times in a row.
        """
        return FIRST_LABEL if self._blocks is None else self._blocks.open()

    @property
    def is_early(self) -> bool:
        """Whether nodes run on the early worker: the viewing block has not answered yet."""
        if self._early is None:
            return False
        if self._blocks is not None and self._blocks.heard:
            self._early.close()
            return False
        return True

    @property
    def label(self) -> str:
        """The label of the viewing block."""
        return FIRST_LABEL if self._blocks is None else self._blocks.label

    def enter(self, inside: Inside, scheduler: Scheduler | None = None) -> None:
        """Later blocks are steps of this job, of the site's scheduler if none is given."""
        self._ready.enter(inside, scheduler)

    def mount(self, lines: tuple[str, ...]) -> None:
        """The lines with which the scripts of later blocks mount the buffer."""
        self._ready.mount(lines)

    def launch_late(self) -> None:
        """Load Parsl, unless it is loaded, and launch the block that :meth:`open_block` has held
        back while an early worker made the first picture: both at once would take longer. Raises
        SiteError; OSError, also for want of space: call it again later."""
        if self._blocks is None:
            blocks = self._load()
            try:
                blocks.open()
            except OSError:
                self._blocks = None
                blocks.close()
                raise
            held, self._held = self._held, []
            for place in held:
                place()
        self._ready.launch_late()

    def ask_block(self, after: str | None) -> None:
        """Submit the block's job, to begin when the job ``after`` has begun. Only once."""
        if self._blocks is not None:
            self._blocks.ask(after)

    def block_state(self) -> str:
        """``queued``, ``running``, ``draining``, ``gone``; ``broken`` when the interchange has
        died."""
        return "queued" if self._blocks is None else self._blocks.state()

    @property
    def block_waits(self) -> str:
        """Why the viewing block's job has not begun, in the scheduler's words; else empty."""
        return "" if self._blocks is None else self._blocks.waits

    def mend_block(self) -> str | None:
        """Replace a block that is gone or broken; returns what was done, or None."""
        return None if self._blocks is None else self._blocks.mend(self._give_up)

    def _give_up(self) -> None:
        """Fail what a block has in hand whose interchange has died."""
        for future, node in self._pending.copy().items():
            if self._pending.pop(future, None) is not None:
                error = RuntimeError("the interchange has died")
                self.ended.put(NodeResult(node, error=error))

    def view(
        self, node: Node, function: Callable[..., Any], *args: Any, priority: int = NEXT
    ) -> None:
        """Run ``function(*args)``, which does what the node says, on the viewing block.

        Tasks of ``priority`` ``URGENT`` go before all others, of ``LAST`` after them.
        """
        self._place(_Call(node, function, args, priority))

    def _place(self, call: _Call) -> None:
        if self._waits_for_early(call):
            self._waiting.append(call)
            return
        future = self._place_early(call)
        if future is None and self._blocks is None:
            self._held.append(partial(self._place, call))
            return
        on_block = future is None
        if future is None:
            future = self._ready.submit(call.function, *call.args, priority=call.priority)
        self._report(future, call.node, on_block=on_block)

    def _waits_for_early(self, call: _Call) -> bool:
        """Whether the early worker has one of its kind in hand: on a busy machine it is often done
        with that long before the block answers. The block gets it if it answers before."""
        early = self._early
        return early is not None and self.is_early and early.is_busy(call.node.kind)

    def _place_waiting(self) -> None:
        """Place what waits for the early worker, which has ended a node, or for the block."""
        waiting, self._waiting = self._waiting, []
        for call in sorted(waiting, key=lambda call: call.priority):
            self._place(call)

    def _place_early(self, call: _Call) -> Future[Any] | None:
        """Let the early worker run it, unless the block has answered. A second look at the folder
        waits for the first picture."""
        kind = call.node.kind
        if not self.is_early or kind == Warm.kind:
            return None
        assert self._early is not None
        if kind == Watch.kind and kind in self._early_kinds and self._blocks is None:
            return None
        if kind == DRAWS:  # while it draws, a core may be idle
            self._import_parsl()
        self._early_kinds.add(kind)
        return self._early.submit(kind, tasks.node, call.function, *call.args)

    def job(
        self, node: Launch, launcher: Launcher, job_folder: Path, after: Sequence[Future[Any]]
    ) -> Future[Ended]:
        """Start (or find again) a supervised job when ``after`` have ended well, and await it."""

        def submitted(job_id: str) -> None:
            self.ended.put(JobSubmitted(node.name, job_id))

        future = self._beside(
            run_job, launcher, job_folder, submitted, inputs=list(after), leaving=self.leaving
        )
        self._report(future, node)
        if self._early is not None:
            self._import_parsl()
        return future

    def login(self, node: Node, function: Callable[..., Any], *args: Any) -> None:
        """Run ``function(*args)`` beside the loop, in the driver's own process."""
        self._report(self._beside(tasks.node, function, *args), node)

    def _beside(self, function: Callable[..., Any], *args: Any, **keywords: Any) -> Future[Any]:
        """Run it in a thread, when its ``inputs`` have ended well: as a node of Parsl, but before
        Parsl is loaded what waits for nothing begins at once."""
        if self._blocks is not None:
            return self._blocks.thread(function, *args, **keywords)
        if not keywords.get("inputs"):
            return self._threads.submit(function, *args, **keywords)
        later: Future[Any] = Future()
        begin = partial(self._beside, function, *args, **keywords)
        self._held.append(lambda: _pass_on(begin(), later))
        return later

    def _import_parsl(self) -> None:
        """Import Parsl beside the loop, for :meth:`launch_late`."""
        if self._loading is None:
            self._loading = threading.Thread(target=_import_blocks, daemon=True)
            self._loading.start()

    def close_block(self) -> None:
        """End the viewing block for good: nothing more is asked of it."""
        if self._blocks is not None:
            self._blocks.end_block()

    def _report(self, future: Future[Any], node: Node, *, on_block: bool = False) -> None:
        if on_block:
            self._pending[future] = node

        def ended(done: Future[Any]) -> None:
            if on_block and self._pending.pop(done, None) is None:
                return  # given up before
            error = done.exception()
            self.ended.put(NodeResult(node, None if error else done.result(), error))

        future.add_done_callback(ended)

    def events(self, timeout_s: float) -> Iterator[NodeResult | JobSubmitted]:
        """The nodes that have ended; waits up to ``timeout_s`` for the first one."""
        with contextlib.suppress(queue.Empty):
            done = self.ended.get(timeout=timeout_s)
            while True:
                self._place_waiting()
                yield done
                done = self.ended.get_nowait()

    def warm(self, kinds: Sequence[str]) -> None:
        """Let each worker import what it will need, while the model starts."""
        if self._blocks is not None and not self._blocks.is_open:
            return
        for _ in range(self.workers + 1):
            self.view(Warm(tuple(kinds)), tasks.warm, kinds)


def _pass_on(source: Future[Any], target: Future[Any]) -> None:
    """Let a future end as another one does."""

    def ended(done: Future[Any]) -> None:
        error = done.exception()
        if error is not None:
            target.set_exception(error)
        else:
            target.set_result(done.result())

    source.add_done_callback(ended)


def _import_blocks() -> None:
    with contextlib.suppress(Exception):  # it is raised again where Parsl is loaded
        import burstlens.workflows.viewing.blocks  # noqa: F401
