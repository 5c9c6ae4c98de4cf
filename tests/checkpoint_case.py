"""Models that write checkpoints, files of these, and scans of a folder in which they appear."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass
from pathlib import Path

import netCDF4
import numpy as np
from watcher_case import launched_watcher

from burstlens.core.valid_time import elapsed_key, wrf_key
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.models.base import LogLine
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.continuation import CheckpointName, Proof
from burstlens.workflows.models.wrf import Wrf

CLASSIC, NETCDF4 = "NETCDF3_64BIT_OFFSET", "NETCDF4"
_RESTART = re.compile(r"wrfrst_(d\d\d)_(\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d)(?:_(\d{4}))?")
_LINE = re.compile(r"Timing for Writing restart for domain\s+(\d+):\s+(\S+) elapsed")
_STATE = re.compile(r"state_(\d{4})(?:_(\d{4}))?\.bin")


@dataclass(frozen=True, slots=True)
class RestartingWrf(Wrf):
    """WRF with its restart files; ``domains`` are the parts of a checkpoint."""

    proof: Proof = Proof.FILE
    domains: tuple[str, ...] = ("d01",)

    def checkpoint_of(self, name):
        match = _RESTART.fullmatch(name)
        return match and CheckpointName(wrf_key(match[2]), match[1], match[3] and int(match[3]))

    def checkpoint_proof(self, name):
        return self.proof

    def checkpoint_parts(self, inputs, time):
        return self.domains

    def read_line(self, line):
        match = _LINE.match(line)
        if match is None:
            return Wrf.read_line(self, line)
        part, took_s = f"d{int(match[1]):02d}", float(match[2])
        return LogLine("checkpoint", line, stream=part, file="restart", took_s=took_s)


@dataclass(frozen=True, slots=True)
class NamedStates(Command):
    """A program that renames the file of its state when it is whole."""

    def checkpoint_of(self, name):
        match = _STATE.fullmatch(name)
        return match and CheckpointName(elapsed_key(int(match[1])), "", match[2] and int(match[2]))

    def checkpoint_proof(self, name):
        return Proof.NAME


NAMED = NamedStates(argv=["./model"], frames="*.bin", time_variable="Times", done="^bye$")


class Scans:
    """Scans of a folder; each one is made by a new watcher, from a cursor that was pickled."""

    def __init__(self, folder: Path, model, prober, *, baseline=None):
        self.folder, self.model, self.baseline, self._prober = folder, model, baseline, prober
        self.cursor = Cursor()
        self.whole: list[str] = []

    def use(self, prober) -> None:
        """Read HDF5 files with another prober from now on."""
        self._prober = prober

    def watcher(self):
        return launched_watcher(
            self.folder, ".", self.model, "run", 1, self.cursor, prober=self._prober,
            baseline=self.baseline,
        )  # fmt: skip

    def scan(self, elapsed_s: float = 0.0, *, ended: bool = False) -> Report:
        report = self.watcher().scan(elapsed_s=elapsed_s, now=100.0, ended=ended)
        self.cursor = pickle.loads(pickle.dumps(report.cursor))
        self.whole += [checkpoint.time for checkpoint in report.checkpoints]
        return report

    def settle(self) -> Report:
        """The report of the end, after all that it waits for."""
        for _ in range(20):
            report = self.scan(0.5, ended=True)
            if report.ended:
                return report
        raise AssertionError(f"no end: {self.cursor}")

    def log(self, text: str, name: str = "rsl.error.0000") -> None:
        with (self.folder / name).open("a") as file:
            file.write(text)

    def step(self, minute: int, *parts: str, took_s: float = 0.5) -> None:
        """Log that the model has reached that minute, and has written these parts."""
        self.log(f"Timing for main: time {date(minute)} on domain   1:    0.5 elapsed seconds\n")
        for part in parts:
            line = f"Timing for Writing restart for domain {int(part[1:]):8d}: {took_s:10.5f}"
            self.log(f"{line} elapsed seconds\n")

    def path(self, minute: int, part: str = "d01", tile: int | None = None) -> Path:
        suffix = "" if tile is None else f"_{tile:04d}"
        return self.folder / f"wrfrst_{part}_{date(minute)}{suffix}"


def date(minute: int) -> str:
    return f"0001-01-01_00:{minute:02d}:00"


def key(minute: int) -> str:
    return f"00010101T00{minute:02d}00"


def begin(path: Path, minute: int, form: str = NETCDF4, values: int = 1000, **attributes):
    """Begin a restart file: it is open, and a half of its values and its time are written. As WRF
    does, it does not bring a classic file up to date before the end."""
    file = netCDF4.Dataset(path, "w", format=form)
    file.createDimension("Time", None)
    file.createDimension("DateStrLen", 19)
    file.createDimension("x", values)
    file.setncatts(attributes)
    file.createVariable("Times", "S1", ("Time", "DateStrLen"))
    for name in ("U", "V"):
        file.createVariable(name, "f4", ("Time", "x"))
    file["Times"][0] = netCDF4.stringtochar(np.array([date(minute)], "S19"))[0]
    file["U"][0] = np.arange(values)
    if form == NETCDF4:
        file.sync()
    return file


def finish(file) -> None:
    """Write the other half, and close it."""
    file["V"][0] = np.arange(len(file.dimensions["x"]))
    file.close()


def write(path: Path, minute: int, form: str = NETCDF4, **attributes) -> bytes:
    """Write a whole restart file; returns its bytes."""
    finish(begin(path, minute, form, **attributes))
    return path.read_bytes()


def patch(rows: tuple[int, int], domain: int = 10) -> dict[str, int]:
    """The attributes of a tile of WRF that has these rows of a square domain."""
    return {
        "WEST-EAST_GRID_DIMENSION": domain + 1, "SOUTH-NORTH_GRID_DIMENSION": domain + 1,
        "WEST-EAST_PATCH_START_UNSTAG": 1, "WEST-EAST_PATCH_END_UNSTAG": domain,
        "SOUTH-NORTH_PATCH_START_UNSTAG": rows[0], "SOUTH-NORTH_PATCH_END_UNSTAG": rows[1],
    }  # fmt: skip
