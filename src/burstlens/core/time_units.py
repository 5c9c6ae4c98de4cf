"""What a number in units of time says: an elapsed time, or a date in a calendar.

CF conventions 1.11, section 4.4, the units of UDUNITS 2, and what programs write in their place:
``hours Since 1-1-1``, ``days as %Y%m%d.%f`` (CDO, ICON), ``seconds since initialization``,
calendars as FMS and NCL name them, months and years of the calendar, a month without a year.

Dates are also kept as numbers of their digits: 20080801, 2008080106, 200808010630. Units such as
``YYYYMMDDHH`` say so. Without units it is guessed only where the numbers are whole ones by type,
the variable is called a date, or its calendar is named: elapsed seconds look so now and then
(1850010800 s).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from burstlens.core.calendars import (
    WITH_YEAR_0,
    calendar_name,
    calendar_of,
    date_of,
    day_number,
    has_day,
    is_known,
)
from burstlens.core.errors import TimesError
from burstlens.core.printable import printable
from burstlens.core.time_origin import Moment, read_moment
from burstlens.core.valid_time import calendar_key

_UNITS = re.compile(
    r"\s*(?:(?P<factor>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)[\s*]+)?(?P<unit>[^\W\d][^\W\d]*\.?)"
    r"(?:[\s_]+(?:since|after|from|ref|@)\b:?\s*(?P<origin>.*?))?\s*",
    re.IGNORECASE | re.DOTALL,
)
_SECONDS = {
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanosec", "nanosecs", "nanosecond",
                     "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "usec", "usecs", "microsec", "microsecs",
                     "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "msec", "msecs", "millisec", "millisecs", "millisecond",
                     "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("mn", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "dy", "day", "days"), 86400.0),
    **dict.fromkeys(("week", "weeks", "wk", "wks"), 604800.0),
    **dict.fromkeys(("fortnight", "fortnights"), 1209600.0),
}  # fmt: skip
_MONTHS = {
    **dict.fromkeys(("month", "months", "mon", "mons"), 1),
    **dict.fromkeys(
        ("year", "years", "yr", "yrs", "common_year", "common_years", "a", "annum"), 12
    ),
}
"""Months of the calendar, which have different lengths."""
DAY_US = 86400 * 10**6
YEAR_S = 365.242198781 * 86400
"""UDUNITS' year: elapsed years have no calendar."""
_ABSOLUTE = re.compile(
    r"\s*(?:(?P<day>days? as %Y%m%d)|months? as %Y%m|(?P<year>years? as %Y))(?:\.%f)?\s*",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    r"y{4}m{2}d{2}(?:h{2}(?:m[mi](?:s{2})?)?)?|%Y%m%d(?:%H(?:%M(?:%S)?)?)?", re.IGNORECASE
)
"""Units that say which digits of a date numbers are made of."""
_NO_DATE = re.compile(
    r"[-/:. 0]+(?:[T_ ]+[0:. ]*)?Z?"
    r"|(?:the |model |run |simulation |forecast )*"
    r"(?:initiali[sz]ation|initial|init|start|beginning|begin)(?:[ _]?time|[ _]?date)?"
    r"(?: of (?:the )?(?:\w+ )?(?:run|simulation|model|forecast|experiment|integration))?",
    re.IGNORECASE,
)
"""Origins that are not dates: a date of zeros, or words for the beginning of the run."""
SHORTEST = 8
"""Digits of a date without a time of day."""
EXACT_IN_4_BYTES = 2**24
"""Numbers of 4 bytes above it are not all whole numbers."""
_DATE_LENGTHS = (8, 10, 12, 14)
_YEARS = range(1850, 2300)
"""Years of dates that no units tell from seconds."""
_CALLED = re.compile(
    r"(?<![^\W_])(?:date|y{4}m{2}d{2}(?:h{2}(?:m[mi](?:s{2})?)?)?)(?![^\W_])|%Y%m%d", re.I
)
_ELAPSED = re.compile(r"\b(?:since|after|from|elapsed)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimeUnits:
    """Units of time. ``unit_s`` are the seconds of one, 0 for months of the calendar, of which one
    has ``months``; ``origin`` is the date since which they count, None for elapsed times.
    ``is_absolute``: numbers are dates, 20080801.25 is 06:00 on 1 August 2008; with ``months``, of
    months or years. ``digits``: they are dates of so many digits, 2008080106 of 10. ``is_month``:
    they are months of a year that is not named."""

    unit_s: float = 1.0
    months: float = 0.0
    origin: DatedMoment | None = None
    calendar: str = "standard"
    is_absolute: bool = False
    digits: int = 0
    is_month: bool = False


@dataclass(frozen=True, slots=True)
class DatedMoment:
    """A moment of a calendar: the number of its day (:mod:`.calendars`), microseconds since its
    midnight."""

    day: int
    microsecond: int
    calendar: str

    def later(self, microseconds: int) -> DatedMoment:
        """So many microseconds later, or earlier."""
        days, rest = divmod(self.microsecond + microseconds, DAY_US)
        return replace(self, day=self.day + days, microsecond=rest)

    @property
    def date(self) -> tuple[int, int, int]:
        """Year, month, day."""
        return date_of(self.day, self.calendar)

    @property
    def key(self) -> str:
        """The valid-time key. Raises OverflowError for a year of more than six digits."""
        seconds, part = divmod(self.microsecond, 10**6)
        clock = seconds // 3600, seconds // 60 % 60, seconds % 60, part
        return calendar_key(*self.date, *clock)


def date_moment(moment: Moment, calendar: str) -> DatedMoment:
    """A moment in a calendar; one in the year 0 in a calendar that has it (COARDS' climatologies).
    Raises ValueError for a day that the calendar lacks, or an unknown one."""
    year, month, day = moment.year, moment.month, moment.day
    calendar = WITH_YEAR_0.get(calendar, calendar) if year == 0 else calendar
    if not (is_known(calendar) and has_day(year, month, day, calendar)):
        raise ValueError(f"the calendar {calendar!r} has no such day")
    number = day_number(year, month, day, calendar)
    return DatedMoment(number, 0, calendar).later(round(moment.seconds * 10**6))


@lru_cache(maxsize=256)
def read_units(units: str, calendar: str = "standard") -> TimeUnits:
    """What units of time say. TimesError for unknown units, origins and calendars. ``calendar`` is
    the file's text, see :func:`.calendar_name`."""
    text = units.strip(" \0\t\r\n\"'")
    if absolute := _ABSOLUTE.fullmatch(text):
        name, parts = _checked(units, calendar), absolute.groupdict()
        unit_s, months = (86400.0, 0.0) if parts["day"] else (0.0, 12 if parts["year"] else 1)
        return TimeUnits(unit_s, months, calendar=name, is_absolute=True)
    if _DIGITS.fullmatch(text):
        digits = 2 + 2 * text.count("%") if "%" in text else len(text)
        return TimeUnits(calendar=_checked(units, calendar), digits=digits)
    match = _UNITS.fullmatch(text)
    if match is None:
        raise _unknown(repr(printable(units)))
    unit, origin = match["unit"].lower().rstrip("."), match["origin"]
    factor = float(match["factor"] or 1)
    unit_s, months = factor * _SECONDS.get(unit, 0.0), factor * _MONTHS.get(unit, 0)
    if not unit_s and not months:
        raise _unknown(repr(printable(units)))
    if origin is not None:
        name = calendar_name(calendar)
        if not _NO_DATE.fullmatch(origin.strip(" \"'")) and name != "none":
            return _dated(units, origin, calendar, unit_s, months)
    if unit_s:
        return TimeUnits(unit_s)
    if months % 12 == 0:
        return TimeUnits(YEAR_S * months / 12)
    if origin is None and months == 1:
        return TimeUnits(is_month=True)
    raise _unknown(repr(printable(units)))


def _dated(units: str, origin: str, calendar: str, unit_s: float, months: float) -> TimeUnits:
    moment = read_moment(origin.strip(" \"'"))
    try:
        if moment is not None and math.isfinite(unit_s):
            begin = date_moment(moment, calendar_name(calendar))
            return TimeUnits(unit_s, months, begin, begin.calendar)
    except ValueError:
        pass
    raise _unknown(f"'since {printable(origin)}', calendar {printable(str(calendar))!r}")


def _checked(units: str, calendar: str) -> str:
    name = calendar_name(calendar)
    if not is_known(name):
        raise _unknown(f"{printable(units)!r}, calendar {printable(str(calendar))!r}")
    return name


def _unknown(what: str) -> TimesError:
    return TimesError(f"the units of its times are not known: {what}")


def may_be_digits(name: str, attributes: Mapping[str, Any], code: str) -> bool:
    """Whether numbers without units may be digits of dates; ``code`` is the ``struct`` letter of
    their type."""
    long_name = str(attributes.get("long_name", ""))
    called = _CALLED.search(name) or (_CALLED.search(long_name) and not _ELAPSED.search(long_name))
    return code not in "fd" or bool(called) or bool(calendar_of(attributes))


def is_recent(value: float, calendar: str) -> bool:
    """Whether a number is the digits of a date of our times, with nothing left to guess."""
    return (
        math.isfinite(value)
        and len(f"{value:.0f}") in _DATE_LENGTHS
        and int(f"{value:.0f}"[:4]) in _YEARS
        and digits_key(value, SHORTEST, calendar) is not None
    )


def digits_key(value: float, width: int, calendar: str) -> str | None:
    """The key of a number that is the digits of a date; None for others. ``width``: so many digits
    has a year of four with what follows it; one with more digits has a time of day too."""
    if not math.isfinite(value) or value != math.floor(value) or value < 0:
        return None
    text = f"{value:.0f}".zfill(width)
    if len(text) not in _DATE_LENGTHS:
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
