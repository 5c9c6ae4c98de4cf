"""Colour limits for a whole run: usual ranges, else round ones that widen in steps.

A picture is drawn at once, whatever its frame holds. If more than a few of its points lie beyond
the limits of its series, it is drawn with wider limits and reports them; the driver adopts them for
the series, and the earlier pictures are made again.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.units import usual
from burstlens.viz.drawing import style
from burstlens.viz.drawing.colours import Coloured, ColourOptions, is_centred, is_constant, steps
from burstlens.viz.drawing.usual_ranges import usual_range
from burstlens.viz.product import Context

Array = NDArray[Any]
Range = tuple[float, float]

FEW = 0.005
"""Share of the points that may lie beyond the limits before these widen."""
_BEYOND = 0.001
"""Share of the points beyond new limits: a single outlier must not set the colours."""
_DECADES = 4
"""Decades that logarithmic colours cover at most."""
_ROUND = (1, 2, 5, 10)


def fitted(context: Context, options: ColourOptions, *shown: Coloured) -> Context:
    """The context with the limits of its series including this frame, in the shown units.

    None if the recipe gives limits, if the quantity has steps of colours, and as long as all
    fields were constant. ``shown`` are the field and what is drawn over it in the same colours.
    """
    field = shown[0]
    if isinstance(options.limits, tuple) or steps(field, options):
        return replace(context, limits=None)
    values = np.concatenate([each.values[np.isfinite(each.values)].ravel() for each in shown])
    if options.log:
        values = values[values > max(0.0, float(values.max(initial=0.0)) / 10**_DECADES)]
    before = context.limits
    if before is None and not options.log:
        before = usual_range(field.name, field.units) or _circle(field, options, values)
    if not values.size or (before is not None and _share_beyond(values, before) <= FEW):
        return replace(context, limits=before)
    low, high = _spread(values)
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


def _circle(field: Coloured, options: ColourOptions, values: Array) -> Range | None:
    """The whole circle for directions: with other limits two of them would have one colour."""
    name = options.colormap or style.colormap_name(field.units, field.long_name, False)
    if name != style.CIRCLE or usual(field.units) != "degrees" or not values.size:
        return None
    low, high = float(values.min()), float(values.max())
    if low < 0:
        return (-180.0, 180.0) if low >= -180.5 and high <= 180.5 else None
    return (0.0, 360.0) if high <= 360.5 else None


def _share_beyond(values: Array, limits: Range) -> float:
    return np.count_nonzero((values < limits[0]) | (values > limits[1])) / values.size


def _spread(values: Array) -> Range:
    """The range of all but the outermost values; of all where nearly all are the same."""
    low, high = (float(v) for v in np.quantile(values, (_BEYOND / 2, 1 - _BEYOND / 2)))
    if is_constant(low, high):
        return float(values.min()), float(values.max())
    return low, high


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
