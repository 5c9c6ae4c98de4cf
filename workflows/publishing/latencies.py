"""Latencies: seconds from a frame's last byte to its product's publication."""

from __future__ import annotations

import collections
import time

from burstlens.core.run import events as ev
from burstlens.core.run.event import Event, Key
from burstlens.core.run.history import History
from burstlens.core.run.status_file import LastProduct, Latency

CLOCK_JUMP_S = 5.0
"""A jump of more than this means that the clock was set, not slewed."""
LATENCIES = 500
"""How many of the latest products the latency covers; the journal has the whole run's."""


class Latencies:
    """Of the products that one driver has published for the first time, and the last of these."""

    def __init__(self, history: History) -> None:
        self.last: LastProduct | None = None
        self._history = history
        self._seconds: collections.deque[float] = collections.deque(maxlen=LATENCIES)
        self._publishing: set[Key] = set()
        """Products that are being published, without those that stand and are made again."""
        self._asked_late = 0.0
        self._begun = time.time()
        self._clock: float | None = None

    def apply(self, event: Event) -> None:
        """Take an event of the journal."""
        match event:
            case ev.ProductPublishing():
                if self._history.published.get(event.key) != event.attempt:
                    self._publishing.add(event.key)
            case ev.ProductPublished() if event.key in self._publishing:
                self._publishing.remove(event.key)
                self._add(event)
            case (
                ev.ControlReceived(control="pause" | "resume-watching")
                | ev.ProductAdded(all_frames=True)
            ):
                self.ask_late(event.t)

    def _add(self, event: ev.ProductPublished) -> None:
        clock = event.clock or {}
        written, detected = clock.get("written"), clock.get("detected")
        late = (detected or 0.0) < self._asked_late
        if written and not late and not self._was_there(written):
            latency = event.t - written
            if latency >= 0:  # else a clock was set back in between
                self._seconds.append(latency)
        self.last = LastProduct(event.product, event.stream, event.time, event.name, event.t)

    def _was_there(self, written: float) -> bool:
        """Whether a frame is older than this driver of an attached run: its age is no latency."""
        return self._history.attached is not None and written < self._begun

    def note_clock(self, now: float, t: float) -> None:
        """Take the time by both clocks. After the Unix one was set, the ages of earlier frames do
        not count as latencies."""
        between = t - now
        if self._clock is not None and abs(between - self._clock) > CLOCK_JUMP_S:
            self.ask_late(t)
            self._clock = None
        self._clock = between if self._clock is None else self._clock

    def ask_late(self, t: float) -> None:
        """Do not count the ages of the frames found so far: their products are asked for now."""
        self._asked_late = t

    def value(self) -> Latency | None:
        """The last one and two quantiles; None before the first."""
        if not self._seconds:
            return None
        values = sorted(self._seconds)
        return Latency(
            last=round(self._seconds[-1], 3),
            p50=round(values[len(values) // 2], 3),
            p95=round(values[min(len(values) - 1, int(0.95 * len(values)))], 3),
        )
