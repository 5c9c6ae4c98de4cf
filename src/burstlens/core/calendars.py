"""Days of the calendars that CF names (CF conventions 1.11, section 4.4.1), counted.

Years are astronomical (there is a year 0). In ``standard`` and ``julian`` cftime has the year -1
before the year 1, and there both 0 and -1 are the year before; unless their times count from a year
0: that is another calendar (:data:`WITH_YEAR_0`), where -1 is the year before 0. Needs no other
package: login nodes and drivers count days too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import accumulate

_NAMES = {
    **dict.fromkeys(("", "standard", "gregorian", "mixed", "utc", "tai"), "standard"),
    **dict.fromkeys(("proleptic_gregorian", "gregorian_proleptic", "proleptic"),
                    "proleptic_gregorian"),
    **dict.fromkeys(("noleap", "no_leap", "365", "365_day", "365_days", "365day", "365d",
                     "common_year", "day365", "gregorian_noleap"), "noleap"),
    **dict.fromkeys(("all_leap", "allleap", "366", "366_day", "366_days", "366day", "366d",
                     "day366"), "all_leap"),
    **dict.fromkeys(("julian", "proleptic_julian"), "julian"),
    **dict.fromkeys(("360", "360_day", "360_days", "360day", "360d", "day360", "thirty_day",
                     "thirty_day_months", "30_day_months"), "360_day"),
    **dict.fromkeys(("none", "no_calendar", "nocalendar"), "none"),
}  # fmt: skip
"""Calendars of CF by the names that programs give them, in small letters."""
WITH_YEAR_0 = {"standard": "standard_with_year_0", "julian": "julian_with_year_0"}
"""Our names for the calendars of CF without a year 0, in files that have one (COARDS)."""
_WITHOUT_YEAR_0 = {name: of for of, name in WITH_YEAR_0.items()}
_GREGORIAN_BEGINS = (1582, 10, 15)
_JULIAN_ENDS = (1582, 10, 4)
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_BEFORE = (0, *accumulate(_MONTHS))
"""Days of a year without 29 February before each month."""


def calendar_name(text: object) -> str:
    """A calendar as CF calls it, by any of its names; small letters of an unknown one.

    >>> calendar_name("THIRTY_DAY_MONTHS"), calendar_name(None), calendar_name(365.0)
    ('360_day', 'standard', 'noleap')
    """
    name = re.sub(r"[\s-]+", "_", _plain(text).lower())
    return _NAMES.get(name, name)


def calendar_of(attributes: Mapping[str, object]) -> str:
    """The calendar that a time's attributes name, as CF calls it; empty where they name none. FMS
    writes ``calendar_type`` in place of CF's ``calendar``, MPAS ``config_calendar_type``."""
    names = ("calendar", "calendar_type", "config_calendar_type")
    given = (attributes.get(key) for key in names)
    return next((calendar_name(text) for text in given if _plain(text)), "")


def is_known(calendar: str) -> bool:
    """Whether days of that calendar can be counted."""
    return _name(calendar) in _COUNTS


def day_number(year: int, month: int, day: int, calendar: str = "") -> int:
    """The number of a day in its calendar: 1 January of the year 1 is day 1 (Gregorian).

    ``calendar`` is one of CF, empty for the Gregorian one at all times. A day that its month does
    not have counts from the month's first. Raises ValueError when the calendar is not known or the
    month is not 1 to 12.

    >>> day_number(1991, 3, 1, "360_day") - day_number(1991, 2, 27, "360_day")
    4
    """
    name = _name(calendar)
    if name not in _COUNTS:
        raise ValueError(f"the calendar {calendar!r} is not known")
    if not 1 <= month <= 12:
        raise ValueError(f"month {month} is not 1 to 12")
    rule = _WITHOUT_YEAR_0.get(name, name)
    if rule == "standard":
        rule = "julian" if (year, month, day) < _GREGORIAN_BEGINS else "proleptic_gregorian"
    if name in WITH_YEAR_0 and year < 0:
        year += 1
    return _COUNTS[rule](year, month) + day


def date_of(number: int, calendar: str = "") -> tuple[int, int, int]:
    """Year, month and day of that number, see :func:`day_number`.

    Raises ValueError when the calendar is not known.

    >>> date_of(day_number(1991, 2, 30, "360_day"), "360_day")
    (1991, 2, 30)
    """
    name = _name(calendar)
    if name not in _COUNTS:
        raise ValueError(f"the calendar {calendar!r} is not known")
    rule = _WITHOUT_YEAR_0.get(name, name)
    if rule == "standard":
        is_late = number >= _gregorian(1582, 10) + 15
        rule = "proleptic_gregorian" if is_late else "julian"
    before = _COUNTS[rule]
    year = 1 + (number - 1) // (before(2, 1) - before(1, 1))
    while before(year, 1) >= number:
        year -= 1
    while before(year + 1, 1) < number:
        year += 1
    month = max(month for month in range(1, 13) if before(year, month) < number)
    day = number - before(year, month)
    return year - (name in WITH_YEAR_0 and year < 1), month, day


def year_later(year: int, years: int, calendar: str) -> int:
    """The year so many years later, or earlier, in a calendar that may lack a year 0.

    >>> year_later(-1, 1, "standard"), year_later(-1, 1, "noleap")
    (1, 0)
    """
    lacks = _name(calendar) in WITH_YEAR_0
    later = year + (lacks and year < 0) + years
    return later - (lacks and later < 1)


def has_day(year: int, month: int, day: int, calendar: str = "") -> bool:
    """Whether the calendar has that day. Raises ValueError when it is not known."""
    if not 1 <= month <= 12 or day < 1:
        return False
    name = _WITHOUT_YEAR_0.get(_name(calendar), _name(calendar))
    if name == "standard" and (year, month) == _JULIAN_ENDS[:2]:
        return day <= 31 and not _JULIAN_ENDS < (year, month, day) < _GREGORIAN_BEGINS
    if month == 12:
        return day <= (30 if name == "360_day" else 31)
    first, end = (day_number(year, number, 1, calendar) for number in (month, month + 1))
    return first + day - 1 < end


def _plain(text: object) -> str:
    """The text of a calendar's name; numbers (365.0) without a point."""
    return re.sub(r"(\d)\.0*$", r"\1", str("" if text is None else text).strip(" \0\"'"))


def _name(calendar: str) -> str:
    return calendar_name(calendar) if calendar else "proleptic_gregorian"


def _gregorian(year: int, month: int) -> int:
    past = year - 1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return past * 365 + past // 4 - past // 100 + past // 400 + _BEFORE[month - 1] + (
        leap and month > 2
    )  # fmt: skip


def _julian(year: int, month: int) -> int:
    past = year - 1
    return past * 365 + past // 4 + _BEFORE[month - 1] + (year % 4 == 0 and month > 2) - 2


_COUNTS: dict[str, Callable[[int, int], int]] = {
    "standard": _gregorian,
    "proleptic_gregorian": _gregorian,
    "julian": _julian,
    "noleap": lambda year, month: (year - 1) * 365 + _BEFORE[month - 1],
    "all_leap": lambda year, month: (year - 1) * 366 + _BEFORE[month - 1] + (month > 2),
    "360_day": lambda year, month: (year - 1) * 360 + (month - 1) * 30,
    "standard_with_year_0": _gregorian,
    "julian_with_year_0": _julian,
}
"""Days before the first of a month since the year 1."""
