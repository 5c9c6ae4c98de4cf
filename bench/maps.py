"""An overview map as forecasters use it, by a warm worker, and the same map by cartopy.

A field of 1,000 x 1,000 points on a Lambert plane, pressure contours, wind barbs, coast and
borders, at 1,200 x 900 pixels. CPU seconds of this process, from the file to the PNG. Cartopy,
where it is installed, reads the same file and draws the same coast again for each frame, as scripts
do; the shapes of the coast are read once.
"""

from __future__ import annotations

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
    return figures


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
