"""Parsl's worker pool, whose workers import once, and which ends when it can no longer work.

A worker imports Parsl, netCDF4 and matplotlib: 1,100 modules, which take 2.4 s of CPU, 120 MB, and
as many files that are asked of the shared file system. Here one process of the pool imports them
while the pool starts, and its forks are the workers.

The process that holds its queues may be killed, for memory say, and one of its threads may fail.
Parsl's pool then goes on answering the interchange without a worker that takes a task, and a run
would wait for its products for ever. Where it ends instead, the driver replaces the block and its
tasks are made again. The same holds for a worker that is killed while it waits for a task: it holds
the lock of their queue, which no other worker gets any more.

Parsl's pool makes the folder of its logs with every folder above it. A run directory that is moved
away while the pool starts would be made again, and could not come back: so the pool gets the
folder by the descriptor that it holds, which follows where it goes.
"""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.forkserver
import os
import runpy
import shutil
import sys
import threading
import time
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from multiprocessing.util import get_temp_dir
from typing import NoReturn

from burstlens.cluster_configs.parsl_internals import (
    IDLE_WORKER_ENDED,
    LOG_FOLDER,
    QUEUE_HOLDER,
    WORKER_POOL,
    fork_workers_by,
)
from burstlens.cluster_configs.pool_sockets import FOLDER_VARIABLE, remove_on_sigterm

SOCKETS = "burstlens.cluster_configs.pool_sockets"
UNMONITORED = "burstlens.cluster_configs.unmonitored"
PRELOADED = (
    SOCKETS,
    UNMONITORED,
    WORKER_POOL,
    "burstlens.workflows.making.tasks",
    "burstlens.workflows.making.watching",
    "burstlens.viz.frames.reader",
    "burstlens.viz.kinds.map.draw",
    "h5py",
)
"""What each worker needs; ``warm`` imports what a kind of product needs as well."""
_LOOK_S = 0.1
_over = threading.Event()


def main() -> None:
    """Run Parsl's pool as ``__main__`` with this process's arguments; its workers look there for
    its functions."""
    logging.raiseExceptions = False  # its log may lie on a full disk: no tracebacks of that
    sys.argv[1:] = map(_held, sys.argv[1:])
    _fork_workers()
    threading.excepthook = _failed
    logging.getLogger(WORKER_POOL).addHandler(IdleWorkerWatch())
    threading.Thread(target=_watch, name="holder-watch", daemon=True).start()
    runpy.run_module(WORKER_POOL, run_name="__main__", alter_sys=True)
    _over.set()


def _held(argument: str) -> str:
    """The argument, with the folder of the logs by a descriptor that this process holds; its
    workers find it by this process's number."""
    option, _, folder = argument.partition("=")
    if option != LOG_FOLDER:
        return argument
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        _end(f"the folder of its logs cannot be opened: {error}")
    return f"{option}=/proc/{os.getpid()}/fd/{held}"


def _fork_workers() -> None:
    """Start the process that imports for all, and let Parsl fork its workers from it.

    A fork of the pool itself would copy the locks of its threads in whatever state they are.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    os.environ[FOLDER_VARIABLE] = sockets = get_temp_dir()
    remove_on_sigterm(sockets)  # at a regular end multiprocessing does
    multiprocessing.forkserver.ensure_running()  # one that is started anew has the variable, too
    import_module(UNMONITORED)  # takes 1 s, in which that process imports, too
    fork_workers_by(context)


def _watch() -> None:
    """End this pool when the process with the queues ends, or the one that workers fork from."""
    while (holder := _holder()) is None:
        time.sleep(_LOOK_S)
    wait([holder.sentinel])  # the process that it is a fork of holds the other end
    if not _over.is_set():
        _end("the process that holds its queues, or the one that starts workers, has ended")


class IdleWorkerWatch(logging.Handler):
    """Ends this pool when Parsl's own watch of the workers says that an idle one has ended."""

    def emit(self, record: logging.LogRecord) -> None:
        """Take a message of the pool."""
        if IDLE_WORKER_ENDED in record.getMessage():
            _end("a worker was killed as it waited for a task, and holds the lock of their queue")


def _holder() -> BaseProcess | None:
    children = multiprocessing.active_children()
    return next((child for child in children if child.name.startswith(QUEUE_HOLDER)), None)


def _failed(failure: threading.ExceptHookArgs) -> None:
    threading.__excepthook__(failure)
    _end(f"its thread {failure.thread.name if failure.thread else ''} has failed")


def _end(why: str) -> NoReturn:
    # The workers see that it is gone, and go.
    print(f"the worker pool ends: {why}", file=sys.stderr, flush=True)
    shutil.rmtree(get_temp_dir(), ignore_errors=True)
    os._exit(1)


if __name__ == "__main__":
    main()
