"""The scales of a report's plots, in the units of the SVG that ``plots.html`` draws."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from burstlens.clients.pages.report.story import Point
from burstlens.core.quantity import show_bytes

LEFT, RIGHT, TOP, BOTTOM = 96, 704, 10, 174
"""The edges of the area that lines are drawn in."""
MOST_POINTS = 400
"""Beyond this points are taken together: their median, and their largest as a second line."""
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200)
_DAY_S = 86400
_ZEROS = re.compile(r"\.0+ ")
_UNITS = ((_DAY_S, "d"), (3600, "h"), (60, "min"), (1, "s"))

Tick = tuple[float, str]
"""The place of a tick, and its label."""


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """The time from ``begin`` to ``end``, in Unix seconds, from left to right."""

    begin: float
    end: float

    def x(self, t: float) -> float:
        """The place of a time; times outside stand at the edges."""
        part = (t - self.begin) / max(self.end - self.begin, 1e-9)
        return round(LEFT + (RIGHT - LEFT) * min(1.0, max(0.0, part)), 1)

    def places(self, times: Iterable[float]) -> list[float]:
        """The places of these times, each once."""
        return sorted({self.x(t) for t in times})

    def ticks(self) -> list[Tick]:
        """At most nine round times since ``begin``; at the right edge there is no label."""
        span = max(self.end - self.begin, 1e-9)
        days = math.ceil(span / 8 / _DAY_S) * _DAY_S
        step = next((it for it in _STEPS_S if span / it <= 8), days)
        unit, name = next(it for it in _UNITS if step >= it[0] / 2)
        ticks = []
        for seconds in range(0, int(span) + 1, step):
            label = f"{seconds / unit:g} {name}" if seconds else "0"
            at = self.x(self.begin + seconds)
            ticks.append((at, label if at < RIGHT - 12 else ""))
        return ticks


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a plot: its CSS class, which is also a colour, its name, its points."""

    style: str
    name: str
    points: Sequence[Point]

    def thinned(self) -> list[tuple[str, Sequence[Point]]]:
        """The points to be drawn, by CSS class."""
        points = self.points
        if len(points) <= MOST_POINTS:
            return [(self.style, points)] if points else []
        size = math.ceil(len(points) / (MOST_POINTS / 2))
        groups = [points[at : at + size] for at in range(0, len(points), size)]
        middle = [(group[-1][0], statistics.median(v for _, v in group)) for group in groups]
        largest = [(group[-1][0], max(v for _, v in group)) for group in groups]
        return [(f"{self.style} faint", largest), (self.style, middle)]


@dataclass(frozen=True)
class Plot:
    """Lines over time. ``show`` words a value; the axis of values begins at 0."""

    title: str
    show: Callable[[float], str]
    lines: Sequence[Line]

    @cached_property
    def _values(self) -> list[float]:
        top = max((value for line in self.lines for _, value in line.points), default=0.0)
        return value_ticks(top or 1.0, binary=self.show is show_bytes)

    def y(self, value: float) -> float:
        """The place of a value."""
        return round(BOTTOM - (BOTTOM - TOP) * value / self._values[-1], 1)

    def paths(self, axis: TimeAxis) -> list[tuple[str, list[Point]]]:
        """What is drawn: CSS class and places."""
        return [
            (style, [(axis.x(t), self.y(value)) for t, value in points])
            for line in self.lines
            for style, points in line.thinned()
        ]

    def ticks(self) -> list[Tick]:
        """Round values from 0 on."""
        return [(self.y(it), _ZEROS.sub(" ", self.show(it)) if it else "0") for it in self._values]


def value_ticks(top: float, *, binary: bool = False) -> list[float]:
    """Three to six round values from 0 on, the last at or above ``top``.

    >>> value_ticks(0.87)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    unit = 1024.0 ** max(0, int(math.log(top, 1024))) if binary and top >= 1 else 1.0
    rough = top / unit / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * it for it in (1, 2, 5, 10) if power * it >= rough * 0.999)
    count = math.ceil(top / unit / step - 1e-9)
    return [round(step * it, 12) * unit for it in range(count + 1)]
