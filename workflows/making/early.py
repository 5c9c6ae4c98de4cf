"""A worker that stages in and makes the first pictures while the viewing block starts.

Parsl's block takes some seconds until its first worker answers. One process of this machine, which
begins before Parsl is loaded, runs single tasks of the same kind meanwhile, and ends when the block
has answered.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import psutil

from burstlens.core.allowance import MEMORY_VARIABLE, keep_freed
from burstlens.core.run.directory import RunDir
from burstlens.core.run.log_level import log_level
from burstlens.core.run.logs import open_log

ERRORS = "early.stderr"
"""In the folder of Parsl's own files."""
LOWEST = 19
ENDS_S = 2.0
"""How long a killed process is waited for; in a call to a file system that hangs it stays."""
DRAWS = "work"
"""The kind of tasks that make pictures. Up to the first of them it keeps the usual priority: on a
busy machine, at the lowest one, that picture would come after minutes."""


def lowest_priority() -> None:
    """Give this process, and those that it starts, the lowest priority for CPU and disk."""
    with contextlib.suppress(OSError):
        os.nice(LOWEST)
    with contextlib.suppress(psutil.Error, OSError, AttributeError):
        psutil.Process().ionice(psutil.IOPRIO_CLASS_IDLE)


def _begin(run: RunDir | None) -> None:
    if run is not None:
        open_log(run.path, "worker", log_level(), f"{os.uname().nodename}-early")
    for number in (signal.SIGINT, signal.SIGHUP):  # a terminal's, meant for the driver
        signal.signal(number, signal.SIG_IGN)
    # As the workers of the block: no lock is ever taken on a file that a model writes.
    os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
    os.environ["MPLBACKEND"] = "Agg"
    os.environ["OMP_NUM_THREADS"] = "1"
    keep_freed()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A driver that was killed cannot end its processes, and a pool's wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _import() -> None:
    """Import what products need."""
    import burstlens.viz.frames.reader  # noqa: F401
    from burstlens.workflows.making import tasks

    tasks.warm(["map"])


def _allow(memory: int) -> None:
    os.environ[MEMORY_VARIABLE] = str(memory)


@contextlib.contextmanager
def _standard_error_to(path: Path) -> Iterator[None]:
    """Let processes that are started here write there, not on the terminal: as Parsl's workers."""
    try:
        before = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    try:
        with contextlib.suppress(OSError), path.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


class EarlyWorker:
    """One process for tasks that need not wait for the viewing block; leaving its context ends it.

    What products need it imports at once, or, with ``stages_in``, after its first task. It keeps
    its log in ``run``.
    """

    def __init__(self, *, lowest: bool, stages_in: bool = False, run: RunDir | None = None) -> None:
        others = multiprocessing.active_children()
        context = multiprocessing.get_context("spawn")
        self._pool: ProcessPoolExecutor | None = ProcessPoolExecutor(1, context, _begin, (run,))
        with _standard_error_to(run.parsl / ERRORS if run else Path(os.devnull)):
            self._last: Future[Any] = self._pool.submit(os.getpid)
        self._processes = [one for one in multiprocessing.active_children() if one not in others]
        self._latest: dict[str, Future[Any]] = {}
        self._ending: threading.Thread | None = None
        self._lowest = lowest
        self._stages_in = stages_in
        if not stages_in:
            self._last = self._pool.submit(_import)

    def __enter__(self) -> EarlyWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def allow(self, memory: int | None) -> None:
        """Let products take so many bytes of memory, None: the default."""
        if self._pool is not None and memory is not None:
            with contextlib.suppress(RuntimeError):  # its process was killed
                self._pool.submit(_allow, memory)

    def is_busy(self, kind: str) -> bool:
        """Whether it has a task of that kind in hand, and takes others after it."""
        latest = self._latest.get(kind)
        return self._pool is not None and latest is not None and not latest.done()

    def submit(self, kind: str, function: Callable[..., Any], *args: Any) -> Future[Any] | None:
        """Run ``function(*args)`` there, after what it has in hand; None when it is closed."""
        if self._pool is None:
            return None
        try:
            if self._lowest and DRAWS in self._latest:
                self._pool.submit(lowest_priority)
                self._lowest = False
            self._last = found = self._latest[kind] = self._pool.submit(function, *args)
            if self._stages_in:
                self._last = self._pool.submit(_import)
                self._stages_in = False
        except RuntimeError:  # its process was killed: the block does it
            self.close()
            return None
        return found

    def close(self) -> None:
        """End it, after what it has in hand."""
        pool, self._pool = self._pool, None
        if pool is not None:
            self._ending = threading.Thread(target=pool.shutdown, daemon=True)
            self._ending.start()

    def end(self) -> None:
        """End it now: its folder may hang, and this process would wait for it."""
        lives = self._pool is not None or not self._last.done()
        self.close()
        for process in self._processes if lives else ():
            process.kill()
        if self._ending is not None:  # else the interpreter's exit may meet the pool half closed
            self._ending.join(ENDS_S)
