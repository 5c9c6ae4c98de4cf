"""The run: steps, frames and log lines in their order, and a clean end on a signal.

Every line is flushed at once. The line on a frame comes after its file is closed or synced.
"""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from types import FrameType
from typing import Any

import numba
import numpy as np

from burstlens.core.errors import RecipeError, SimulationError
from burstlens.workflows.awm import checkpoint
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.fields import Field
from burstlens.workflows.awm.forecast import Forecast, probe
from burstlens.workflows.awm.output import Frames
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.seismograms import Seismograms
from burstlens.workflows.awm.solver import Solver
from burstlens.workflows.awm.surface_peaks import SurfacePeaks

EVERY_S = 1.0
"""Seconds of wall time between two progress lines."""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
"""The last one asks for a checkpoint after the step under way; the others end the run after it."""
PLAN_STEPS = 1000
"""A plan is probed as a run of so many steps would be."""


def say(text: str) -> None:
    """Print one line of the log."""
    print(f"awm: {text}", flush=True)


def threads(wanted: int | None) -> Threads:
    """That many threads, or all that NUMBA_NUM_THREADS and the machine allow."""
    allowed: int = numba.config.NUMBA_NUM_THREADS
    if wanted is not None and wanted > allowed:
        raise RecipeError(f"threads: {wanted} wanted, {allowed} available")
    return Threads(wanted or allowed)


def compile_kernels(parameters: Parameters) -> None:
    """Compile the loops, or load them from Numba's cache, on the smallest grid."""
    say("compiling kernels")
    began = time.perf_counter()
    changes = {
        "grid": parameters.grid.model_copy(update={"nx": 12, "ny": 12, "nz": 12}),
        "absorbing": parameters.absorbing.model_copy(update={"points": 4, "robust": True}),
        "material": parameters.material.model_validate(
            {"layers": [{"vp_m_s": 2.0, "vs_m_s": 1.0, "rho_kg_m3": 1.0}]}
        ),
        "source": parameters.source.model_copy(
            update={"x_m": 0.0, "y_m": 0.0, "depth_m": 4 * parameters.grid.spacing_m}
        ),
        "allow_unstable": True,
    }
    Solver(parameters.model_copy(update=changes), Path()).advance()
    say(f"compiled in {time.perf_counter() - began:.1f} s")


def plan(parameters: Parameters, folder: Path, by: Threads, *, as_json: bool) -> int:
    """Print what a run would do, and do nothing of it; returns 0."""
    solver = Solver(parameters, folder, by)
    found = Forecast.of(solver, by.count, probe(solver, PLAN_STEPS))
    if as_json:
        print(json.dumps(found.numbers()))
    else:
        for line in found.lines():
            say(line)
    return 0


def _say_written(stream: str, record: int, name: str, t: float, began: float) -> None:
    took = time.perf_counter() - began
    say(f"wrote {stream} record {record} of {name}, t = {t:.3f} s, in {took:.3f} s")


class Run:
    """One run in ``folder``, from its parameters to its last frame."""

    def __init__(
        self, parameters: Parameters, folder: Path, by: Threads, restart: Path | None = None
    ) -> None:
        self.parameters, self.folder = parameters, folder
        self.solver = Solver(parameters, folder, by)
        self.steps = parameters.time.count
        self._by = by
        self._signal, self._wants_checkpoint = 0, False
        self._checkpoints: list[Path] = []
        output, solver = parameters.output, self.solver
        plane = {"y": solver.y, "x": solver.x}
        n = output.volume_stride
        levels = solver.z[(solver.z.size - 1) % n :: n]
        block = {"z": levels, "y": solver.y[::n], "x": solver.x[::n]}
        self.peaks = SurfacePeaks(solver) if output.peaks else None
        self.streams = [
            (every, Frames(name, folder, parameters, axes, take, peaks))
            for name, every, axes, take, peaks in (
                ("surface", output.surface_every, plane, solver.surface_velocity, self.peaks),
                ("volume", output.volume_every, block, lambda c: solver.velocity(c, n), None),
            )
            if every
        ]
        self.stations = Seismograms(folder, parameters, solver) if parameters.station else None
        self.first, self._restart = 1, restart

    def _state(self) -> dict[str, Field]:
        return self.solver.state() | ({} if self.peaks is None else self.peaks.state())

    def _go_on(self, path: Path) -> None:
        """Continue from a checkpoint. Raises RecipeError for one that does not fit."""
        stations = self.stations
        series = () if stations is None else stations.series().keys()
        past = checkpoint.read(path, self.solver, self._state(), series)
        if past.step >= self.steps:
            raise RecipeError(f"{path} is of step {past.step}: the run ends at step {self.steps}")
        self.solver.steps, self.first = past.step, past.step + 1
        for _, frames in self.streams:
            frames.count = past.more["frames"].get(frames.stream, 0)
        if stations is not None:
            stations.go_on(past.series, past.more["stations"])
        t = past.step * self.parameters.time.step_s
        say(f"continues from {path.name}, step {past.step}, t = {t:.3f} s")

    def _write_checkpoint(self, step: int) -> None:
        began = time.perf_counter()
        stations, state = self.stations, dict[str, Any](self._state())
        more: dict[str, Any] = {"frames": {one.stream: one.count for _, one in self.streams}}
        if stations is not None:
            state |= stations.series()
            more["stations"] = stations.counts()
        path = checkpoint.write(self.folder, self.solver, state, more)
        t = step * self.parameters.time.step_s
        say(f"wrote checkpoint {path.name}, t = {t:.3f} s, in {time.perf_counter() - began:.3f} s")
        self._checkpoints.append(path)
        while len(self._checkpoints) > self.parameters.checkpoint.keep:
            self._checkpoints.pop(0).unlink(missing_ok=True)

    def go(self) -> int:
        """Take all steps; returns 0, or 128 plus the number of the signal that ended it.

        Raises SimulationError when the solution is unstable or a file cannot be written.
        """
        step_takes_s = probe(self.solver, self.steps)
        for line in Forecast.of(self.solver, self._by.count, step_takes_s).lines():
            say(line)
        if self._restart is not None:  # only now: the probe is of a wavefield at rest
            self._go_on(self._restart)
        before_us = {n: signal.signal(n, self._note) for n in SIGNALS}
        began = said = time.perf_counter()
        before = self.first - 1
        try:
            for step in range(self.first, self.steps + 1):
                self.solver.advance()
                self._write(step)
                every = self.parameters.checkpoint.every
                if self._wants_checkpoint or (every and step % every == 0):
                    self._wants_checkpoint = False
                    self._write_checkpoint(step)
                now = time.perf_counter()
                if now - said >= EVERY_S or step == self.steps or self._signal:
                    self._check()
                    self._progress(step, (step - before) / (now - said))
                    said, before = now, step
                if self._signal:
                    say(f"stopped by {signal.Signals(self._signal).name} at step {step}")
                    return 128 + self._signal
        finally:
            self._close()
            for number, handler in before_us.items():
                signal.signal(number, handler)
        wall = time.perf_counter() - began
        rate = (self.steps - self.first + 1) * self.solver.points / wall / 1e6
        say(f"done, {self.steps - self.first + 1} steps in {wall:.2f} s, {rate:.1f} Mpoint/s")
        return 0

    def _note(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGUSR1:
            self._wants_checkpoint = True
        else:
            self._signal = number

    def _write(self, step: int) -> None:
        t = round(step * self.parameters.time.step_s, 9)
        if self.stations is not None:
            self.stations.sample(t)
            if step % self.parameters.output.station_every == 0:
                self._flush()
        if self.peaks is not None:
            self.peaks.follow()
        for every, frames in self.streams:
            if step % every == 0:
                began = time.perf_counter()
                _say_written(frames.stream, *frames.write(t), t, began)

    def _flush(self) -> None:
        began = time.perf_counter()
        frame = None if self.stations is None else self.stations.flush()
        if frame is not None:
            _say_written("stations", 0, *frame, began)

    def _check(self) -> None:
        w = self.solver.wavefield
        with np.errstate(over="ignore", invalid="ignore"):
            bad = [n for n in ("vx", "vy", "vz") if not np.isfinite(getattr(w, n).sum())]
        if bad:
            raise SimulationError(
                f"the velocities are not finite at step {self.solver.steps}: the run is unstable"
            )

    def _progress(self, step: int, steps_per_s: float) -> None:
        dt = self.parameters.time.step_s
        rate = steps_per_s * self.solver.points / 1e6
        say(
            f"step {step} of {self.steps}, t = {step * dt:.3f} s of {self.steps * dt:.3f} s, "
            f"{rate:.1f} Mpoint/s"
        )

    def _close(self) -> None:
        for _, frames in self.streams:
            frames.close()
        if self.stations is not None:
            self._flush()
            self.stations.close()
