"""What awm's frames will hold, known from the parameter file alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import RecipeError
from burstlens.core.nearness import did_you_mean
from burstlens.viz.frames.outline import Column, Described, Known
from burstlens.workflows.awm.layout import Layout
from burstlens.workflows.awm.output import AXES, COMPONENTS
from burstlens.workflows.awm.parameters import Grid, Output, Parameters
from burstlens.workflows.awm.surface_peaks import PEAKS

Array = NDArray[Any]
_ALL = Output(surface_every=1, volume_every=1, station_frames=True, peaks=True)
"""Stands in for a faulty table."""


def outline(given: Parameters | Layout, stream: str) -> Known:
    """The variables, the grid and the attributes of ``surface``, ``volume`` or ``stations``.

    With a faulty grid the sizes are unknown; with a faulty ``[output]``, what is written.
    RecipeError for another stream.
    """
    makers = {"surface": _surface, "volume": _volume, "stations": _stations}
    if stream not in makers:
        raise RecipeError(f"awm has no stream {stream!r}{did_you_mean(stream, makers)}")
    return makers[stream](given)


def _surface(given: Parameters | Layout) -> Known:
    output = given.output or _ALL
    silent = "" if output.surface_every else "[output] surface_every is 0"
    known = _known(given, ("y", "x"), 1, silent)
    peaks = {name: (("y", "x"), {"units": unit}) for name, (_, unit) in PEAKS.items()}
    if output.peaks:
        return replace(known, variables={**known.variables, **peaks})
    return replace(known, unwritten=peaks, doubt="awm writes it with [output] peaks = true")


def _volume(given: Parameters | Layout) -> Known:
    output = given.output or _ALL
    silent = "" if output.volume_every else "[output] volume_every is 0"
    known = _known(given, ("z", "y", "x"), output.volume_stride, silent)
    if given.grid is None:
        return known
    lowest = -(given.grid.nz - 1) * given.grid.spacing_m
    return replace(known, column=lambda: Column(lowest, 0.0, is_depth=True))


def _known(given: Parameters | Layout, axes: tuple[str, ...], stride: int, silent: str) -> Known:
    variables: dict[str, Described | None] = {"time": ((), {"units": "s"})}
    for axis in axes:
        variables[axis] = (axis,), {**AXES[axis], "units": "m", "axis": axis.upper()}
    variables |= {name: (axes, {"units": "m s-1"}) for name in COMPONENTS}
    values = {} if given.grid is None else _axes(given.grid, stride)
    values = {axis: values[axis] for axis in axes if axis in values}
    sizes = {axis: points.size for axis, points in values.items()}
    coordinates, attributes = values.__getitem__, _attributes(given)
    return Known(variables, sizes, attributes=attributes, coordinates=coordinates, silent=silent)


def _axes(grid: Grid, stride: int) -> dict[str, Array]:
    """The coordinates of the points that are written, in m."""
    h = grid.spacing_m
    return {
        "x": np.arange(0, grid.nx, stride) * h,
        "y": np.arange(0, grid.ny, stride) * h,
        "z": (np.arange((grid.nz - 1) % stride, grid.nz, stride) - (grid.nz - 1)) * h,
    }


def _stations(given: Parameters | Layout) -> Known:
    ready = (given.output or _ALL).station_frames and given.station
    places = given.station
    values: dict[str, Array] = {
        "x": np.array([place.x_m for place in places]),
        "y": np.array([place.y_m for place in places]),
        "z": np.array([-place.depth_m for place in places]),
    }
    variables: dict[str, Described | None] = {
        "time": ((), {"units": "s"}),
        "sample_time": (("sample",), {"units": "s"}),
        "station_name": (("station", "name_length"), {"cf_role": "timeseries_id"}),
    }
    variables |= {axis: (("station",), {**AXES[axis], "units": "m"}) for axis in values}
    variables |= {name: (("sample", "station"), {"units": "m s-1"}) for name in COMPONENTS}
    return Known(
        variables,
        {"station": len(places)},
        attributes={**(_attributes(given) or {}), "featureType": "timeSeries"},
        coordinates=values.__getitem__,
        silent="" if ready else "there are no stations, or [output] station_frames is not true",
    )


def _attributes(given: Parameters | Layout) -> dict[str, Any] | None:
    """Those attributes of awm's files that are read again; None if not known."""
    source, grid = given.source, given.grid
    if source is None or grid is None:
        return None
    return {"spacing_m": grid.spacing_m, "source_x_m": source.x_m, "source_y_m": source.y_m,
            "source_depth_m": source.depth_m}  # fmt: skip
