"""A storm that is followed: the search in a large domain, and the bytes that a moving crop reads.

The overview map's file, 1,000 x 1,000 points 3 km apart, with a low in its pressure, and moisture
on 40 levels, deflated in chunks as netCDF-4 files of WRF are. CPU seconds of this process; bytes as
the kernel counts them for it (rchar of /proc/self/io), each from a fresh open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.diagnostics import cpu_s
from bench.maps import SIDE, SPACING_M, write_overview
from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.netcdf.kind import NetcdfKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.kinds.track.kind import TrackKind
from burstlens.viz.kinds.track.options import TrackOptions
from burstlens.viz.product import Context
from burstlens.viz.seams import OpenFrame

TIMES = ("20050828T120000", "20050828T130000")
LEVELS, CHUNK = 40, 100
HALF_WIDTH_KM = 150.0


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """The search in the whole first frame, then around the guess; bytes of a moving crop."""
    path, repeats = scratch.buffer / "wrfout_d01.nc", 2 if quick else 9
    write_storm(path)
    context = Context("bench", "bench", "track", "d01", TIMES[0], scratch.runs)
    states = [scratch.runs / f"state{n}" for n in (0, 1)]
    track, kind = TrackOptions("PSFC"), TrackKind()
    kind.preload()

    def follow(n: int) -> None:
        now = replace(context, time=TIMES[n], state=states[n])
        previous = states[0] if n else None
        with open_frame([path], time=TIMES[n], previous=previous) as frame:
            kind.make(track, frame, scratch.runs / "track", now)

    figures = []
    for n, words in ((0, "in the whole first frame"), (1, "where it should be")):
        follow(n)
        times = cpu_s(lambda n=n: follow(n), repeats)
        figures.append(
            Figure(
                f"storm looked for {words}, of {SIDE} x {SIDE} points",
                median(times), "s of CPU", note=spread(times, " s"),
            )
        )  # fmt: skip

    def crop(options: NetcdfOptions) -> Callable[[OpenFrame], object]:
        return lambda frame: NetcdfKind().make(options, frame, scratch.runs / "crop", context)

    moving = Crop(follow="track:storm", half_width_km=HALF_WIDTH_KM)
    read = [
        _bytes_read(path, states[0], crop(NetcdfOptions(("QVAPOR",), each, compression=0)))
        for each in (moving, Crop())
    ]
    share = (2 * HALF_WIDTH_KM * 1000 / SPACING_M / SIDE) ** 2
    figures.append(
        Figure(
            f"bytes read for a volume {2 * HALF_WIDTH_KM:g} km wide that goes with the storm",
            100 * read[0] / read[1], "% of the whole domain's",
            note=f"{read[0] / 2**20:.1f} of {read[1] / 2**20:.1f} MiB; its points are "
            f"{100 * share:.1f} %, and lie in chunks of {CHUNK} x {CHUNK}",
        )
    )  # fmt: skip
    return figures


def write_storm(path: Path) -> None:
    """The overview's fields with a low, and QVAPOR on 40 levels, as netCDF-4."""
    j, i = np.mgrid[0:SIDE, 0:SIDE]
    away = np.hypot(j - 520.3, i - 480.6) * SPACING_M / 1000
    noise = np.random.default_rng(2).normal(scale=1e-5, size=(LEVELS, SIDE, SIDE))
    plain = path.with_suffix(".classic")
    write_overview(plain)
    with netCDF4.Dataset(str(plain)) as old, netCDF4.Dataset(str(path), "w") as data:
        data.setncatts({key: old.getncattr(key) for key in old.ncattrs()})
        for name, size in old.dimensions.items():
            data.createDimension(name, len(size))
        data.createDimension("bottom_top", LEVELS)
        for name, stored in old.variables.items():
            _deflated(data, name, stored.dimensions, stored.units)[:] = stored[:]
        data["PSFC"][0] = data["PSFC"][0] - 6000 * np.exp(-0.5 * (away / 90) ** 2)
        dimensions = ("Time", "bottom_top", "south_north", "west_east")
        _deflated(data, "QVAPOR", dimensions, "kg kg-1")[0] = (0.01 + noise).astype("f4")
    plain.unlink()


def _deflated(data: Any, name: str, dimensions: tuple[str, ...], units: str) -> Any:
    sizes = {"bottom_top": LEVELS, "south_north": CHUNK, "west_east": CHUNK}
    chunks = [sizes.get(dimension, 1) for dimension in dimensions]
    variable = data.createVariable(
        name, "f4", dimensions, zlib=True, complevel=1, chunksizes=chunks
    )
    variable.units = units
    return variable


def _bytes_read(path: Path, state: Path, action: Callable[[OpenFrame], object]) -> int:
    before = _rchar()
    with open_frame([path], time=TIMES[0], followed={"storm": state}) as frame:
        action(frame)
    return _rchar() - before


def _rchar() -> int:
    return int(Path("/proc/self/io").read_text().split()[1])
