"""Volumes: 3 variables of 300 x 300 x 40 points written next to the same bytes raw, a large one in
pieces (:mod:`bench.pieces`), and scenes.

Each file is written in turns with its own bytes raw, reading apart; nothing is flushed to disk, in
either. Scenes are timed from the open frame to the PNG, the rendering process included.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.pieces import measure_pieces
from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.scene.kind import SceneKind
from burstlens.viz.kinds.scene.options import Isosurface, SceneOptions
from burstlens.viz.kinds.vtk.hdf_file import Step, write_series, write_vtkhdf
from burstlens.viz.kinds.vtk.read import open_box
from burstlens.viz.kinds.vtk.volume import Volume
from burstlens.viz.kinds.vtk.xml_file import write_vtk
from burstlens.viz.product import Context

RAW_PART = 0.7
SHAPE = (40, 300, 300)
SPACING_M = 3000.0
NAMES = ("T", "QVAPOR", "W")


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Both formats in memory and on disk, a series of a thousand frames, and a scene."""
    frame = scratch.buffer / "wrfout_d01.nc"
    write_frame(frame)
    begin = time.perf_counter()
    with open_frame([frame]) as reader:
        volume = open_box(reader, NAMES, Crop(), simplest=False).read()
    read_s = time.perf_counter() - begin
    size = " x ".join(map(str, SHAPE[::-1]))
    figures = [Figure(f"3 variables of {size} read, with coordinates", read_s, "s")]
    repeats = 3 if quick else 15
    for where, place in (("memory", scratch.buffer), ("disk", scratch.runs)):
        for name, write in ((".vts", _write_vts), (".vtkhdf", _write_hdf)):
            figures.append(_part(name, where, write, volume, place, repeats))
    figures.append(_series(scratch.runs, 100 if quick else 1000))
    figures += _scene(frame, scratch.runs, 2 if quick else 8)
    return figures + measure_pieces(scratch.buffer, quick=quick)


def write_frame(path: Path) -> None:
    """A WRF frame on a Lambert plane: hills, levels that follow them, an updraft in the middle."""
    nz, ny, nx = SHAPE
    y, x = np.mgrid[-1 : 1 : ny * 1j, -1 : 1 : nx * 1j]
    hills = 1500 * np.exp(-20 * ((x - 0.3) ** 2 + (y + 0.2) ** 2))
    faces = np.linspace(0, 1, nz + 1)[:, None, None] ** 1.5
    away = np.hypot(x, y)
    generator = np.random.default_rng(1)
    noise = generator.normal(size=SHAPE)
    fields: dict[str, tuple[str, Any]] = {
        "PHB": ("bottom_top_stag", 9.81 * (hills + faces * (20_000 - hills))),
        "PH": ("bottom_top_stag", generator.normal(size=(nz + 1, ny, nx))),
        "T": ("bottom_top", 300 * faces[1:] + 0.1 * noise),
        "QVAPOR": ("bottom_top", 0.015 * np.exp(-8 * faces[1:] - x**2) * (1 + 1e-4 * noise)),
        "W": ("bottom_top_stag", 30 * np.exp(-40 * away**2) * np.sin(np.pi * faces)),
    }
    attributes = {
        "MAP_PROJ": np.int32(1), "DX": SPACING_M, "DY": SPACING_M, "TRUELAT1": 30.0,
        "TRUELAT2": 60.0, "STAND_LON": 10.0, "MOAD_CEN_LAT": 45.0, "CEN_LAT": 45.0, "CEN_LON": 10.0,
        "WEST-EAST_GRID_DIMENSION": np.int32(nx + 1),
        "SOUTH-NORTH_GRID_DIMENSION": np.int32(ny + 1),
    }  # fmt: skip
    with netCDF4.Dataset(str(path), "w") as data:
        data.setncatts(attributes)
        sizes = {"Time": None, "west_east": nx, "south_north": ny, "bottom_top": nz}
        for name, length in (sizes | {"bottom_top_stag": nz + 1}).items():
            data.createDimension(name, length)
        for name, (level, values) in fields.items():
            variable = data.createVariable(name, "f4", ("Time", level, "south_north", "west_east"))
            variable[0] = values
        hgt = data.createVariable("HGT", "f4", ("Time", "south_north", "west_east"))
        hgt[0] = hills


def _write_vts(out: Path, volume: Volume) -> None:
    write_vtk(out, volume.mesh, volume.arrays, fields={})


def _write_hdf(out: Path, volume: Volume) -> None:
    write_vtkhdf(out, volume.points, volume.arrays, fields={})


def _part(name: str, where: str, write: Any, volume: Volume, place: Path, repeats: int) -> Figure:
    """How much of the raw rate is reached, pair by pair."""
    out, raw = place / f"out{name}", place / "out.raw"
    parts, ours = [], []
    for _ in range(repeats):
        out.unlink(missing_ok=True)
        begin = time.perf_counter()
        write(out, volume)
        ours.append(time.perf_counter() - begin)
        whole = out.read_bytes()
        raw.unlink(missing_ok=True)
        begin = time.perf_counter()
        with raw.open("wb", buffering=0) as stream:
            view = memoryview(whole)
            while view:
                view = view[stream.write(view) :]
        parts.append((time.perf_counter() - begin) / ours[-1])
    size = out.stat().st_size / 1e6
    out.unlink()
    raw.unlink()
    note = f"{spread(parts)}; {size:.0f} MB, {size / median(ours):.0f} MB/s"
    return Figure(
        f"{name} of 3 variables to {where}, part of the raw rate", median(parts), "", RAW_PART,
        at_least=True, note=note,
    )  # fmt: skip


def _series(place: Path, count: int) -> Figure:
    layout = {"Points": ("<f4", [*SHAPE, 3])}
    layout |= {f"PointData/{name}": ("<f4", [*SHAPE]) for name in NAMES}
    steps = [Step(f"core/core_d01_{n:06d}.vtkhdf", 60.0 * n, layout) for n in range(count)]
    out = place / "core.vtkhdf"
    begin = time.perf_counter()
    write_series(out, steps)
    took = time.perf_counter() - begin
    size = out.stat().st_size / 1e6
    out.unlink()
    return Figure(f"VTKHDF series of {count} frames written", took, "s", note=f"{size:.2f} MB")


def _scene(frame: Path, place: Path, repeats: int) -> list[Figure]:
    options = SceneOptions((Isosurface("W", 10), Isosurface("QVAPOR", 0.01, opacity=0.5)))
    context = Context("bench", "bench", "scene", "d01", "20050828T120000", place)
    took = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        with open_frame([frame]) as reader:
            SceneKind().make(options, reader, place / "scene.png", context)
        took.append(time.perf_counter() - begin)
    name = "scene of 2 isosurfaces over hills, 900 x 700 pixels"
    return [
        Figure(f"{name}, first of a worker", took[0], "s"),
        Figure(f"{name}, warm worker", median(took[1:]), "s", note=spread(took[1:], " s")),
    ]
