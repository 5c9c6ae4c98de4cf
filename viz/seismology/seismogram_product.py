"""Seismograms made of a frame: its samples added to those before, written as was asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from burstlens.errors import FrameError
from burstlens.viz.frame import FrameReader
from burstlens.viz.maps.places import read_places
from burstlens.viz.product import Context, Made
from burstlens.viz.seismology.record_section import record_section
from burstlens.viz.seismology.seismogram import SeismogramOptions
from burstlens.viz.seismology.seismogram_figure import draw_section
from burstlens.viz.seismology.seismogram_file import write_traces
from burstlens.viz.seismology.spectrum_figure import draw_spectra
from burstlens.viz.seismology.traces import joined, read_traces, recorded, sampled
from burstlens.viz.times import elapsed_s, lead


def write_seismogram(
    options: SeismogramOptions, frame: FrameReader, out: Path, context: Context
) -> Made:
    """Write the product, and the state where the context names one: :class:`.SeismogramKind`."""
    if frame.attributes.get("featureType") == "timeSeries":
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
    section = record_section(options, frame, traces, context)
    if options.format == "png":
        draw = draw_section if options.show == "traces" else draw_spectra
        made = Made("png", draw(section, options, out, context, lead(frame, context)))
    else:
        made = write_traces(section, options, out)
    if context.state is not None:
        traces.write(context.state)
    greatest = section.peaks.max(axis=1).tolist()
    known = {
        "stations": traces.names.tolist(),
        "samples": int(traces.times.size),
        "step_s": round(traces.step_s, 9),
        "units": section.units,
        "max": dict(zip(options.components, greatest, strict=True)),
    }
    return replace(made, facts=known | dict(made.facts))
