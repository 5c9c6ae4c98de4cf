"""``python -m burstlens.workflows.awm.basin OUT.nc``: a sedimentary basin as a material file.

Half an ellipsoid of sediments lies in layered rock. In the sediments the speeds rise with the
square root of depth from those at the surface to those at the bottom, after the basins of southern
California (Magistrale, Day, Clayton & Graves 2000, BSSA 90).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # before HDF5 loads

import netCDF4
import numpy as np
from numpy.typing import NDArray

from burstlens.core.version import __version__

Array = NDArray[np.floating]

ROCK = (
    (0.0, 4300.0, 2400.0, 2500.0),
    (3000.0, 5300.0, 3000.0, 2650.0),
    (8000.0, 6000.0, 3460.0, 2750.0),
)
"""Top in m below the surface, vp and vs in m/s, rho in kg/m3."""

SEDIMENT = ((1900.0, 900.0, 2000.0), (3400.0, 1700.0, 2300.0))
"""vp and vs in m/s, rho in kg/m3 at the top and at the bottom of the deepest place."""


def speeds(
    z: float, y: Array, x: Array, centre: tuple[float, float], radii: tuple[float, float, float]
) -> tuple[Array, Array, Array]:
    """vp, vs in m/s and rho in kg/m3 (y, x) at height ``z`` <= 0 (m).

    ``centre`` is the basin's (x, y) and ``radii`` its half axes (x, y, depth) in m.
    """
    depth = max(0.0, -z)
    rock = max(layer for layer in ROCK if layer[0] <= depth)
    away = ((x[None, :] - centre[0]) / radii[0]) ** 2 + ((y[:, None] - centre[1]) / radii[1]) ** 2
    inside = away + (depth / radii[2]) ** 2 < 1
    share = min(1.0, depth / radii[2]) ** 0.5
    vp, vs, rho = (
        np.where(inside, top + (bottom - top) * share, hard)
        for top, bottom, hard in zip(*SEDIMENT, rock[1:], strict=True)
    )
    return vp, vs, rho


def write(
    path: Path, size: tuple[float, float, float], spacing_m: float, centre: tuple[float, float],
    radii: tuple[float, float, float],
) -> None:  # fmt: skip
    """Write the block ``size`` (x, y, depth in m) level by level as COARDS netCDF-4."""
    x, y, deep = (np.arange(round(length / spacing_m) + 1) * spacing_m for length in size)
    z = -deep[::-1]
    with netCDF4.Dataset(path, "w", format="NETCDF4") as nc:
        title = "An ellipsoidal sedimentary basin in layered rock"
        nc.setncatts({"Conventions": "COARDS, CF-1.8", "title": title, "basin_centre_m": centre,
                      "basin_half_axes_m": radii})  # fmt: skip
        for name, values in (("z", z), ("y", y), ("x", x)):
            nc.createDimension(name, values.size)
            axis = nc.createVariable(name, "f8", (name,))
            axis.setncatts({"units": "m", "axis": name.upper(), "long_name": f"{name} coordinate"})
            axis[:] = values
        nc["z"].setncatts({"positive": "up", "long_name": "height above the free surface"})
        for name, long_name, units in (
            ("vp", "speed of compressional waves", "m s-1"),
            ("vs", "speed of shear waves", "m s-1"),
            ("rho", "density", "kg m-3"),
        ):
            keys: dict[str, Any] = {"zlib": True, "complevel": 1, "chunksizes": (1, y.size, x.size)}
            variable = nc.createVariable(name, "f4", ("z", "y", "x"), **keys)
            variable.setncatts({"long_name": long_name, "units": units})
        for k, height in enumerate(z):
            planes = speeds(float(height), y, x, centre, radii)
            for name, plane in zip(("vp", "vs", "rho"), planes, strict=True):
                nc[name][k] = plane


def main(arguments: list[str] | None = None) -> int:
    """Write the basin that the options describe."""
    parser = argparse.ArgumentParser(prog="awm.basin", description=__doc__.split("\n\n")[1])
    parser.add_argument("--version", action="version", version=f"burstlens {__version__}")
    parser.add_argument("out", type=Path, help="the netCDF file to write")
    axes = ("X", "Y", "DEPTH")
    block, half = (30000.0, 30000.0, 12000.0), (8000.0, 6000.0, 2500.0)
    parser.add_argument("--size-m", type=float, nargs=3, metavar=axes, default=block)
    parser.add_argument("--spacing-m", type=float, default=250.0)
    parser.add_argument("--centre-m", type=float, nargs=2, metavar=axes[:2], default=(17e3, 15e3))
    parser.add_argument("--half-axes-m", type=float, nargs=3, metavar=axes, default=half)
    given = parser.parse_args(arguments)
    lengths = (*given.size_m, given.spacing_m, *given.half_axes_m)
    if min(lengths) <= 0 or given.spacing_m > min(given.size_m):
        parser.error("lengths must be above 0 and the spacing below the size")
    try:
        size, centre, radii = map(tuple, (given.size_m, given.centre_m, given.half_axes_m))
        write(given.out, size, given.spacing_m, centre, radii)
    except OSError as error:
        print(f"awm.basin: error: {given.out}: {error.strerror or error}", file=sys.stderr)
        return 1
    print(f"awm.basin: wrote {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
