"""What one worker may use of its node: memory and cores, as its environment says; and how long one
of its tasks with a frame may take."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from burstlens.core.errors import FrameError
from burstlens.core.quantity import show_bytes

MEMORY_VARIABLE = "BURSTLENS_MEMORY"
CORES_VARIABLE = "BURSTLENS_CORES"
DEFAULT_MEMORY = 10**9
"""Bytes of one worker."""
LEAST_MEMORY = 300 * 10**6
"""Bytes that a worker takes before it has read anything, with the libraries that draw."""

_MMAP, _TRIM = 32 << 20, 128 << 20
MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(_MMAP), "MALLOC_TRIM_THRESHOLD_": str(_TRIM)}
"""A worker's environment, for glibc: what one slab frees is the next one's, and not given back to
the kernel, which would clear it anew: that took half of the CPU time of a fast diagnostic."""
_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD = -3, -1


@dataclass(frozen=True, slots=True)
class Allowance:
    """Bytes of memory, and cores."""

    memory: int = DEFAULT_MEMORY
    cores: int = 1


def allowance(environment: Mapping[str, str] | None = None) -> Allowance:
    """That of this process. What is not set, or is not a number above 0, has its default: 1 GB and
    one core."""
    given = os.environ if environment is None else environment
    return Allowance(
        _number(given.get(MEMORY_VARIABLE, "")) or DEFAULT_MEMORY,
        _number(given.get(CORES_VARIABLE, "")) or 1,
    )


def keep_freed() -> None:
    """What ``MALLOC`` sets, for a process that has begun. Source: mallopt(3)."""
    import ctypes  # a command that only checks a recipe need not load it

    with contextlib.suppress(OSError, AttributeError):  # another C library than glibc
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _MMAP)
        mallopt(_M_TRIM_THRESHOLD, _TRIM)


def room() -> int:
    """Bytes that the arrays of a product may take in this process, beside what it takes itself."""
    memory = allowance().memory
    return max(memory - LEAST_MEMORY, memory // 8)


def memory_of(given: int) -> int:
    """``given`` bytes as a worker's memory; ValueError if they are less than it takes itself."""
    if given < LEAST_MEMORY:
        raise ValueError(
            f"{show_bytes(given)} are less than a worker takes before it has read anything: "
            f"{LEAST_MEMORY // 10**6} MB or more"
        )
    return given


def _number(text: str) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() else 0


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
