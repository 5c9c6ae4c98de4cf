"""Colour limits for a whole run: usual ranges, else round ones that widen in steps.

A picture is drawn at once, whatever its frame holds. If more than a few of its points lie beyond
the limits of its series, it is drawn with wider limits and reports them; the driver adopts them for
the series, and the earlier pictures are made again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import RecipeError
from burstlens.core.units import conversion, usual
from burstlens.viz.drawing import style
from burstlens.viz.drawing.colours import Coloured, ColourOptions, is_centred, is_constant, steps
from burstlens.viz.product import Context

Array = NDArray[Any]
Range = tuple[float, float]

FEW = 0.005
"""Share of the points that may lie beyond the limits before these widen."""
_BEYOND = 0.001
"""Share of the points beyond new limits: a single outlier must not set the colours."""
_FILLED = 0.25
"""The least part of a usual range that the first values must fill."""
_DECADES = 4
"""Decades that logarithmic colours cover at most."""
_ROUND = (1, 2, 5, 10)
_AT_ONCE = 1 << 18
"""Values that are looked at together, as they fit a core's cache."""
_RANGES: tuple[tuple[tuple[str, ...], str, float, float], ...] = (
    # Shares and directions, by definition (WMO-No. 8, Guide to Instruments and Methods of
    # Observation).
    (("rh", "rh_2m"), "%", 0, 100),
    (("CLDFRA", "SNOWC", "SEAICE", "ALBEDO"), "1", 0, 1),
    (("wind_direction", "wind10_direction"), "degrees", 0, 360),
    # Beaufort scale (WMO-No. 8, part I, chapter 5): force 12 begins at 32.7 m s-1.
    (("wind10", "surface_wind"), "m s-1", 0, 40),
    # US National Weather Service: unstable from 1000, very from 2500, extremely from 4000 J kg-1.
    (("cape", "mu_cape"), "J kg-1", 0, 5000),
    # US National Weather Service: a lid beyond 200 J kg-1 is strong.
    (("cin", "mu_cin"), "J kg-1", -200, 0),
    # NOAA Storm Prediction Center: rotating updrafts are counted from 75 m2 s-2 on grids of 3 km.
    (("updraft_helicity",), "m2 s-2", -200, 200),
    # NOAA's maps of total precipitable water: the moistest tropical air holds about 75 mm.
    (("precipitable_water",), "kg m-2", 0, 75),
    # At the ground at noon in the tropics about 1100 W m-2 of a solar constant of 1361 (WMO-No. 8).
    (("SWDOWN",), "W m-2", 0, 1200),
    # NASA CERES: from high cloud over the tropics to cloudless desert.
    (("OLR",), "W m-2", 100, 350),
    # NOAA's infrared images of the GOES satellites: from overshooting tops to hot ground.
    (("cloud_top_temperature",), "K", 190, 320),
)
"""Names, unit, lowest and highest value, as forecasters use them: limits from the first frame on.

A quantity is listed if its range is the same in every place and season: a share, a direction,
a scale with classes. Temperatures, pressures and winds aloft are not listed: a range for all
climates would show a small domain in one colour, so their limits follow the frames.
"""


def fitted(context: Context, options: ColourOptions, *shown: Coloured) -> Context:
    """The context with the limits of its series including this frame, in the shown units.

    None if the recipe gives limits, if the quantity has steps of colours, and as long as all
    fields were constant. ``shown`` are the field and what is drawn over it in the same colours.
    """
    field = shown[0]
    if isinstance(options.limits, tuple) or steps(field, options):
        return replace(context, limits=None)
    points = _Points([each.values for each in shown], log=options.log)
    before = context.limits
    if before is None and not options.log:
        usual_one = usual_range(field.name, field.units)
        before = _circle(field, options, points)
        if usual_one is not None and _is_filled(usual_one, points):
            before = usual_one
    if not points.count or (before is not None and points.share_beyond(before) <= FEW):
        return replace(context, limits=before)
    low, high = points.spread()
    if before is not None:
        low, high = min(low, before[0]), max(high, before[1])
    if is_constant(low, high):
        return context
    if options.log:
        limits = _round_down(low), _round_up(high)
    elif is_centred(field, options, (low, high)):
        limits = -_round_up(max(-low, high)), _round_up(max(-low, high))
    else:
        limits = rounded(low, high)
    if before is not None:
        limits = min(limits[0], before[0]), max(limits[1], before[1])
    return replace(context, limits=limits)


def usual_range(name: str, units: str) -> tuple[float, float] | None:
    """The range of a quantity in these units, at any level; None if there is no usual one.

    >>> usual_range("rh@850hPa", "1")
    (0.0, 1.0)
    """
    base = name.partition("@")[0]
    for names, unit, low, high in _RANGES:
        if base in names:
            try:
                factor, offset = conversion(unit, units or "1")
            except RecipeError:  # the file's variable is something else
                return None
            low, high = low * factor + offset, high * factor + offset
            if (factor, offset) == (1.0, 0.0):
                return low, high
            return float(f"{low:.2g}"), float(f"{high:.2g}")  # 40 m s-1 are 77.75 kn
    return None


def _is_filled(usual: Range, points: _Points) -> bool:
    """Whether values fill so much of a usual range that its colours show them; values that are all
    the same say nothing against it."""
    if not points.count or is_constant(points.low, points.high):
        return True
    low, high = points.spread()
    if usual[0] <= 0 <= usual[1]:
        return max(abs(low), abs(high)) >= _FILLED * max(abs(usual[0]), abs(usual[1]))
    return high - low >= _FILLED * (usual[1] - usual[0])


class _Points:
    """The values that limits follow, some rows at a time: finite ones, and with a logarithm those
    not too far below the largest. ``low`` and ``high`` are their ends, ``count`` their number."""

    def __init__(self, fields: Sequence[Array], *, log: bool) -> None:
        self._fields, self._least = fields, -math.inf
        self._measure()
        if log:
            self._least = max(0.0, self.high / 10**_DECADES)
            self._measure()

    def __iter__(self) -> Iterator[Array]:
        for values in self._fields:
            step = max(1, _AT_ONCE // max(1, math.prod(values.shape[1:])))
            for first in range(0, len(values), step):
                part = values[first : first + step]
                yield part[np.isfinite(part) & (part > self._least)]

    def _measure(self) -> None:
        found = [(part.size, float(part.min()), float(part.max())) for part in self if part.size]
        self.count = sum(size for size, _, _ in found)
        self.low = min((low for _, low, _ in found), default=0.0)
        self.high = max((high for _, _, high in found), default=0.0)

    def share_beyond(self, limits: Range) -> float:
        """How many of them lie beyond limits, as a part of all."""
        if limits[0] <= self.low and self.high <= limits[1]:
            return 0.0
        beyond = (np.count_nonzero((part < limits[0]) | (part > limits[1])) for part in self)
        return sum(beyond) / self.count

    def spread(self) -> Range:
        """The range of all but the outermost; of all where nearly all are the same."""
        beyond = _BEYOND / 2
        few = min(math.ceil(beyond * self.count) + 1, self.count)
        kind = np.result_type(*self._fields)
        low_ones, high_ones = np.empty(0, kind), np.empty(0, kind)
        for part in self:  # of each, only what lies outermost so far
            low_ones = _smallest(np.concatenate([low_ones, part]), few)
            high_ones = -_smallest(-np.concatenate([high_ones, part]), few)
        along = beyond * (self.count - 1)
        low, high = _between(np.sort(low_ones), along), -_between(np.sort(-high_ones), along)
        if is_constant(float(low), float(high)):
            return self.low, self.high
        return float(low), float(high)


def _smallest(values: Array, count: int) -> Array:
    if values.size > count:
        values.partition(count - 1)
    return values[:count].copy()


def _between(values: Array, place: float) -> float:
    """The value at a place between two numbers of a sorted array."""
    first = min(int(place), values.size - 1)
    low, high = (float(values[min(at, values.size - 1)]) for at in (first, first + 1))
    return low + (high - low) * (place - first)


def _circle(field: Coloured, options: ColourOptions, points: _Points) -> Range | None:
    """The whole circle for directions: with other limits two of them would have one colour."""
    name = options.colormap or style.colormap_name(field.units, field.long_name, False)
    if name != style.CIRCLE or usual(field.units) != "degrees" or not points.count:
        return None
    low, high = points.low, points.high
    if low < 0:
        return (-180.0, 180.0) if low >= -180.5 and high <= 180.5 else None
    return (0.0, 360.0) if high <= 360.5 else None


def rounded(low: float, high: float) -> Range:
    """Round limits around a range: from zero where it begins near zero, else in even steps.

    >>> rounded(0.3, 37.0), rounded(290.3, 304.2), rounded(-3.0, -0.1)
    ((0.0, 50.0), (290.0, 305.0), (-5.0, 0.0))
    """
    if 0 <= low <= high / 2:
        return 0.0, _round_up(high)
    if low / 2 <= high <= 0:
        return -_round_up(-low), 0.0
    step = _round_up((high - low) / 5)
    digits = max(0, -math.floor(math.log10(step)))
    return (
        round(math.floor(low / step) * step, digits),
        round(math.ceil(high / step) * step, digits),
    )


def _round_up(value: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    decade = math.floor(math.log10(value))
    # A value slightly above a round number is float32 rounding, not a larger value.
    return next(found for found in _rounds(decade) if found >= 0.9999 * value)


def _round_down(value: float) -> float:
    decade = math.floor(math.log10(value))
    return next(found for found in reversed(_rounds(decade)) if found <= 1.0001 * value)


def _rounds(decade: int) -> list[float]:
    return [float(f"{step}e{decade}") for step in _ROUND]
