"""Seismograms up to a frame, in order of the stations' distance from the source."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from burstlens.core import valid_time
from burstlens.core.errors import FrameError
from burstlens.core.units import conversion
from burstlens.viz.diagnostics.seismology.focus import epicentral_distance, located
from burstlens.viz.diagnostics.seismology.travel_time import first_arrival
from burstlens.viz.frames.times import EPOCH, elapsed_s, start
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.place import Source, read_places
from burstlens.viz.kinds.seismogram.options import SeismogramOptions
from burstlens.viz.kinds.seismogram.traces import Traces, joined, read_traces, recorded, sampled
from burstlens.viz.product import Context, ProductFrame


@dataclass(frozen=True, slots=True)
class RecordSection:
    """Traces with what is known of them, stations in order of distance.

    ``distances_m`` (station) are None where there is no source; ``arrivals`` are names of phases
    and their times (station) in s. ``titles`` and ``units`` are those of the components;
    ``began`` is the calendar key that times count from, None where the model has no calendar.
    ``is_recorded``: by the model's own stations, else sampled from frames.
    """

    traces: Traces
    distances_m: Array | None
    arrivals: dict[str, Array]
    titles: tuple[str, ...]
    units: str
    began: str | None
    is_recorded: bool

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


def read_seismograms(
    options: SeismogramOptions, frame: ProductFrame, context: Context
) -> tuple[Traces, RecordSection]:
    """The traces up to this frame, which are the state, and what is shown of them. FrameError when
    the frame holds no time series and the options name no stations."""
    is_recorded = frame.attributes.get("featureType") == "timeSeries"
    if is_recorded:
        new = recorded(frame, options.components)
    else:
        stations = read_places(options.stations, context.files)
        if not stations:
            raise FrameError(
                "the frame holds no time series of stations: name `stations` at which it is "
                "sampled, or the stream that holds them"
            )
        new = sampled(frame, options.components, stations, elapsed_s(frame, context))
    traces = joined(read_traces(frame.previous), new)
    about = [frame.variable(name) for name in options.components]
    units = about[0].units
    if any(variable.units != units for variable in about):
        raise FrameError(f"{', '.join(options.components)} are not all in {units or 'no unit'}")
    titles = tuple(variable.long_name for variable in about)
    source = _source(options, frame)
    order = np.arange(traces.names.size)
    distances = None
    if source is not None:
        away = epicentral_distance(source, traces.x, traces.y, geographic=bool(traces.geographic))
        order = np.argsort(away, kind="stable")
        distances = away[order]
    arrivals = _arrivals(options, source, distances)
    shown = options.units or units
    factor, _ = conversion(units, shown)
    ordered = replace(
        traces, names=traces.names[order], x=traces.x[order], y=traces.y[order],
        values=traces.values[:, order] * factor,
    )  # fmt: skip
    began = None
    if valid_time.is_calendar(context.time):
        began = context.start or start(frame) or EPOCH
    return traces, RecordSection(ordered, distances, arrivals, titles, shown, began, is_recorded)


def _source(options: SeismogramOptions, frame: ProductFrame) -> Source | None:
    """The recipe's source, else the file's; None where neither has one."""
    try:
        return located(options.source or Source(), frame)
    except FrameError:
        if options.source is not None:
            raise
        return None


def _arrivals(
    options: SeismogramOptions, source: Source | None, distances: Array | None
) -> dict[str, Array]:
    if not options.layers:
        return {}
    if source is None or distances is None:
        raise FrameError("layers: arrivals need a source, and neither recipe nor file has one")
    if source.depth_m is None:
        raise FrameError("layers: arrivals need the source's depth_m")
    tops = [layer.top_m for layer in options.layers]
    speeds = {
        "P": [layer.vp_m_s for layer in options.layers],
        "S": [layer.vs_m_s for layer in options.layers],
    }
    return {
        phase: options.origin_s + first_arrival(tops, of_phase, source.depth_m, distances)
        for phase, of_phase in speeds.items()
    }
