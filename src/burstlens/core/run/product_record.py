"""What the events of a run's products add up to, with the states of chained ones."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from burstlens.core.run import events as ev
from burstlens.core.run.attached import Attached
from burstlens.core.run.columns import FrameSet, LimitsOf, ProductNumbers
from burstlens.core.run.events import FrameKey, Key
from burstlens.core.run.noticed import Noticed

Widening = tuple[FrameKey, tuple[float, float]]
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
    gone: list[str] = field(default_factory=list)
    """Those that are of no use any more, and are not deleted yet."""

    def begin_after(self, time: str) -> None:
        """An attempt resumes from that time: forget what others have added up to later ones."""
        for series in self.series.values():
            while series.times and series.times[-1] > time:
                name, size = series.names.pop(series.times.pop())
                series.bytes -= size
                self.gone.append(name)

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

    def surplus(self, product: str, stream: str, held: Iterable[str] = ()) -> list[str]:
        """What is of no use any more, and the oldest states of that series beyond the limits,
        forgotten here; the caller deletes them. An attempt may resume from each of the times
        ``held``: the newest state up to it stays."""
        series = self.series.get((product, stream), SeriesStates())
        gone, self.gone = self.gone, []
        if series.bytes <= HELD_BYTES:
            return gone
        stay = {self.newest(product, stream, time) for time in held}
        for time in series.times[:-LEAST]:
            name, size = series.names[time]
            if series.bytes > HELD_BYTES and name not in stay:
                del series.names[time]
                series.bytes -= size
                gone.append(name)
        series.times = [time for time in series.times if time in series.names]
        return gone


@dataclass(slots=True)
class ProductHistory(Attached):
    """The part of a run's history that is about its products."""

    frames: FrameSet = field(default_factory=FrameSet)
    released: FrameSet = field(default_factory=FrameSet)
    outdated: set[Key] = field(default_factory=set)
    """Products that were made of an earlier record of their frame's time."""
    published: ProductNumbers = field(default_factory=ProductNumbers)
    publishing: dict[Key, ev.ProductPublishing] = field(default_factory=dict)
    failed: ProductNumbers = field(default_factory=ProductNumbers)
    holes: set[Key] = field(default_factory=set)
    """Published, but only as a placeholder."""
    retried: set[Key] = field(default_factory=set)
    """Failed of whole frames in a run that had ended so: it was resumed to make them again."""
    standing: Counter[str] = field(default_factory=Counter)
    """How many of each product are published, without placeholders."""
    kept: Counter[str] = field(default_factory=Counter)
    """How often an attempt has computed one of each product again, to the same bytes."""
    failures: Counter[str] = field(default_factory=Counter)
    """How many of each product are failed."""
    reasons: dict[str, str] = field(default_factory=dict)
    """The latest reason why a product failed."""
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The colour limits of each product whose limits follow its frames."""
    widenings: dict[str, list[Widening]] = field(default_factory=dict)
    """How these have widened, in order: the limits, and the frame that needed them."""
    narrowed: dict[str, float] = field(default_factory=dict)
    """When widenings of a product were undone: what was ordered before has the wider limits."""
    drawn: LimitsOf = field(default_factory=LimitsOf)
    """The limits that pictures of these products are drawn with."""
    states: States = field(default_factory=States)
    product_bytes: int = 0
    noticed: Noticed = field(default_factory=Noticed)
    """Which word was sent."""


def retry(history: ProductHistory) -> None:
    """Note that what failed of whole frames of the latest attempt is made again, if they are still
    there."""
    history.retried |= {
        key
        for key, attempt in history.failed.items()
        if attempt == history.attempt
        and (*key[1:], attempt) in history.frames
        and (*key[1:], attempt) not in history.released
    }


def outdate(history: ProductHistory, frame: FrameKey) -> None:
    """Note that the products of that frame, and of that attempt, are to be made again."""
    stream, time, attempt = frame
    for settled in (history.published, history.failed):
        found = settled.of_frame(stream, time)
        history.outdated |= {key for key, number in found if number == attempt}


def limits(history: ProductHistory, event: ev.ProductLimits) -> None:
    history.limits[event.product] = event.limits
    frame = event.stream or "", event.time or "", event.attempt or 0
    history.widenings.setdefault(event.product, []).append((frame, event.limits))


def narrow(history: ProductHistory, is_stale: Callable[[FrameKey], bool], t: float) -> None:
    """Undo the widenings by frames that are stale, with all that came after: each is based on the
    one before, and the pictures that need more say so when they are made again."""
    for product, widenings in history.widenings.items():
        stale = next((n for n, (frame, _) in enumerate(widenings) if is_stale(frame)), None)
        if stale is None:
            continue
        del widenings[stale:]
        history.narrowed[product] = t
        if widenings:
            history.limits[product] = widenings[-1][1]
        else:
            history.limits.pop(product, None)


def publishing(history: ProductHistory, event: ev.ProductPublishing) -> None:
    history.publishing[event.key] = event


def published(history: ProductHistory, event: ev.ProductPublished) -> None:
    key, product = event.key, event.product
    stood = key in history.published and key not in history.holes
    _stands(history, event)
    if history.attached is not None:
        history.sums[key] = event.crc32
    if event.facts is not None and event.facts.get("placeholder"):
        history.holes.add(key)
    else:
        history.holes.discard(key)
    history.standing[product] += (key not in history.holes) - stood
    parts = (event.values or ()) + (event.pieces or ())
    history.product_bytes += event.bytes + sum(part.bytes for part in parts)


def kept(history: ProductHistory, event: ev.ProductKept) -> None:
    """The file that stands is that of the attempt which has computed it again."""
    _stands(history, event)
    history.kept[event.product] += 1


def _stands(history: ProductHistory, event: ev.ProductPublished | ev.ProductKept) -> None:
    """The product of that attempt stands under its final name."""
    key = event.key
    history.publishing.pop(key, None)
    history.retried.discard(key)
    history.outdated.discard(key)
    history.published[key] = event.attempt
    history.noticed.note_product(event, looked=history.attached is not None)
    if event.limits is not None:
        history.drawn[key] = event.limits
    else:
        history.drawn.pop(key, None)
    # What a lost worker of an earlier attempt had made does not settle a later one's failure.
    if key in history.failed and event.attempt >= history.failed[key]:
        del history.failed[key]
        history.failures[event.product] -= 1
    if event.state is not None:
        history.states.note(*key, event.state.name, event.state.bytes)


def failed(history: ProductHistory, event: ev.ProductFailed) -> None:
    key, product = event.key, event.product
    history.retried.discard(key)
    history.outdated.discard(key)
    history.failures[product] += key not in history.failed
    history.failed[key] = max(event.attempt, history.failed.get(key, 0))
    history.reasons[product] = str(event.reason)
    history.noticed.note_product(event, looked=history.attached is not None)
