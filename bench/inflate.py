"""Reading deflated netCDF-4: our frames and netCDF4-python, in turn in one process.

Files lie in memory (tmpfs): a storm's columns side by side, with noise, deflated as WRF does, level
2 after shuffle. They are open, nothing is inflated yet. One core is measured by CPU time, two by
wall time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.viz.frames.reader import netCDF4

STORM = Path(__file__).parents[1] / "tests" / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
FIELDS = ("T", "P", "QVAPOR", "U", "V")
ONE_CORE, TWO_CORES = 1.8, 3.0
REPEATS = 7
_READ = """
import json, os, re, sys, time
from pathlib import Path
import numpy as np
from burstlens.viz.frames.reader import FrameReader, netCDF4

path, names, part, cores, repeats = json.loads(sys.argv[1])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
window = {name: slice(*ends) for name, ends in part.items()}

def ours():
    reader = FrameReader([Path(path)], 0, "", "")
    reader.open()
    return reader, lambda name: reader.read(name, window)

def theirs():
    data = netCDF4.Dataset(path)
    data.set_always_mask(False)
    def read(name):
        stored = data[name]
        return stored[(0, *(window.get(d, slice(None)) for d in stored.dimensions[1:]))]
    return data, read

def taken(way):
    file, read = way()
    begin, cpu = time.perf_counter(), time.process_time()
    for name in names:
        read(name)
    spent = time.perf_counter() - begin, time.process_time() - cpu
    file.close()
    return spent

def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

taken(ours)
memory = peak()
pairs = [(taken(theirs), taken(ours)) for _ in range(repeats)]
(mine, read), (data, wanted) = ours(), theirs()
values = read(names[0])
assert values.tobytes() == np.ascontiguousarray(wanted(names[0])).tobytes()
print(json.dumps([pairs, memory]))
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Boxes of 27 MB and a frame of 1 GB: rate on one core and on two, and the peak memory."""
    box, frame = scratch.buffer / "box.nc", scratch.buffer / "frame.nc"
    shape = (50, 90, 120) if quick else (50, 900, 1200)
    _write(box, ("T",), (50, 450, 300), 1e-5)
    figures = _compared("in 8 chunks", box, ("T",), {}, quick)
    _write(box, ("T",), (50, 450, 300), 1e-3)
    figures += _compared("in 8 chunks, noisy (deflated to a half)", box, ("T",), {}, quick)
    _write(box, ("T",), (41, 90, 90), 1e-5)
    figures += _compared(
        "in 8 chunks, about the least that is inflated here",
        box,
        ("T",),
        {},
        quick,
        goals=(None, None),
    )
    box.unlink()
    _write(frame, FIELDS[:1] if quick else FIELDS, shape, 1e-5)
    corner = {"bottom_top": (0, 25), "south_north": (0, 450), "west_east": (0, 600)}
    figures += _compared(
        "in one chunk", frame, ("T",), corner, quick, goals=(ONE_CORE, None)
    )  # fmt: skip
    names = FIELDS[:1] if quick else FIELDS
    figures += _compared(
        f"in {len(names)} variables of 8 chunks", frame, names, {}, quick, memory=True
    )
    frame.unlink()
    return figures


def _compared(
    what: str,
    path: Path,
    names: tuple[str, ...],
    window: dict[str, Any],
    quick: bool,
    goals: tuple[float | None, float | None] = (ONE_CORE, TWO_CORES),
    memory: bool = False,
) -> list[Figure]:
    figures = []
    size = sum(_bytes(path, name, window) for name in names)
    what = f"{size / 1e6:.3g} MB {what}"
    for cores, by, goal in ((1, 1, goals[0]), (2, 0, goals[1])):
        if cores > len(os.sched_getaffinity(0)):
            continue
        order = json.dumps([str(path), names, window, cores, 2 if quick else REPEATS])
        done = subprocess.run(
            [sys.executable, "-c", _READ, order], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{what}: {done.stderr[-300:]}")
        pairs, peak = json.loads(done.stdout)
        ratios = [theirs[by] / ours[by] for theirs, ours in pairs]
        rates = [size / min(way[by] for way in ways) / 1e6 for ways in zip(*pairs, strict=True)]
        note = f"{rates[0]:.0f} and {rates[1]:.0f} MB/s at best; {spread(ratios)}"
        name = f"{what}, {'CPU on one core' if cores == 1 else 'wall on two'}: times netCDF4's rate"
        goal = None if quick else goal
        figures.append(Figure(name, median(ratios), "", goal, at_least=True, note=note))
    if memory:
        most = max(_bytes(path, name, window) for name in names) / 1e6
        note = f"the largest result is {most:.0f} MB"
        figures.append(Figure(f"{what}: peak memory of the process", peak / 1e6, "MB", note=note))
    return figures


def _bytes(path: Path, name: str, window: dict[str, Any]) -> int:
    with netCDF4.Dataset(str(path)) as data:
        stored = data[name]
        parts = (
            range(size)[slice(*window.get(dimension, (None,)))]
            for dimension, size in zip(stored.dimensions[1:], stored.shape[1:], strict=True)
        )
        return int(np.prod([len(part) for part in parts])) * int(stored.dtype.itemsize)


def _write(path: Path, names: tuple[str, ...], shape: tuple[int, ...], noise: float) -> None:
    """The storm's fields, repeated, with relative noise, in chunks of half a domain as WRF's."""
    rng = np.random.default_rng(1)
    with netCDF4.Dataset(str(STORM)) as old, netCDF4.Dataset(str(path), "w") as new:
        new.createDimension("Time", None)
        dimensions = ("bottom_top", "south_north", "west_east")
        for dimension, size in zip(dimensions, shape, strict=True):
            new.createDimension(dimension, size)
        chunk = [1, *(-(-size // 2) for size in shape)]
        for name in names:
            source = np.asarray(old[name][0], "f4")
            at = [np.arange(size) % have for size, have in zip(shape, source.shape, strict=True)]
            made = new.createVariable(
                name, "f4", ("Time", *dimensions), zlib=True, complevel=2, chunksizes=chunk
            )
            for first in range(0, shape[0], chunk[1]):
                levels = at[0][first : first + chunk[1]]
                part = source[np.ix_(levels, *at[1:])]
                part *= 1 + noise * rng.standard_normal(part.shape, np.float32)
                made[0, first : first + len(levels)] = part
