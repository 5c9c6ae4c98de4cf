"""Numbers as text, with as many digits as their range asks for.

995.5 beside 1003.2 is not 1000, and no two ticks of an axis read the same. Standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

NOTHING = 1e-30
"""A value below it is what rounding has left of zero: no model's unit makes it a quantity."""
_SIGNIFICANT, _FLOAT32, _FLOAT64 = 4, 7, 15
_PLAIN = 1e-4, 1e7
"""Numbers from the first up to the second are written without a power of ten."""
_PARTS = 100
"""Parts of a range that its numbers tell apart."""


def format_number(value: float, span: float = 0.0) -> str:
    """A value with four digits, more where a hundredth of ``span`` asks for them; never fewer than
    those before the point, and not more than a float32 has.

    >>> format_number(995.48), format_number(101325.0), format_number(1e-9), format_number(1.04e-33)
    ('995.5', '101325', '1e-09', '0')
    >>> format_number(1003.24, span=7.8)
    '1003.24'
    """
    if not math.isfinite(value):
        return f"{value:g}"
    if abs(value) < NOTHING:
        return "0"
    digits = _SIGNIFICANT
    if NOTHING < span < math.inf:
        digits = _size(value) - _size(span / _PARTS) + 1
    return _written(value, min(max(digits, _SIGNIFICANT), _FLOAT32))


def format_range(low: float, high: float) -> tuple[str, str]:
    """Both ends of a range; 0 for an end below the float32 precision of the other.

    >>> format_range(3.4e-08, 264.66), format_range(995.48, 1003.24), format_range(-1.04e-33, 0.0)
    (('0', '264.7'), ('995.48', '1003.24'), ('0', '0'))
    """
    least = 1e-7 * max(abs(low), abs(high))
    low, high = (0.0 if abs(end) < least else end for end in (low, high))
    return format_number(low, high - low), format_number(high, high - low)


def format_ticks(values: Sequence[float]) -> list[str]:
    """Numbers of an axis, in their order: as few digits as tell them apart and give each place.

    >>> format_ticks([101325.0, 101325.5, 101326.0]), format_ticks([0.0, 2.5e-5, 5e-5])
    (['101325', '101325.5', '101326'], ['0', '2.5e-05', '5e-05'])
    """
    known = sorted({value for value in values if math.isfinite(value)})
    step = min((b - a for a, b in pairwise(known)), default=0.0)
    span = known[-1] - known[0] if known else 0.0
    shown = [0.0 if abs(value) < max(1e-9 * span, NOTHING) else value for value in values]
    for digits in range(1, _FLOAT64 + 1):
        texts = [_written(value, digits) for value in shown]
        off = max((abs(float(text) - value) for text, value in zip(texts, shown, strict=True)
                   if math.isfinite(value)), default=0.0)  # fmt: skip
        if off <= max(1e-3 * step, 1e-12 * span) or (not step and off <= 1e-6 * abs(shown[0])):
            break
    return texts


def _size(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def _written(value: float, digits: int) -> str:
    """So many significant digits, without zeros at the end of a fraction."""
    if not value:
        return "0"
    if not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.{digits - 1}e}")
    if not _PLAIN[0] <= abs(rounded) < _PLAIN[1]:
        return f"{value:.{digits}g}"
    text = f"{value:.{max(0, digits - 1 - _size(rounded))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
