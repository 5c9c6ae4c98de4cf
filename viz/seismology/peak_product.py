"""Running peaks made of a frame: read, taken further, written as a map or as netCDF."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.errors import FrameError
from burstlens.viz import grid
from burstlens.viz.crop import Crop
from burstlens.viz.enriched import enriched
from burstlens.viz.field import Field, read_field
from burstlens.viz.frame import FrameReader
from burstlens.viz.maps.figure import draw
from burstlens.viz.maps.layering import read_layers
from burstlens.viz.netcdf_file import write_netcdf
from burstlens.viz.product import Context, Made
from burstlens.viz.seismology.focus import epicentral_distance, located
from burstlens.viz.seismology.ground_motion import motion_of
from burstlens.viz.seismology.intensity import intensity
from burstlens.viz.seismology.peak import PeakOptions
from burstlens.viz.seismology.running_peak import Combine, RunningPeak, advanced, read_peak
from burstlens.viz.times import elapsed_s, lead
from burstlens.viz.units import convert

Array = NDArray[Any]
_MOTIONS = {"pgd": "m", "pgv": "m s-1", "pga": "m s-2"}
"""In the order of :data:`.ground_motion.MOTIONS`."""
_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
_WORDS = {
    "pgd": "peak ground displacement",
    "pgv": "peak ground velocity",
    "pga": "peak ground acceleration",
    "intensity": "instrumental intensity (MMI)",
    "time_of_peak": "time of the peak",
}
_SHOWN = {"pgd": "cm", "pgv": "cm s-1", "pga": "%g", "time_of_peak": "s"}


def write_peak(options: PeakOptions, frame: FrameReader, out: Path, context: Context) -> Made:
    """Write the product and, where the context names one, the state; see :class:`.PeakKind`."""
    where, motion, order = read_motion(frame, options.components, options.level, options.motion)
    combine = options.combine or ("larger" if options.quantity == "intensity" else "vector")
    peak = advanced(
        read_peak(frame.previous), motion, elapsed_s(frame, context), order=order,
        combine=combine,
    )  # fmt: skip
    shaken = _shaken(options.components, where.long_name, combine)
    whole = enriched(frame, where, _variables(options, frame, where, peak, shaken))
    if options.format == "netcdf":
        made = _netcdf(options, whole, out, context)
    else:
        made = _map(options, whole, out, context, shaken)
    if context.state is not None:
        peak.write(context.state)
    return replace(made, facts={**made.facts, "frames": peak.frames, "components": shaken})


def _shaken(components: tuple[str, ...], long_name: str, combine: Combine) -> str:
    """Which component it is the peak of, or which combination, in words.

    >>> _shaken(("vx", "vy"), "", "geometric-mean")
    'geometric mean of vx and vy'
    >>> _shaken(("vz",), "ground velocity, up", "vector")
    'up'
    """
    if len(components) == 1:
        told = long_name.removesuffix(" so far").rpartition(", ")[2]
        return told or components[0]
    *most, last = components
    return f"{combine.replace('-', ' ')} of {', '.join(most)} and {last}"


def read_motion(
    frame: FrameReader, components: tuple[str, ...], level: int | None, wanted: str
) -> tuple[Field, Array, int]:
    """The whole field of the first component; all of them as (n, y, x) in SI units.

    The number says how often ``wanted`` (``pgd``, ``pgv``, ``pga``) is a derivative of them: 1, 0
    or -1. FrameError when they are no ground motion, not of one unit or not on one grid.
    """
    fields = [read_field(frame, name, level=level, crop=Crop(), units=None) for name in components]
    first = fields[0]
    for field in fields[1:]:
        if field.dimensions != first.dimensions or field.units != first.units:
            raise FrameError(
                f"{first.name} ({first.units} on {', '.join(first.dimensions)}) and {field.name} "
                f"({field.units} on {', '.join(field.dimensions)}) are no components of one motion"
            )
    number, factor = motion_of(first.name, first.units)
    order = [*_MOTIONS].index(wanted) - number
    if abs(order) > 1:
        raise FrameError(
            f"{wanted} of {first.name} in {first.units} would be taken over two steps of time: "
            "name components of the velocity"
        )
    return first, np.stack([field.values for field in fields]) * factor, order


def _variables(
    options: PeakOptions, frame: FrameReader, where: Field, peak: RunningPeak, shaken: str
) -> dict[str, tuple[str, str, Array]]:
    """What the frame has more of, by name: long name, units, values."""
    motion = options.motion
    unit = options.units or _SHOWN[motion]
    values = peak.values
    found = {
        motion: (f"{_WORDS[motion]}, {shaken}", unit, convert(values, _MOTIONS[motion], unit)),
        "time_of_peak": (f"{_WORDS['time_of_peak']}, {shaken}", "s", peak.when),
    }
    if motion != "pgd":
        distance = None
        if options.magnitude is not None and options.source is not None:
            distance = _distance_km(options, frame, where)
        felt = intensity(values, motion, magnitude=options.magnitude, distance_km=distance)
        found["intensity"] = (f"{_WORDS['intensity']}, {shaken}", "1", felt)
    return found


def _distance_km(options: PeakOptions, frame: FrameReader, where: Field) -> Array:
    """Distance from the focus, which for a point source is that of the rupture."""
    assert options.source is not None
    focus = located(options.source, frame)
    window = {name: slice(None) for name in where.dimensions}
    plane = grid.plane(frame, where.name, window)
    x, y = np.meshgrid(plane.x, plane.y) if plane.x.ndim == 1 else (plane.x, plane.y)
    scale = 1e3 if plane.units == "km" else 1.0
    away = scale * epicentral_distance(focus, x, y, geographic=plane.geographic)
    return np.asarray(np.hypot(away, focus.depth_m or 0.0) / 1e3)


def _map(
    options: PeakOptions, frame: FrameReader, out: Path, context: Context, shaken: str
) -> Made:
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
    note = "  ·  ".join([f"{options.motion.upper()}: {shaken}", *lines])
    drawn = draw(shown, asked, out, context, lead=lead(frame, context), layers=layers, note=note)
    return Made("png", shown.facts() | drawn)


def _round_up(value: float) -> float:
    """The next round number, so that the colours of a series seldom change."""
    if not value > 0:
        return 1.0
    decade = 10.0 ** np.floor(np.log10(value))
    return float(next(step * decade for step in _ROUND if step * decade >= 0.999 * value))


def _netcdf(options: PeakOptions, frame: FrameReader, out: Path, context: Context) -> Made:
    names = (options.motion, "time_of_peak", *(("intensity",) if "intensity" in frame else ()))
    return Made("nc", write_netcdf(frame, names, options.crop, out, context))
