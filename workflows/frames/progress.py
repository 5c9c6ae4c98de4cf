"""The model's progress and speed, from log lines that were read as they were written.

Lines that may be older (read at the first look, or after one that did not reach the end of the
log) give the progress but not the speed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from burstlens.core import valid_time
from burstlens.core.model import Progress
from burstlens.workflows.models.base import Facts, LogLine

_SAMPLE_S, _SAMPLES = 4.0, 16
_LONGEST_GAP_S = 120.0
"""Between two looks: after a longer gap (a clock jump, say) the speed is measured anew."""
_SPAN = 4.0
"""The speed is taken over at least so many times the uncertainty of its first and last sample."""


@dataclass(frozen=True, slots=True)
class Sample:
    """At ``clock`` (Unix seconds, the watcher's) the model had simulated ``elapsed`` seconds. The
    line may have been written up to ``late`` seconds earlier."""

    clock: float
    elapsed: float
    late: float


@dataclass(frozen=True, slots=True)
class Pulse:
    """Samples of about the latest minute, and when the log was last read to its end."""

    samples: tuple[Sample, ...] = ()
    looked: float | None = None

    @property
    def speed(self) -> float | None:
        """Simulated seconds per second, or None while it is too uncertain."""
        if len(self.samples) < 2:
            return None
        first, last = self.samples[0], self.samples[-1]
        span = last.clock - first.clock
        if span <= 0 or span < _SPAN * max(first.late, last.late):
            return None
        return (last.elapsed - first.elapsed) / span

    def after(self, now: float, elapsed: float | None, *, behind: bool) -> Pulse:
        """After a look at ``now``; ``elapsed`` is the value of its newest line, None without one.
        ``behind``: the look did not reach the end of the log."""
        gap = None if self.looked is None else now - self.looked
        samples = self.samples
        if gap is not None and not 0 <= gap <= _LONGEST_GAP_S:
            gap, samples = None, ()
        if behind:
            return Pulse(samples, None)
        if gap is not None and elapsed is not None:
            if samples and elapsed < samples[-1].elapsed:
                samples = ()
            # At most one every few seconds, and always the newest.
            if len(samples) > 1 and now - samples[-2].clock < _SAMPLE_S:
                samples = samples[:-1]
            samples = (*samples, Sample(now, elapsed, gap))[-_SAMPLES:]
        return Pulse(samples, now)


def progressed(before: Progress, said: LogLine, facts: Facts, calendar: str = "") -> Progress:
    """The model's progress after that line (``progress``, ``phase`` or ``end``). ``calendar`` is
    that of its frames, as CF names it; empty for the Gregorian one."""
    if said.kind == "phase":
        return replace(before, phase=said.text)
    elapsed = said.elapsed_s
    if elapsed is None and said.time is not None and facts.start is not None:
        elapsed = seconds_between(facts.start, said.time, calendar)
    return replace(
        before,
        time=said.time or before.time,
        elapsed_s=before.elapsed_s if elapsed is None else elapsed,
        total_s=said.total_s or before.total_s or _total_s(facts, calendar),
        rate_mpps=said.rate_mpps or before.rate_mpps,
        phase="ended" if said.kind == "end" else "running",
    )


def recounted(before: Progress, facts: Facts, calendar: str) -> Progress:
    """The same progress with seconds of ``calendar``, where they were counted between times in the
    Gregorian one."""
    elapsed_s, total_s = before.elapsed_s, before.total_s
    times = facts.start or "", before.time or ""
    if elapsed_s is not None and elapsed_s == seconds_between(*times):
        elapsed_s = seconds_between(*times, calendar)
    if total_s is not None and total_s == _total_s(facts, ""):
        total_s = _total_s(facts, calendar)
    return replace(before, elapsed_s=elapsed_s, total_s=total_s)


def _total_s(facts: Facts, calendar: str) -> float | None:
    """The simulated seconds asked for, counted in the calendar where they follow from dates."""
    if facts.start is None or facts.end is None:
        return facts.total_s
    return seconds_between(facts.start, facts.end, calendar)


def went_back(before: Progress | None, after: Progress) -> bool:
    """Whether the model is at an earlier time than before: it was started again."""
    if before is None:
        return False
    if before.elapsed_s is not None and after.elapsed_s is not None:
        return after.elapsed_s < before.elapsed_s
    return bool(before.time and after.time) and (after.time or "") < (before.time or "")


def at_speed(progress: Progress, speed: float | None) -> Progress:
    """With the speed (the previous one if ``speed`` is None) and the time left at that speed."""
    speed = speed or progress.speed
    eta = 0.0 if progress.phase == "ended" else None
    if eta is None and speed and progress.total_s is not None and progress.elapsed_s is not None:
        eta = max(0.0, progress.total_s - progress.elapsed_s) / speed
    return replace(progress, speed=speed, eta_s=eta)


def seconds_between(start: str, end: str, calendar: str = "") -> float | None:
    """Seconds of the calendar from one valid-time key to another of the same kind, else None."""
    if valid_time.is_calendar(start) and valid_time.is_calendar(end):
        return valid_time.between(start, end, calendar)
    if valid_time.is_elapsed(start) and valid_time.is_elapsed(end):
        return valid_time.seconds(end) - valid_time.seconds(start)
    return None
