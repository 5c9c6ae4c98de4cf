"""What the journal tells, in the order in which it happened: the ground of a report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from burstlens.follow import number
from burstlens.journal import Event

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


def tell(events: Iterable[Event]) -> Story:
    """The story that these events tell; what is foreign or torn in them is passed over."""
    story = Story()
    sizes: dict[tuple[Any, ...], float] = {}
    for event in events:
        t = number(event.get("t"))
        if t is None:
            continue
        story.begin = t if story.begin is None else story.begin
        story.end = t
        kind = str(event.get("event"))
        if kind in _SPANS:
            _span(story, t, kind, event)
        elif kind in _MARKS:
            mark, text = _MARKS[kind]
            story.marks.append(Mark(number(event.get("found")) or t, mark, _worded(text, event)))
        if kind == "guard.tripped":
            story.trips.append(event)
        elif kind in {"frame.ready", "frame.released"}:
            _frame(story, t, event, sizes)
        elif kind == "product.published":
            _product(story, t, event)
        elif kind == "product.failed":
            story.failures[str(event.get("product"))] = str(event.get("reason"))
        elif kind == "stageout.done":
            story.home = [(str(name), number(size) or 0.0) for name, size in _pairs(event)]
        elif kind == "buffer.created":
            story.buffer = " ".join(filter(None, (_text(event, "kind"), _text(event, "name"))))
    story.marks.sort(key=lambda mark: mark.t)  # a trip may have been found before it was told
    return story


_JOB = re.compile(r"^step-(.*)-[\d.]+$")
_SPANS = {
    "run.started", "run.resumed", "run.ended", "buffer.created", "buffer.adopted", "stagein.done",
    "stageout.done", "simulation.submitting", "simulation.submitted", "simulation.ended",
    "step.submitting", "step.started", "step.ended", "buffer.released",
}  # fmt: skip
_MARKS = {
    "alarm": ("alarm", "{text}"),
    "guard.tripped": ("trip", "guard {guard}: {text}"),
    "frame.damaged": ("alarm", "damaged frame {stream} {time}: {reason}"),
    "viewing.ended": ("alarm", "viewing block: {reason}"),
    "control.received": ("control", "asked to {control}"),
    "product.added": ("control", "product {product} added"),
    "product.refused": ("control", "products refused: {reason}"),
}


def _span(story: Story, t: float, kind: str, event: Event) -> None:
    spans = story.spans
    if kind in {"run.started", "run.resumed"}:
        if kind == "run.resumed":
            story.marks.append(Mark(t, "life", "resumed"))
        spans["buffer"] = Span("buffer", t)
    elif kind in {"buffer.created", "buffer.adopted"}:
        _end(spans, "buffer", t)
        if kind == "buffer.created":
            spans["stage in"] = Span("stage in", t)
    elif kind == "stagein.done":
        _end(spans, "stage in", t)
    elif kind in {"simulation.submitted", "step.started"}:
        name = _text(event, "job")
        spans.setdefault(name, Span(_JOB.sub(r"\1", name).replace("-", " "), t))
    elif kind in {"simulation.ended", "step.ended"}:
        _end(spans, _text(event, "job"), t, _text(event, "outcome"))
        if kind == "simulation.ended" or "bring home" in spans:  # after the steps that follow it
            spans["bring home"] = Span("bring home", t)
    elif kind == "stageout.done":
        _end(spans, "bring home", t)
    elif kind == "run.ended":
        for span in spans.values():
            span.end = t if span.end is None else span.end


def _end(spans: dict[str, Span], name: str, t: float, state: str = "") -> None:
    span = spans.get(name)
    if span is not None and span.end is None:
        span.end, span.state = t, state


def _frame(story: Story, t: float, event: Event, sizes: dict[tuple[Any, ...], float]) -> None:
    key = tuple(str(event.get(name)) for name in ("stream", "time", "attempt"))
    held = story.held[-1][1] if story.held else 0.0
    if event["event"] == "frame.released":
        story.held.append((t, max(0.0, held - sizes.get(key, 0.0))))
        return
    sizes[key] = size = number(event.get("bytes")) or 0.0
    story.frames.append(t)
    story.raw.append((t, (story.raw[-1][1] if story.raw else 0.0) + size))
    story.held.append((t, held + size))


def _product(story: Story, t: float, event: Event) -> None:
    clock = event.get("clock")
    written = number(clock.get("written")) if isinstance(clock, Mapping) else None
    if written and t >= written:  # else a clock was set back in between
        story.latency.append((t, t - written))
    before = story.brought[-1][1] if story.brought else 0.0
    story.brought.append((t, before + (number(event.get("bytes")) or 0.0)))


def _pairs(event: Event) -> list[list[Any]]:
    files = event.get("files")
    found = files if isinstance(files, list) else []
    return [pair for pair in found if isinstance(pair, list) and len(pair) == 2]


def _text(event: Event, name: str) -> str:
    value = event.get(name)
    return "" if value is None else str(value)


def _worded(text: str, event: Event) -> str:
    for name in ("text", "guard", "stream", "time", "reason", "control", "product"):
        text = text.replace("{" + name + "}", _text(event, name))
    return text
