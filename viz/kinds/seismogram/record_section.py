"""Traces of stations in order of their distance from the source, with the arrivals of phases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core import valid_time
from burstlens.core.errors import FrameError
from burstlens.core.units import conversion
from burstlens.viz.diagnostics.seismology.focus import epicentral_distance, located
from burstlens.viz.diagnostics.seismology.travel_time import first_arrival
from burstlens.viz.frames.times import EPOCH, start
from burstlens.viz.geometry.place import Source
from burstlens.viz.kinds.seismogram.options import SeismogramOptions
from burstlens.viz.kinds.seismogram.traces import Traces
from burstlens.viz.product import Context, ProductFrame

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class RecordSection:
    """Traces with what is known of them, stations in order of distance.

    ``distances_m`` (station) are None where there is no source; ``arrivals`` are names of phases
    and their times (station) in s. ``titles`` and ``units`` are those of the components;
    ``began`` is the calendar key that times count from, None where the model has no calendar.
    """

    traces: Traces
    distances_m: Array | None
    arrivals: dict[str, Array]
    titles: tuple[str, ...]
    units: str
    began: str | None

    @property
    def peaks(self) -> Array:
        """The greatest size of each trace (component, station); 0 where it has no values."""
        sizes = np.abs(self.traces.values)
        return np.asarray(np.max(sizes, axis=-1, initial=0.0, where=np.isfinite(sizes)))

    def span(self, duration_s: float | None) -> tuple[float, float]:
        """The ends of the time axis in s."""
        first, last = float(self.traces.times[0]), float(self.traces.times[-1])
        if duration_s is not None:
            return min(first, 0.0), duration_s
        return min(first, 0.0), last if last > min(first, 0.0) else first + 1.0


def record_section(
    options: SeismogramOptions, frame: ProductFrame, traces: Traces, context: Context
) -> RecordSection:
    """The traces in order of distance and in the units that were asked for."""
    about = [frame.variable(name) for name in options.components]
    units = about[0].units
    if any(variable.units != units for variable in about):
        raise FrameError(f"{', '.join(options.components)} are not all in {units or 'no unit'}")
    titles = tuple(variable.long_name for variable in about)
    distances = _distances(options, frame, traces)
    if distances is None and options.layers:
        raise FrameError("layers: arrivals need a source, and neither recipe nor file has one")
    order = np.arange(traces.names.size)
    arrivals = {}
    if distances is not None:
        order = np.argsort(distances, kind="stable")
        distances = distances[order]
    if distances is not None and options.layers:
        depth = _source(options, frame).depth_m
        if depth is None:
            raise FrameError("layers: arrivals need the source's depth_m")
        tops = [layer.top_m for layer in options.layers]
        for phase, speeds in (
            ("P", [layer.vp_m_s for layer in options.layers]),
            ("S", [layer.vs_m_s for layer in options.layers]),
        ):
            arrivals[phase] = options.origin_s + first_arrival(tops, speeds, depth, distances)
    factor, _ = conversion(units, options.units or units)
    ordered = Traces(
        traces.names[order], traces.x[order], traces.y[order], traces.geographic, traces.times,
        traces.values[:, order] * factor,
    )  # fmt: skip
    return RecordSection(
        ordered, distances, arrivals, titles, options.units or units, _began(frame, context)
    )


def _began(frame: ProductFrame, context: Context) -> str | None:
    if not valid_time.is_calendar(context.time):
        return None
    return context.start or start(frame) or EPOCH


def _source(options: SeismogramOptions, frame: ProductFrame) -> Source:
    return located(options.source or Source(), frame)


def _distances(options: SeismogramOptions, frame: ProductFrame, traces: Traces) -> Array | None:
    """Metres from the source; None where no source is known."""
    try:
        source = _source(options, frame)
    except FrameError:
        if options.source is not None:
            raise
        return None
    return epicentral_distance(source, traces.x, traces.y, geographic=bool(traces.geographic))
