"""One short run of the recipe with one configuration, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from burstlens.workflows.tuning.space import Configuration

Phase = Literal["pilot", "search", "pair"]
Origin = Literal["default", "rule", "model", "random", "again", "leader"]
"""Why a configuration was chosen: the recipe as it is, a first guess by rule, Optuna's model, at
random, to measure a promising one again, or as the leader in the pairs."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A trial to run: its phase, its configuration and why it was chosen, in words."""

    phase: Phase
    configuration: Configuration
    origin: Origin
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds in output by stream, first frames left out; ``frames`` counts those that are in."""

    seconds: Mapping[str, float]
    frames: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Seconds in output, of all streams."""
        return sum(self.seconds.values())


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial that has ended. ``measured`` is None where the configuration made the program fail,
    hang or exceed its time; ``message`` says how. ``wall_s`` is the time of the whole program,
    ``load`` the load average of its node when it ended, which is that of the minute before."""

    plan: Plan
    measured: Measured | None = None
    message: str = ""
    wall_s: float = 0.0
    load: float | None = None
    number: int = 0
    """Of all that were started; one that was lost, or stopped, is missing among them."""

    @property
    def seconds(self) -> float | None:
        """Seconds in output; None of a failed one."""
        return None if self.measured is None else self.measured.total
