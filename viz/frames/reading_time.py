"""How long a worker reads frames: the seconds in calls that read arrays, inflating included."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Spent:
    """Seconds so far."""

    seconds: float = 0.0


_spent: ContextVar[Spent | None] = ContextVar("spent", default=None)


@contextlib.contextmanager
def measured(spent: Spent) -> Iterator[None]:
    """Add what is read in this thread meanwhile, of any frame."""
    token = _spent.set(spent)
    try:
        yield
    finally:
        _spent.reset(token)


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Count this block, if anything counts."""
    spent = _spent.get()
    if spent is None:
        yield
        return
    begin = time.perf_counter()
    try:
        yield
    finally:
        spent.seconds += time.perf_counter() - begin
