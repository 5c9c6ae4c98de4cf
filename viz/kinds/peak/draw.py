"""Running peaks of a frame, written as a map or as netCDF."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from burstlens.viz.frames.times import lead
from burstlens.viz.geometry.field import read_field
from burstlens.viz.kinds.map.draw import draw as draw_map
from burstlens.viz.kinds.map.read import read_layers
from burstlens.viz.kinds.netcdf.draw import write_netcdf
from burstlens.viz.kinds.peak.options import PeakOptions
from burstlens.viz.kinds.peak.read import Peaks
from burstlens.viz.product import Context, Made

_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def draw(options: PeakOptions, peaks: Peaks, out: Path, context: Context) -> Made:
    """Write the map or the netCDF file. StagingError when ``out`` cannot be written."""
    frame = peaks.frame
    if options.format == "netcdf":
        names = (options.motion, "time_of_peak", *(("intensity",) if "intensity" in frame else ()))
        return Made("nc", write_netcdf(frame, names, options.crop, out, context))
    variable = options.shown
    shown = read_field(frame, variable, level=None, crop=options.crop, units=None)
    limits = None
    if variable not in ("intensity", "time_of_peak"):
        high = shown.extent()[1]
        limits = (_round_up(high) / 100 if options.log else 0.0, _round_up(high))
    asked = options.as_map(variable, limits)
    layers = read_layers(asked, frame, context.files)
    # Lines of the followed motion are of the same component; others come from the file.
    lines = [
        f"lines: {field.long_name}" for _, field in layers.contours if field.name != options.motion
    ]
    note = "  ·  ".join([f"{options.motion.upper()}: {peaks.shaken}", *lines])
    drawn = draw_map(
        shown, asked, out, context, lead=lead(frame, context), layers=layers, note=note
    )
    return Made("png", shown.facts() | drawn)


def _round_up(value: float) -> float:
    """The next round number, so that the colours of a series seldom change."""
    if not value > 0:
        return 1.0
    decade = 10.0 ** np.floor(np.log10(value))
    return float(next(step * decade for step in _ROUND if step * decade >= 0.999 * value))
