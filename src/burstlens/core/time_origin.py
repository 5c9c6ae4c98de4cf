"""Dates as people and programs write them: origins of units of time, times kept as text.

ISO 8601 and its neighbours (``2011/01/01``, ``20110101 00:00``, ``2000-01-01_12:00:00.5``), names
of months (``01-JAN-1900``, ``Jan 1, 2000``; GrADS: ``00Z01JAN1979``), a year or a month alone, with
the offset of a time zone (UDUNITS 2, "Grammar of unit strings").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_NAME = r"(?P<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<year>[-+]?\d{1,6})(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?![\d/])",
        r"(?P<year>[-+]?\d{4})(?P<month>\d\d)(?P<day>\d\d)"
        r"(?:(?P<hour>\d\d)(?:(?P<minute>\d\d)(?P<second>\d\d)?)?)?(?![\d.])",
        rf"(?:(?P<hour>\d\d)(?::(?P<minute>\d\d))?Z)?{_DAY}[-/ .,]*{_NAME}[-/ .,]*{_YEAR}(?!\d)",
        rf"{_NAME}[-/ .,]*{_DAY}[-/ ,]+{_YEAR}(?!\d)",
        rf"{_NAME} +{_DAY} +(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d))? +{_YEAR}(?!\d)",
        rf"{_YEAR}[-/ .,]*{_NAME}[-/ .,]*{_DAY}(?!\d)",
        rf"{_NAME}[-/ .,]*{_YEAR}(?!\d)",
        r"(?P<first>\d{1,2})[-/.](?P<other>\d{1,2})[-/.](?P<year>\d{4})(?!\d)",
        r"(?P<year>[-+]?\d{4})[-/](?P<month>\d{1,2})(?!\d)",
        r"(?P<year>[12]\d{3})(?P<month>0[1-9]|1[0-2])(?!\d)",
        r"(?P<year>[-+]?\d{1,6})(?![\d.:+-])",
    )
)
"""Forms of a date; the first that fits counts."""
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2}(?:[.,]\d*)?))?"
    r"|(?P<wide>\d\d)(?P<wide_minute>\d\d)(?P<wide_second>\d\d(?:\.\d*)?)?(?![\d:])"
    r"|(?P<low>\d\d)[_-](?P<low_minute>\d\d)[_-](?P<low_second>\d\d(?:\.\d*)?)"
    r"|(?P<alone>\d{1,2})(?![\d:.])h?",
)
_ZONE = re.compile(
    r"(?:Z|UTC|GMT|UT|(?:UTC|GMT)?(?P<sign>[-+])(?P<hours>\d{1,2})(?::?(?P<minutes>\d\d))?|0?0:00|0?0)",
    re.IGNORECASE,
)

_FARTHEST_H = 15
"""No time zone is so many hours off."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A date in a calendar that is not named here, and the seconds since its midnight, UTC."""

    year: int
    month: int
    day: int
    seconds: float


def read_moment(text: str) -> Moment | None:
    """A date with or without a time of day; None where the text is none, or could be two.

    A month or a day 0, as of dates that were never set, counts as the first.

    >>> read_moment("01-JAN-1900 12:00"), read_moment("2000-01-01 00:00:00 +1:00")
    (Moment(year=1900, month=1, day=1, seconds=43200.0), Moment(year=2000, month=1, day=1, \
seconds=-3600.0))
    """
    text = _WEEKDAY.sub("", text.strip(), count=1) if text[:1].isalpha() else text.strip()
    for pattern in _DATES:
        if match := pattern.match(text):
            date = _date(match.groupdict())
            seconds = _rest(match, text[match.end() :])
            if date is not None and seconds is not None:
                return Moment(*date, seconds)
    return None


def _date(parts: dict[str, str | None]) -> tuple[int, int, int] | None:
    year = int(parts["year"] or 0)
    month, day = int(parts.get("month") or 1), int(parts.get("day") or 1)
    if name := parts.get("name"):
        month = _MONTHS[name.lower()]
    if first := parts.get("first"):
        month, day = int(first), int(parts["other"] or 0)
        if month != day and max(month, day) <= 12:
            return None  # 3/4/2000 is a day of March or of April
        month, day = min(month, day), max(month, day)
    month, day = month or 1, day or 1
    return (year, month, day) if month <= 12 and day <= 31 else None


def _rest(match: re.Match[str], rest: str) -> float | None:
    """Seconds of the time of day and zone behind a date; None where something else stands there."""
    parts = match.groupdict()
    if parts.get("hour"):
        at = [float(parts.get(part) or 0) for part in ("hour", "minute", "second")]
    else:
        stripped = rest.lstrip(" ,_T\t") if rest[:1] in (" ", ",", "_", "T", "t", "\t") else rest
        clock = _CLOCK.match(stripped.lstrip("t")) if stripped is not rest or not rest else None
        at, rest = [0.0, 0.0, 0.0], rest if clock is None else stripped.lstrip("t")[clock.end() :]
        if clock is not None:
            found = [value for value in clock.groups() if value is not None]
            at[: len(found)] = [float(value.replace(",", ".")) for value in found]
    if at[0] > 24 or at[1] > 59 or at[2] >= 61:
        return None
    seconds = at[0] * 3600 + at[1] * 60 + at[2]
    zone = rest.strip()
    if not zone:
        return seconds
    found_zone = _ZONE.fullmatch(zone)
    if found_zone is None:
        return None
    hours, minutes = (int(found_zone[part] or 0) for part in ("hours", "minutes"))
    if hours > _FARTHEST_H or minutes > 59:
        return None
    return seconds - (hours * 3600 + minutes * 60) * (-1 if found_zone["sign"] == "-" else 1)
