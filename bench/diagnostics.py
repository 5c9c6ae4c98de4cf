"""Diagnostics: convective energy and sea-level pressure of large domains, on one core."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.diagnostics.parcel import cape_cin
from burstlens.viz.frames.reader import netCDF4

STORM = Path(__file__).parents[1] / "tests" / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
CAPE_S = 4.0


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """CPU time, for columns of a real storm laid side by side; compilation is not counted."""
    repeats = 2 if quick else 7
    side = 60 if quick else 500
    with open_frame([STORM]) as frame:
        names = ("pressure", "temperature", "QVAPOR")
        state = [_tiled(frame.read(name), side) for name in names]
    figures = []
    for lifted, words in ((0, "surface-based"), (1, "most unstable")):
        cape_cin(*(values[:, :2, :2].copy() for values in state), lifted)
        times = cpu_s(lambda lifted=lifted: cape_cin(*state, lifted), repeats)
        name = f"{words} CAPE and CIN, {side} x {side} columns of 40 levels"
        figures.append(
            Figure(name, median(times), "s", None if quick else CAPE_S, note=spread(times, " s"))
        )
    return [*figures, *_slp(scratch.buffer / "slp.nc", 100 if quick else 1000, repeats)]


def _slp(path: Path, side: int, repeats: int) -> list[Figure]:
    """What a map does: open, read from memory, compute."""
    _write(path, side)
    figures = []
    for name, words in (("slp", "sea-level pressure"), ("temperature@850hPa", "T at 850 hPa")):

        def read(name: str = name) -> None:
            with open_frame([path]) as frame:
                frame.read(name)

        read()
        times = cpu_s(read, repeats)
        figures.append(
            Figure(
                f"{words}, {side} x {side} x 40, read from memory and computed",
                median(times), "s", note=spread(times, " s"),
            )
        )  # fmt: skip
    path.unlink()
    return figures


def _write(path: Path, side: int) -> None:
    with (
        netCDF4.Dataset(str(STORM)) as old,
        netCDF4.Dataset(str(path), "w", format="NETCDF3_64BIT_OFFSET") as data,
    ):
        sizes = {"west_east": side, "south_north": side}
        for name in ("Time", "bottom_top", "bottom_top_stag", "south_north", "west_east"):
            data.createDimension(name, sizes.get(name, len(old.dimensions[name])))
        data.setncattr("MAP_PROJ", old.MAP_PROJ)
        for name in ("T", "P", "PB", "QVAPOR", "PH", "PHB"):
            data.createVariable(name, "f4", old[name].dimensions)[0] = _tiled(old[name][0], side)


def _tiled(values: Any, side: int) -> Any:
    count = -(-side // values.shape[-1])
    return np.ascontiguousarray(np.tile(values, (1, count, count))[:, :side, :side])


def cpu_s(action: Callable[[], Any], repeats: int) -> list[float]:
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        action()
        times.append(time.process_time() - begin)
    return times
