"""Running peaks up to a frame: those of the frame before, updated with this one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.core.lengths import metres
from burstlens.core.units import convert
from burstlens.viz.diagnostics.derived import DerivedFrame, over
from burstlens.viz.diagnostics.seismology.focus import epicentral_distance, located
from burstlens.viz.diagnostics.seismology.ground_motion import motion_of
from burstlens.viz.diagnostics.seismology.intensity import intensity
from burstlens.viz.diagnostics.seismology.running_peak import (
    Combine,
    RunningPeak,
    advanced,
    read_peak,
)
from burstlens.viz.frames.times import elapsed_s
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.enriched import EnrichedFrame
from burstlens.viz.geometry.field import Field, read_field
from burstlens.viz.kinds.peak.options import PeakOptions
from burstlens.viz.product import Context, ProductFrame

Array = NDArray[Any]
_MOTIONS = {"pgd": "m", "pgv": "m s-1", "pga": "m s-2"}
"""In the order of :data:`.ground_motion.MOTIONS`."""
_WORDS = {
    "pgd": "peak ground displacement",
    "pgv": "peak ground velocity",
    "pga": "peak ground acceleration",
    "intensity": "instrumental intensity (MMI)",
    "time_of_peak": "time of the peak",
}
_SHOWN = {"pgd": "cm", "pgv": "cm s-1", "pga": "%g", "time_of_peak": "s"}


@dataclass(frozen=True, slots=True)
class Peaks:
    """The peaks up to a frame: the state, and the frame with them as variables.

    ``shaken`` says in words of which component or combination they are.
    """

    state: RunningPeak
    frame: DerivedFrame
    shaken: str


def read_peaks(options: PeakOptions, frame: ProductFrame, context: Context) -> Peaks:
    """Update the peaks of the frame before with this frame. FrameError as :class:`.PeakKind`."""
    where, motion, order = read_motion(frame, options.components, options.level, options.motion)
    combine = options.combine or ("larger" if options.quantity == "intensity" else "vector")
    peak = advanced(
        read_peak(frame.previous), motion, elapsed_s(frame, context), order=order,
        combine=combine,
    )  # fmt: skip
    shaken = _shaken(options.components, where.long_name, combine)
    added = _variables(options, frame, where, peak, shaken)
    return Peaks(peak, over(frame, EnrichedFrame(frame, where, added)), shaken)


def _shaken(components: tuple[str, ...], long_name: str, combine: Combine) -> str:
    """Which component it is the peak of, or which combination, in words.

    >>> _shaken(("vx", "vy"), "", "geometric-mean")
    'geometric mean of vx and vy'
    >>> _shaken(("vz",), "ground velocity, up", "vector")
    'up'
    """
    if len(components) == 1:
        direction = long_name.removesuffix(" so far").rpartition(", ")[2]
        return direction or components[0]
    *most, last = components
    return f"{combine.replace('-', ' ')} of {', '.join(most)} and {last}"


def read_motion(
    frame: ProductFrame, components: tuple[str, ...], level: int | None, wanted: str
) -> tuple[Field, Array, int]:
    """The whole field of the first component; all of them as (n, y, x) in SI units.

    The number says how often ``wanted`` (``pgd``, ``pgv``, ``pga``) is a derivative of them: 1, 0
    or -1. FrameError when they are not ground motion, not of one unit or not on one grid.
    """
    fields = [read_field(frame, name, level=level, crop=Crop(), units=None) for name in components]
    first = fields[0]
    for field in fields[1:]:
        if field.dimensions != first.dimensions or field.units != first.units:
            raise FrameError(
                f"{first.name} ({first.units} on {', '.join(first.dimensions)}) and {field.name} "
                f"({field.units} on {', '.join(field.dimensions)}) are not components of one motion"
            )
    number, factor = motion_of(first.name, first.units)
    order = [*_MOTIONS].index(wanted) - number
    if abs(order) > 1:
        raise FrameError(
            f"{wanted} of {first.name} in {first.units} would be taken over two steps of time: "
            "name components of the velocity"
        )
    motion = np.stack([field.values for field in fields])
    if factor != 1:
        motion *= np.asarray(factor, motion.dtype)
    return first, motion, order


def _variables(
    options: PeakOptions, frame: ProductFrame, where: Field, peak: RunningPeak, shaken: str
) -> dict[str, tuple[str, str, Array]]:
    """The variables added to the frame, by name: long name, units, values."""
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


def _distance_km(options: PeakOptions, frame: ProductFrame, where: Field) -> Array:
    """Distance from the focus, which for a point source is that of the rupture."""
    assert options.source is not None
    focus = located(options.source, frame)
    window = {name: slice(None) for name in where.dimensions}
    plane = grid.plane(frame, where.name, window)
    x, y = np.meshgrid(plane.x, plane.y) if plane.x.ndim == 1 else (plane.x, plane.y)
    scale = metres(plane.units) or 1.0
    away = scale * epicentral_distance(focus, x, y, geographic=plane.geographic)
    return np.asarray(np.hypot(away, focus.depth_m or 0.0) / 1e3)
