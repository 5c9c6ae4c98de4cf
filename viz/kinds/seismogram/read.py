"""Seismograms up to a frame: its samples, added to those of the frames before."""

from __future__ import annotations

from burstlens.core.errors import FrameError
from burstlens.viz.frames.times import elapsed_s
from burstlens.viz.geometry.place import read_places
from burstlens.viz.kinds.seismogram.options import SeismogramOptions
from burstlens.viz.kinds.seismogram.record_section import RecordSection, record_section
from burstlens.viz.kinds.seismogram.traces import Traces, joined, read_traces, recorded, sampled
from burstlens.viz.product import Context, ProductFrame


def read_seismograms(
    options: SeismogramOptions, frame: ProductFrame, context: Context
) -> tuple[Traces, RecordSection]:
    """The traces up to this frame, which are the state, and what is shown of them.

    FrameError when the frame holds no time series and the options name no stations.
    """
    if is_recorded(frame):
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
    return traces, record_section(options, frame, traces, context)


def is_recorded(frame: ProductFrame) -> bool:
    """Whether the frame holds what stations recorded; else stations are sampled from it."""
    return frame.attributes.get("featureType") == "timeSeries"
