"""The bundled seismic model, behind the seam.

Frames come as ``surface_000012.nc`` and ``volume_000003.nc``, or as ``surface.nc`` and
``volume.nc``, which grow; with ``station_frames`` also ``stations_000012.nc``. ``stations.nc``
holds whole seismograms, not frames, and stays on the buffer unless the recipe brings it home:
``[stage_out]`` ``keep = ["stations.nc"]``. Checkpoints are ``checkpoint_0000500.awm``, by step.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from burstlens.core import valid_time
from burstlens.core.errors import RecipeError
from burstlens.core.quantity import seconds_of
from burstlens.workflows.awm import forecast
from burstlens.workflows.awm import parameters as awm
from burstlens.workflows.awm.checkpoint_files import GLOB, is_part, step_of
from burstlens.workflows.awm.times import time_of
from burstlens.workflows.models.base import (
    CAUSE,
    Facts,
    Lack,
    LogLine,
    Model,
    OutputName,
    OutputNames,
)
from burstlens.workflows.models.continuation import (
    CheckpointName,
    Continuation,
    NothingLeftError,
    Proof,
    Start,
    StopBy,
)

if TYPE_CHECKING:
    from burstlens.viz.frames.outline import Known

_OUTPUT = re.compile(r"(surface|volume|stations(?=_))(_\d{6,})?\.nc")
_STEP = re.compile(
    r"awm: step \d+ of \d+, t = ([\d.]+) s of ([\d.]+) s, ([\d.]+) Mpoint/s", re.ASCII
)
_WROTE = re.compile(
    r"awm: wrote (surface|volume|stations) record \d+ of (\S+), t = ([\d.]+) s(?:, in ([\d.]+) s)?",
    re.ASCII,
)
_CHECKPOINT = re.compile(r"awm: wrote checkpoint (\S+), t = ([\d.]+) s, in ([\d.]+) s", re.ASCII)
_CUT = re.compile(
    r"awm: stopped at step \d+ of \d+, t = ([\d.]+) s, with checkpoint (\S+)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Awm(Model):
    """awm in its folder, with its settings in the file ``parameters`` among the inputs."""

    name: ClassVar[str] = "awm"

    parameters: str = "awm.toml"
    """The parameter file, among the inputs."""
    time_variable: str = "time"
    """The variable that holds the times of frames."""
    log_patterns: tuple[str, ...] = ("model.log",)
    """Logs to follow, as globs in the model's folder."""
    step_s: float | None = None
    """Seconds of a time step, for the times of checkpoints; set from the parameter file."""

    @property
    def keep_patterns(self) -> tuple[str, ...]:
        """The log and the parameter file."""
        return ("model.log", self.parameters)

    @property
    def settings_files(self) -> tuple[str, ...]:
        """The parameter file."""
        return (self.parameters,)

    def configured(self, folder: Path) -> Awm:
        """The adapter with the time step of the parameter file in that folder."""
        try:
            return replace(self, step_s=awm.read(folder / self.parameters).time.step_s)
        except RecipeError:
            return self

    def command(self) -> list[str]:
        """This Python, awm, the parameter file."""
        return [sys.executable, "-m", "burstlens.workflows.awm", self.parameters]

    def checkpoint_of(self, name: str) -> CheckpointName | None:
        """The time of the step in the name; None also where the time step is not known."""
        step = step_of(name)
        if step is None or self.step_s is None:
            return None
        return CheckpointName(valid_time.elapsed_key(time_of(step, self.step_s)))

    def checkpoint_proof(self, name: str) -> Proof:
        """The name: awm renames a checkpoint when it is whole, and on disk."""
        return Proof.NAME

    def checkpoint_fault(self, path: Path) -> str | None:
        """By the fields' CRCs and values."""
        from burstlens.workflows.awm.checkpoint_values import checkpoint_fault

        return checkpoint_fault(path)

    def checkpoint_interval_s(self, inputs: Path) -> float | None:
        """``every`` of ``[checkpoint]``."""
        try:
            given = awm.read(inputs / self.parameters)
        except RecipeError:
            return None
        return given.checkpoint.every * given.time.step_s or None

    def cuts(self, inputs: Path, count: int, every_s: float | None = None) -> list[float]:
        """Times of steps, at which awm stops exactly."""
        time = awm.read(inputs / self.parameters).time
        if count > time.count:
            raise RecipeError(f"a run of {time.count} steps cannot be cut into {count} parts")
        return [-(-time.count * number // count) * time.step_s for number in range(1, count)]

    def start(self, inputs: Path, wanted: Continuation) -> Start:
        """The command, with the checkpoint and where to stop. Raises NothingLeftError at the end of
        the run, RecipeError for what is not one checkpoint of awm, and for changes of settings."""
        if wanted.settings:
            raise RecipeError(
                f"{', '.join(wanted.settings)}: awm takes its parameters from {self.parameters} "
                "alone: start another run with it changed"
            )
        if (wanted.time is not None or wanted.files) and len(wanted.files) != 1:
            raise RecipeError(f"awm continues from one checkpoint, not from {len(wanted.files)}")
        begin, until_s = wanted.time, wanted.until_s
        total_s = self.facts(inputs).total_s
        if begin is not None and total_s is not None and valid_time.seconds(begin) >= total_s:
            raise NothingLeftError.at(begin)
        if begin is not None and until_s is not None and valid_time.seconds(begin) >= until_s:
            at = valid_time.label(begin)
            raise RecipeError(f"awm cannot stop at {until_s:g} s: it starts at {at}")
        command = self.command()
        for file in wanted.files:
            if step_of(PurePosixPath(file).name) is None:
                raise RecipeError(f"{file} is not a checkpoint of awm ({GLOB})")
            command += ["--restart", file]
        for option, seconds in (
            ("--until", until_s), ("--checkpoint-every", wanted.every_s),
        ):  # fmt: skip
            if seconds is not None:
                command += [option, repr(seconds)]
        if wanted != Continuation() or self.checkpoint_interval_s(inputs):
            command += ["--checkpoint-keep", "0"]  # Burstlens deletes them, as the recipe says
        return Start(command)

    @property
    def stop_by(self) -> StopBy:
        """SIGUSR2: it stops after the step under way, with a checkpoint and exit code 0."""
        return StopBy(signal="SIGUSR2")

    def environment(self) -> dict[str, str]:
        """Unbuffered log lines, and no locks on files that other processes read."""
        return {"PYTHONUNBUFFERED": "1", "HDF5_USE_FILE_LOCKING": "FALSE"}

    def identify(self, name: str) -> OutputName | None:
        """The stream, ``surface``, ``volume`` or ``stations``; the name does not give the time."""
        match = _OUTPUT.fullmatch(name)
        return OutputName(match[1]) if match else None

    def main_stream(self, inputs: Path) -> str | None:
        """The surface."""
        return "surface"

    def is_leftover(self, name: str) -> bool:
        """Frames, seismograms and checkpoints, in any folder: awm continues from none of the
        inputs."""
        base = PurePosixPath(name).name
        checkpoint = step_of(base) is not None or is_part(base)
        return base == "stations.nc" or checkpoint or self.identify(base) is not None

    def output_names(self, inputs: Path) -> OutputNames:
        """Frames, seismograms and checkpoints."""
        return OutputNames(written=("surface*.nc", "volume*.nc", "stations*.nc", GLOB))

    def read_line(self, line: str) -> LogLine | None:
        """Progress, frames, checkpoints, the end and the one error line."""
        line = line.rstrip()
        if not line.startswith("awm: "):
            return None
        text = line.removeprefix("awm: ")
        if match := _STEP.fullmatch(line):
            elapsed, total, rate = map(float, match.groups())
            key = valid_time.elapsed_key(elapsed)
            return LogLine(
                "progress", text, time=key, elapsed_s=elapsed, total_s=total, rate_mpps=rate
            )
        if match := _WROTE.fullmatch(line):
            key = valid_time.elapsed_key(float(match[3]))
            took_s = seconds_of(match[4])
            return LogLine("written", text, stream=match[1], time=key, file=match[2], took_s=took_s)
        if match := _CHECKPOINT.fullmatch(line):
            key, took_s = valid_time.elapsed_key(float(match[2])), seconds_of(match[3])
            return LogLine("checkpoint", text, time=key, file=match[1], took_s=took_s)
        if match := _CUT.fullmatch(line):
            key = valid_time.elapsed_key(float(match[1]))
            return LogLine("cut", text, time=key, file=match[2])
        if text == "compiling kernels":
            return LogLine("phase", "compiling")
        if text.startswith("compiled in "):
            return LogLine("phase", "running")
        if text.startswith("error: "):
            return LogLine("trouble", text.removeprefix("error: "), weight=CAUSE)
        if text.startswith("cannot write "):
            return LogLine("trouble", text)
        if text.startswith("done, "):
            return LogLine("end", text)
        return None

    def log_guards(self) -> dict[str, str]:
        """``unstable``: awm's final error when the velocities are NaN or infinite."""
        return {"unstable": "the velocities are not finite"}

    def facts(self, folder: Path) -> Facts:
        """Length of the run and size of its output, from the parameter file."""
        try:
            given = awm.read(folder / self.parameters)
        except RecipeError:
            return Facts(serial_classic=True)
        return Facts(
            start=valid_time.elapsed_key(0.0),
            total_s=time_of(given.time.count, given.time.step_s),
            serial_classic=True,
            output_bytes=sum(forecast.output_bytes(given).values()),
            frames=forecast.frames(given),
            checkpoint_bytes=forecast.checkpoint_bytes(given),
        )

    def check(self, inputs: Path) -> list[str]:
        """The faults that awm itself would refuse, found without starting it.

        A step before the simulation may make the material file, so awm itself reports faults of
        it, and a grid or time step that does not fit it, when it starts.
        """
        try:
            given = awm.read(inputs / self.parameters)
        except RecipeError as error:
            return [f"error: {fault.line()}" for fault in error.faults] or [f"error: {error}"]
        warnings = []
        if given.allow_unstable:
            warnings.append("allow_unstable is set: the step and the grid are not checked")
        if not (given.output.surface_every or given.output.volume_every):
            warnings.append("output: neither surface_every nor volume_every is set: no frame comes")
        return warnings

    def lacks(self, inputs: Path) -> list[Lack]:
        """The material file, if it is missing."""
        try:
            file = awm.read(inputs / self.parameters).material.file
        except RecipeError:
            return []
        if file is None or (inputs / file).is_file():
            return []
        return [Lack(f"there is no {file} (material.file in {self.parameters})", file)]

    def outline(self, inputs: Path, stream: str) -> Known | None:
        """What the parameter file says about a stream; faulty tables are left out."""
        from burstlens.workflows.awm.layout import Layout, read_layout
        from burstlens.workflows.awm.outline import outline

        path = inputs / self.parameters
        given: awm.Parameters | Layout | None
        try:
            given = awm.read(path)
        except RecipeError:
            given = read_layout(path)
        return outline(given, stream) if given else None
