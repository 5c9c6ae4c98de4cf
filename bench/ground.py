"""Ground motion by a warm worker: a running peak's map and state, seismograms of many stations.

A surface of 1,000 x 1,000 points, reading the previous frame's state and writing the next; and
fifty stations of three components with 10,000 samples each. CPU seconds of this process, from the
file to the PNG.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.core.valid_time import elapsed_key
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.kinds.peak.kind import PeakKind
from burstlens.viz.kinds.peak.options import PeakOptions
from burstlens.viz.kinds.seismogram.kind import SeismogramKind
from burstlens.viz.kinds.seismogram.options import SeismogramOptions
from burstlens.viz.product import Context

SIDE = 1000
STATIONS, SAMPLES = 50, 10_000


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """CPU per frame of each kind of warm chain, and the size of a state."""
    rounds = 3 if quick else 10
    figures = []
    surfaces = [_surface(scratch.buffer / f"surface_{n}.nc", n + 1.0) for n in range(2)]
    for name, options in (
        ("PGV", PeakOptions()),
        ("intensity from PGA by differencing", PeakOptions("intensity", by="pga")),
    ):
        seconds, size = _chain(scratch, PeakKind(), options, surfaces, rounds)
        shown = f"running {name} of {SIDE} x {SIDE} points"
        note = f"{spread(seconds, ' s')}; state {size / 1e6:.1f} MB"
        figures.append(
            Figure(f"{shown}, map by a warm worker", median(seconds), "s of CPU", note=note)
        )
    records = [_records(scratch.buffer / f"stations_{n}.nc", n) for n in range(2)]
    for show in ("traces", "response"):
        options = SeismogramOptions(show=show)
        seconds, size = _chain(scratch, SeismogramKind(), options, records, rounds)
        name = f"{show} of {STATIONS} stations x {SAMPLES} samples"
        note = f"{spread(seconds, ' s')}; state {size / 1e6:.1f} MB"
        figures.append(
            Figure(f"{name}, picture by a warm worker", median(seconds), "s of CPU", note=note)
        )
    return figures


def _chain(
    scratch: Scratch, kind: Any, options: Any, frames: list[Path], rounds: int
) -> tuple[list[float], int]:
    """CPU of the second frame of a chain, repeated, and the bytes of its state."""
    kind.preload()
    context = Context("bench", "bench", kind.name, "surface", elapsed_key(1.0), scratch.runs)
    out, first, second = (scratch.runs / name for name in ("out.png", "first", "second"))
    spent = []
    for n in range(rounds + 1):
        for path, time_s, before, after in (
            (frames[0], 1.0, None, first),
            (frames[1], 2.0, first, second),
        ):
            here = replace(context, time=elapsed_key(time_s), state=after)
            begin = time.process_time()
            with open_frame([path], previous=before) as frame:
                kind.make(options, frame, out, here)
            if n and before:
                spent.append(time.process_time() - begin)
    return spent, second.stat().st_size


def _surface(path: Path, time_s: float) -> Path:
    import numpy as np

    y, x = np.mgrid[:SIDE, :SIDE]
    away = np.hypot(x - 400, y - 500) / 100 - time_s

    def write(data: Any) -> None:
        for axis in ("y", "x"):
            data.createDimension(axis, SIDE)
            data.createVariable(axis, "f8", (axis,)).setncatts({"units": "m", "axis": axis.upper()})
            data[axis][:] = np.arange(SIDE) * 100.0
        for name in ("vx", "vy"):
            data.createVariable(name, "f4", ("time", "y", "x")).units = "m s-1"
            data[name][0] = 0.3 * np.exp(-(away**2)) + 1e-3

    return _file(path, time_s, write)


def _records(path: Path, number: int) -> Path:
    """The first half of the samples, or the second."""
    import numpy as np

    half = SAMPLES // 2
    times = (np.arange(half) + number * half + 1) * 0.01

    def write(data: Any) -> None:
        data.featureType = "timeSeries"
        for name, size in (("sample", half), ("station", STATIONS), ("letters", 4)):
            data.createDimension(name, size)
        data.createVariable("sample_time", "f8", ("sample",)).units = "s"
        data["sample_time"][:] = times
        data.createVariable("station_name", "S1", ("station", "letters")).cf_role = "timeseries_id"
        names = np.array([f"S{n:03d}".encode() for n in range(STATIONS)], "S4")
        data["station_name"][:] = netCDF4.stringtochar(names)
        for axis in ("x", "y"):
            data.createVariable(axis, "f8", ("station",)).units = "m"
            data[axis][:] = np.arange(STATIONS) * 1e3
        for name in ("vx", "vy", "vz"):
            data.createVariable(name, "f4", ("sample", "station")).units = "m s-1"
            data[name][:] = np.random.default_rng(number).normal(size=(half, STATIONS))

    return _file(path, float(times[-1]), write)


def _file(path: Path, time_s: float, write: Callable[[Any], None]) -> Path:
    with netCDF4.Dataset(str(path), "w", format="NETCDF3_64BIT_DATA") as data:
        data.createDimension("time", None)
        data.createVariable("time", "f8", ("time",)).units = "s"
        write(data)
        data["time"][0] = time_s
    return path
