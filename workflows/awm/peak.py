"""``python -m burstlens.workflows.awm.peak 'surface_*.nc' OUT.nc``: peak ground velocity.

PGV is the greatest length of the horizontal velocity over all frames, so it misses peaks between
two of them. It reads one file per frame as well as growing files. The product kind ``peak``
makes the same map while the model runs; this program runs after it.
"""

from __future__ import annotations

import argparse
import glob
import os
import sys
from pathlib import Path

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # before HDF5 loads

import netCDF4
import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import BurstlensError, FrameError
from burstlens.core.version import __version__
from burstlens.viz.diagnostics.seismology.running_peak import RunningPeak, advanced


def write(sources: list[Path], out: Path) -> int:
    """Write the peak over all frames of finished surface files; returns the number of frames.

    Raises FrameError for a file that cannot be read, lacks vx or vy or has another grid.
    """
    peak: RunningPeak | None = None
    axes: dict[str, NDArray[np.floating]] = {}
    for path in sources:
        try:
            with netCDF4.Dataset(path) as nc:
                axes = axes or {name: np.asarray(nc[name][:]) for name in ("y", "x")}
                for n, time in enumerate(np.asarray(nc["time"][:]).tolist()):
                    motion = np.stack([np.asarray(nc[name][n]) for name in ("vx", "vy")])
                    peak = advanced(peak, motion, time, order=0, combine="vector")
        except FrameError as error:
            raise FrameError(f"{path}: {error}") from error
        except (OSError, RuntimeError, KeyError, IndexError) as error:
            raise FrameError(f"{path}: cannot be read as a surface frame: {error}") from None
    if peak is None:
        raise FrameError(f"no frame in {len(sources)} files")
    with netCDF4.Dataset(out, "w", format="NETCDF4") as nc:
        about = {"Conventions": "CF-1.8", "title": "Peak ground velocity", "frames": peak.frames}
        nc.setncatts(about)
        for name, values in axes.items():
            nc.createDimension(name, len(values))
            axis = nc.createVariable(name, "f8", (name,))
            axis.setncatts({"units": "m", "axis": name.upper()})
            axis[:] = values
        for name, field, units, text in (
            ("pgv", peak.values, "m s-1", "peak ground velocity, horizontal vector"),
            ("peak_time", peak.when, "s", "time of the peak since the start"),
        ):
            variable = nc.createVariable(name, "f4", ("y", "x"))
            variable.setncatts({"long_name": text, "units": units})
            variable[:] = field
    return peak.frames


def main(arguments: list[str] | None = None) -> int:
    """Read the frames that the glob matches, write the map."""
    parser = argparse.ArgumentParser(prog="awm.peak", description=__doc__.split("\n\n")[1])
    parser.add_argument("--version", action="version", version=f"burstlens {__version__}")
    parser.add_argument("surface", help="glob of finished surface files, quoted")
    parser.add_argument("out", type=Path, help="the netCDF file to write")
    given = parser.parse_args(arguments)
    sources = [Path(name) for name in sorted(glob.glob(given.surface))]
    try:
        if not sources:
            raise FrameError(f"{given.surface}: matches no file")
        count = write(sources, given.out)
    except (BurstlensError, OSError) as error:
        print(f"awm.peak: error: {error}", file=sys.stderr)
        return 1
    print(f"awm.peak: wrote {given.out} from {count} frames")
    return 0


if __name__ == "__main__":
    sys.exit(main())
