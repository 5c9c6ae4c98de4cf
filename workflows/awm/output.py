"""CF-1.8 netCDF: frames of the surface and the volume.

A frame is written completely and its file is closed, or synced if the file grows, before the log
reports it.
"""

from __future__ import annotations

import errno
import os

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # before HDF5 loads: others read the files

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import netCDF4
import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FULL_ERRNO, RecipeError, SimulationError
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.surface_peaks import PEAKS, SurfacePeaks
from burstlens.workflows.awm.times import text_of

Format = Literal["NETCDF4", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
FORMATS: dict[str, Format] = {
    "netcdf4": "NETCDF4",
    "classic": "NETCDF3_64BIT_OFFSET",
    "cdf5": "NETCDF3_64BIT_DATA",
}
COMPONENTS = {"vx": "east", "vy": "north", "vz": "up"}
AXES = {
    "x": {"long_name": "distance east", "standard_name": "projection_x_coordinate"},
    "y": {"long_name": "distance north", "standard_name": "projection_y_coordinate"},
    "z": {"long_name": "height above the free surface", "standard_name": "height"},
}


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn errors on a write, of the netCDF library too, into one line that names the file."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        room = os.statvfs(path.parent)
        number = getattr(error, "errno", None)
        if room.f_bavail * room.f_frsize < 1 << 20:
            number = errno.ENOSPC  # the netCDF library has only a number of its own
        reason = os.strerror(number) if number in FULL_ERRNO else str(error)
        raise SimulationError(f"cannot write {path.name}: {reason}") from None


def create(path: Path, parameters: Parameters, title: str) -> netCDF4.Dataset:
    """A file with the run's attributes and ``time``, which grows."""
    nc = netCDF4.Dataset(path, "w", format=FORMATS[parameters.output.format])
    nc.set_fill_off()
    source = parameters.source
    nc.setncatts(
        {
            "Conventions": "CF-1.8",
            "title": f"{parameters.title}: {title}",
            "source": "awm, 3-D elastic velocity-stress finite differences, 4th order in space",
            "references": "Virieux (1986); Olsen (1994); Graves (1996)",
            "spacing_m": parameters.grid.spacing_m,
            "step_s": parameters.time.step_s,
            "source_x_m": source.x_m,
            "source_y_m": source.y_m,
            "source_depth_m": source.depth_m,
            "source_function": source.function,
        }
    )
    nc.createDimension("time", None)
    time = nc.createVariable("time", "f8", ("time",))
    time.setncatts({"long_name": "time since the start", "units": "s", "axis": "T"})
    return nc


def _coordinate(nc: netCDF4.Dataset, name: str, values: NDArray[np.floating]) -> None:
    nc.createDimension(name, values.size)
    variable = nc.createVariable(name, "f8", (name,))
    variable.setncatts({**AXES[name], "units": "m", "axis": name.upper()})
    if name == "z":
        variable.positive = "up"
    variable[:] = values


class Frames:
    """One stream of frames, ``surface`` or ``volume``, in one file per frame or one growing file.

    ``take`` gives a velocity component on the stream's ``axes``, which are ordered (z,) y, x;
    ``peaks`` are written beside them, if they are recorded.
    """

    def __init__(
        self, stream: str, folder: Path, parameters: Parameters,
        axes: dict[str, NDArray[np.floating]], take: Callable[[str], NDArray[np.float32]],
        peaks: SurfacePeaks | None = None,
    ) -> None:  # fmt: skip
        self.stream, self.folder, self.parameters = stream, folder, parameters
        self.axes, self.take, self.peaks = axes, take, peaks
        self.count = self._records = 0
        self._growing: netCDF4.Dataset | None = None

    def resume(self, count: int) -> None:
        """Continue a run that has written so many frames, with their numbers. A growing file
        begins anew. Raises RecipeError where one is there, whose frames would be lost."""
        path = self.folder / f"{self.stream}.nc"
        if self.parameters.output.files == "growing" and path.exists():
            raise RecipeError(
                f"{path.name} is there, and a run that continues begins a new one: move it, or "
                "continue in another folder"
            )
        self.count = count

    def write(self, time_s: float) -> tuple[int, str]:
        """Write the next frame; returns its record and file name.

        Raises SimulationError when the velocities are not finite or the write fails.
        """
        data = {name: self.take(name) for name in COMPONENTS}
        if not all(np.isfinite(values).all() for values in data.values()):
            raise SimulationError(f"the velocities are not finite at t = {text_of(time_s)} s")
        if self.peaks is not None:
            data |= self.peaks.fields
        grows = self.parameters.output.files == "growing"
        name = f"{self.stream}.nc" if grows else f"{self.stream}_{self.count:06d}.nc"
        record = self._records if grows else 0
        with write_errors(self.folder / name):
            if grows:
                if self._growing is None:
                    self._growing = self._open(self.folder / name)
                _put(self._growing, record, time_s, data)
                self._growing.sync()
            else:
                with self._open(self.folder / name) as nc:
                    _put(nc, record, time_s, data)
        self.count += 1
        self._records += 1
        return record, name

    def close(self) -> None:
        """Close a growing file; a no-op for one file per frame."""
        if self._growing is not None:
            with write_errors(self.folder / f"{self.stream}.nc"):
                self._growing.close()
            self._growing = None

    def _open(self, path: Path) -> netCDF4.Dataset:
        nc = create(path, self.parameters, f"ground velocity, {self.stream}")
        for name, values in self.axes.items():
            _coordinate(nc, name, values)
        output = self.parameters.output
        packed = output.format == "netcdf4" and output.compression > 0
        keys: dict[str, Any] = {"zlib": packed, "complevel": output.compression or None}
        if output.format == "netcdf4":
            keys["chunksizes"] = (1, *(values.size for values in self.axes.values()))
        about = {name: (f"ground velocity, {way}", "m s-1") for name, way in COMPONENTS.items()}
        if self.peaks is not None:
            about |= {name: (f"{text} so far", units) for name, (text, units) in PEAKS.items()}
        for name, (long_name, units) in about.items():
            variable = nc.createVariable(name, "f4", ("time", *self.axes), **keys)
            variable.setncatts({"long_name": long_name, "units": units})
        return nc


def _put(
    nc: netCDF4.Dataset, record: int, time_s: float, data: dict[str, NDArray[np.float32]]
) -> None:
    for name, values in {"time": time_s, **data}.items():
        nc[name][record] = values
