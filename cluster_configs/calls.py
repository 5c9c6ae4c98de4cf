"""Calls of a scheduler that nobody waits for: its commands may hang for minutes."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")
_log = logging.getLogger(__name__)


class SchedulerCalls:
    """Calls on a thread of their own, in the order in which they were begun, one at a time."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._open = 0
        self._changed = threading.Condition()

    def begin(self, call: Callable[[], object]) -> None:
        """Call it when those before it have ended; what it raises is logged."""
        with self._changed:
            self._open += 1
        self._queue.put(call)
        self._start()

    def _start(self) -> None:
        """Start the thread, unless it runs. One that cannot be started now may be later."""
        if self._thread is None:
            # A daemon: the end of this process does not wait for a scheduler that hangs.
            thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
            with contextlib.suppress(RuntimeError):  # no more threads
                thread.start()
                self._thread = thread

    @property
    def idle(self) -> bool:
        """Whether all calls have ended."""
        with self._changed:
            ended = not self._open
        if not ended:
            self._start()  # nobody begins another call while one is open
        return ended

    def wait(self, limit_s: float) -> bool:
        """Wait until all calls have ended, no longer than that; returns whether they have."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._open, limit_s)

    def _run(self) -> None:
        while True:
            call = self._queue.get()
            try:
                call()
            except Exception as error:  # also of a plugin, or of Parsl
                _log.info("a call of the scheduler failed: %s", error)
            with self._changed:
                self._open -= 1
                self._changed.notify_all()


class LatestAnswer(Generic[Answer]):
    """What one question was last answered; it is asked beside the caller, and asked again after a
    pause while it has no answer."""

    def __init__(self, ask: Callable[[], Answer], pause_s: float) -> None:
        self._ask, self._pause_s = ask, pause_s
        self._calls = SchedulerCalls()
        self._next = 0.0
        self._answer: tuple[float, Answer] | None = None

    def since(self, moment: float) -> Answer | None:
        """The answer to a question of after that moment (monotonic); None while there is none:
        then it is asked, and nobody waits for it."""
        answer, now = self._answer, time.monotonic()
        if answer is not None and answer[0] >= moment:
            return answer[1]
        if now >= self._next and self._calls.idle:
            self._next = now + self._pause_s
            self._calls.begin(self._take)
        return None

    def _take(self) -> None:
        asked = time.monotonic()
        self._answer = asked, self._ask()
