"""The part of a run that one process computes: where it begins, where it stops, and how often it
writes checkpoints on the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from burstlens.workflows.awm.parameters import MOST_STEPS, Parameters
from burstlens.workflows.awm.times import step_at


@dataclass(frozen=True, slots=True)
class Stretch:
    """``restart`` is the checkpoint that it continues from. ``until_s``: it stops, with a
    checkpoint, after the first step at or beyond that model time. ``every_s`` is the model time
    from one checkpoint to the next, in place of the parameter file's steps, ``keep`` how many it
    keeps of those that it writes (0: all), in place of the file's.
    """

    restart: Path | None = None
    until_s: float | None = None
    every_s: float | None = None
    keep: int | None = None

    def last(self, given: Parameters) -> int:
        """The step after which it stops: that of the end, if ``until_s`` is not before it."""
        time = given.time
        if self.until_s is None or self.until_s >= time.count * time.step_s:
            return time.count
        return min(time.count, step_at(self.until_s, time.step_s))

    def every(self, given: Parameters) -> int:
        """Steps from one checkpoint to the next, 0 for none."""
        if self.every_s is None:
            return given.checkpoint.every
        return max(1, round(min(self.every_s / given.time.step_s, MOST_STEPS)))

    def kept(self, given: Parameters) -> int:
        """How many checkpoints it keeps; 0 for all."""
        return given.checkpoint.keep if self.keep is None else self.keep

    def wants_checkpoints(self, given: Parameters) -> bool:
        """Whether the state is worth a checkpoint when a signal ends the run."""
        return self.until_s is not None or self.every(given) > 0
