"""Patience: files are read in threads, and a file system that hangs blocks only a few of them."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar

from aiohttp import web

THREADS = 64
AT_ONCE = 8
"""Threads that the files of one run may hold."""
PATIENCE_S = 10.0

T = TypeVar("T")


class Patience:
    """Runs calls that may hang outside the event loop, at most ``AT_ONCE`` at a time per run.

    So clients of a run wait only when eight other runs are on file systems that hang. ``pool`` are
    threads of its own, for work that must not take those of the files.
    """

    def __init__(
        self, pool: Executor | None = None, at_once: int = AT_ONCE, limit_s: float = PATIENCE_S
    ) -> None:
        self._pool = pool
        self._at_once = at_once
        self._limit_s = limit_s
        self._gates = weakref.WeakValueDictionary[str, asyncio.Semaphore]()
        self._under_way: set[asyncio.Future[Any]] = set()

    @property
    def hangs(self) -> bool:
        """Whether a thread is still busy."""
        return bool(self._under_way)

    async def call(self, run: str, function: Callable[..., T], *arguments: object) -> T:
        """``function(*arguments)``, in a thread.

        Raises what it raises, and HTTPServiceUnavailable when it takes longer than ``limit_s``,
        including the time it waits for the run's other calls.
        """
        gate = self._gates.get(run) or self._gates.setdefault(run, asyncio.Semaphore(self._at_once))
        try:
            async with asyncio.timeout(self._limit_s):
                await gate.acquire()
                loop = asyncio.get_running_loop()
                future = loop.run_in_executor(self._pool, function, *arguments)
                self._under_way.add(future)
                future.add_done_callback(self._under_way.discard)
                future.add_done_callback(lambda _: gate.release())
                return await asyncio.shield(future)  # it continues after the time is up
        except TimeoutError:
            raise web.HTTPServiceUnavailable(
                text=f"the file system of {run or 'the runs'} has not answered for "
                f"{self._limit_s:.0f} s\n",
                headers={"Retry-After": "5"},
            ) from None
