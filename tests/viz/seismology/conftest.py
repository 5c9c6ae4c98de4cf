"""Frames of a moving ground: of its surface, and of what stations recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from burstlens.core import valid_time
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.product import Context, Made

NX, NY, SPACING_M = 31, 21, 500.0


@pytest.fixture
def surface(tmp_path: Path) -> Callable[..., Path]:
    """Writes a frame of variables on (y, x): on 31 x 21 points 500 m apart, or on lon and lat."""

    def write(
        time_s: float,
        fields: dict[str, Any],
        *,
        units: str = "m s-1",
        geographic: bool = False,
        **attributes: Any,
    ) -> Path:
        path = tmp_path / f"surface_{round(time_s * 1000):08d}.nc"
        first = next(iter(fields.values()))
        axes: dict[str, Any] = {
            name: (np.arange(size) * SPACING_M, {"units": "m", "axis": name.upper()})
            for name, size in (("y", first.shape[0]), ("x", first.shape[1]))
        }
        if geographic:
            axes = {
                "lat": (35.0 + np.arange(first.shape[0]) * 0.01, {"units": "degrees_north"}),
                "lon": (-118.0 + np.arange(first.shape[1]) * 0.01, {"units": "degrees_east"}),
            }
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            data.setncatts(attributes)
            data.createDimension("time", None)
            data.createVariable("time", "f8", ("time",)).units = "s"
            data["time"][0] = time_s
            for name, (points, about) in axes.items():
                data.createDimension(name, points.size)
                data.createVariable(name, "f8", (name,)).setncatts(about)
                data[name][:] = points
            for name, values in fields.items():
                variable = data.createVariable(name, "f4", ("time", *axes))
                unit = "m" if name == "topography" else units
                variable.setncatts({"units": unit, "long_name": f"ground motion {name}"})
                variable[0] = values
        return path

    return write


@pytest.fixture
def recorded_at(tmp_path: Path) -> Callable[..., Path]:
    """Writes what stations recorded as a CF time series: values (sample, station) by component."""

    def write(times: Any, values: dict[str, Any], **changes: Any) -> Path:
        times = np.asarray(times, float)
        last = times[-1] if times.size else 0.0
        path = tmp_path / f"stations_{round(last * 1000):08d}.nc"
        names = changes.get("names", ["FAR", "NEAR", "MIDDLE"])
        attributes = {"featureType": "timeSeries", "source_x_m": 1000.0, "source_y_m": 2000.0}
        attributes |= {"source_depth_m": 3000.0} | changes.get("attributes", {})
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            data.setncatts({k: v for k, v in attributes.items() if v is not None})
            for name, size in (("time", None), ("station", len(names)), ("sample", times.size)):
                data.createDimension(name, size)
            data.createDimension("letters", 8)
            data.createVariable("time", "f8", ("time",)).units = "s"
            data["time"][0] = last
            data.createVariable("sample_time", "f8", ("sample",)).units = "s"
            data["sample_time"][:] = times
            variable = data.createVariable("station_name", "S1", ("station", "letters"))
            variable.cf_role = "timeseries_id"
            variable[:] = netCDF4.stringtochar(np.array([n.encode() for n in names], "S8"))
            for axis, where in (
                ("x", changes.get("x", [31000.0, 1000.0, 5000.0])),
                ("y", [2000.0] * len(names)),
            ):
                data.createVariable(axis, "f8", ("station",)).units = "m"
                data[axis][:] = where
            for name, series in values.items():
                variable = data.createVariable(name, "f4", ("sample", "station"))
                direction = {"vx": "east", "vy": "north", "vz": "up"}[name]
                units = changes.get("units", "m s-1")
                variable.setncatts({"units": units, "long_name": f"ground velocity, {direction}"})
                variable[:] = series
        return path

    return write


@pytest.fixture
def chain(context: Context, tmp_path: Path) -> Callable[..., list[tuple[Made, Path]]]:
    """Makes a chained product of frames in their order, as a run does: state by state.

    Each frame is its path and its time in s; a path of None is a frame that never came.
    """

    def make(
        kind: ProductKind[Any],
        frames: Sequence[tuple[Path | None, float]],
        previous: Path | None = None,
        **options: Any,
    ) -> list[tuple[Made, Path]]:
        asked = TypeAdapter(kind.options).validate_python({"width_px": 400, **options})
        made = []
        for number, (path, time_s) in enumerate(frames):
            if path is None:
                continue
            key = valid_time.elapsed_key(time_s)
            state = tmp_path / f"{kind.name}_{number}.state"
            here = replace(context, stream="surface", time=key, state=state)
            out = tmp_path / f"{kind.name}_{number}.{kind.extensions(asked)[0]}"
            with open_frame([path], stream="surface", time=key, previous=previous) as frame:
                made.append((kind.make(asked, frame, out, here), out))
            previous = state
        return made

    return make
