"""Where the states of chained products lie: the newest one up to a valid time."""

from __future__ import annotations

import bisect


class States:
    """The published states by product and stream, by path relative to ``products/``."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], list[str]] = {}
        self._names: dict[tuple[str, str, str], str] = {}

    def note(self, product: str, stream: str, time: str, name: str) -> None:
        """A state stands; it takes the place of one of the same valid time."""
        if (product, stream, time) not in self._names:
            bisect.insort(self._times.setdefault((product, stream), []), time)
        self._names[product, stream, time] = name

    def newest(self, product: str, stream: str, time: str, *, before: bool = False) -> str:
        """The newest state up to that valid time, or ``before`` it; empty when there is none."""
        times = self._times.get((product, stream), [])
        place = (bisect.bisect_left if before else bisect.bisect_right)(times, time)
        return self._names[product, stream, times[place - 1]] if place else ""
