"""A volume of 2 GB from its frame: in one file by one process, and in pieces by two.

Beside each, the same bytes written raw to the same file system by one process; in turns. Processes
are warm: their imports are not counted. Nothing is flushed to disk, in either.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import Figure, median, spread
from burstlens.core.allowance import room
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.kinds.vtk.kind import VtkKind
from burstlens.viz.kinds.vtk.options import VtkOptions
from burstlens.viz.product import Context, Made

PART_OF_RAW = 0.8
WORKERS = 2
LEVELS, ROWS, COLUMNS = 50, 1300, 1280
NAMES = ("T", "QVAPOR", "W")
_BLOCK = 64 << 20
_meeting: Any = None
Share = tuple[int, int]
"""The number of a piece, and how many there are."""


@dataclass(frozen=True, slots=True)
class Took:
    """What some workers took: seconds together, of CPU, and the largest one's peak memory."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def measure_pieces(place: Path, *, quick: bool) -> list[Figure]:
    """Whole products, and the writing of what is in memory."""
    rows, columns = (ROWS // 4, COLUMNS // 4) if quick else (ROWS, COLUMNS)
    frame = place / "large.nc"
    _write_frame(frame, (LEVELS, rows, columns))
    figures = []
    try:
        for compress in (False, True):
            if compress:
                frame.unlink()
                rows, columns = rows // 4, columns // 4
                _write_frame(frame, (LEVELS, rows, columns))
            size = f"{columns} x {rows} x {LEVELS}"
            figures += _compare(frame, size, compress=compress, repeats=2 if quick else 5)
    finally:
        frame.unlink(missing_ok=True)
    return figures


def _compare(frame: Path, size: str, *, compress: bool, repeats: int) -> list[Figure]:
    options = VtkOptions(NAMES, compress=compress)
    one: list[Took] = []
    many: list[Took] = []
    raw: list[Took] = []
    with open_frame([frame]) as reader:
        # Two at least, also of a quick one.
        count = max(WORKERS, VtkKind().pieces(options, reader, room()))
    count += -count % WORKERS
    with _workers(1) as alone, _workers(WORKERS) as pool:
        for _ in range(repeats + 1):
            one.append(_run(alone, frame, options, [[(0, 1)]])[0])
            frame.with_name("0.vts").unlink()  # to empty it takes long as well
            took, made = _run(
                pool, frame, options,
                [[(n, count) for n in range(first, count, WORKERS)] for first in range(WORKERS)],
            )  # fmt: skip
            names = [f"{n}.vts" for n in range(count)]
            begin = time.perf_counter()
            VtkKind().join(options, made, frame.with_name("table"), _context(), names)
            joined_s = time.perf_counter() - begin
            many.append(Took(took.wall_s + joined_s, took.cpu_s + joined_s, took.peak_bytes))
            written = sum((frame.parent / name).stat().st_size for name in names)
            for name in (*names, "table"):
                (frame.parent / name).unlink()
            raw.append(_raw(frame.with_name("raw"), written))
    # The first of each finds cold memory.
    one, many, raw = one[1:], many[1:], raw[1:]
    what = f"{'compressed ' if compress else ''}volume of {size}, {written / 1e9:.2g} GB"
    ways = ("one .vts by 1 process", one), (f"{count} pieces by {WORKERS} processes", many)
    raw_cpu = median([took.cpu_s for took in raw])
    figures = []
    for way, took_by in ways:
        parts = [b.wall_s / a.wall_s for a, b in zip(took_by, raw, strict=True)]
        cpu = median([took.cpu_s for took in took_by])
        target = PART_OF_RAW if took_by is many and not compress else None
        cores = 1 if took_by is one else WORKERS
        note = (
            f"{spread(parts)}; {cpu:.2f} s of CPU, raw {raw_cpu:.2f}: "
            f"{raw_cpu * cores / cpu:.2f} if all cores were idle"
        )
        figures.append(
            Figure(
                f"{what}, from its frame to {way}, part of the raw rate", median(parts), "",
                target, at_least=True, note=note,
            )
        )  # fmt: skip
    figures.append(
        Figure(
            f"{what}: peak memory of a process that makes pieces",
            max(took.peak_bytes for took in many) / 1e9, "GB",
        )
    )  # fmt: skip
    return figures


@contextmanager
def _workers(count: int) -> Iterator[ProcessPoolExecutor]:
    ways = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, ways, _begin, (ways.Barrier(count),)) as pool:
        yield pool


def _begin(meeting: Any) -> None:
    global _meeting
    _meeting = meeting
    VtkKind().preload()


def _run(
    pool: ProcessPoolExecutor, frame: Path, options: VtkOptions, shares: list[list[Share]]
) -> tuple[Took, list[Made]]:
    """Make the pieces of each list by a process of its own, all at the same time."""
    done = [pool.submit(_make, frame, options, share) for share in shares]
    results = [one.result() for one in done]
    begin, end = min(one[0] for one in results), max(one[1] for one in results)
    took = Took(end - begin, sum(one[2] for one in results), max(one[3] for one in results))
    return took, [made for one in results for made in one[4]]


def _make(
    frame: Path, options: VtkOptions, share: list[Share]
) -> tuple[float, float, float, int, list[Made]]:
    _meeting.wait(600)
    begin, cpu = time.monotonic(), time.process_time()
    made = []
    for number, count in share:
        out = frame.with_name(f"{number}.vts")
        with open_frame([frame]) as reader:
            if count == 1:
                VtkKind().make(options, reader, out, _context())
            else:
                made.append(VtkKind().make_piece(options, reader, out, _context(), number, count))
    status = Path("/proc/self/status").read_text()
    peak = 1024 * int(re.findall(r"VmHWM:\s+(\d+)", status)[0])
    return begin, time.monotonic(), time.process_time() - cpu, peak, made


def _raw(path: Path, size: int) -> Took:
    """So many bytes written from memory, in blocks that no cache of the processor holds."""
    block = np.random.default_rng(1).bytes(_BLOCK)
    begin, cpu = time.perf_counter(), time.process_time()
    with path.open("wb", buffering=0) as stream:
        for at in range(0, size, _BLOCK):
            stream.write(block[: size - at])
    took = Took(time.perf_counter() - begin, time.process_time() - cpu, 0)
    path.unlink()
    return took


def _context() -> Context:
    return Context("bench", "bench", "core", "d01", "20050828T120000", Path())


def _write_frame(path: Path, shape: tuple[int, int, int]) -> None:
    """A WRF frame of an idealized case, level by level: hills, levels that follow them, noise."""
    nz, ny, nx = shape
    y, x = np.mgrid[-1 : 1 : ny * 1j, -1 : 1 : nx * 1j].astype("f4")
    hills = 1500 * np.exp(-20 * ((x - 0.3) ** 2 + (y + 0.2) ** 2))
    noise = np.random.default_rng(1).normal(size=(ny, nx)).astype("f4")
    with netCDF4.Dataset(os.fspath(path), "w", format="NETCDF3_64BIT_OFFSET") as data:
        data.setncatts({"MAP_PROJ": np.int32(0), "DX": 1000.0, "DY": 1000.0})
        sizes = {"Time": None, "west_east": nx, "south_north": ny, "bottom_top": nz}
        for name, length in (sizes | {"bottom_top_stag": nz + 1}).items():
            data.createDimension(name, length)
        for name in (*NAMES, "PH", "PHB"):
            levels = "bottom_top" if name in NAMES[:2] else "bottom_top_stag"
            variable = data.createVariable(name, "f4", ("Time", levels, "south_north", "west_east"))
            for level in range(len(data.dimensions[levels])):
                high = (level / nz) ** 1.5
                variable[0, level] = {
                    "T": 300 * high + 0.1 * noise,
                    "QVAPOR": 0.015 * np.exp(-8 * high - x**2) * (1 + 1e-4 * noise),
                    "W": 30 * np.exp(-40 * (x**2 + y**2)) * np.sin(np.pi * high) + 0.1 * noise,
                    "PH": noise,
                    "PHB": 9.81 * (hills + high * (20_000 - hills)),
                }[name]
