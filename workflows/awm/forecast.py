"""What a run will do, said before it does it: resolution, step, memory, time, output.

Refuses what cannot be right, with the number that shows it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from burstlens.core.errors import SimulationError
from burstlens.workflows.awm import limits, sizes
from burstlens.workflows.awm.parameters import Parameters

if TYPE_CHECKING:
    from burstlens.workflows.awm.solver import Solver

PROBE_S = 1.0
"""Seconds that a probe takes at most, and ..."""
PROBE_PART = 0.01
"""... the part of a run's steps."""


def refuse_memory(given: Parameters) -> None:
    """Raises SimulationError if the fields will not fit into the memory that is there."""
    wanted, there = sizes.memory_bytes(given), sizes.available_bytes()
    if wanted > there:
        grid = given.grid
        raise SimulationError(
            f"the fields of {grid.nx} x {grid.ny} x {grid.nz} nodes take {size(wanted)} and "
            f"{size(there)} of memory are available: take a larger spacing_m, a smaller grid or "
            "more memory"
        )


def probe(solver: Solver, steps: int, seconds: float = PROBE_S) -> float:
    """Seconds that a step takes, the mean of some steps of a solver at rest.

    The first step, which is not counted, makes the memory's pages.
    """
    solver.rehearse()
    began = time.perf_counter()
    for count in range(1, max(2, round(PROBE_PART * steps)) + 1):
        solver.rehearse()
        mean = (time.perf_counter() - began) / count
        if count * mean >= seconds:
            break
    return mean


@dataclass(frozen=True, slots=True)
class Forecast:
    """The numbers; ``highest_right_hz`` is the frequency up to which the grid has the wanted points
    per shear wavelength. ``step_limit_s`` is the longest stable step.
    """

    nodes: tuple[int, int, int]
    points: int
    steps: int
    step_s: float
    step_limit_s: float
    highest_hz: float
    points_per_wavelength: float
    points_wanted: float
    highest_right_hz: float
    contrast: float
    friction: bool
    memory_bytes: int
    output_bytes: dict[str, int]
    threads: int
    step_takes_s: float

    @classmethod
    def of(cls, solver: Solver, threads: int, step_takes_s: float) -> Forecast:
        """What that solver will do, at so many seconds per step."""
        given, speeds = solver.parameters, solver.speeds
        h, wanted = given.grid.spacing_m, given.grid.points_per_wavelength
        highest = given.source.highest_hz
        return cls(
            nodes=(given.grid.nx, given.grid.ny, given.grid.nz),
            points=solver.points,
            steps=given.time.count,
            step_s=given.time.step_s,
            step_limit_s=limits.longest_step(h, speeds.vp_max),
            highest_hz=highest,
            points_per_wavelength=speeds.vs_min / highest / h,
            points_wanted=wanted,
            highest_right_hz=speeds.vs_min / h / wanted,
            contrast=speeds.contrast,
            friction=solver.robust,
            memory_bytes=sizes.memory_bytes(given),
            output_bytes=sizes.output_bytes(given),
            threads=threads,
            step_takes_s=step_takes_s,
        )

    @property
    def takes_s(self) -> float:
        """Seconds that all steps take, output apart."""
        return self.steps * self.step_takes_s

    def numbers(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {**asdict(self), "takes_s": self.takes_s}

    def lines(self) -> Iterator[str]:
        """All of it for people."""
        nx, ny, nz = self.nodes
        yield (
            f"grid: {nx} x {ny} x {nz} nodes, {self.points / 1e6:.3g} million points with the "
            f"absorbing layers, {size(self.memory_bytes)} of memory"
        )
        yield (
            f"waves: {self.points_per_wavelength:.3g} points per shear wavelength at the source's "
            f"{self.highest_hz:.3g} Hz; right up to {self.highest_right_hz:.3g} Hz, at "
            f"{self.points_wanted:g} points"
        )
        yield (
            f"step: {self.step_s:g} s, {100 * self.step_s / self.step_limit_s:.0f} % of the "
            f"longest stable one, {self.step_limit_s:.3g} s"
        )
        if self.friction:
            yield (
                "absorbing layers: with friction, as speeds at the edges differ by a factor of "
                f"{self.contrast:.3g}; they echo some percent of a wave"
            )
        parts = [f"{name} {size(count)}" for name, count in self.output_bytes.items()]
        yield f"output: {', '.join(parts) or 'none'}"
        yield (
            f"time: about {duration(self.takes_s)} for {self.steps} steps, "
            f"{self.points / self.step_takes_s / 1e6:.3g} million points per second on "
            f"{self.threads} thread{'s' * (self.threads > 1)}"
        )


def size(count: float) -> str:
    """Bytes in a unit that people read."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def duration(seconds: float) -> str:
    """Seconds in a unit that people read."""
    if seconds < 100:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"
