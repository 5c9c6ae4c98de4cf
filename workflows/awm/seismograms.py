"""What the stations record, as CF-1.8 time series in netCDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Before netCDF4: it switches HDF5's locks off.
from burstlens.workflows.awm.output import AXES, COMPONENTS, create, write_errors  # isort: skip

import netCDF4
import numpy as np
from numpy.typing import NDArray

from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.solver import Solver

SERIES = ("station times", "station rows")
"""What a checkpoint has of them, by name."""


class Seismograms:
    """stations.nc: the velocity of every step at every station, synced at each flush.

    With ``station_frames`` the samples of each flush are also written to a file of their own,
    ``stations_000000.nc``, closed before the log reports it; ``time`` is that of the last sample.
    Call :meth:`open` before all else, or :meth:`resume`.
    """

    def __init__(self, folder: Path, parameters: Parameters, solver: Solver) -> None:
        self.path, self.parameters, self.solver = folder / "stations.nc", parameters, solver
        self._readers = [
            [solver.footprint(name, s.x_m, s.y_m, s.depth_m) for name in COMPONENTS]
            for s in parameters.station
        ]
        self._times: list[float] = []
        self._rows: list[list[list[float]]] = []
        self._flushed = self._count = 0
        self._nc: netCDF4.Dataset | None = None

    def open(self) -> None:
        """Begin the file, in place of an earlier one. Raises SimulationError if it cannot be."""
        with write_errors(self.path):
            self._nc = self._create(self.path)
            self._nc.set_auto_mask(False)
            self._define(self._nc, "time")

    def sample(self, time_s: float) -> None:
        """Keep the current velocities."""
        fields = [getattr(self.solver.wavefield, name) for name in COMPONENTS]
        self._times.append(time_s)
        self._rows.append(
            [[r.value(f) for r, f in zip(rs, fields, strict=True)] for rs in self._readers]
        )

    def save(self) -> None:
        """Write the kept samples to the file, and keep them for a frame that this run, or the one
        that continues it, writes at the next flush.

        Raises SimulationError when the write fails.
        """
        self._put(self._times, self._kept())

    def flush(self) -> tuple[str, float] | None:
        """Write the kept samples; returns name and last time of their own file, if one is written.

        Raises SimulationError when the write fails.
        """
        if not self._times:
            return None
        self.save()
        frame = self._write_frame() if self.parameters.output.station_frames else None
        self._flushed += len(self._times)
        self._times, self._rows = [], []
        return frame

    def series(self) -> dict[str, NDArray[Any]]:
        """All samples so far by name, for :mod:`.checkpoint`. Raises OSError or RuntimeError when
        the flushed ones cannot be read again."""
        assert self._nc is not None
        times = np.asarray(self._nc["time"][: self._flushed])
        parts = [np.asarray(self._nc[name][: self._flushed]) for name in COMPONENTS]
        rows = np.concatenate([np.stack(parts, axis=-1), self._kept()])
        return dict(zip(SERIES, (np.concatenate([times, self._times]), rows), strict=True))

    def counts(self) -> dict[str, int]:
        """How many of them are flushed, in how many frames."""
        return {"samples": self._flushed, "frames": self._count}

    def resume(self, series: Mapping[str, NDArray[Any]], counts: Mapping[str, int]) -> None:
        """Begin the file with the samples of the run that is continued. Those that it had not
        flushed are kept for the next frame."""
        times, rows = (series[name] for name in SERIES)
        flushed, self._count = counts["samples"], counts["frames"]
        self.open()
        self._put(times[:flushed], rows[:flushed])
        self._flushed = flushed
        self._times, self._rows = times[flushed:].tolist(), rows[flushed:].tolist()

    def close(self) -> None:
        """Close the file; what was not written is lost."""
        if self._nc is not None:
            with write_errors(self.path):
                self._nc.close()
            self._nc = None

    def _put(self, times: Sequence[float] | NDArray[Any], rows: NDArray[np.float32]) -> None:
        """Write samples to the file after the flushed ones."""
        if not len(times):
            return
        assert self._nc is not None
        span = slice(self._flushed, self._flushed + len(times))
        with write_errors(self.path):
            self._nc["time"][span] = times
            for n, name in enumerate(COMPONENTS):
                self._nc[name][span] = rows[:, :, n]
            self._nc.sync()

    def _kept(self) -> NDArray[np.float32]:
        """The kept samples by (step, station, component)."""
        shape = len(self._times), len(self._readers), len(COMPONENTS)
        return np.array(self._rows, np.float32).reshape(shape)

    def _write_frame(self) -> tuple[str, float]:
        path = self.path.with_name(f"stations_{self._count:06d}.nc")
        rows, last = self._kept(), self._times[-1]
        with write_errors(path), self._create(path) as nc:
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

    def _create(self, path: Path) -> netCDF4.Dataset:
        nc = create(path, self.parameters, "seismograms")
        stations = self.parameters.station
        nc.featureType = "timeSeries"
        nc.createDimension("station", len(stations))
        width = max(len(s.name.encode()) for s in stations)
        nc.createDimension("name_length", width)
        name = nc.createVariable("station_name", "S1", ("station", "name_length"))
        name.setncatts({"long_name": "station name", "cf_role": "timeseries_id"})
        # netCDF4.stringtochar takes ASCII only.
        names = np.array([s.name.encode() for s in stations], f"S{width}")
        name[:] = names.view("S1").reshape(len(stations), width)
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
