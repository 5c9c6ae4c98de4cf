"""The Parsl graph of a run: its nodes, and the viewing block that runs those on the buffer.

Nodes are added while the run goes on. Their results arrive, in the order in which they end, in one
queue, which the driver's loop reads: no polling, no locks.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import burstlens.cluster_configs.unmonitored  # noqa: F401  (before Parsl)

# isort: split
import parsl
from parsl.executors.high_throughput.errors import WorkerLost

from burstlens.cluster_configs.batch_script import VIEWING
from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.parsl_config import (
    JOBS,
    Block,
    ViewingBlock,
    config,
    viewing_block,
)
from burstlens.cluster_configs.parsl_internals import Manager, add_executor, with_priority
from burstlens.cluster_configs.scheduler import SchedulerError
from burstlens.cluster_configs.site import Site
from burstlens.core.errors import SiteError
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement.launch import Launcher
from burstlens.workflows.placement.supervised import Ended, run_job
from burstlens.workflows.production import tasks
from burstlens.workflows.production.early import EarlyWorker
from burstlens.workflows.production.orphans import end_orphans

URGENT, NEXT, LAST = range(3)
"""Priorities of what runs on the viewing block."""
SEND_LIMIT_MS = 2000
STARTS = 3
"""Chances of an interchange that dies while it starts."""
LOOK_S = 5.0
"""How often the provider is asked about the viewing block's job."""


@dataclass(frozen=True, slots=True)
class Done:
    """A node that ended: what it was, its result, or why it failed."""

    kind: str
    about: Any
    value: Any = None
    error: BaseException | None = None

    @property
    def worker_lost(self) -> bool:
        """Whether the worker that ran it was killed, as the kernel does for want of memory."""
        return isinstance(self.error, WorkerLost)


class Graph:
    """A loaded Parsl with one viewing block that is replaced whenever it dies.

    Use as a context manager from the main thread: Parsl's interchange is tied to the life of
    the thread that starts it.
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
        self._early, self._watched_early = early, False
        self.ended: queue.SimpleQueue[Done] = queue.SimpleQueue()
        self._jobs = jobs
        self._generation = 0
        self._block: ViewingBlock | None = None
        self._blocks: list[ViewingBlock] = []
        self._pending: dict[Future[Any], tuple[str, Any]] = {}
        self._state = "queued"
        self._heard = False
        self._requeued = ""
        self.workers = site.workers()
        """Workers per node that make products, as the block has counted them."""
        self._wanted = False
        self._met: dict[str, float] = {}
        self._inside: Inside | None = None
        self._next_look = 0.0
        self._kernel: Any = None
        self._loaded = contextlib.ExitStack()
        self._apps: dict[tuple[Callable[..., Any], str], Callable[..., Future[Any]]] = {}

    def __enter__(self) -> Graph:
        end_orphans(self.run.parsl)
        if self._batch is not None and any(self.run.parsl.iterdir()):  # of a former driver
            block = self._batch
            with contextlib.suppress(SchedulerError):  # without interchange they end by themselves
                block.scheduler.cancel_all(block.comment, f"{block.token}-{VIEWING}")
        self._kernel = self._loaded.enter_context(
            parsl.load(config(self.site, self.run.parsl, self._jobs))
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.leaving.set()  # or the threads that await jobs hold up the end of this process
        if self._early is not None:
            self._early.end()
        for block in self._blocks:
            with contextlib.suppress(Exception):
                block.cancel_jobs()
            with contextlib.suppress(Exception):
                block.drop_unsent()
        with contextlib.suppress(Exception):  # what is left is ended below, by its own ids
            self._loaded.close()
        with contextlib.suppress(Exception):
            parsl.clear()
        end_orphans(self.run.parsl)

    def open_block(self) -> str:
        """Start a viewing block on an interchange of its own; returns its label.

        A block that is a batch job is submitted by :meth:`ask_block`, when it is of use. Raises
        SiteError when Parsl's interchange does not start, three times in a row.
        """
        reason: Exception | None = None
        for _ in range(STARTS):
            self._generation += 1
            label = f"viewing-{self._generation}"
            place = self._batch or self._inside
            block = viewing_block(self.site, label, self.run.parsl, place)
            self._blocks.append(block)
            try:
                add_executor(self._kernel, block)
            except Exception as error:  # Parsl has no class of its own for this
                reason = error
                continue
            block.limit_sends(SEND_LIMIT_MS)
            self._block = block
            self._met.clear()  # a new interchange numbers its blocks anew
            self._next_look, self._heard = 0.0, False
            if self._batch is None:
                if self._early is None:
                    block.launch_block()
            elif self._wanted:
                self.ask_block(None)
            return label
        raise SiteError(f"Parsl's interchange does not start ({reason}); see {self.run.parsl}")

    @property
    def label(self) -> str:
        """The label of the viewing block."""
        return f"viewing-{self._generation}"

    def enter(self, inside: Inside) -> None:
        """Later blocks are steps of this job."""
        self._inside = inside

    def mount(self, lines: tuple[str, ...]) -> None:
        """The lines with which the scripts of later blocks mount the buffer."""
        if self._batch is not None:
            self._batch = replace(self._batch, lines=lines)

    def launch_late(self) -> None:
        """Launch the block that :meth:`open_block` has held back while an early worker made the
        first picture: both at once would take longer."""
        block = self._block
        if self._batch is None and block is not None and not block.jobs():
            block.launch_block()

    def ask_block(self, after: str | None) -> None:
        """Submit the block's job, to begin when the job ``after`` has begun. Only once."""
        block = self._block
        if self._batch is None or block is None or block.jobs():
            return
        self._wanted = True
        block.provider.after = after
        block.launch_block()

    def block_state(self) -> str:
        """``queued``, ``running``, ``draining``, ``gone``; ``broken`` when the interchange has
        died."""
        block = self._block
        if block is None:
            return "gone"
        if block.is_broken():
            return "broken"
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_S
            # The provider keeps its files in the run directory, which may be away for a while.
            with contextlib.suppress(OSError):
                self._state = self._look(block)
        return self._state

    def _look(self, block: ViewingBlock) -> str:
        if self._batch is None:
            if block.live_jobs():
                return "running" if self._heard else "queued"
            return "gone" if block.jobs() else "queued"  # it is held back for now
        live = block.live_blocks()
        managers = block.managers(live)
        if managers is None:
            return "broken"
        if managers:
            self.workers = max(one.workers - 1 for one in managers) or 1
            for job_id, number in block.jobs().items():
                if any(one.block == number for one in managers):
                    self._batch.scheduler.calm(job_id)
            young = [one for one in managers if not self._is_old(one)]
            return "running" if young else "draining"
        # The scheduler, which is asked seldom, says what became of a block without managers.
        if self._state in {"running", "draining"}:
            with contextlib.suppress(SchedulerError):
                for job_id in block.jobs():
                    state = self._batch.scheduler.look(job_id)
                    if state.waiting and self._state == "running":
                        who = self._batch.scheduler.title
                        self._requeued = f"{who} put job {job_id} back into its queue: {state.text}"
            live = block.live_blocks()
        return "queued" if not self._wanted or live else "gone"

    def _is_old(self, manager: Manager) -> bool:
        """Whether its block takes no new tasks, or is about to: time to ask for the next one."""
        assert self._batch is not None
        first = self._met.setdefault(manager.block, time.monotonic())
        age = time.monotonic() - first
        return manager.draining or age > self._batch.walltime_s - self._batch.drain_s - 2 * LOOK_S

    def mend_block(self) -> str | None:
        """Replace a block that is gone or broken; returns what was done, or None.

        Tasks of a block that is gone stay queued for the next one. Those of a broken
        interchange fail, and the driver submits them again.
        """
        state, block = self.block_state(), self._block
        requeued, self._requeued = self._requeued, ""
        if requeued:
            return requeued
        if block is None or state in {"queued", "running"}:
            return None
        if state == "draining" and len(block.live_jobs()) > 1:
            return None
        if state in {"gone", "draining"}:
            why = "its block is about to end" if state == "draining" else self._fate(block)
            if self._batch is not None:
                block.provider.after = None
            block.launch_block()
            self._next_look, self._heard = 0.0, False
            return f"{why}: a new one was asked for"
        self._give_up(block)
        self.open_block()
        return "its interchange had died: replaced"

    def _fate(self, block: ViewingBlock) -> str:
        """Why there is no block any more, in the scheduler's words if there is a scheduler."""
        ended = "its block had ended"
        if self._batch is None or not block.jobs():
            return ended
        state = self._batch.scheduler.state(list(block.jobs())[-1])
        return f"{ended} (job {state.job_id}: {state.text})"

    def _give_up(self, block: ViewingBlock) -> None:
        with contextlib.suppress(Exception):
            block.cancel_jobs()
        # Parsl retries what it fails here, on the same executor, and may never report the end.
        with contextlib.suppress(Exception):
            block.fail_tasks(RuntimeError("the interchange has died"))
        for future, (kind, about) in self._pending.copy().items():
            if kind != "job" and self._pending.pop(future, None) is not None:
                self.ended.put(Done(kind, about, error=RuntimeError("the interchange has died")))

    def view(
        self, kind: str, about: Any, function: Callable[..., Any], *args: Any, priority: int = NEXT
    ) -> Future[Any]:
        """Run ``function(*args)`` of :mod:`.production.tasks` on the viewing block.

        Tasks of ``priority`` :data:`URGENT` go before all others, of :data:`LAST` after them.
        """
        assert self._block is not None, "open_block comes first"
        future = self._view_early(kind, function, *args)
        if future is None:
            app = self._app(tasks.node, self._block.label)
            future = app(function, *args, **with_priority(priority))
            future.add_done_callback(self._hear)
        self._report(future, kind, about)
        return future

    def _view_early(
        self, kind: str, function: Callable[..., Any], *args: Any
    ) -> Future[Any] | None:
        """Run it before the block answers, if it is one of a run's first tasks."""
        if self._early is None or kind == "warm":
            return None
        if self._heard:
            self._early.close()
            return None
        if kind == "watch":
            if self._watched_early:  # a long poll would keep it from the first picture
                return None
            self._watched_early = True
        return self._early.submit(tasks.node, function, *args)

    def _hear(self, done: Future[Any]) -> None:
        """Note that a worker has answered: the block runs."""
        if not self._heard and done.exception() is None:
            self._heard, self._next_look = True, 0.0

    def job(
        self,
        kind: str,
        about: Any,
        launcher: Launcher,
        job_folder: Path,
        after: Sequence[Future[Any]],
    ) -> Future[Ended]:
        """Start (or find again) a supervised job when ``after`` have ended well, and await it."""

        def submitted(job_id: str) -> None:
            self.ended.put(Done("submitted", about, job_id))

        future = self._app(run_job, JOBS)(
            launcher, job_folder, submitted, inputs=list(after), leaving=self.leaving
        )
        self._report(future, kind, about)
        return future

    def login(self, kind: str, about: Any, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Run ``function(*args)`` beside the loop, in the driver's own process."""
        future = self._app(tasks.node, JOBS)(function, *args)
        self._report(future, kind, about)
        return future

    def close_block(self) -> None:
        """End the viewing block for good: nothing more is asked of it."""
        block, self._block = self._block, None
        if block is not None:
            with contextlib.suppress(Exception):
                block.cancel_jobs()

    def _app(self, function: Callable[..., Any], label: str) -> Callable[..., Future[Any]]:
        if (function, label) not in self._apps:
            self._apps[function, label] = parsl.python_app(
                function, data_flow_kernel=self._kernel, executors=[label], cache=False
            )
        return self._apps[function, label]

    def _report(self, future: Future[Any], kind: str, about: Any) -> None:
        self._pending[future] = (kind, about)

        def ended(done: Future[Any]) -> None:
            if self._pending.pop(done, None) is None:
                return  # given up before
            error = done.exception()
            self.ended.put(
                Done(kind, about, error=error) if error else Done(kind, about, done.result())
            )

        future.add_done_callback(ended)

    def events(self, timeout_s: float) -> Iterator[Done]:
        """The nodes that have ended; waits up to ``timeout_s`` for the first one."""
        with contextlib.suppress(queue.Empty):
            yield self.ended.get(timeout=timeout_s)
            while True:
                yield self.ended.get_nowait()

    def warm(self, kinds: Sequence[str]) -> None:
        """Let each worker import what it will need, while the model starts."""
        for _ in range(self.workers + 1):
            self.view("warm", None, tasks.warm, kinds)
