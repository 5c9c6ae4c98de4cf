"""A worker that makes the first pictures while the viewing block starts.

Parsl's block takes some seconds until its first worker answers. One process of this machine, which
begins to import before Parsl does, runs single tasks of the same kind meanwhile, and ends when the
block has answered.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

import psutil

LOWEST = 19
AT_USUAL_PRIORITY = 2
"""Its first look at the folder and its first picture: on a busy machine, at the lowest priority,
they would come after minutes."""


def lowest_priority() -> None:
    """Give this process, and those that it starts, the lowest priority for CPU and disk."""
    with contextlib.suppress(OSError):
        os.nice(LOWEST)
    with contextlib.suppress(psutil.Error, OSError, AttributeError):
        psutil.Process().ionice(psutil.IOPRIO_CLASS_IDLE)


def _begin() -> None:
    # As the workers of the block: no lock is ever taken on a file that a model writes.
    os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
    os.environ["MPLBACKEND"] = "Agg"
    os.environ["OMP_NUM_THREADS"] = "1"
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A driver that was killed cannot end its processes, and a pool's wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _import() -> int:
    """Import what tasks need; returns the process's id."""
    import burstlens.viz.frames.reader  # noqa: F401
    from burstlens.workflows.production import tasks

    tasks.warm(["map"])
    return os.getpid()


class EarlyWorker:
    """One process for tasks that need not wait for the viewing block."""

    def __init__(self, *, lowest: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool: ProcessPoolExecutor | None = ProcessPoolExecutor(1, context, initializer=_begin)
        self._imported = self._pool.submit(_import)
        self._last: Future[Any] = self._imported
        self._busy: dict[str, Future[Any]] = {}
        self._lowest, self._tasks = lowest, 0

    def submit(self, kind: str, function: Callable[..., Any], *args: Any) -> Future[Any] | None:
        """Run ``function(*args)`` there, after what it has in hand; None while that is of the same
        kind, or when it is closed."""
        busy = self._busy.get(kind)
        if self._pool is None or (busy is not None and not busy.done()):
            return None
        try:
            if self._tasks == AT_USUAL_PRIORITY and self._lowest:
                self._pool.submit(lowest_priority)
            self._tasks += 1
            self._last = self._busy[kind] = self._pool.submit(function, *args)
        except RuntimeError:  # its process was killed: the block does it
            self.close()
            return None
        return self._last

    def close(self) -> None:
        """End it, after what it has in hand."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False)

    def end(self) -> None:
        """End it now, and kill it if it has something in hand: its folder may hang, and this
        process would wait for it."""
        self.close()
        if not self._last.done() and self._imported.done() and not self._imported.exception():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._imported.result(), signal.SIGKILL)
