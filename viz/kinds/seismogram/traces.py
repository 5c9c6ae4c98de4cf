"""Seismograms so far: recorded by a model's stations, or sampled from frames of the surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from burstlens.core.errors import FrameError, StateError
from burstlens.viz.frames.state import read_arrays, write_arrays
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import Field, read_field
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.place import Place, located_on
from burstlens.viz.product import ProductFrame

KIND = "traces 1"
_SECONDS = ("s", "sec", "second", "seconds")


@dataclass(frozen=True, slots=True)
class Traces:
    """Values (component, station, sample) at ``times`` (sample), s after the model's start.

    ``names``, ``x`` and ``y`` (station) are the stations and where they are: degrees of longitude
    and latitude when ``geographic``, else in m.
    """

    names: Array
    x: Array
    y: Array
    geographic: Array
    times: Array
    values: Array

    def write(self, path: Path) -> None:
        """Write them as a state file. StagingError when that cannot be done."""
        write_arrays(path, KIND, {part.name: getattr(self, part.name) for part in fields(self)})

    @property
    def step_s(self) -> float:
        """The usual time between two samples; 0 where there is only one."""
        return float(np.median(np.diff(self.times))) if self.times.size > 1 else 0.0

    def pieces(self) -> list[slice]:
        """The parts between which samples are missing: of frames that were damaged, or skipped."""
        late = np.flatnonzero(np.diff(self.times) > 1.5 * self.step_s) + 1
        edges = [0, *late.tolist(), self.times.size]
        return [slice(a, b) for a, b in pairwise(edges)]


def read_traces(path: Path | None) -> Traces | None:
    """What :meth:`Traces.write` wrote, None for None. StateError when it is damaged."""
    if path is None:
        return None
    arrays = read_arrays(path, KIND)
    missing = [part.name for part in fields(Traces) if part.name not in arrays]
    if missing:
        raise StateError(f"the state {path.name} lacks {', '.join(missing)}")
    return Traces(**arrays)


def joined(before: Traces | None, more: Traces) -> Traces:
    """Both, one after the other; samples that ``before`` has already are left out. StateError when
    they are not of the same stations and components, FrameError when there are no samples."""
    if before is None:
        if not more.times.size:
            raise FrameError("no samples: the stations have not recorded anything yet")
        return more
    if before.names.tolist() != more.names.tolist() or len(before.values) != len(more.values):
        raise StateError("the stations or components are not those of the frames before")
    new = more.times > before.times[-1]
    values = np.concatenate([before.values, more.values[..., new]], axis=-1)
    return replace(before, times=np.concatenate([before.times, more.times[new]]), values=values)


def recorded(frame: ProductFrame, components: Sequence[str]) -> Traces:
    """What stations recorded since the frame before, from a CF time series (CF 9, timeSeries).

    Its components are on (sample, station) in either order; a variable with the ``cf_role``
    ``timeseries_id`` names the stations, one on the samples alone holds the times in s. FrameError
    says what is missing.
    """
    role = "timeseries_id"
    named = [v for v in frame.names if frame.variable(v).attributes.get("cf_role") == role]
    if not named:
        raise FrameError(f"no variable has the cf_role {role}: the file holds no named time series")
    name = named[0]
    station = frame.variable(name).dimensions[0]
    if not frame.dimensions[station]:
        raise FrameError(f"no stations: {station} has no points")
    values = []
    samples = ""
    for component in components:
        about = frame.variable(component)
        if len(about.dimensions) != 2 or station not in about.dimensions:
            raise FrameError(f"{component} is not on ({station}, samples)")
        values.append(np.moveaxis(frame.read(component), about.dimensions.index(station), 0))
        samples = next(d for d in about.dimensions if d != station)
    series = (v for v in frame.names if frame.variable(v).dimensions == (samples,))
    clock = next((v for v in series if frame.variable(v).units.lower() in _SECONDS), None)
    if clock is None:
        raise FrameError(f"no variable on {samples} alone holds times in s")
    letters = np.atleast_2d(frame.stored(name).values)
    names = [b"".join(row.astype("S1")).decode("utf-8", "replace").strip("\0 ") for row in letters]
    x, y, geographic = _places(frame, station)
    return Traces(
        np.array(names), x, y, np.array(geographic), frame.read(clock).astype(np.float64),
        np.stack(values),
    )  # fmt: skip


def sampled(
    frame: ProductFrame, components: Sequence[str], stations: Sequence[Place], time_s: float
) -> Traces:
    """One sample: the frame's components at the stations, bilinear between its points; NaN outside
    of the frame. FrameError when a component has no even rows and columns."""
    values = np.full((len(components), len(stations), 1), np.nan)
    geographic = bool(stations) and stations[0].lat is not None
    for n, component in enumerate(components):
        field = read_field(frame, component, level=None, crop=Crop(), units=None)
        for m, station in enumerate(stations):
            values[n, m, 0] = _bilinear(field, station)
    names = np.array([station.name or str(n + 1) for n, station in enumerate(stations)])
    x = np.array([s.lon if geographic else s.x for s in stations], np.float64)
    y = np.array([s.lat if geographic else s.y for s in stations], np.float64)
    return Traces(names, x, y, np.array(geographic), np.array([time_s]), values)


def _bilinear(field: Field, station: Place) -> float:
    plane = grid.separated(field.plane)
    if plane.x.ndim != 1 or min(plane.x.size, plane.y.size) < 2:
        raise FrameError(f"{field.name}: stations need a grid of straight rows and columns")
    found = field.values
    sides = zip((plane.x, plane.y), located_on(plane, station), (1, 0), strict=True)
    for points, at, axis in sides:
        if points[0] > points[-1]:
            points, found = points[::-1], np.flip(found, axis)
        if not points[0] <= at <= points[-1]:
            return float("nan")
        low = min(int(np.searchsorted(points, at, side="right")) - 1, points.size - 2)
        share = (at - points[low]) / (points[low + 1] - points[low])
        first, second = (np.take(found, [low + k], axis) for k in (0, 1))
        found = first * (1 - share) + second * share if share else first
    return float(found.squeeze())


def _places(frame: ProductFrame, station: str) -> tuple[Array, Array, bool]:
    """Where the stations are: lon and lat where the file has them, else x and y in m."""
    alone = {v for v in frame.names if frame.variable(v).dimensions == (station,)}
    pairs = (("lon", "lat", True), ("longitude", "latitude", True), ("x", "y", False))
    for x, y, geographic in pairs:
        if {x, y} <= alone:
            return frame.read(x).astype(float), frame.read(y).astype(float), geographic
    raise FrameError(
        f"the file does not say where its stations are: no lon and lat, or x and y, on {station}"
    )
