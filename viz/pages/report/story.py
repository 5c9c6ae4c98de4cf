"""What happened in a run, in order, from its journal: what a report is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from burstlens.core.run.follow import number
from burstlens.core.run.journal import Event

Point = tuple[float, float]


@dataclass(slots=True)
class Span:
    """A stretch of time; ``end`` is None while it goes on. ``state`` is how it ended."""

    name: str
    begin: float
    end: float | None = None
    state: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment that a person should see. ``kind``: ``alarm``, ``trip``, ``control``, ``life``."""

    t: float
    kind: str
    text: str


@dataclass(slots=True)
class Story:
    """A run's life; times are Unix seconds, volumes bytes.

    ``latency`` holds (published, seconds after the frame was written); ``raw`` and ``brought`` the
    bytes so far, of frames and of products; ``held`` the raw bytes on the buffer.
    """

    begin: float | None = None
    end: float | None = None
    spans: dict[str, Span] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    trips: list[Event] = field(default_factory=list)
    frames: list[float] = field(default_factory=list)
    latency: list[Point] = field(default_factory=list)
    raw: list[Point] = field(default_factory=list)
    brought: list[Point] = field(default_factory=list)
    held: list[Point] = field(default_factory=list)
    home: list[tuple[str, float]] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    buffer: str = ""


def story_of(events: Iterable[Event]) -> Story:
    """The story of these events; those without a time, and unknown ones, are passed over."""
    story = Story()
    sizes: dict[tuple[Any, ...], float] = {}
    for event in events:
        t = number(event.get("t"))
        if t is not None:
            story.begin = t if story.begin is None else story.begin
            story.end = t
            _add(story, t, event, sizes)
    story.marks.sort(key=lambda mark: mark.t)  # a trip may be journalled after it was found
    return story


_JOB = re.compile(r"^step-(.*)-[\d.]+$")
_STAGES = {
    "run.started": ("", "buffer"), "run.resumed": ("", "buffer"),
    "buffer.created": ("buffer", "stage in"), "buffer.adopted": ("buffer", ""),
    "stagein.done": ("stage in", ""), "stageout.done": ("bring home", ""),
}  # fmt: skip
"""The span that an event ends, and the one that it begins."""
_MARKS = {
    "run.resumed": ("life", "resumed"),
    "alarm": ("alarm", "{text}"),
    "guard.tripped": ("trip", "guard {guard}: {text}"),
    "frame.damaged": ("alarm", "damaged frame {stream} {time}: {reason}"),
    "viewing.ended": ("alarm", "viewing block: {reason}"),
    "control.received": ("control", "asked to {control}"),
    "product.added": ("control", "product {product} added"),
    "product.refused": ("control", "products refused: {reason}"),
}
_WORDS = ("text", "guard", "stream", "time", "reason", "control", "product")


def _add(story: Story, t: float, event: Event, sizes: dict[tuple[Any, ...], float]) -> None:
    kind = str(event["event"])
    _span(story.spans, t, kind, event)
    if kind in _MARKS:
        style, text = _MARKS[kind]
        words = {name: _text(event, name) for name in _WORDS}
        story.marks.append(Mark(number(event.get("found")) or t, style, text.format_map(words)))
    size = number(event.get("bytes")) or 0.0
    frame = tuple(event.get(name) for name in ("stream", "time", "attempt"))
    if kind == "guard.tripped":
        story.trips.append(event)
    elif kind == "frame.ready":
        sizes[frame] = size
        story.frames.append(t)
        story.raw.append((t, _last(story.raw) + size))
        story.held.append((t, _last(story.held) + size))
    elif kind == "frame.released":
        story.held.append((t, max(0.0, _last(story.held) - sizes.get(frame, 0.0))))
    elif kind == "product.published":
        clock: Any = event.get("clock") or {}
        written = number(clock.get("written"))
        if written and t >= written:  # else a clock was set back in between
            story.latency.append((t, t - written))
        story.brought.append((t, _last(story.brought) + size))
    elif kind == "product.failed":
        story.failures[_text(event, "product")] = _text(event, "reason")
    elif kind == "stageout.done":
        files = event.get("files")
        pairs = [it for it in files if isinstance(it, list)] if isinstance(files, list) else []
        story.home = [(str(it[0]), number(it[1]) or 0.0) for it in pairs if len(it) == 2]
    elif kind == "buffer.created":
        story.buffer = " ".join(filter(None, (_text(event, "kind"), _text(event, "name"))))


def _span(spans: dict[str, Span], t: float, kind: str, event: Event) -> None:
    job = _text(event, "job")
    if kind in _STAGES:
        ends, begins = _STAGES[kind]
        _end(spans, ends, t)
        if begins:
            spans[begins] = Span(begins, t)
    elif kind in {"simulation.submitted", "step.started"}:
        spans.setdefault(job, Span(_JOB.sub(r"\1", job).replace("-", " "), t))
    elif kind in {"simulation.ended", "step.ended"}:
        _end(spans, job, t, _text(event, "outcome"))
        if kind == "simulation.ended" or "bring home" in spans:  # after the steps that follow it
            spans["bring home"] = Span("bring home", t)
    elif kind == "run.ended":
        for name in spans:
            _end(spans, name, t)


def _end(spans: dict[str, Span], name: str, t: float, state: str = "") -> None:
    span = spans.get(name)
    if span is not None and span.end is None:
        span.end, span.state = t, state


def _last(points: list[Point]) -> float:
    return points[-1][1] if points else 0.0


def _text(event: Event, name: str) -> str:
    value = event.get(name)
    return "" if value is None else str(value)
