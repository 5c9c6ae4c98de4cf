"""Who executes the loops of a step: threads of this process.

A solver gives each part of a step as a function of levels, from one to before another; parts follow
one another, the levels of a part go to whoever is free. Ranks or a GPU would take the same parts.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

_LEVELS = 16
"""Levels that a thread takes at a time, at most: their planes stay in a core's cache from the
update to the absorbing layers."""
_EACH = 4
"""So many turns of each thread at least: levels within an absorbing layer take longer."""

Part = Callable[[int, int], None]


class Threads:
    """So many threads, this one among them."""

    def __init__(self, count: int = 1) -> None:
        self.count = count
        self._others = ThreadPoolExecutor(count - 1, "awm") if count > 1 else None

    def run(self, part: Part, first: int, end: int) -> None:
        """Run a part for all levels from ``first`` to before ``end``; returns when it is done.

        Raises what it raises.
        """
        turns = _EACH * self.count if self.count > 1 else 1
        levels = min(_LEVELS, max(1, (end - first) // turns))
        begins = iter(range(first, end, levels))

        def work() -> None:
            for begin in begins:
                part(begin, min(begin + levels, end))

        others = [] if self._others is None else [
            self._others.submit(work) for _ in range(self.count - 1)
        ]  # fmt: skip
        try:
            work()
        finally:
            for other in others:  # they write to the same fields
                other.result()
