"""How long output takes on a storage: the model behind ``burstlens io --plan``.

    t = (a + F / min(n b, N c)) / e

``t`` seconds for a frame of ``F`` bytes written by ``N`` compute nodes to ``n`` targets (OSTs, or
nodes of a burst buffer) that take ``b`` bytes per second each; ``c`` is the most that one compute
node sends, ``a`` what more targets do not shorten (open, header, close), ``e`` the efficiency of
the program's pattern and hints against the program that the rates were measured with.
docs/buffer-worth.md has the figures that it was checked against, and what it leaves out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

UNTUNED = 0.25
"""Efficiency on a burst buffer with default hints, against tuned ones: 0.21 (BTIO, 100 GB) to 0.34
(Neuromapp) in Markomanolis & Hadri, "Burst Buffer: From Alpha to Omega", 2018."""
SHARE = 0.05
"""The part of a run's time that output may take."""


@dataclass(frozen=True, slots=True)
class Efficiency:
    """How efficient a program's pattern is on each storage against tuned BTIO, which rates are
    measured with; on the buffer with tuned hints."""

    parallel: float = 1.0
    buffer: float = 1.0


AS_BTIO = Efficiency()
OF_MODELS = {"wrf": Efficiency(0.09, 0.48)}
"""By the talk's WRF-Chem, 2.9 GB per frame. Buffer: 7.27 s on one node. Parallel file system: its
time on 64 OSTs is not given, only that it lies between the buffer's 7.27 s (tuned) and 30.25 s,
which is 0.05 to 0.19; in the middle the run's totals come out within 5 points."""


@dataclass(frozen=True, slots=True)
class Storage:
    """A file system or a burst buffer. Rates in bytes per second; ``compute_rate`` is ``N c``."""

    name: str
    targets: int
    target_rate: float
    overhead_s: float = 0.0
    compute_rate: float = math.inf

    def rate(self, targets: int | None = None) -> float:
        """Bytes per second of a frame on so many targets, by default on all."""
        count = self.targets if targets is None else targets
        return min(count * self.target_rate, self.compute_rate)

    def seconds(self, size: float, targets: int | None = None, efficiency: float = 1.0) -> float:
        """Seconds that a frame of ``size`` bytes takes."""
        return (self.overhead_s + size / self.rate(targets)) / efficiency

    def targets_for(self, size: float, limit_s: float, efficiency: float = 1.0) -> int | None:
        """The fewest targets on which a frame takes at most ``limit_s``; None if none are enough.
        The number may exceed ``targets``: a larger buffer would be needed."""
        left = limit_s * efficiency - self.overhead_s
        # The tolerance is for a limit that was computed from a number of targets.
        if left <= 0 or size > self.compute_rate * left * (1 + 1e-9):
            return None
        return max(1, math.ceil(size / (self.target_rate * left) - 1e-9))


def affordable_every_s(frame_s: float, share: float = SHARE) -> float:
    """Seconds of computing between two frames so that output takes that share of the time."""
    return frame_s * (1 - share) / share


def affordable_frames(frame_s: float, compute_s: float, share: float = SHARE) -> int:
    """How many frames a run of so many seconds of computing may write at that share."""
    return math.floor(compute_s / affordable_every_s(frame_s, share) + 1e-9)


def tail_s(kept: float, frames: int, run_s: float, drain: float) -> float:
    """Seconds after the model's end until kept frames are home. ``kept`` bytes in all are drained
    at ``drain`` bytes per second while the model runs for ``run_s``; of the last frame nothing can
    be drained before."""
    if not kept:
        return 0.0
    last = kept / max(1, frames)
    return max(last, kept - drain * run_s) / drain
