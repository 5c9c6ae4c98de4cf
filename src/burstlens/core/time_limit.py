"""A time limit on a worker's task with one frame."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

from burstlens.core.errors import FrameError


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise FrameError in this (main) thread when the block takes longer. They do not nest."""

    def over(_number: int, _frame: object) -> None:
        raise FrameError(f"took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
