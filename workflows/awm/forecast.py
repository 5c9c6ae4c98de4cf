"""What a run will do and take, said before it does it: resolution, step, memory, time, output.

Refuses what cannot be right, with the number that shows it.
"""

from __future__ import annotations

import math
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlens.core.errors import SimulationError
from burstlens.workflows.awm import limits
from burstlens.workflows.awm.checkpoint_files import HEAD_BYTES
from burstlens.workflows.awm.grid import PaddedGrid
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.times import time_of

if TYPE_CHECKING:
    from burstlens.workflows.awm.solver import Solver

PROBE_S = 1.0
"""Seconds that a probe takes at most, and ..."""
PROBE_PART = 0.01
"""... the part of a run's steps."""
FIELDS = 12
"""Velocities, stresses and three numbers of material, float32."""
_MATERIAL = 3
_MEMORIES = 6
_COMPONENTS, _PEAKS = 3, 5
_FOLLOWED = 9
"""Planes that peaks keep from step to step: with the motion from which they follow."""
_HEADER_BYTES = 16384
_CGROUPS = Path("/sys/fs/cgroup")


def refuse_memory(given: Parameters) -> None:
    """Raises SimulationError if the fields will not fit into the memory that is there."""
    wanted, there = memory_bytes(given), available_bytes()
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
    per shear wavelength. ``step_limit_s`` is the longest stable step. ``steps`` are those that are
    taken, from ``first_step`` to ``last_step``; output and time are theirs.
    """

    nodes: tuple[int, int, int]
    points: int
    steps: int
    first_step: int
    last_step: int
    steps_of_run: int
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
    checkpoint_bytes: int
    checkpoint_every: int
    threads: int
    step_takes_s: float

    @classmethod
    def of(
        cls, solver: Solver, threads: int, step_takes_s: float, checkpoint_every: int = 0,
        first: int = 1, last: int | None = None,
    ) -> Forecast:  # fmt: skip
        """What that solver will do, at so many seconds per step, from the ``first`` to the
        ``last`` step (None: the last one of the run)."""
        given, speeds = solver.parameters, solver.speeds
        last = given.time.count if last is None else last
        h, wanted = given.grid.spacing_m, given.grid.points_per_wavelength
        highest = given.source.highest_hz
        return cls(
            nodes=(given.grid.nx, given.grid.ny, given.grid.nz), points=solver.points,
            steps=last - first + 1, first_step=first, last_step=last,
            steps_of_run=given.time.count, step_s=given.time.step_s,
            step_limit_s=limits.longest_step(h, speeds.vp_max),
            highest_hz=highest, points_per_wavelength=speeds.vs_min / highest / h,
            points_wanted=wanted, highest_right_hz=speeds.vs_min / h / wanted,
            contrast=speeds.contrast, friction=solver.robust,
            memory_bytes=memory_bytes(given), output_bytes=output_bytes(given, first, last),
            checkpoint_bytes=checkpoint_bytes(given, last), checkpoint_every=checkpoint_every,
            threads=threads, step_takes_s=step_takes_s,
        )  # fmt: skip

    @property
    def takes_s(self) -> float:
        """Seconds that the steps take, output apart."""
        return self.steps * self.step_takes_s

    @property
    def checkpoint_every_s(self) -> float:
        """Model time from one checkpoint to the next."""
        return time_of(self.checkpoint_every, self.step_s)

    @property
    def between_checkpoints_s(self) -> float:
        """Seconds that the steps from one checkpoint to the next take."""
        return self.checkpoint_every * self.step_takes_s

    def numbers(self) -> dict[str, Any]:
        """All of it for JSON."""
        names = "takes_s", "checkpoint_every_s", "between_checkpoints_s"
        return {**asdict(self), **{name: getattr(self, name) for name in names}}

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
        if self.checkpoint_every:
            steps = f"{self.checkpoint_every} steps" if self.checkpoint_every > 1 else "step"
            yield (
                f"checkpoints: {size(self.checkpoint_bytes)} each, every {steps}: "
                f"{self.checkpoint_every_s:g} s of the model, about "
                f"{duration(self.between_checkpoints_s)} of computing"
            )
        steps = f"{self.steps} steps"
        if self.steps < self.steps_of_run:
            steps = f"steps {self.first_step} to {self.last_step} of {self.steps_of_run}"
        yield (
            f"time: about {duration(self.takes_s)} for {steps}, "
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


def memory_bytes(given: Parameters) -> int:
    """What the fields of a run take: all but the interpreter and frames being written."""
    grid = PaddedGrid.of(given)
    layers = sum(math.prod(slab.extent) for slab in grid.slabs())
    return 4 * (FIELDS * math.prod(grid.shape) + _MEMORIES * layers)


def checkpoint_bytes(given: Parameters, last: int | None = None) -> int:
    """Size of the checkpoint after the ``last`` step, by default that of the run; those before have
    less of the stations."""
    grid = PaddedGrid.of(given)
    fields = memory_bytes(given) - 4 * _MATERIAL * math.prod(grid.shape)
    peaks = 4 * _FOLLOWED * given.grid.nx * given.grid.ny * given.output.peaks
    return HEAD_BYTES + fields + peaks + _station_bytes(given, last or given.time.count)


def _station_bytes(given: Parameters, samples: int) -> int:
    """Size of so many samples of all seismograms, with their times."""
    stations = len(given.station)
    return samples * (8 + _COMPONENTS * 4 * stations) if stations else 0


def output_bytes(given: Parameters, first: int = 1, last: int | None = None) -> dict[str, int]:
    """Size of all output from the ``first`` to the ``last`` step (None: to the end) without
    compression: ``surface``, ``volume``, ``stations``. stations.nc has all samples from the start.
    """
    grid, output = given.grid, given.output
    last = given.time.count if last is None else last
    stride = output.volume_stride
    plane = grid.nx * grid.ny
    block = math.prod(-(-n // stride) for n in (grid.nx, grid.ny, grid.nz))
    found = {}
    for name, every, values in (
        ("surface", output.surface_every, plane * (_COMPONENTS + _PEAKS * output.peaks)),
        ("volume", output.volume_every, block * _COMPONENTS),
    ):
        if count := last // every - (first - 1) // every if every else 0:
            found[name] = count * (4 * values + _HEADER_BYTES)
    if given.station:
        again = last - first + 1 if output.station_frames else 0
        found["stations"] = _station_bytes(given, last + again)
    return found


def frames(given: Parameters) -> int:
    """Frames of the surface and of volumes."""
    output, steps = given.output, given.time.count
    return sum(steps // every for every in (output.surface_every, output.volume_every) if every)


def available_bytes() -> int:
    """Memory that this process can still have: of the machine, of its control group (a Slurm job
    has one) and of ``ulimit -v``."""
    found = [_machine(), *_groups()]
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        found.append(limit - pages * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(found))


def _machine() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _groups() -> list[int]:
    """What each control group of version 2 around this process has left; file pages that can be
    dropped count as free."""
    found = []
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    inside = next((line[3:] for line in lines if line.startswith("0::")), "/")
    at = _CGROUPS / inside.lstrip("/")
    for group in (at, *at.parents):
        if group == _CGROUPS.parent:
            break
        try:
            limit = (group / "memory.max").read_text().strip()
            if limit != "max":
                lines = (group / "memory.stat").read_text().splitlines()
                stat = dict(line.split() for line in lines)
                used = int((group / "memory.current").read_text()) - int(stat["inactive_file"])
                found.append(int(limit) - used)
        except (OSError, ValueError, KeyError):
            continue  # this group has no controller of memory, or hides it
    return found
