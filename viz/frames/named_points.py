"""Points of a coordinate by the text that names them: few digits are typed, dates are many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from burstlens.core.digits import format_ticks
from burstlens.core.printable import printable

_NEAR, _BESIDE = 1e-5, 0.01
"""How far a value that is asked for may be off, as a part of itself, and of the distance to the
next one: few digits are typed, and dates are near each other."""
_WHOLE = 1e10
"""Whole numbers below it, such as dates, are shown with all of their digits."""


def find_point(values: Sequence[Any], text: str) -> int | None:
    """The place of the value that a text names, as it is, as it is shown, or as a number near it;
    None if none is near enough.

    >>> find_point([0.25, 0.5], "0.5"), find_point(["rcp45"], "rcp85")
    (1, None)
    """
    for known in (values, point_texts(values)):
        if text in known:
            return known.index(text)
    return _nearest(values, _number(text))


def point_texts(values: Sequence[Any]) -> list[str]:
    """The values of a coordinate as text that tells them apart."""
    if any(isinstance(value, str) for value in values):
        return [printable(value) for value in values]
    if all(_is_whole(value) for value in values):
        return [f"{value:.0f}" for value in values]
    return format_ticks(values)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _nearest(values: Sequence[Any], wanted: float | None) -> int | None:
    """The place of the value that is meant by a number; None if none is near enough."""
    numbers = [value for value in values if isinstance(value, float) and math.isfinite(value)]
    if wanted is None or not numbers:
        return None
    value = min(numbers, key=lambda one: abs(one - wanted))
    beside = min((abs(one - value) for one in numbers if one != value), default=math.inf)
    off = min(_NEAR * max(abs(value), _NEAR), _BESIDE * beside, 0.5 if _is_whole(value) else beside)
    return values.index(value) if abs(value - wanted) <= off else None


def _is_whole(value: float) -> bool:
    return value.is_integer() and abs(value) < _WHOLE
