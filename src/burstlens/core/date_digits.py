"""Dates kept as numbers of their digits: 20080801, 2008080106, 200808010630.

Units such as ``YYYYMMDDHH`` say so. Without units it is guessed only where the numbers are whole
ones by type, the variable is called a date, or its calendar is named: elapsed seconds look so now
and then (1850010800 s).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from burstlens.core.calendars import calendar_of
from burstlens.core.time_origin import Moment
from burstlens.core.time_units import date_moment

SHORTEST = 8
"""Digits of a date without a time of day."""
EXACT_IN_4_BYTES = 2**24
"""Numbers of 4 bytes above it are not all whole numbers."""
_LENGTHS = (8, 10, 12, 14)
_YEARS = range(1850, 2300)
"""Years of dates that no units tell from seconds."""
_DATE = re.compile(
    r"(?<![^\W_])(?:date|y{4}m{2}d{2}(?:h{2}(?:m[mi](?:s{2})?)?)?)(?![^\W_])|%Y%m%d", re.I
)
_ELAPSED = re.compile(r"\b(?:since|after|from|elapsed)\b", re.IGNORECASE)


def may_be_digits(name: str, attributes: Mapping[str, Any], code: str) -> bool:
    """Whether numbers without units may be digits of dates; ``code`` is the ``struct`` letter of
    their type."""
    long_name = str(attributes.get("long_name", ""))
    called = _DATE.search(name) or (_DATE.search(long_name) and not _ELAPSED.search(long_name))
    return code not in "fd" or bool(called) or bool(calendar_of(attributes))


def is_recent(value: float, calendar: str) -> bool:
    """Whether a number is the digits of a date of our times, with nothing left to guess."""
    return (
        math.isfinite(value)
        and len(f"{value:.0f}") in _LENGTHS
        and int(f"{value:.0f}"[:4]) in _YEARS
        and digits_key(value, SHORTEST, calendar) is not None
    )


def digits_key(value: float, width: int, calendar: str) -> str | None:
    """The key of a number that is the digits of a date; None for others.

    ``width``: so many digits has a year of four with what follows it; one with more digits has a
    time of day too.
    """
    if not math.isfinite(value) or value != math.floor(value) or value < 0:
        return None
    text = f"{value:.0f}".zfill(width)
    if len(text) not in _LENGTHS:
        return None
    year, rest = int(text[:4]), [int(text[at : at + 2]) for at in range(4, len(text), 2)]
    month, day, hour, minute, second = (*rest, 0, 0, 0)[:5]
    if hour > 24 or minute > 59 or second > 60:
        return None
    try:
        return date_moment(
            Moment(year, month, day, hour * 3600 + minute * 60 + second), calendar
        ).key
    except (ValueError, OverflowError):
        return None
