"""The run: steps, frames and log lines in their order, and a clean end on a signal.

Every line is flushed at once. The line on a frame comes after its file is closed or synced.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from burstlens.core.errors import RecipeError, SimulationError
from burstlens.workflows.awm.checkpoint import Checkpoints, RestartState
from burstlens.workflows.awm.checkpoint_files import name_of, remove_parts
from burstlens.workflows.awm.executing import Threads
from burstlens.workflows.awm.fields import Field
from burstlens.workflows.awm.forecast import Forecast, probe
from burstlens.workflows.awm.output import Frames, write_errors
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.seismograms import SERIES, Seismograms
from burstlens.workflows.awm.signals import CHECKPOINT_SIGNALS, END_SIGNALS, SignalRequests
from burstlens.workflows.awm.solver import Solver
from burstlens.workflows.awm.stability import UnstableError, check_velocities
from burstlens.workflows.awm.stretch import Stretch
from burstlens.workflows.awm.surface_peaks import SurfacePeaks
from burstlens.workflows.awm.times import text_of, time_of

EVERY_S = 1.0
"""Seconds of wall time between two progress lines."""


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


def _say_written(stream: str, record: int, name: str, t: float, began: float) -> None:
    took = time.perf_counter() - began
    say(f"wrote {stream} record {record} of {name}, t = {text_of(t)} s, in {took:.3f} s")


def _error_of(part: Callable[[], None]) -> SimulationError | None:
    """The error with which it failed, or None."""
    try:
        part()
    except SimulationError as error:
        return error
    return None


class Run:
    """One run in ``folder``, or a stretch of it, from its parameters to its last frame.

    Raises RecipeError for a checkpoint that is of another run or has nothing left to compute.
    """

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
        self._frame_counts: dict[str, int] = {}
        """Of the run that it continues; also of streams that are switched off now."""
        self._has_samples_left = True
        """Not after a stop with a checkpoint: a frame of stations that it began is then that of
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
        self.first, self.last = self._first_step(), self.stretch.last(parameters)
        self._refuse_empty()

    def forecast(self, probed_as: int | None = None) -> Forecast:
        """What it will do, by a probe of its steps, or of so many. To be called before
        :meth:`restore`: the probe is of a wavefield at rest."""
        takes_s = probe(self.solver, probed_as or self.last - self.first + 1)
        every = self.stretch.every(self.parameters)
        return Forecast.of(self.solver, self._by.count, takes_s, every, self.first, self.last)

    def restore(self) -> RestartState | None:
        """Put the state of the checkpoint in place; None without one. No file changes.

        Raises RecipeError for a damaged one, and for files that it would overwrite.
        """
        if self.stretch.restart is None:
            return None
        series = () if self.stations is None else SERIES
        saved = self._checkpoints.read(self.stretch.restart, self._state(), series)
        self.solver.steps, self._frame_counts = saved.step, dict(saved.values["frames"])
        for _, frames in self.streams:
            frames.resume(self._frame_counts.get(frames.stream, 0))
        return saved

    def go(self) -> int:
        """Take the steps; returns 0, or 128 plus the number of the signal that ended it.

        Raises SimulationError when the solution is unstable or a file cannot be written, and
        RecipeError for a checkpoint from which it cannot continue.
        """
        found, saved = self.forecast(), self.restore()
        for line in found.lines():
            say(line)
        self._begin(saved)
        with self._requests.listen(*END_SIGNALS, *CHECKPOINT_SIGNALS):
            try:
                code = self._take_steps()
            except BaseException:
                self._close()
                raise
            errors = self._close()
        if errors and not code:
            raise errors[0]
        return code

    def _first_step(self) -> int:
        path = self.stretch.restart
        return 1 if path is None else self._checkpoints.step_of(path) + 1

    def _refuse_empty(self) -> None:
        if self.first <= self.last:
            return
        step = self.first - 1
        t = text_of(time_of(step, self.parameters.time.step_s))
        why = f"the run ends at step {self.steps}"
        if step < self.steps:
            why = f"--until {self.stretch.until_s:g} is not beyond it"
        raise RecipeError(f"{self.stretch.restart} is of step {step}, t = {t} s: {why}")

    def _begin(self, saved: RestartState | None) -> None:
        remove_parts(self.folder)  # only now: what is refused changes no file
        stations, path = self.stations, self.stretch.restart
        if saved is None or path is None:
            if stations is not None:
                stations.open()
            return
        if stations is not None:
            stations.resume(saved.series, saved.values["stations"])
        t = text_of(time_of(saved.step, self.parameters.time.step_s))
        say(f"continues from {path.name}, step {saved.step}, t = {t} s")

    def _take_steps(self) -> int:
        requests, every = self._requests, self.stretch.every(self.parameters)
        keeps = self.stretch.wants_checkpoints(self.parameters)
        began = reported = time.perf_counter()
        before = self.first - 1
        for step in range(self.first, self.last + 1):
            self.solver.advance()
            self._write(step)
            # After the last step there is nothing that a signal could end.
            end = requests.end if step < self.steps else 0
            stops = requests.stop or step == self.last
            now = time.perf_counter()
            if now - reported >= EVERY_S or end or stops:
                check_velocities(self.solver, self._by)
                self._progress(step, (step - before) / (now - reported))
                reported, before = now, step
            cut, name = stops and step < self.steps, ""
            if requests.checkpoint or cut or (end and keeps) or (every and step % every == 0):
                requests.checkpoint = False
                name = self._write_checkpoint(step, end=end, cut=cut)
            if end:
                kept = f", with checkpoint {name}" if name else ""
                if error := _error_of(self._flush_last):
                    say(str(error))
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
        """Write the checkpoint after that step and return its name; empty if it cannot be written
        and the run goes on, or ends by a signal. Raises SimulationError where it was to stop."""
        began, stations, state = time.perf_counter(), self.stations, dict[str, Any](self._state())
        counts = {frames.stream: frames.count for _, frames in self.streams}
        values: dict[str, Any] = {"frames": self._frame_counts | counts}
        try:
            if stations is not None:
                if end or cut:
                    stations.save()
                with write_errors(self.folder / name_of(step)):
                    state |= stations.series()
                values["stations"] = stations.counts()
            path = self._checkpoints.write(state, values)
        except UnstableError:
            raise
        except SimulationError as error:
            if cut and not end:
                raise
            say(str(error))
            return ""
        t = text_of(time_of(step, self.parameters.time.step_s))
        say(f"wrote checkpoint {path.name}, t = {t} s, in {time.perf_counter() - began:.3f} s")
        if end or cut:
            self._has_samples_left = False
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
        if self._has_samples_left:
            self._has_samples_left = False
            self._flush()

    def _progress(self, step: int, steps_per_s: float) -> None:
        dt = self.parameters.time.step_s
        rate = steps_per_s * self.solver.points / 1e6
        t, end = (text_of(time_of(n, dt)) for n in (step, self.steps))
        say(f"step {step} of {self.steps}, t = {t} s of {end} s, {rate:.1f} Mpoint/s")

    def _close(self) -> list[SimulationError]:
        """Close all files, even if one cannot be; prints the errors and returns them."""
        parts = [self._checkpoints.close, *(frames.close for _, frames in self.streams)]
        if self.stations is not None:
            parts += [self._flush_last, self.stations.close]
        errors = [error for part in parts if (error := _error_of(part))]
        for error in errors:
            say(str(error))
        return errors
