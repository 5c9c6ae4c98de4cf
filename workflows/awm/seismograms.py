"""What the stations record, as CF-1.8 time series in netCDF."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Before netCDF4: it switches HDF5's locks off.
from burstlens.workflows.awm.output import AXES, COMPONENTS, create, write_errors  # isort: skip

import netCDF4
import numpy as np
from numpy.typing import NDArray

from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.solver import Solver


class Seismograms:
    """stations.nc: the velocity of every step at every station, synced at each flush.

    With ``station_frames`` the samples of each flush are also written to a file of their own,
    ``stations_000000.nc``, closed before the log reports it; ``time`` is that of the last sample.
    """

    def __init__(self, folder: Path, parameters: Parameters, solver: Solver) -> None:
        self.path, self.parameters, self.solver = folder / "stations.nc", parameters, solver
        self._readers = [
            [solver.footprint(name, s.x_m, s.y_m, s.depth_m) for name in COMPONENTS]
            for s in parameters.station
        ]
        self._times: list[float] = []
        self._rows: list[list[list[float]]] = []
        self._before = np.empty((0, len(self._readers), len(COMPONENTS)), np.float32)
        self._times_before = np.empty(0)
        """What was flushed so far, which a continuation writes again."""
        self._written = self._count = 0
        with write_errors(self.path):
            self._nc = self._open(self.path)
            self._define(self._nc, "time")

    def sample(self, time_s: float) -> None:
        """Keep the current velocities."""
        fields = [getattr(self.solver.wavefield, name) for name in COMPONENTS]
        self._times.append(time_s)
        self._rows.append(
            [[r.value(f) for r, f in zip(rs, fields, strict=True)] for rs in self._readers]
        )

    def flush(self) -> tuple[str, float] | None:
        """Write the kept samples; returns name and last time of their own file, if one is written.

        Raises SimulationError when the write fails.
        """
        if not self._times:
            return None
        rows = self._write_rows()
        frame = self._write_frame(rows) if self.parameters.output.station_frames else None
        self._times, self._rows = [], []
        return frame

    def _write_rows(self) -> NDArray[np.float32]:
        rows = np.array(self._rows, np.float32).reshape(-1, *self._before.shape[1:])
        span = slice(self._written, self._written + len(self._times))
        with write_errors(self.path):
            self._nc["time"][span] = self._times
            for n, name in enumerate(COMPONENTS):
                self._nc[name][span] = rows[:, :, n]
            self._nc.sync()
        self._written = span.stop
        self._before = np.concatenate([self._before, rows])
        self._times_before = np.concatenate([self._times_before, self._times])
        return rows

    def series(self) -> dict[str, NDArray[Any]]:
        """All samples so far by name, for :mod:`.checkpoint`."""
        rows = np.array(self._rows, np.float32).reshape(-1, *self._before.shape[1:])
        return {
            "station times": np.concatenate([self._times_before, self._times]),
            "station rows": np.concatenate([self._before, rows]),
        }

    def counts(self) -> dict[str, int]:
        """How many of them are flushed, in how many frames."""
        return {"samples": self._written, "frames": self._count}

    def go_on(self, series: Mapping[str, NDArray[Any]], counts: Mapping[str, int]) -> None:
        """Continue from samples and counts that were given: the file has them all, and a frame
        those since the one before."""
        times, rows = series["station times"], series["station rows"]
        flushed = counts["samples"]
        self._times, self._rows = times[:flushed].tolist(), rows[:flushed].tolist()
        self._count = counts["frames"]
        self._write_rows()
        self._times, self._rows = times[flushed:].tolist(), rows[flushed:].tolist()

    def close(self) -> None:
        """Close the file; what was not flushed is lost."""
        with write_errors(self.path):
            self._nc.close()

    def _write_frame(self, rows: NDArray[np.float32]) -> tuple[str, float]:
        path = self.path.with_name(f"stations_{self._count:06d}.nc")
        last = self._times[-1]
        with write_errors(path), self._open(path) as nc:
            nc["time"][0] = last
            nc.createDimension("sample", len(rows))
            when = nc.createVariable("sample_time", "f8", ("sample",))
            when.setncatts({"long_name": "time since the start", "units": "s"})
            when[:] = self._times
            self._define(nc, "sample")
            for n, name in enumerate(COMPONENTS):
                nc[name][:] = rows[:, :, n]
        self._count += 1
        return path.name, last

    def _open(self, path: Path) -> netCDF4.Dataset:
        nc = create(path, self.parameters, "seismograms")
        stations = self.parameters.station
        nc.featureType = "timeSeries"
        nc.createDimension("station", len(stations))
        width = max(len(s.name.encode()) for s in stations)
        nc.createDimension("name_length", width)
        name = nc.createVariable("station_name", "S1", ("station", "name_length"))
        name.setncatts({"long_name": "station name", "cf_role": "timeseries_id"})
        name[:] = netCDF4.stringtochar(np.array([s.name.encode() for s in stations], f"S{width}"))
        for axis, values in (
            ("x", [s.x_m for s in stations]),
            ("y", [s.y_m for s in stations]),
            ("z", [-s.depth_m for s in stations]),
        ):
            where = nc.createVariable(axis, "f8", ("station",))
            where.setncatts({**AXES[axis], "units": "m"})
            where[:] = values
        return nc

    def _define(self, nc: netCDF4.Dataset, samples: str) -> None:
        keys: dict[str, Any] = {}
        if self.parameters.output.format == "netcdf4" and samples == "time":
            keys["chunksizes"] = (1024, len(self.parameters.station))
        for component, direction in COMPONENTS.items():
            variable = nc.createVariable(component, "f4", (samples, "station"), **keys)
            variable.setncatts({"long_name": f"ground velocity, {direction}", "units": "m s-1",
                                "coordinates": "x y z station_name"})  # fmt: skip
