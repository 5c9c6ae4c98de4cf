"""The traces of a picture as a script beside it, for stations on the live page."""

from __future__ import annotations

import math
import zlib
from pathlib import Path

from burstlens.core.units import printed
from burstlens.viz.kinds.seismogram.options import SeismogramOptions
from burstlens.viz.kinds.seismogram.record_section import RecordSection
from burstlens.viz.product import Context, whole_file
from burstlens.viz.values.names import VALUES
from burstlens.viz.values.traces import traces_script


def write_beside(
    section: RecordSection,
    options: SeismogramOptions,
    picture: Path,
    folder: Path,
    context: Context,
    *,
    recorded: bool,
) -> int:
    """Write what ``picture`` shows into ``folder``; returns the number of stations.

    ``recorded``: by the model's own stations, else sampled from frames. StagingError when it cannot
    be written; nothing half-written is left.
    """
    traces = section.traces
    x, y = ("lon", "lat") if traces.geographic else ("x", "y")
    stations = [
        {"name": str(name), x: _number(at_x), y: _number(at_y)}
        for name, at_x, at_y in zip(traces.names, traces.x, traces.y, strict=True)
    ]
    folder.mkdir(exist_ok=True)
    with whole_file(folder / VALUES):
        header = {
            "product": context.product,
            "stream": context.stream,
            "time": context.time,
            "attempt": context.attempt,
            "picture": zlib.crc32(picture.read_bytes()),
            "recorded": recorded,
            "step_s": _number(round(traces.step_s, 9)),
            "reference": section.began,
            "units": section.units,
            "printed": printed(section.units),
            "components": [
                {"name": name, "title": title}
                for name, title in zip(options.components, section.titles, strict=True)
            ],
        }
        (folder / VALUES).write_bytes(traces_script(header, stations, traces.times, traces.values))
    return len(stations)


def _number(value: float) -> float | None:
    """For JSON, which has no NaN."""
    return float(value) if math.isfinite(value) else None
