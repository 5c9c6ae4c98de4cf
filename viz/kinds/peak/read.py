"""Running peaks up to a frame: those of the frame before, updated with this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
from burstlens.viz.geometry.field import EnrichedFrame, Field, read_plain_field, read_values
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.place import Source
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.kinds.peak.options import PeakOptions
from burstlens.viz.product import Context, ProductFrame

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
    """The peaks up to a frame: the state, and the frame with them as variables; ``shaken`` says in
    words of which component or combination they are."""

    state: RunningPeak
    frame: DerivedFrame
    shaken: str


def read_peaks(options: PeakOptions, frame: ProductFrame, context: Context) -> Peaks:
    """Update the peaks of the frame before with this frame. FrameError as :class:`.PeakKind`."""
    where, motion, order = read_motion(frame, options.components, options.level, options.motion)
    combine = options.combine or ("larger" if options.quantity == "intensity" else "vector")
    peak = advanced(
        read_peak(frame.previous), motion, elapsed_s(frame, context), order=order, combine=combine
    )
    motion.check_known()
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


class FrameMotion:
    """Components of a frame in SI units, read some rows at a time: see :class:`.Motion`."""

    def __init__(
        self, frame: ProductFrame, fields: Sequence[Field], level: int | None, factor: float
    ) -> None:
        self._frame, self._level, self._factor = frame, level, factor
        self._names = [field.name for field in fields]
        along, across = fields[0].dimensions
        sizes = frame.dimensions
        self.shape = len(fields), sizes[along], sizes[across]
        self._cells = unstaggered(along, frame)
        about = frame.variable(self._names[0])
        self.chunk = max(1, about.chunks[about.dimensions.index(along)] if about.chunks else 1)
        self._is_known = [False] * len(fields)

    def rows(self, part: slice) -> Array:
        """All components of some rows, as float32."""
        first, stop, _ = part.indices(self.shape[1])
        whole = stop - first == self.shape[1]
        # A staggered dimension has one row more than its cells.
        last = min(stop, self._frame.dimensions[self._cells])
        begin = min(first, last - 1)
        crop = Crop() if whole else Crop(index={self._cells: (begin, last)})
        found = np.empty((len(self._names), stop - first, self.shape[2]), np.float32)
        for number, name in enumerate(self._names):
            values = read_values(self._frame, name, level=self._level, crop=crop)
            values = values[first - begin : stop - begin] if not whole else values
            self._is_known[number] |= bool(np.isfinite(values).any())
            found[number] = values
        if self._factor != 1:
            found *= np.float32(self._factor)
        return found

    def check_known(self) -> None:
        """FrameError where all values of a component are NaN, once all rows were read."""
        for name, known in zip(self._names, self._is_known, strict=True):
            if not known:
                raise FrameError(f"{name}: all values are NaN")


def read_motion(
    frame: ProductFrame, components: tuple[str, ...], level: int | None, wanted: str
) -> tuple[Field, FrameMotion, int]:
    """The first two rows of the first component; all of them, yet to be read.

    The number says how often ``wanted`` (``pgd``, ``pgv``, ``pga``) is a derivative of them: 1, 0
    or -1. FrameError when they are not ground motion, not of one unit or not on one grid.
    """
    fields = []
    for name in components:
        _, along = grid.horizontal_dimensions(frame, name, centred=True)
        few = Crop(index={along: (0, min(2, frame.dimensions[along]))})
        fields.append(read_plain_field(frame, name, level=level, crop=few, units=None))
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
    return first, FrameMotion(frame, fields, level, factor), order


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
            distance = _distance_km(options.source, frame, where)
        felt = intensity(values, motion, magnitude=options.magnitude, distance_km=distance)
        found["intensity"] = (f"{_WORDS['intensity']}, {shaken}", "1", felt)
    return found


def _distance_km(source: Source, frame: ProductFrame, where: Field) -> Array:
    """Distance from the focus, which for a point source is that of the rupture."""
    focus = located(source, frame)
    window = {name: slice(None) for name in where.dimensions}
    plane = grid.plane(frame, where.name, window)
    x, y = np.meshgrid(plane.x, plane.y) if plane.x.ndim == 1 else (plane.x, plane.y)
    scale = metres(plane.units) or 1.0
    away = scale * epicentral_distance(focus, x, y, geographic=plane.geographic)
    return np.asarray(np.hypot(away, focus.depth_m or 0.0) / 1e3)
