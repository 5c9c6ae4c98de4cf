"""The run: steps, frames and log lines in their order, and a clean end on a signal.

Every line is flushed at once. The line on a frame comes after its file is closed or synced.
"""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

from burstlens.core.errors import RecipeError, SimulationError
from burstlens.workflows.awm.checkpoint import Checkpoints
from burstlens.workflows.awm.checkpoint_files import name_of, remove_parts
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.fields import Field, Wavefield
from burstlens.workflows.awm.forecast import Forecast, probe
from burstlens.workflows.awm.output import COMPONENTS, Frames, write_errors
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.seismograms import SERIES, Seismograms
from burstlens.workflows.awm.signals import ASKING, ENDING, SignalRequests
from burstlens.workflows.awm.solver import Solver
from burstlens.workflows.awm.stretch import Stretch
from burstlens.workflows.awm.surface_peaks import SurfacePeaks
from burstlens.workflows.awm.times import text_of, time_of

EVERY_S = 1.0
"""Seconds of wall time between two progress lines."""
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


def plan(
    parameters: Parameters, folder: Path, by: Threads, stretch: Stretch, *, as_json: bool
) -> int:
    """Print what a run would do, and do nothing of it; returns 0."""
    solver = Solver(parameters, folder, by)
    takes_s = probe(solver, PLAN_STEPS)
    found = Forecast.of(solver, by.count, takes_s, stretch.every(parameters))
    if as_json:
        print(json.dumps(found.numbers()))
    else:
        for line in found.lines():
            say(line)
    return 0


def _say_written(stream: str, record: int, name: str, t: float, began: float) -> None:
    took = time.perf_counter() - began
    say(f"wrote {stream} record {record} of {name}, t = {text_of(t)} s, in {took:.3f} s")


class Run:
    """One run in ``folder``, or a stretch of it, from its parameters to its last frame."""

    def __init__(
        self, parameters: Parameters, folder: Path, by: Threads, stretch: Stretch | None = None,
        requests: SignalRequests | None = None,
    ) -> None:  # fmt: skip
        self.parameters, self.folder = parameters, folder
        self.solver = Solver(parameters, folder, by)
        self.steps = parameters.time.count
        self.stretch = stretch or Stretch()
        self._by, self._requests = by, requests or SignalRequests()
        self._checkpoints = Checkpoints(folder, self.solver, self.stretch.kept(parameters))
        self._continues = False
        """Whether it stopped with a checkpoint: a frame of stations that it began is then that of
        its continuation."""
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
        self.first, self.last = 1, self.stretch.last(parameters)

    def go(self) -> int:
        """Take the steps; returns 0, or 128 plus the number of the signal that ended it.

        Raises SimulationError when the solution is unstable or a file cannot be written, and
        RecipeError for a checkpoint from which it cannot continue.
        """
        step_takes_s, every = probe(self.solver, self.steps), self.stretch.every(self.parameters)
        for line in Forecast.of(self.solver, self._by.count, step_takes_s, every).lines():
            say(line)
        remove_parts(self.folder)
        if self.stretch.restart is not None:  # only now: the probe is of a wavefield at rest
            self._go_on(self.stretch.restart)
        elif self.stations is not None:
            self.stations.open()
        with self._requests.listen(*ENDING, *ASKING):
            try:
                return self._take_steps(every)
            finally:
                self._close()

    def _go_on(self, path: Path) -> None:
        """Continue from a checkpoint. Raises RecipeError for one that does not fit."""
        stations, dt = self.stations, self.parameters.time.step_s
        series = () if stations is None else SERIES
        past = self._checkpoints.read(path, self._state(), series)
        at = f"{path} is of step {past.step}, t = {text_of(time_of(past.step, dt))} s"
        if past.step >= self.steps:
            raise RecipeError(f"{at}: the run ends at step {self.steps}")
        if past.step >= self.last:
            raise RecipeError(f"{at}: --until {self.stretch.until_s:g} is not beyond it")
        self.solver.steps, self.first = past.step, past.step + 1
        for _, frames in self.streams:
            frames.go_on(past.more["frames"].get(frames.stream, 0))
        if stations is not None:
            stations.go_on(past.series, past.more["stations"])
        t = text_of(time_of(past.step, dt))
        say(f"continues from {path.name}, step {past.step}, t = {t} s")

    def _take_steps(self, every: int) -> int:
        asked, keeps = self._requests, self.stretch.wants_checkpoints(self.parameters)
        began = said = time.perf_counter()
        before = self.first - 1
        for step in range(self.first, self.last + 1):
            self.solver.advance()
            self._write(step)
            end, stops = asked.end, asked.stop or step == self.last
            now = time.perf_counter()
            if now - said >= EVERY_S or end or stops:
                self._check()
                self._progress(step, (step - before) / (now - said))
                said, before = now, step
            cut, name = stops and step < self.steps, ""
            if asked.checkpoint or cut or (end and keeps) or (every and step % every == 0):
                asked.checkpoint = False
                name = self._write_checkpoint(step, end=end, cut=cut)
            if end:
                kept = f", with checkpoint {name}" if name else ""
                self._flush_last()
                say(f"stopped by {signal.Signals(end).name} at step {step}{kept}")
                return 128 + end
            if cut:
                t = text_of(time_of(step, self.parameters.time.step_s))
                say(f"stopped at step {step} of {self.steps}, t = {t} s, with checkpoint {name}")
                return 0
        self._flush_last()
        wall, count = time.perf_counter() - began, self.steps - self.first + 1
        rate = count * self.solver.points / wall / 1e6
        say(f"done, {count} steps in {wall:.2f} s, {rate:.1f} Mpoint/s")
        return 0

    def _state(self) -> dict[str, Field]:
        return self.solver.state() | ({} if self.peaks is None else self.peaks.state())

    def _write_checkpoint(self, step: int, *, end: int, cut: bool) -> str:
        """Write the checkpoint after that step and return its name. A signal ends the run also
        without: then the name is empty."""
        began, stations, state = time.perf_counter(), self.stations, dict[str, Any](self._state())
        more: dict[str, Any] = {"frames": {one.stream: one.count for _, one in self.streams}}
        self._check(stresses=True)
        try:
            if stations is not None:
                if end or cut:
                    stations.save()
                with write_errors(self.folder / name_of(step)):
                    state |= stations.series()
                more["stations"] = stations.counts()
            path = self._checkpoints.write(state, more)
        except SimulationError as error:
            if not end:
                raise
            say(str(error))
            return ""
        t = text_of(time_of(step, self.parameters.time.step_s))
        say(f"wrote checkpoint {path.name}, t = {t} s, in {time.perf_counter() - began:.3f} s")
        self._continues = (bool(end) or cut) and step < self.steps
        return path.name

    def _write(self, step: int) -> None:
        t = time_of(step, self.parameters.time.step_s)
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

    def _flush_last(self) -> None:
        if not self._continues:
            self._flush()

    def _check(self, *, stresses: bool = False) -> None:
        w, n, bad = self.solver.wavefield, self.solver.steps, set[str]()
        names = Wavefield.__slots__ if stresses else COMPONENTS

        def check(first: int, end: int) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                sums = {name: getattr(w, name)[first:end].sum() for name in names}
            bad.update(name for name, total in sums.items() if not np.isfinite(total))

        self._by.run(check, 0, w.vx.shape[0])
        if bad:
            what = f"the velocities are not finite at step {n}"
            if bad.isdisjoint(COMPONENTS):
                what = (
                    f"the stresses are not finite at step {n}, so that the velocities are not "
                    f"finite at step {n + 1}"
                )
            raise SimulationError(f"{what}: the run is unstable")

    def _progress(self, step: int, steps_per_s: float) -> None:
        dt = self.parameters.time.step_s
        rate = steps_per_s * self.solver.points / 1e6
        t, end = (text_of(time_of(n, dt)) for n in (step, self.steps))
        say(f"step {step} of {self.steps}, t = {t} s of {end} s, {rate:.1f} Mpoint/s")

    def _close(self) -> None:
        self._checkpoints.close()
        for _, frames in self.streams:
            frames.close()
        if self.stations is not None:
            self._flush_last()
            self.stations.close()
