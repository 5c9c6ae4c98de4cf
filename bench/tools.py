"""Tools that people use today, on the same frames: ParaView's pvbatch and NCO's ncks.

Each where it is installed (Debian: ``paraview`` with ``xvfb``, ``nco``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from bench.writer import FORMATS, make_field, write_frame
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.netcdf.kind import NetcdfKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.product import Context

CUT = Crop(index={"x": (100, 200), "y": (50, 150)})
PVBATCH = """
import sys
from paraview.simple import *
reader = NetCDFReader(FileName=[sys.argv[1]])
reader.Dimensions = "(z, y, x)"
reader.SphericalCoordinates = 0
reader.UpdatePipeline()
cut = Slice(Input=reader, SliceType="Plane")
cut.SliceType.Normal = [0, 0, 1]
view = GetActiveViewOrCreate("RenderView")
shown = Show(cut, view)
place = "POINTS" if "v0" in reader.PointData.keys() else "CELLS"
ColorBy(shown, (place, "v0"))
shown.RescaleTransferFunctionToDataRange()
ResetCamera(view)
Render()
SaveScreenshot(sys.argv[2], view, ImageResolution=[900, 750])
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """A frame's picture and a frame's crop. RuntimeError when neither tool is installed."""
    frame = scratch.buffer / "frame.nc"
    fields = [make_field((50, 250, 300), seed) for seed in range(2 if quick else 10)]
    write_frame(frame, 0, fields, FORMATS["classic"])
    repeats = 2 if quick else 7
    figures = []
    if pvbatch := shutil.which("pvbatch"):
        script, picture = scratch.runs / "slice.py", scratch.runs / "slice.png"
        script.write_text(PVBATCH)
        argv = [pvbatch, "--force-offscreen-rendering", str(script), str(frame), str(picture)]
        options = MapOptions("v0", level=10, limits=(-13.0, 13.0))
        ours = _ours(MapKind(), options, frame, scratch.runs / "map.png", repeats)
        with _display() as there:
            if there:
                name = "pvbatch, a slice as PNG"
                figures += _beside(name, argv, picture, "our map", ours, repeats)
    if ncks := shutil.which("ncks"):
        cut = scratch.buffer / "cut.nc"
        argv = [ncks, "-O", "-d", "x,100,199", "-d", "y,50,149", "-v", "v0,v1"]
        crop = NetcdfOptions(("v0", "v1"), format="classic", crop=CUT)
        ours = _ours(NetcdfKind(), crop, frame, scratch.buffer / "ours.nc", repeats)
        argv += [str(frame), str(cut)]
        figures += _beside("ncks, a crop of 2 variables", argv, cut, "our crop", ours, repeats)
    if not figures:
        raise RuntimeError("neither pvbatch nor ncks is installed")
    return figures


@contextmanager
def _display() -> Iterator[bool]:
    """A display, as Debian's ParaView draws through X only: the user's or a virtual one."""
    if os.environ.get("DISPLAY") or shutil.which("Xvfb") is None:
        yield bool(os.environ.get("DISPLAY"))
        return
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert screen.stdout is not None
    try:
        os.environ["DISPLAY"] = f":{screen.stdout.readline().strip()}"
        yield True
    finally:
        os.environ.pop("DISPLAY", None)
        screen.terminate()
        screen.wait()


def _ours(
    kind: ProductKind[Any], options: object, frame: Path, out: Path, repeats: int
) -> list[tuple[float, float]]:
    """Wall and CPU seconds in a warm process, as a viewing worker is."""
    context = Context("bench", "bench", "product", "output", "t00000000.000", out.parent)
    times = []
    for _ in range(repeats + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        with open_frame([frame]) as reader:
            kind.make(options, reader, out, context)
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return times[1:]


def _beside(
    name: str,
    argv: list[str],
    out: Path,
    our_name: str,
    ours: list[tuple[float, float]],
    repeats: int,
) -> list[Figure]:
    theirs = []
    for _ in range(repeats):
        begin = time.perf_counter()
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode or not out.is_file():
            raise RuntimeError(f"{Path(argv[0]).name}: {said.decode(errors='replace')[-500:]}")
        theirs.append((time.perf_counter() - begin, used.ru_utime + used.ru_stime))
    figures = []
    for what, column in (("wall", 0), ("CPU", 1)):
        for who, times in ((name, theirs), (f"{our_name}, warm", ours)):
            values = [pair[column] for pair in times]
            figures.append(Figure(f"{who}: {what}", median(values), "s", note=spread(values, " s")))
    return figures
