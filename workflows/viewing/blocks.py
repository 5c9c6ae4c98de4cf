"""The viewing blocks of a run: a loaded Parsl, with one block that is replaced when it dies.

Whoever imports this module loads Parsl, which takes a second.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import burstlens.cluster_configs.unmonitored  # noqa: F401  (before Parsl)

# isort: split
import parsl

from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.parsl_config import (
    JOBS,
    Block,
    ViewingBlock,
    config,
    viewing_block,
)
from burstlens.cluster_configs.parsl_internals import Manager, add_executor, with_priority
from burstlens.cluster_configs.scheduler import Scheduler
from burstlens.cluster_configs.site import Site
from burstlens.core.errors import FULL_ERRNO, SiteError
from burstlens.core.run.directory import RunDir
from burstlens.workflows.making import tasks
from burstlens.workflows.viewing.scheduled_blocks import ScheduledBlocks

SEND_LIMIT_MS = 2000
STARTS = 3
"""Chances of an interchange that dies while it starts."""
ROOM_BYTES = 1 << 16
"""Of a block's script, certificates and first logs."""
LOOK_S = 5.0
"""How often the provider is asked about the viewing block's job."""
SOON_S = 0.5
"""How often its answer is looked for when it decides whether the block has ended."""


class ViewingBlocks:
    """A loaded Parsl. ``late``: a block of this machine is launched by :meth:`launch_late`.

    Make it, and call it, from the main thread: Parsl's interchange is tied to the life of the
    thread that starts it.
    """

    def __init__(
        self, site: Site, run: RunDir, jobs: int, batch: Block | None, *, late: bool
    ) -> None:
        self._site = site
        self._run = run
        self._batch = batch
        self._jobs = None if batch is None else ScheduledBlocks(batch)
        self._late = late
        self._generation = 0
        self._block: ViewingBlock | None = None
        self._all: list[ViewingBlock] = []
        self._state = "queued"
        self.heard = False
        """Whether a worker of the latest block has answered."""
        self._requeued = ""
        self._missed_since: float | None = None
        self.workers = site.workers() * (site.viewing.nodes if batch is not None else 1)
        """Workers on all nodes that make products, as the block has counted them."""
        self._wanted = False
        self._met: dict[str, float] = {}
        self._inside: Inside | None = None
        self._enters: Scheduler | None = None
        self._next_look = 0.0
        self._loaded = contextlib.ExitStack()
        self._apps: dict[tuple[Callable[..., Any], str], Callable[..., Future[Any]]] = {}
        if self._jobs is not None and any(run.parsl.iterdir()):
            self._jobs.cancel_former()  # without interchange they end by themselves
        self._kernel = self._loaded.enter_context(parsl.load(config(site, run.parsl, jobs)))

    def close(self) -> None:
        """End the blocks, and unload Parsl."""
        for block in self._all:
            self._cancel(block)
            with contextlib.suppress(Exception):
                block.drop_unsent()
        if self._jobs is not None:
            self._jobs.close()
        with contextlib.suppress(Exception):  # what is left is ended by its own ids
            self._loaded.close()
        with contextlib.suppress(Exception):
            parsl.clear()

    def open(self) -> str:
        """Start a viewing block on an interchange of its own; returns its label.

        A block that is a batch job is submitted by :meth:`ask`, when it is of use. Raises
        SiteError when Parsl's interchange does not start, three times in a row; OSError when the
        run directory has no room for its files.
        """
        require_room(self._run.parsl)
        reason: Exception | None = None
        for _ in range(STARTS):
            self._generation += 1
            label = f"viewing-{self._generation}"
            place = self._batch or self._inside
            block = viewing_block(self._site, label, self._run.parsl, place, self._enters)
            self._all.append(block)
            try:
                add_executor(self._kernel, block)
            except Exception as error:  # Parsl has no class of its own for this
                reason = error
                continue
            block.limit_sends(SEND_LIMIT_MS)
            self._block = block
            self._met.clear()  # a new interchange numbers its blocks anew
            self._begin_waiting()
            if self._jobs is None:
                if not self._late:
                    block.launch_block()
            elif self._wanted:
                self.ask(None)
            return label
        raise SiteError(f"Parsl's interchange does not start ({reason}); see {self._run.parsl}")

    def _begin_waiting(self) -> None:
        """A new block waits: what was known is known of the one before."""
        self._state, self._missed_since = "queued", None
        self._next_look, self.heard = 0.0, False

    @property
    def label(self) -> str:
        """The label of the viewing block."""
        return f"viewing-{self._generation}"

    def enter(self, inside: Inside, scheduler: Scheduler | None = None) -> None:
        """Later blocks are steps of this job, of the site's scheduler if none is given."""
        self._inside, self._enters = inside, scheduler

    def mount(self, lines: tuple[str, ...]) -> None:
        """The lines with which the scripts of later blocks mount the buffer."""
        if self._batch is not None:
            self._batch = replace(self._batch, lines=lines)

    def launch_late(self) -> None:
        """Launch the block that :meth:`open` has held back while an early worker made the
        first picture: both at once would take longer."""
        block = self._block
        if self._batch is None and block is not None and not block.jobs():
            block.launch_block()

    def ask(self, after: str | None) -> None:
        """Submit the block's job, to begin when the job ``after`` has begun. Only once, and beside
        the caller."""
        block, jobs = self._block, self._jobs
        if jobs is None or block is None or block.jobs() or jobs.is_submitting(block):
            return
        self._wanted = True
        jobs.submit(block, after)

    def state(self) -> str:
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
        jobs = self._jobs
        if jobs is None:
            if block.live_jobs():
                return "running" if self.heard else "queued"
            return "gone" if block.jobs() else "queued"  # it is held back for now
        jobs.submit_due(block)
        managers = block.managers(jobs.live(block))
        if managers is None:
            return "broken"
        if managers:
            self._missed_since = None
            jobs.ask(block)
            for job_id, number in block.jobs().items():
                if any(one.block == number for one in managers):
                    jobs.calm(job_id)
            young = [one for one in managers if not self._is_old(one)]
            # One of them watches.
            self.workers = max(1, sum(one.workers for one in young or managers) - 1)
            return "running" if young else "draining"
        # The scheduler, which is asked seldom, says what became of a block without managers.
        if self._state in {"running", "draining"} and not self._heard_why(block, jobs):
            self._next_look = time.monotonic() + SOON_S
            return self._state
        self._missed_since = None
        jobs.ask(block)
        waits = jobs.is_submitting(block) or not self._wanted
        return "queued" if waits or jobs.live(block) else "gone"

    def _heard_why(self, block: ViewingBlock, jobs: ScheduledBlocks) -> bool:
        """Whether the scheduler has said what became of a block since its managers are missed."""
        since = self._missed_since = self._missed_since or time.monotonic()
        answer = jobs.answer(block)
        if answer.asked < since:
            jobs.ask(block, closely=True)
            return False
        for state in answer.states.values():
            if state.waiting and not state.hopeless and self._state == "running":
                who = jobs.batch.scheduler.title
                self._requeued = f"{who} put job {state.job_id} back into its queue: {state.text}"
        return True

    def _is_old(self, manager: Manager) -> bool:
        """Whether its block takes no new tasks, or is about to: time to ask for the next one."""
        assert self._batch is not None
        first = self._met.setdefault(manager.block, time.monotonic())
        age = time.monotonic() - first
        # It was met later than it began: by a look, and by what its processes took to start.
        ahead = max(2 * LOOK_S, self._batch.drain_s)
        return manager.draining or age > self._batch.walltime_s - self._batch.drain_s - ahead

    @property
    def waits(self) -> str:
        """Why the block's latest job has not begun, in the scheduler's words; else empty."""
        if self._jobs is None or self._block is None:
            return ""
        return self._jobs.why_waiting(self._block)

    def mend(self, give_up: Callable[[], None]) -> str | None:
        """Replace a block that is gone or broken; returns what was done, or None.

        Tasks of a block that is gone stay queued for the next one. Those of a broken
        interchange fail: ``give_up`` is called, and the driver submits them again.
        """
        state, block = self.state(), self._block
        requeued, self._requeued = self._requeued, ""
        if requeued:
            return requeued
        if block is None or state in {"queued", "running"}:
            return None
        if state == "draining" and self._has_next(block):
            return None
        if state in {"gone", "draining"}:
            why = self._fate(block, "its block is about to end" if state == "draining" else "")
            if self._jobs is None:
                block.launch_block()
            else:
                self._jobs.submit(block, None)
            self._next_look, self.heard = 0.0, False
            return f"{why}: a new one was asked for"
        self._give_up(block)
        give_up()
        self.open()
        return "its interchange had died: replaced"

    def _has_next(self, block: ViewingBlock) -> bool:
        """Whether the block that takes the place of one that ends is asked for already."""
        jobs = self._jobs
        if jobs is None:
            return len(block.live_jobs()) > 1
        return jobs.is_submitting(block) or len(jobs.live(block)) > 1

    def _fate(self, block: ViewingBlock, draining: str) -> str:
        """Why a new block is needed, in the scheduler's words if there is a scheduler; ``draining``
        says so of a block that runs, unless the one that was to follow it cannot."""
        ended = draining or "its block had ended"
        if self._jobs is None:
            return ended
        refusal = self._jobs.refusal(block)
        if refusal:
            return f"its block was not accepted ({refusal})"
        states = list(self._jobs.answer(block).states.values())
        if not states:
            return ended
        said = f"(job {states[-1].job_id}: {states[-1].text})"
        if states[-1].hopeless:
            return f"its block cannot begin {said}"
        return draining or f"{ended} {said}"

    def _cancel(self, block: ViewingBlock) -> None:
        """End the block's jobs; a scheduler does so beside the caller."""
        if self._jobs is not None:
            self._jobs.cancel(block)
            return
        with contextlib.suppress(Exception):
            block.cancel_jobs()

    def _give_up(self, block: ViewingBlock) -> None:
        self._cancel(block)
        # Parsl retries what it fails here, on the same executor, and may never report the end.
        with contextlib.suppress(Exception):
            block.fail_tasks(RuntimeError("the interchange has died"))

    def submit(self, function: Callable[..., Any], *args: Any, priority: int) -> Future[Any]:
        """Run ``function(*args)`` of :mod:`.making.tasks` on the latest block."""
        assert self._block is not None, "open comes first"
        app = self._app(tasks.node, self._block.label)
        future = app(function, *args, **with_priority(priority))
        future.add_done_callback(self._hear)
        return future

    def thread(self, function: Callable[..., Any], *args: Any, **keywords: Any) -> Future[Any]:
        """Run it in a thread of this process; futures among the arguments are awaited first."""
        return self._app(function, JOBS)(*args, **keywords)

    def _hear(self, done: Future[Any]) -> None:
        """Note that a worker has answered: the block runs."""
        if not self.heard and done.exception() is None:
            self.heard, self._next_look = True, 0.0

    @property
    def is_open(self) -> bool:
        """Whether there is a block that takes nodes."""
        return self._block is not None

    def end_block(self) -> None:
        """End the viewing block for good: nothing more is asked of it."""
        block, self._block = self._block, None
        if block is not None:
            self._cancel(block)

    def _app(self, function: Callable[..., Any], label: str) -> Callable[..., Future[Any]]:
        if (function, label) not in self._apps:
            self._apps[function, label] = parsl.python_app(
                function, data_flow_kernel=self._kernel, executors=[label], cache=False
            )
        return self._apps[function, label]


def require_room(folder: Path) -> None:
    """Raise OSError where a full disk would refuse a block's script and certificates: Parsl says
    of these only that its interchange does not start, and leaves its sockets open."""
    part = folder / ".room.part"
    try:
        try:
            part.write_bytes(bytes(ROOM_BYTES))
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        if error.errno in FULL_ERRNO:  # one that is away comes back
            raise
