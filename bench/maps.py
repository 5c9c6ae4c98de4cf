"""Maps by a warm worker: an overview as forecasters use it, the same by cartopy, and wide fields.

The overview: a field of 1,000 x 1,000 points on a Lambert plane, pressure contours, wind barbs,
coast and borders, at 1,200 x 900 pixels. CPU seconds of this process, from the file to the PNG.
Cartopy, where it is installed, reads the same file and draws the same coast again for each frame,
as scripts do; the shapes of the coast are read once. Wide fields: one map in a process of its own,
its memory counted beyond that of the process which has drawn a small one.
``BENCH_OLD=/path/to/checkout/src`` measures these of another commit beside this one, in turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.drawing.maps.layers import Contours, Wind
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context

LIMIT_S = 0.6
SIDE = 1000
SPACING_M = 3000.0
OPTIONS = MapOptions(
    "T2", units="degC", limits=(5.0, 30.0), contours=Contours("PSFC", units="hPa", interval=2),
    barbs=Wind(), width_px=1200, height_px=900,
)  # fmt: skip
DEFINITION = "+proj=lcc +lat_1=25 +lat_2=45 +lat_0=30 +lon_0=-88 +R=6370000"

OLD = os.environ.get("BENCH_OLD", "")
WIDE = ((2000, False), (1000, True), (10_000, False))
"""Points along a side, and whether rows and columns are bent."""
MEMORY = 3.0
"""Bytes per byte of the field, itself included."""
_DRAW = """
import json, re, sys, time
from pathlib import Path
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.kinds.map.kind import MapKind
from burstlens.viz.product import Context
kind, out, repeats = MapKind(), Path(sys.argv[1]), int(sys.argv[3])
options = kind.options("t", limits=(260.0, 310.0))
context = Context("bench", "bench", "map", "output", "t00000000.000", out.parent)
def made(frame):
    with open_frame([Path(frame)]) as reader:
        kind.make(options, reader, out, context)
def memory(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
made(sys.argv[4])
Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
before, taken = memory("VmRSS"), []
for _ in range(repeats):
    begin = time.process_time()
    made(sys.argv[2])
    taken.append(time.process_time() - begin)
print(json.dumps([memory("VmHWM") - before, taken]))
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """The first map of a worker, those after it, and cartopy's."""
    frame, out = scratch.buffer / "wrfout_d01.nc", scratch.runs / "map.png"
    write_overview(frame)
    context = Context("bench", "bench", "overview", "d01", "20050828T120000", scratch.runs)
    kind = MapKind()
    kind.preload()
    ours = []
    for _ in range(3 if quick else 12):
        begin = time.process_time()
        with open_frame([frame]) as reader:
            kind.make(OPTIONS, reader, out, context)
        ours.append(time.process_time() - begin)
    name = f"overview map of {SIDE} x {SIDE} points"
    warm = ours[1:]
    figures = [
        Figure(f"{name}, first of a worker", ours[0], "s of CPU"),
        Figure(f"{name}, warm worker", median(warm), "s of CPU", LIMIT_S, note=spread(warm, " s")),
    ]
    if find_spec("cartopy"):
        theirs = []
        for _ in range(2 if quick else 6):
            begin = time.process_time()
            draw_with_cartopy(frame, out)
            theirs.append(time.process_time() - begin)
        note = f"{spread(theirs[1:], ' s')}; the first of the process {theirs[0]:.2f} s"
        figures.append(
            Figure(f"{name}, cartopy drawn anew", median(theirs[1:]), "s of CPU", note=note)
        )
    small = _write_field(scratch.buffer / "small.nc", 100, bent=False)
    for side, bent in ((200, False), (100, True)) if quick else WIDE:
        figures += _wide(scratch, small, side, bent=bent, repeats=3 if side > 5000 else 9)
    return figures


def _wide(scratch: Scratch, small: Path, side: int, *, bent: bool, repeats: int) -> list[Figure]:
    path = _write_field(scratch.buffer / "wide.nc", side, bent=bent)
    before = _drawn(scratch, path, small, repeats, OLD) if OLD else None
    peak, taken = _drawn(scratch, path, small, repeats)
    path.unlink()
    name = f"map of {side} x {side} points{' on a curvilinear grid' if bent else ''}"
    size, again = 4 * side * side, taken[1:]  # the first one draws what a series shares
    notes = [spread(again, " s"), ""]
    if before is not None:
        notes[0] += f"; {median(before[1][1:]):.3g} s before"
        notes[1] = f"{before[0] / size:.3g} before"
    memory = Figure(f"{name}: peak memory", peak / size, "x the field", MEMORY, note=notes[1])
    cpu = Figure(f"{name}: warm worker", median(again), "s of CPU", note=notes[0])
    return [cpu] if bent or side < 5000 else [cpu, memory]


def _drawn(scratch: Scratch, frame: Path, small: Path, repeats: int, source: str = "") -> Any:
    """Peak bytes, and seconds of CPU of each map, of this commit or that whose ``src`` is named."""
    words = [str(scratch.runs / "wide.png"), str(frame), str(repeats), str(small)]
    done = subprocess.run(
        [sys.executable, "-c", _DRAW, *words], capture_output=True, text=True, check=False,
        env=os.environ | ({"PYTHONPATH": source} if source else {}),
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{frame.name}: {done.stderr[-300:]}")
    return json.loads(done.stdout)


def _write_field(path: Path, side: int, *, bent: bool) -> Path:
    """A classic file of waves with noise on them: on even distances, or on bent rows and columns of
    longitude and latitude."""
    import numpy as np

    i, rng = np.arange(side) / side, np.random.default_rng(1)
    with netCDF4.Dataset(str(path), "w", format="NETCDF3_64BIT_DATA") as data:
        for name in ("y", "x"):
            data.createDimension(name, side)
            if not bent:
                along = data.createVariable(name, "f4", (name,))
                along.setncatts({"units": "m", "axis": name.upper()})
                along[:] = SPACING_M * np.arange(side)
        if bent:
            j = i[:, None]
            for name, units, at in (
                ("lon", "degrees_east", -60 + 30 * i + 4 * np.cos(4 * j)),
                ("lat", "degrees_north", 30 + 20 * j + 3 * np.sin(3 * i)),
            ):
                data.createVariable(name, "f4", ("y", "x")).units = units
                data[name][:] = at
        t = data.createVariable("t", "f4", ("y", "x"))
        t.setncatts({"units": "K", "coordinates": "lon lat"} if bent else {"units": "K"})
        for first in range(0, side, 500):
            j = np.arange(first, min(side, first + 500))[:, None] / side
            noise = rng.standard_normal((j.size, side), np.float32)
            t[first : first + j.size] = 285 + 20 * np.sin(40 * i) * np.cos(30 * j) + 0.3 * noise
    return path


def write_overview(path: Path) -> None:
    """A WRF-like file of T2, PSFC, U10 and V10, smooth but for a little noise in T2."""
    import numpy as np
    from pyproj import Proj

    j, i = np.mgrid[0:SIDE, 0:SIDE]
    x, y = (i - (SIDE - 1) / 2) * SPACING_M, (j - (SIDE - 1) / 2) * SPACING_M
    lon, lat = Proj(DEFINITION)(x, y, inverse=True)
    noise = np.random.default_rng(1).normal(scale=0.3, size=x.shape)
    fields: dict[str, tuple[Any, str]] = {
        "XLONG": (lon, "degree_east"),
        "XLAT": (lat, "degree_north"),
        "T2": (291 + 6 * np.sin(i / 120) * np.cos(j / 160) + noise, "K"),
        "PSFC": (1e5 + 1200 * np.sin(i / 150) * np.cos(j / 130), "Pa"),
        "U10": (12 * np.cos(j / 100), "m s-1"),
        "V10": (9 * np.sin(i / 90), "m s-1"),
    }
    with netCDF4.Dataset(str(path), "w", format="NETCDF3_64BIT_OFFSET") as data:
        data.setncatts(
            {
                "MAP_PROJ": 1, "TRUELAT1": 25.0, "TRUELAT2": 45.0, "MOAD_CEN_LAT": 30.0,
                "STAND_LON": -88.0, "DX": SPACING_M, "DY": SPACING_M,
                "SIMULATION_START_DATE": "2005-08-28_00:00:00",
            }
        )  # fmt: skip
        data.createDimension("Time", None)
        data.createDimension("south_north", SIDE)
        data.createDimension("west_east", SIDE)
        for name, (values, units) in fields.items():
            variable = data.createVariable(name, "f4", ("Time", "south_north", "west_east"))
            variable.units = units
            variable[0] = values


def draw_with_cartopy(frame: Path, out: Path) -> None:
    """The same map, as a script draws it, with our coast: cartopy's has to be downloaded."""
    import cartopy.crs as ccrs
    import matplotlib.pyplot as plt
    import numpy as np
    from cartopy.feature import ShapelyFeature

    lambert = ccrs.LambertConformal(
        -88.0, 30.0, standard_parallels=(25.0, 45.0),
        globe=ccrs.Globe(ellipse="sphere", semimajor_axis=6370000, semiminor_axis=6370000),
    )  # fmt: skip
    with netCDF4.Dataset(str(frame)) as data:
        t2, psfc, u, v = (data[name][0] for name in ("T2", "PSFC", "U10", "V10"))
        lon, lat = data["XLONG"][0], data["XLAT"][0]
    x, y = lambert.transform_points(ccrs.PlateCarree(), lon[:1], lat[:1])[0, :, 0], None
    y = lambert.transform_points(ccrs.PlateCarree(), lon[:, :1], lat[:, :1])[:, 0, 1]
    figure = plt.figure(figsize=(12, 9), dpi=100)
    axes: Any = figure.add_subplot(projection=lambert)
    axes.set_extent((x[0], x[-1], y[0], y[-1]), crs=lambert)
    shown = axes.imshow(
        t2 - 273.15, extent=(x[0], x[-1], y[0], y[-1]), origin="lower", transform=lambert,
        vmin=5, vmax=30,
    )  # fmt: skip
    axes.add_feature(ShapelyFeature(_coast(), ccrs.PlateCarree(), facecolor="none", ec="black"))
    lines = axes.contour(x, y, psfc / 100, levels=np.arange(980, 1020, 2), colors="black")
    axes.clabel(lines, fontsize=8)
    knots = 3600 / 1852
    part = slice(20, None, 40)
    axes.barbs(x[part], y[part], u[part, part] * knots, v[part, part] * knots, length=5.4)
    axes.gridlines(draw_labels=True)
    figure.colorbar(shown, label="°C")
    axes.set_title("2 m temperature")
    figure.savefig(out)
    plt.close(figure)


@cache
def _coast() -> list[Any]:
    """The lines that our map shows, as shapes in degrees."""
    import numpy as np
    from shapely import LineString

    from burstlens.viz.drawing.coast.lines import KINDS, lines
    from burstlens.viz.geometry.projection import longitude_latitude

    shapes = []
    for kind in KINDS:
        points = lines(longitude_latitude(-88), (-108.0, -68.0, 14.0, 46.0), kind)
        gaps = np.flatnonzero(np.isnan(points[:, 0]))
        pieces = (piece[~np.isnan(piece[:, 0])] for piece in np.split(points, gaps))
        shapes += [LineString(piece) for piece in pieces if len(piece) > 1]
    return shapes
