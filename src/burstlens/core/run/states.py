"""The states of chained products: the newest ones up to a valid time."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field

HELD_BYTES = 256 << 20
"""The states of one product on one stream take at most this many bytes."""
LEAST = 8
"""... but this many of the newest are kept, whatever their size."""
CHANCES = 3
"""States that a frame may continue from: the newest, and older ones in case it is unusable."""


@dataclass(slots=True)
class SeriesStates:
    """The states of one product on one stream: times in order; names and bytes by time."""

    times: list[str] = field(default_factory=list)
    names: dict[str, tuple[str, int]] = field(default_factory=dict)
    bytes: int = 0


@dataclass(slots=True)
class States:
    """The published states by product and stream, by path relative to ``products/``."""

    series: dict[tuple[str, str], SeriesStates] = field(default_factory=dict)

    def note(self, product: str, stream: str, time: str, name: str, size: int) -> None:
        """Add a state of ``size`` bytes; it replaces one of the same valid time."""
        series = self.series.setdefault((product, stream), SeriesStates())
        if time not in series.names:
            bisect.insort(series.times, time)
        series.bytes += size - series.names.get(time, ("", 0))[1]
        series.names[time] = name, size

    def newest(self, product: str, stream: str, time: str) -> str:
        """The newest state up to that valid time; empty when there is none."""
        series = self.series.get((product, stream), SeriesStates())
        place = bisect.bisect_right(series.times, time)
        return series.names[series.times[place - 1]][0] if place else ""

    def before(self, product: str, stream: str, time: str) -> tuple[str, ...]:
        """The newest states before that valid time, newest first."""
        series = self.series.get((product, stream), SeriesStates())
        place = bisect.bisect_left(series.times, time)
        found = series.times[max(0, place - CHANCES) : place]
        return tuple(series.names[time][0] for time in reversed(found))

    def surplus(self, product: str, stream: str) -> list[str]:
        """The oldest states beyond the limits, forgotten here; the caller deletes them."""
        series = self.series.get((product, stream), SeriesStates())
        gone = []
        while series.bytes > HELD_BYTES and len(series.times) > LEAST:
            name, size = series.names.pop(series.times.pop(0))
            series.bytes -= size
            gone.append(name)
        return gone
