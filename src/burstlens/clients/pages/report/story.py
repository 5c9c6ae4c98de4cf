"""What happened in a run, in order, from its journal: what a report is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from burstlens.core.run import events as ev
from burstlens.core.run.events import Event, FrameKey
from burstlens.core.run.job_record import TrialRecord

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
    trips: list[ev.GuardTripped] = field(default_factory=list)
    frames: list[float] = field(default_factory=list)
    latency: list[Point] = field(default_factory=list)
    raw: list[Point] = field(default_factory=list)
    brought: list[Point] = field(default_factory=list)
    held: list[Point] = field(default_factory=list)
    output: dict[str, list[Point]] = field(default_factory=dict)
    """By stream: when the log named an output, and the seconds that it took."""
    home: list[tuple[str, float]] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    kept: int = 0
    """How many products a later attempt has computed again to the same bytes."""
    buffer: str = ""
    trials: dict[str, TrialRecord] = field(default_factory=dict)
    """Of a tuning, by job."""
    looking: float | None = None
    """When the run began, or began again, to look at a folder in which others started the model."""


def story_of(events: Iterable[Event]) -> Story:
    """The story of these events; those without a time are passed over."""
    story = Story()
    sizes: dict[FrameKey, int] = {}
    for event in events:
        if event.t:
            story.begin = event.t if story.begin is None else story.begin
            story.end = event.t
            if not _look(story, event):
                _span(story.spans, event)
            if mark := _mark(event):
                story.marks.append(mark)
            _add(story, event, sizes)
    story.marks.sort(key=lambda mark: mark.t)  # a trip may be journalled after it was found
    return story


_JOB = re.compile(r"^step-(.*)-[\d.]+$")
_STAGES: dict[type[Event], tuple[str, str]] = {
    ev.RunStarted: ("", "buffer"), ev.RunResumed: ("", "buffer"),
    ev.BufferCreated: ("buffer", "stage in"), ev.BufferAdopted: ("buffer", ""),
    ev.StageInDone: ("stage in", ""), ev.StageOutDone: ("bring home", ""),
}  # fmt: skip
"""The span that an event ends, and the one that it begins."""


def _mark(event: Event) -> Mark | None:
    match event:
        case ev.RunResumed():
            return Mark(event.t, "life", "resumed")
        case ev.RunAttached(path=path, reason=reason):
            return Mark(event.t, "life", f"looks at {path}: {reason}")
        case ev.AttemptObserved(attempt=attempt, evidence=evidence):
            return Mark(event.t, "life", f"attempt {attempt} of the model: {evidence}")
        case ev.ModelObserved(state=state, evidence=evidence):
            return Mark(event.t, "life", f"the model: {state}, {evidence}")
        case ev.PathLost(evidence=evidence):
            return Mark(event.t, "alarm", f"the folder cannot be read: {evidence}")
        case ev.PathBack(evidence=evidence):
            return Mark(event.t, "life", evidence)
        case ev.Alarm(text=text):
            return Mark(event.t, "alarm", text)
        case ev.GuardTripped(guard=guard, text=text, found=found):
            return Mark(found or event.t, "trip", f"guard {guard}: {text}")
        case ev.FrameDamaged(stream=stream, time=time, reason=reason):
            return Mark(event.t, "alarm", f"damaged frame {stream} {time or ''}: {reason or ''}")
        case ev.StreamUndecoded(stream=stream, file=file, reason=reason):
            return Mark(event.t, "alarm", f"no usable time in {stream}: {file}: {reason}")
        case ev.ViewingEnded(reason=reason):
            return Mark(event.t, "alarm", f"viewing block: {reason}")
        case ev.ControlReceived(control=control):
            return Mark(event.t, "control", f"asked to {control}")
        case ev.ProductAdded(product=product):
            return Mark(event.t, "control", f"product {product} added")
        case ev.ProductRefused(reason=reason):
            return Mark(event.t, "control", f"products refused: {reason or ''}")
    return None


def _add(story: Story, event: Event, sizes: dict[FrameKey, int]) -> None:
    t = event.t
    match event:
        case ev.GuardTripped():
            story.trips.append(event)
        case ev.FrameReady():
            size = event.bytes or 0
            sizes[event.stream, event.time, event.attempt] = size
            story.frames.append(t)
            story.raw.append((t, _last(story.raw) + size))
            story.held.append((t, _last(story.held) + size))
        case ev.FrameReleased():
            freed = sizes.get((event.stream, event.time, event.attempt), 0)
            story.held.append((t, max(0.0, _last(story.held) - freed)))
        case ev.ProductPublished():
            written = (event.clock or {}).get("written")
            # Else a clock was set back in between; what was there before has no latency.
            if written and t >= written >= (story.looking or 0.0):
                story.latency.append((t, t - written))
            story.brought.append((t, _last(story.brought) + event.bytes))
        case ev.ProductKept():
            story.kept += 1
        case ev.OutputTimed(stream=stream) if not event.late:
            story.output.setdefault(stream or "without frames", []).append((t, event.took_s))
        case ev.ProductFailed():
            story.failures[event.product] = event.reason or ""
        case ev.StageOutDone():
            story.home = [(name, size) for name, size in event.files or ()]
        case ev.BufferCreated():
            story.buffer = " ".join(filter(None, (event.kind, event.name)))
        case ev.TrialSubmitting(job=job, phase=phase):
            story.trials[job] = TrialRecord(event)
            story.spans.setdefault(phase, Span(phase, t)).end = None  # each phase is one
        case ev.TrialEnded(job=job) if job in story.trials:
            story.trials[job].ended = event
            story.spans[story.trials[job].submitting.phase].end = t


def _look(story: Story, event: Event) -> bool:
    """Take an event of a run that looks at a folder: it has no buffer; whether it was one."""
    if isinstance(event, ev.RunAttached):
        begun = story.spans.pop("buffer", None)
        story.looking = begun.begin if begun else event.t
    elif isinstance(event, ev.RunResumed) and story.looking is not None:
        _end(story.spans, f"look {story.looking}", event.t - (event.idle_s or 0.0))
        story.looking = event.t
    else:
        return False
    story.spans[f"look {story.looking}"] = Span("look", story.looking)
    return True


def _span(spans: dict[str, Span], event: Event) -> None:
    t = event.t
    if type(event) in _STAGES:
        ends, begins = _STAGES[type(event)]
        _end(spans, ends, t)
        if begins:
            spans[begins] = Span(begins, t)
    match event:
        case ev.SimulationSubmitted(job=job) | ev.StepStarted(job=job):
            spans.setdefault(job, Span(_JOB.sub(r"\1", job).replace("-", " "), t))
        case ev.SimulationEnded(job=job) | ev.StepEnded(job=job):
            _end(spans, job, t, event.outcome or "")
            # After the steps that follow it.
            if isinstance(event, ev.SimulationEnded) or "bring home" in spans:
                spans["bring home"] = Span("bring home", t)
        case ev.RunEnded():
            for name in spans:
                _end(spans, name, t)


def _end(spans: dict[str, Span], name: str, t: float, state: str = "") -> None:
    span = spans.get(name)
    if span is not None and span.end is None:
        span.end, span.state = t, state


def _last(points: list[Point]) -> float:
    return points[-1][1] if points else 0.0
