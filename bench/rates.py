"""Rates of reading, drawing and writing, each next to the same bytes read or written raw."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.report import Figure, median, spread
from bench.writer import FORMATS, make_field, write_frame
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import read_field
from burstlens.viz.kinds.map.draw import draw
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.vtk.read import open_box
from burstlens.viz.kinds.vtk.xml_file import write_vtk
from burstlens.viz.product import Context

RAW_PART = 0.7
SIDE = 2000


def volume(place: Path, where: str, repeats: int) -> list[Figure]:
    """Five of ten variables of a 150 MB frame, in turns with the same bytes raw.

    Raw reading is that of the frame's final bytes, as many as the crop holds; raw writing
    that of the finished VTK file's bytes. Nothing is flushed to disk, in either.
    """
    names = tuple(f"v{index}" for index in range(5))
    frame, out, raw = place / "frame.nc", place / "out.vtk", place / "out.raw"
    fields = [make_field((50, 250, 300), seed) for seed in range(10)]
    write_frame(frame, 0, fields, FORMATS["classic"])
    reads: list[float] = []
    raw_reads: list[float] = []
    writes: list[float] = []
    raw_writes: list[float] = []
    for _ in range(repeats):
        with open_frame([frame]) as reader, _lap(reads):
            crop = open_box(reader, names, Crop(), simplest=True).read()
        held = sum(values.nbytes for values in crop.arrays.values())
        with _lap(raw_reads):
            _read_raw(frame, held)
        out.unlink(missing_ok=True)
        with _lap(writes):
            write_vtk(out, crop.mesh, crop.arrays, fields={})
        whole = out.read_bytes()
        raw.unlink(missing_ok=True)
        with _lap(raw_writes):
            _write_raw(raw, whole)
    for path in (frame, out, raw):
        path.unlink()
    return [
        _rate(f"crop of 5 variables read from {where}", held, reads, raw_reads),
        _part(f"crop of 5 variables read from {where}", reads, raw_reads),
        _rate(f"VTK crop written to {where}", len(whole), writes, raw_writes),
        _part(f"VTK crop written to {where}", writes, raw_writes, RAW_PART),
    ]


def wide_map(place: Path, repeats: int) -> list[Figure]:
    """A map of a wide field: its input and its drawing, separately; the first map is left out."""
    frame, out = place / "wide.nc", place / "wide.png"
    write_frame(frame, 0, [make_field((1, SIDE, SIDE), 0)], FORMATS["classic"])
    options = MapOptions("v0", level=0, limits=(-13.0, 13.0))
    context = Context("bench", "bench", "map", "output", "t00000000.000", place)
    reads: list[float] = []
    raw_reads: list[float] = []
    draws: list[float] = []
    for _ in range(repeats + 1):
        with _lap(reads), open_frame([frame]) as reader:
            field = read_field(reader, "v0", level=0, crop=Crop(), units=None)
        with _lap(raw_reads):
            _read_raw(frame, 4 * SIDE * SIDE)
        with _lap(draws):
            draw(field, options, out, context)
    frame.unlink()
    out.unlink()
    name = f"map of {SIDE} x {SIDE} points"
    return [
        _rate(f"{name}, opened and read", 4 * SIDE * SIDE, reads[1:], raw_reads[1:]),
        _part(f"{name}, opened and read", reads[1:], raw_reads[1:]),
        Figure(f"{name}, drawn", 1000 * median(draws[1:]), "ms", note=spread(draws[1:], " s")),
    ]


def _rate(name: str, size: int, ours: list[float], raw: list[float]) -> Figure:
    note = f"{size / 1e6:.0f} MB; raw {size / 1e6 / median(raw):.0f} MB/s"
    return Figure(name, size / 1e6 / median(ours), "MB/s", note=note)


def _part(name: str, ours: list[float], raw: list[float], least: float | None = None) -> Figure:
    """How much of the raw rate is reached, pair by pair."""
    parts = [theirs / mine for mine, theirs in zip(ours, raw, strict=True)]
    name = f"{name}, part of the raw rate"
    return Figure(name, median(parts), "", least, at_least=True, note=spread(parts))


@contextmanager
def _lap(into: list[float]) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    into.append(time.perf_counter() - begin)


def _read_raw(path: Path, size: int) -> None:
    """Read the final ``size`` bytes of the file into new memory, in pieces of 4 MiB."""
    whole = memoryview(bytearray(size))
    with path.open("rb", buffering=0) as stream:
        stream.seek(-size, os.SEEK_END)
        while whole and (got := stream.readinto(whole[: 4 << 20])):
            whole = whole[got:]


def _write_raw(path: Path, whole: bytes) -> None:
    view = memoryview(whole)
    with path.open("wb", buffering=0) as stream:
        while view:
            view = view[stream.write(view) :]
