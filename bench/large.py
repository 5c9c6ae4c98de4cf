"""Frames of many columns: memory and CPU time of one diagnostic, each in a process of its own;
memory against the number of rows; two cores against one.

``BENCH_OLD=/path/to/checkout/src`` measures another commit beside this one, in turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench.pipeline import Scratch
from bench.report import Figure
from burstlens.core.allowance import CORES_VARIABLE, MALLOC
from burstlens.viz.frames.reader import netCDF4

STORM = Path(__file__).parents[1] / "tests" / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
OLD = os.environ.get("BENCH_OLD", "")
COLUMNS, ROWS, LEVELS = 1200, 900, 50
GOALS = {  # GB and s of CPU; None: no goal
    "reflectivity_max": (0.4, 1.2),
    "mu_cape": (0.4, 6.0),
    "wind@500hPa": (0.3, 0.8),
    "slp": (0.3, 0.5),
    "vorticity@500hPa": (1.0, None),
}
FLAT = ("reflectivity_max", "mu_cape", "vorticity@500hPa", "slp", "theta_e@900-700hPa",
        "hypot(u_earth@850hPa, v_earth@850hPa) [m s-1]")  # fmt: skip
"""Fields of one level whose peak memory is measured for a sixteenth of the rows and for all."""
TIMES = 16
_READ = """
import json, re, sys, time
from burstlens.viz.diagnostics.derived import open_frame
name, path, rows = sys.argv[1:]
with open_frame([path]) as frame:  # loads and compiles what it needs
    frame.read(name, {"south_north": slice(0, 4), "west_east": slice(0, 4)})
before, begin = time.process_time(), time.perf_counter()
with open_frame([path]) as frame:
    frame.read(name, {"south_north": slice(0, int(rows))})
spent, wall = time.process_time() - before, time.perf_counter() - begin
peak = 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
print(json.dumps([peak, spent, wall]))
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Peak memory of the process and CPU time of reading and computing the whole field."""
    rows, columns = (90, 120) if quick else (ROWS, COLUMNS)
    figures = []
    for way, zlib in (("classic", False), ("deflated in chunks of half a domain", True)):
        path = scratch.buffer / "large.nc"
        write(path, rows, columns, zlib=zlib)
        names = list(GOALS) if not zlib else ["reflectivity_max", "wind@500hPa"]
        for name in names:
            memory, cpu = GOALS[name] if not zlib else (0.8, None)
            before = _read(path, name, rows, source=OLD) if OLD else None
            peak, seconds, _ = _read(path, name, rows)
            what = f"{name}, {columns} x {rows} x {LEVELS}, {way}"
            goals = (None, None) if quick else (memory, cpu)
            notes = ("", "") if before is None else (
                f"{before[0] / 1e9:.3g} GB before", f"{before[1]:.3g} s before"
            )  # fmt: skip
            figures.append(
                Figure(f"{what}: peak memory", peak / 1e9, "GB", goals[0], note=notes[0])
            )
            figures.append(Figure(f"{what}: CPU", seconds, "s", goals[1], note=notes[1]))
        if not zlib:
            figures += _flat(path, rows, None if quick else 1.2)
            figures.append(_on_two_cores(path, rows, None if quick else 1.8))
        path.unlink()
    return figures


def _flat(path: Path, rows: int, goal: float | None) -> list[Figure]:
    """Peak memory for all rows over that for a sixteenth of them."""
    figures = []
    for name in FLAT:
        few, all_of = (_read(path, name, count)[0] for count in (rows // TIMES, rows))
        what = f"{name}: peak memory of {TIMES} times the rows, against once"
        note = f"{few / 1e9:.3g} GB, {all_of / 1e9:.3g} GB"
        figures.append(Figure(what, all_of / few, "x", goal, note=note))
    return figures


def _on_two_cores(path: Path, rows: int, goal: float | None) -> Figure:
    """The best of three each, in turn."""
    turns = [(_read(path, "mu_cape", rows, cores=1), _read(path, "mu_cape", rows, cores=2))
             for _ in range(3)]  # fmt: skip
    one, two = (min(turn[n][2] for turn in turns) for n in (0, 1))
    what, note = "mu_cape: wall time on one core over that on two", f"{one:.3g} s, {two:.3g} s"
    return Figure(what, one / two, "x", goal, at_least=True, note=note)


def _read(path: Path, name: str, rows: int, *, source: str = "", cores: int = 1) -> list[float]:
    """Peak bytes, seconds of CPU and of the clock for the first ``rows``, in a worker of this
    commit, or of that whose ``src`` is named."""
    done = subprocess.run(
        [sys.executable, "-c", _READ, name, str(path), str(rows)],
        capture_output=True, text=True, check=False,
        env=os.environ | {CORES_VARIABLE: str(cores)}
        | ({"PYTHONPATH": source} if source else MALLOC),
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-300:]}")
    found: list[float] = json.loads(done.stdout)
    return found


def write(path: Path, rows: int, columns: int, *, zlib: bool) -> None:
    """The storm's columns side by side, with noise, on more levels."""
    rng = np.random.default_rng(1)
    form = "NETCDF4" if zlib else "NETCDF3_64BIT_DATA"
    with netCDF4.Dataset(str(STORM)) as old, netCDF4.Dataset(str(path), "w", format=form) as new:
        new.setncatts({"MAP_PROJ": old.MAP_PROJ, "DX": old.DX, "DY": old.DY})
        sizes = {
            "Time": 1, "west_east": columns, "south_north": rows, "bottom_top": LEVELS,
            "west_east_stag": columns + 1, "south_north_stag": rows + 1,
            "bottom_top_stag": LEVELS + 1,
        }  # fmt: skip
        for name, size in sizes.items():
            new.createDimension(name, size)
        names = ("T", "P", "PB", "QVAPOR", "QRAIN", "QSNOW", "QGRAUP", "PH", "PHB", "U", "V",
                 "MAPFAC_UX", "MAPFAC_VY", "MAPFAC_MX", "MAPFAC_MY")  # fmt: skip
        for name in names:
            # A storm without snow or graupel has that of its rain: only the work counts.
            source = old[name if name in old.variables else "QRAIN"]
            values = np.asarray(source[0], np.float32)
            shape = tuple(sizes[d] for d in source.dimensions[1:])
            chunks = [1, *(-(-size // 2) for size in shape)] if zlib else None
            made = new.createVariable(
                name, "f4", source.dimensions, zlib=zlib, complevel=2, shuffle=zlib,
                chunksizes=chunks,
            )  # fmt: skip
            made.setncatts({"units": source.units})
            if values.ndim == 3:
                at = np.linspace(0, values.shape[0] - 1, shape[0])
                low = np.minimum(at.astype(int), values.shape[0] - 2)
                share = (at - low)[:, None, None].astype(np.float32)
                values = values[low] * (1 - share) + values[low + 1] * share
            for first in range(0, shape[-2], 300) if not zlib else (0,):
                last = min(shape[-2], first + 300) if not zlib else shape[-2]
                j, i = (
                    np.arange(first, last) % values.shape[-2],
                    np.arange(shape[-1]) % values.shape[-1],
                )
                part = values[..., j[:, None], i[None, :]]
                part = part * (1 + 1e-5 * rng.standard_normal(part.shape, np.float32))
                made[0, ..., first:last, :] = part
