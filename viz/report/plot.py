"""Small plots for a report, as inline SVG: they take the page's colours and need no script."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from burstlens.quantity import show_bytes, show_duration
from burstlens.viz.report.story import Mark, Point, Span

WIDTH, HEIGHT = 720, 200
LEFT, RIGHT, TOP, BOTTOM = 96, 16, 10, 26
MOST_POINTS = 400
"""Beyond this points are taken together: their median, and their largest as a second line."""
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200)
_DAY_S = 86400
_ZEROS = re.compile(r"\.0+ ")
_UNITS = ((_DAY_S, "d"), (3600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a plot: its CSS class, which is also a colour, its name, its points."""

    style: str
    name: str
    points: Sequence[Point]


def time_plot(
    lines: Sequence[Line], begin: float, end: float, show: Callable[[float], str], title: str
) -> Element:
    """Lines over the time since ``begin``; ``show`` words a value. The axis begins at 0."""
    svg = _svg(HEIGHT, title)
    top = max((value for line in lines for _, value in line.points), default=0.0) or 1.0
    ticks = value_ticks(top, binary=show is show_bytes)
    top = max(top, ticks[-1])
    x, y = _scales(begin, end, top, HEIGHT)
    for tick in ticks:
        _line(svg, "grid", LEFT, y(tick), WIDTH - RIGHT, y(tick))
        _text(svg, "tick end", LEFT - 8, y(tick) + 4, _ZEROS.sub(" ", show(tick)) if tick else "0")
    _time_axis(svg, begin, end, HEIGHT)
    for line in lines:
        for style, points in _thinned(line):
            path = " ".join(f"{x(t):.1f},{y(value):.1f}" for t, value in points)
            if len(points) == 1:
                at = {"cx": f"{x(points[0][0]):.1f}", "cy": f"{y(points[0][1]):.1f}", "r": "3"}
                SubElement(svg, "circle", {"class": f"dot {style}", **at})
            elif points:
                SubElement(svg, "polyline", {"class": f"line {style}", "points": path})
    return svg


def timeline(
    spans: Sequence[Span], frames: Sequence[float], marks: Sequence[Mark], begin: float, end: float
) -> Element:
    """What ran when, a row each, above the frames as they came and what happened."""
    rows = len(spans) + bool(frames) + bool(marks)
    height = TOP + 24 * rows + BOTTOM
    svg = _svg(height, "Timeline of the run")
    x, _ = _scales(begin, end, 1.0, height)
    for row, span in enumerate(spans):
        top = TOP + 24 * row
        _text(svg, "tick end", LEFT - 8, top + 15, span.name)
        stop = end if span.end is None else span.end
        wide = max(2.0, x(stop) - x(span.begin))
        state = span.state if span.state in {"failed", "stopped"} else "done"
        at = {"x": f"{x(span.begin):.1f}", "y": str(top + 4), "width": f"{wide:.1f}"}
        bar = SubElement(svg, "rect", {"class": f"bar {state}", **at, "height": "16", "rx": "2"})
        SubElement(bar, "title").text = f"{span.name}: {show_duration(stop - span.begin)}"
    row = len(spans)
    if frames:
        top = TOP + 24 * row
        _text(svg, "tick end", LEFT - 8, top + 15, "frames")
        for at_x in sorted({round(x(t), 1) for t in frames}):
            _line(svg, "frame", at_x, top + 5, at_x, top + 19)
        row += 1
    if marks:
        top = TOP + 24 * row
        _text(svg, "tick end", LEFT - 8, top + 15, "events")
        for mark in marks:
            at = {"cx": f"{x(mark.t):.1f}", "cy": str(top + 12), "r": "4.5"}
            dot = SubElement(svg, "circle", {"class": f"mark {mark.kind}", **at})
            SubElement(dot, "title").text = mark.text
    _time_axis(svg, begin, end, height)
    return svg


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


def _thinned(line: Line) -> list[tuple[str, list[Point]]]:
    points = list(line.points)
    if len(points) <= MOST_POINTS:
        return [(line.style, points)]
    size = math.ceil(len(points) / (MOST_POINTS / 2))
    groups = [points[at : at + size] for at in range(0, len(points), size)]
    middle = [(group[-1][0], statistics.median(v for _, v in group)) for group in groups]
    largest = [(group[-1][0], max(v for _, v in group)) for group in groups]
    return [(f"{line.style} faint", largest), (line.style, middle)]


def _scales(
    begin: float, end: float, top: float, height: float
) -> tuple[Callable[[float], float], Callable[[float], float]]:
    span = max(end - begin, 1e-9)
    wide, tall = WIDTH - LEFT - RIGHT, height - TOP - BOTTOM
    return (
        lambda t: LEFT + wide * min(1.0, max(0.0, (t - begin) / span)),
        lambda value: TOP + tall * (1 - value / top),
    )


def _time_axis(svg: Element, begin: float, end: float, height: float) -> None:
    x, _ = _scales(begin, end, 1.0, height)
    span = max(end - begin, 1e-9)
    step = next((it for it in _STEPS_S if span / it <= 8), math.ceil(span / 8 / _DAY_S) * _DAY_S)
    unit, name = next(it for it in _UNITS if step >= it[0] / 2)
    _line(svg, "axis", LEFT, height - BOTTOM, WIDTH - RIGHT, height - BOTTOM)
    for tick in range(0, int(span) + 1, step):
        at = x(begin + tick)
        _line(svg, "axis", at, height - BOTTOM, at, height - BOTTOM + 4)
        if at < WIDTH - RIGHT - 12:
            _text(svg, "tick middle", at, height - 7, f"{tick / unit:g} {name}" if tick else "0")


def _svg(height: float, title: str) -> Element:
    box = f"0 0 {WIDTH} {height:g}"
    svg = Element("svg", {"viewBox": box, "role": "img", "aria-label": title})
    SubElement(svg, "title").text = title
    return svg


def _line(svg: Element, style: str, x1: float, y1: float, x2: float, y2: float) -> None:
    at = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    SubElement(svg, "line", {"class": style, **at})


def _text(svg: Element, style: str, x: float, y: float, text: str) -> None:
    SubElement(svg, "text", {"class": style, "x": f"{x:.1f}", "y": f"{y:.1f}"}).text = text
