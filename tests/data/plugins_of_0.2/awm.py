"""The bundled seismic model, behind the seam.

Frames come as ``surface_000012.nc`` and ``volume_000003.nc``, or as ``surface.nc`` and
``volume.nc``, which grow; with ``station_frames`` also ``stations_000012.nc``. ``stations.nc``
holds whole seismograms, no frames, and stays on the buffer unless the recipe brings it home:
``[stage_out]`` ``keep = ["stations.nc"]``.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from burstlens import valid_time
from burstlens.errors import RecipeError
from burstlens.workflows.awm import parameters as awm
from burstlens.workflows.models.base import (
    CAUSE,
    Facts,
    Lack,
    LogLine,
    OutputName,
    OutputNames,
)

if TYPE_CHECKING:
    from burstlens.viz.outline import Known

_OUTPUT = re.compile(r"(surface|volume|stations(?=_))(_\d{6,})?\.nc")
_STEP = re.compile(
    r"awm: step \d+ of \d+, t = ([\d.]+) s of ([\d.]+) s, ([\d.]+) Mpoint/s", re.ASCII
)
_WROTE = re.compile(
    r"awm: wrote (surface|volume|stations) record \d+ of (\S+), t = ([\d.]+) s", re.ASCII
)
_COMPONENTS, _PEAKS = 3, 5
_HEADER_BYTES = 16384


@dataclass(frozen=True, slots=True)
class Awm:
    """awm in its folder, told what to do by the file ``parameters`` among the inputs."""

    name: ClassVar[str] = "awm"
    mpi: ClassVar[bool] = False

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
        """Lines at once, and no locks on files that others look at."""
        return {"PYTHONUNBUFFERED": "1", "HDF5_USE_FILE_LOCKING": "FALSE"}

    def identify(self, name: str) -> OutputName | None:
        """The stream, ``surface``, ``volume`` or ``stations``; the name does not tell the time."""
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

    def ready_flag(self, name: str) -> OutputName | None:
        """None: awm writes no flags, its log tells."""
        return None

    def read_line(self, line: str) -> LogLine | None:
        """Progress, frames, the end and the one error line."""
        line = line.rstrip()
        if not line.startswith("awm: "):
            return None
        text = line.removeprefix("awm: ")
        if match := _STEP.fullmatch(line):
            elapsed, total, rate = (float(part) for part in match.groups())
            return LogLine(
                "progress",
                text,
                time=valid_time.elapsed_key(elapsed),
                elapsed_s=elapsed,
                total_s=total,
                rate_mpps=rate,
            )
        if match := _WROTE.fullmatch(line):
            key = valid_time.elapsed_key(float(match[3]))
            return LogLine("written", text, stream=match[1], time=key, file=match[2])
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
        """``unstable``: its last words when the velocities are no numbers any more."""
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
            output_bytes=_output_bytes(given),
        )

    def check(self, inputs: Path) -> list[str]:
        """The faults that awm itself would refuse, found without starting it.

        The material file may be made by a step before the simulation: what is wrong with it, or
        with grid and step in it, awm says when it starts.
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
        """The file of the material."""
        try:
            file = awm.read(inputs / self.parameters).material.file
        except RecipeError:
            return []
        if file is None or (inputs / file).is_file():
            return []
        return [Lack(f"there is no {file} (material.file in {self.parameters})", file)]

    def outline(self, inputs: Path, stream: str) -> Known | None:
        """What the parameter file says of a stream, as far as it is right."""
        from burstlens.workflows.awm.layout import Layout, read_layout
        from burstlens.workflows.awm.outline import outline

        path = inputs / self.parameters
        given: awm.Parameters | Layout | None
        try:
            given = awm.read(path)
        except RecipeError:
            given = read_layout(path)
        return outline(given, stream) if given else None


def _output_bytes(given: awm.Parameters) -> int:
    """Size of all output without compression."""
    grid, output, steps = given.grid, given.output, given.time.count
    stride = output.volume_stride
    sizes = (
        (output.surface_every, grid.nx * grid.ny),
        (
            output.volume_every,
            -(-grid.nx // stride) * -(-grid.ny // stride) * -(-grid.nz // stride),
        ),
    )
    frames = sum(
        steps // every * (_COMPONENTS * 4 * points + _HEADER_BYTES)
        for every, points in sizes
        if every
    )
    if output.peaks and output.surface_every:
        frames += steps // output.surface_every * _PEAKS * 4 * grid.nx * grid.ny
    copies = 2 if output.station_frames else 1
    return frames + copies * steps * (8 + _COMPONENTS * 4 * len(given.station))
