"""A stored number of some unit of time in seconds, as exactly as it was stored and no further.

0.1 kept in 4 bytes is 0.1 and not 0.10000000149, a third of an hour written 0.3333 is 20 minutes,
and 0.25 s written in days are 0.25 s.
"""

from __future__ import annotations

import math
import struct
from decimal import Decimal

_MOST = 15
"""Decimals of a number of seconds: femtoseconds."""
_SIGNIFICANT = 9
"""Significant digits of a time below 1000 s; a longer one has microseconds."""
_ULPS = 4
"""A computed time is as many units in the last place away from what was meant, or fewer."""
_HOUR_S = 3600
_BINARY, _SINGLE_BINARY = 1024, 4
"""A number of these parts is meant as it is, however it is kept: 1234567.25. In 4 bytes, where each
number has few binary places, only quarters are: 86400.1015625 is 86400.1."""


def exact_seconds(value: float, unit_s: float = 1.0, *, is_single: bool = False) -> Decimal:
    """So many units of ``unit_s`` seconds: the shortest number within the precision of ``value``.

    That precision is a few units in the last place of 8 bytes, or half of one in 4 bytes if the
    number fits these; ``is_single``: it is known to be kept so. In units above one second, whole
    seconds may also be a few units in the last place of 4 bytes away. In hours and longer units a
    number may be rounded: whole minutes may be half of its last decimal away if that is below half
    a second. Raises ValueError when it is not finite.

    >>> exact_seconds(0.30000000000000004), exact_seconds(0.3333, 3600)
    (Decimal('0.3'), Decimal('1200'))
    """
    seconds = value * unit_s
    if not math.isfinite(seconds):
        raise ValueError(f"{value!r} is not a time")
    whole = round(seconds)
    if seconds == whole:
        return Decimal(whole)
    single = _last_place(value) * unit_s
    slack = _ULPS * max(math.ulp(value) * unit_s, math.ulp(seconds))
    if unit_s > 1:
        rounded = max(slack, _ULPS * single)
        if unit_s >= _HOUR_S and whole % 60 == 0:
            half = _half_decimal(value) * unit_s
            rounded = max(rounded, half if half < 0.5 else 0.0)
        if abs(seconds - whole) <= rounded:
            return Decimal(whole)
    if value * (_SINGLE_BINARY if is_single else _BINARY) % 1:
        slack = max(slack, single / 2)
    most = min(_MOST, max(6, _SIGNIFICANT - 1 - math.floor(math.log10(abs(seconds)))))
    for digits in range(most):
        if abs(round(seconds, digits) - seconds) <= slack:
            return Decimal(f"{seconds:.{digits}f}")
    return Decimal(f"{seconds:.{most}f}").normalize()


def _last_place(value: float) -> float:
    """The unit in the last place of a number in 4 bytes; 0 if these cannot hold it."""
    try:
        fits = struct.unpack("f", struct.pack("f", value))[0] == value
    except OverflowError:
        return 0.0
    return 2.0 ** (math.frexp(value)[1] - 24) if fits else 0.0


def _half_decimal(value: float) -> float:
    """Half of the last decimal of a number as people write it; 0 of one with an exponent."""
    text = repr(float(value))
    return 0.0 if "e" in text else 0.499 * 10.0 ** -len(text.partition(".")[2])
