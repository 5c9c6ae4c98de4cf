"""The bundled seismic model, behind the seam.

Frames come as ``surface_000012.nc`` and ``volume_000003.nc``, or as ``surface.nc`` and
``volume.nc``, which grow; with ``station_frames`` also ``stations_000012.nc``. ``stations.nc``
holds whole seismograms, not frames, and stays on the buffer unless the recipe brings it home:
``[stage_out]`` ``keep = ["stations.nc"]``.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from burstlens.core import valid_time
from burstlens.core.errors import RecipeError
from burstlens.workflows.awm import forecast
from burstlens.workflows.awm import parameters as awm
from burstlens.workflows.models.base import (
    CAUSE,
    Facts,
    Lack,
    LogLine,
    Model,
    OutputName,
    OutputNames,
    seconds_of,
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

    @property
    def keep_patterns(self) -> tuple[str, ...]:
        """The log and the parameter file."""
        return ("model.log", self.parameters)

    def command(self) -> list[str]:
        """This Python, awm, the parameter file."""
        return [sys.executable, "-m", "burstlens.workflows.awm", self.parameters]

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
        """Frames and seismograms, in any folder."""
        base = PurePosixPath(name).name
        return base == "stations.nc" or self.identify(base) is not None

    def output_names(self, inputs: Path) -> OutputNames:
        """Frames and seismograms."""
        return OutputNames(written=("surface*.nc", "volume*.nc", "stations*.nc"))

    def read_line(self, line: str) -> LogLine | None:
        """Progress, frames, the end and the one error line."""
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
        if text == "compiling kernels":
            return LogLine("phase", "compiling")
        if text.startswith("compiled in "):
            return LogLine("phase", "running")
        if text.startswith("error: "):
            return LogLine("trouble", text.removeprefix("error: "), weight=CAUSE)
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
            total_s=given.time.count * given.time.step_s,
            serial_classic=True,
            output_bytes=sum(forecast.output_bytes(given).values()),
            frames=forecast.frames(given),
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
