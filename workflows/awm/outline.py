"""What awm's frames will hold, known from the parameter file alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.errors import RecipeError
from burstlens.nearness import did_you_mean
from burstlens.viz.outline import Described, Known
from burstlens.workflows.awm.output import AXES, COMPONENTS
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.surface_peaks import PEAKS

Array = NDArray[Any]


def outline(given: Parameters, stream: str) -> Known:
    """The variables, the grid and the attributes of ``surface``, ``volume`` or ``stations``.

    RecipeError for another name.
    """
    makers = {"surface": _surface, "volume": _volume, "stations": _stations}
    if stream not in makers:
        near = did_you_mean(stream, makers)
        raise RecipeError(f"awm has no stream {stream!r}{near}")
    return makers[stream](given)


def _surface(given: Parameters) -> Known:
    silent = "" if given.output.surface_every else "[output] surface_every is 0"
    known = _known(given, ("y", "x"), 1, silent)
    peaks = {name: (("y", "x"), {"units": unit}) for name, (_, unit) in PEAKS.items()}
    if given.output.peaks:
        return replace(known, variables={**known.variables, **peaks})
    return replace(known, unwritten=peaks, doubt="awm writes it with [output] peaks = true")


def _volume(given: Parameters) -> Known:
    silent = "" if given.output.volume_every else "[output] volume_every is 0"
    return _known(given, ("z", "y", "x"), given.output.volume_stride, silent)


def _known(given: Parameters, axes: tuple[str, ...], stride: int, silent: str) -> Known:
    grid, h = given.grid, given.grid.spacing_m
    values = {
        "x": np.arange(0, grid.nx, stride) * h,
        "y": np.arange(0, grid.ny, stride) * h,
        "z": (np.arange((grid.nz - 1) % stride, grid.nz, stride) - (grid.nz - 1)) * h,
    }
    variables: dict[str, Described | None] = {"time": ((), {"units": "s"})}
    for axis in axes:
        variables[axis] = (axis,), {**AXES[axis], "units": "m", "axis": axis.upper()}
    variables |= {name: (axes, {"units": "m s-1"}) for name in COMPONENTS}
    return Known(
        variables,
        {axis: values[axis].size for axis in axes},
        attributes=_attributes(given),
        coordinates={axis: values[axis] for axis in axes}.__getitem__,
        silent=silent,
    )


def _stations(given: Parameters) -> Known:
    ready = given.output.station_frames and given.station
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
        attributes=_attributes(given) | {"featureType": "timeSeries"},
        coordinates=values.__getitem__,
        silent="" if ready else "there are no stations, or [output] station_frames is not true",
    )


def _attributes(given: Parameters) -> dict[str, Any]:
    """Those that every file of awm has and that are read again."""
    source = given.source
    return {
        "spacing_m": given.grid.spacing_m,
        "source_x_m": source.x_m,
        "source_y_m": source.y_m,
        "source_depth_m": source.depth_m,
    }
