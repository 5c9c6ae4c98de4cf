"""What the measurements prove: the noise of the default, and whether the leader is faster.

Pilot: the default's first runs. Pairs: default and leader in turn, fresh runs that no choice was
based on. A gain is claimed only where every default run of the pairs is slower than every leader
run: for equal ones, 1 of the 20 orders of 3 and 3 runs, so 5 %.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

PILOT, PAIRS = 3, 3
NOISY = 0.2
"""Coefficient of variation from which on a noisy machine is reported."""
LEAST_SHARE = 0.02
"""Below this share of the run's time that output takes, there is nothing to gain."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The default's runs of the pilot: their mean, and their coefficient of variation."""

    mean: float
    variation: float
    runs: int

    @property
    def text(self) -> str:
        """``30.2 s, varies by 12 % (3 runs)``."""
        return f"{self.mean:.4g} s, varies by {self.variation:.0%} ({self.runs} runs)"


def noise_of(seconds: Sequence[float]) -> Noise:
    """The noise of runs of one configuration. Raises ValueError for fewer than two."""
    if len(seconds) < 2:
        raise ValueError("noise needs two runs")
    mean, spread = statistics.fmean(seconds), statistics.stdev(seconds)
    return Noise(mean, spread / mean if mean > 0 else 0.0, len(seconds))


@dataclass(frozen=True, slots=True)
class Verdict:
    """``gain``: whether the leader is faster beyond noise. ``default_s`` and ``leader_s`` are
    medians of the pairs where there were pairs, ``factor`` is their ratio, ``least`` and ``most``
    the smallest and largest ratio of a default run to a leader run. ``reason`` says why."""

    gain: bool
    reason: str
    default_s: float | None = None
    leader_s: float | None = None
    factor: float | None = None
    least: float | None = None
    most: float | None = None


def is_refuted(default: Sequence[float], leader: Sequence[float | None]) -> bool:
    """Whether a gain cannot be claimed any more, whatever further pairs bring: a leader run failed,
    or was not faster than a default run."""
    done = [seconds for seconds in leader if seconds is not None]
    if len(done) < len(leader):
        return True
    return bool(default and done) and min(default) <= max(done)


def judge(default: Sequence[float], leader: Sequence[float | None]) -> Verdict:
    """The verdict on the pairs' runs. Raises ValueError where the pairs are not complete and a gain
    can still be claimed."""
    done = [seconds for seconds in leader if seconds is not None]
    if len(done) < len(leader):
        return Verdict(False, "the leader failed when it was run again")
    refuted = is_refuted(default, leader)
    if not refuted and min(len(default), len(done)) < PAIRS:
        raise ValueError(f"a gain needs {PAIRS} pairs")
    base, best = statistics.median(default), statistics.median(done)
    sizes = {
        "default_s": base,
        "leader_s": best,
        "factor": base / best if best > 0 else None,
        "least": min(default) / max(done) if max(done) > 0 else None,
        "most": max(default) / min(done) if min(done) > 0 else None,
    }
    why = f"each of {len(default)} default runs was slower than each of {len(done)} of the leader's"
    if refuted:
        why = "a default run was as fast as one of the leader's, when both were run in turn"
    return Verdict(not refuted, why, **sizes)
