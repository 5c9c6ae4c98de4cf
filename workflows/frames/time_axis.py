"""From a file's time variable to valid-time keys (:mod:`burstlens.core.valid_time`).

Three forms are supported: character times as WRF writes them, numbers with CF ``units``, either
``<unit> since <date>`` in a ``calendar`` or a bare unit for elapsed time, and the absolute dates of
CDO and ICON (``day as %Y%m%d.%f``). A value that is not a time (fill, zeros or blanks instead of
text, not finite) gives None: such a record is not written yet. Text or units of which no time can
be made raise TimesError: waiting does not help.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from burstlens.core.errors import TimesError
from burstlens.core.exact_seconds import exact_seconds
from burstlens.core.printable import printable
from burstlens.core.valid_time import calendar_key, elapsed_key, wrf_key

_UNITS = re.compile(r"\s*([A-Za-z_]+)(?:\s+since\s+(\S.*?))?\s*")
_SECONDS = {
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
_ABSOLUTE = re.compile(r"\s*days? as %Y%m%d\.%f\s*", re.IGNORECASE)
_BEGUN = re.compile(rb"[\d_:-]*\0+")
_MONTHS = {
    **dict.fromkeys(("month", "months", "mon"), 1),
    **dict.fromkeys(("year", "years", "yr", "yrs", "common_year", "common_years"), 12),
}
"""Months of the calendar, which have different lengths."""
_CALENDARS = {"360": "360_day", "365": "365_day", "366": "366_day"}
"""What other programs call calendars of CF."""
MAX_ELAPSED_S = 1e12
"""A larger elapsed time does not fit its key; netCDF's fill value 9.97e36 is far larger."""
MAX_DATED_S = 9e12
"""More seconds after a date do not fit the 64 bits of cftime's microseconds: 285,000 years."""
_FILLS = {
    "h": -32767,
    "H": 65535,
    "i": -2147483647,
    "I": 4294967295,
    "q": -9223372036854775806,
    "Q": 18446744073709551614,
    "f": 9.969209968386869e36,
    "d": 9.969209968386869e36,
}
"""What netCDF fills variables with that have no ``_FillValue``, by type (``netcdf.h``)."""


def text_keys(rows: bytes, width: int, first: int = 0) -> list[str | None]:
    """The key of each record of a character variable, ``width`` bytes each.

    Raises TimesError when that of record ``first`` is text, and no time.
    """
    parts = [rows[at : at + width] for at in range(0, len(rows), width)]
    keys = [wrf_key(part.rstrip(b"\0 ")) for part in parts]
    # The beginning of a date, then null bytes: it is not all written.
    _require(keys, [b"" if _BEGUN.fullmatch(part) else part.strip(b"\0 ") for part in parts], first)
    return keys


def fill_of(code: str, given: float | None = None) -> float | None:
    """What an unwritten value of that ``struct`` type is: ``given`` by ``_FillValue``, else by
    netCDF's default. Bytes have none."""
    return _FILLS.get(code) if given is None else given


def string_keys(rows: Iterable[object], first: int = 0) -> list[str | None]:
    """The key of each record of a variable of strings. Raises TimesError as :func:`text_keys`."""
    texts = [row if isinstance(row, str | bytes) else "" for row in rows]
    keys = [wrf_key(text) for text in texts]
    _require(keys, texts, first)
    return keys


def _require(keys: Sequence[str | None], texts: Sequence[str | bytes], first: int) -> None:
    """Raise TimesError when the text of record ``first`` is no time."""
    for key, text in list(zip(keys, texts, strict=True))[first : first + 1]:
        if key is None and text:
            shown = text.decode(errors="replace") if isinstance(text, bytes) else text
            raise TimesError(f"its time is not known: {printable(shown)[:60]!r}")


def numeric_keys(
    values: Iterable[float],
    units: str = "s",
    calendar: str = "standard",
    *,
    fill: float | None = None,
    is_fixed: bool = False,
) -> list[str | None]:
    """The key of each record of a numeric variable, by CF conventions 1.11, section 4.4.

    Times are as exact as their values, calendar ones to the microsecond. ``fill`` is the value
    of a time that is not written yet. ``is_fixed``: the number of records is fixed, so that zeros
    at the end, after a time that is not negative, are not written yet either; the first value
    counts. TimesError for unknown units and calendars.
    """
    values = list(values)
    calendar = _CALENDARS.get(calendar, calendar)
    if _ABSOLUTE.fullmatch(units):
        return [None if value == fill else _absolute(float(value), calendar) for value in values]
    match = _UNITS.fullmatch(units)
    months = _MONTHS.get(match[1].lower()) if match and match[2] else None
    if match and months:
        return [
            None if value == fill else _counted(float(value) * months, match[2], calendar)
            for value in values
        ]
    scale = _SECONDS.get(match[1].lower()) if match else None
    if match is None or scale is None:
        raise TimesError(f"the units of its times are not known: {printable(units)!r}")
    written = _written(values) if is_fixed else len(values)
    keys: list[str | None] = []
    for index, value in enumerate(values):
        if value == fill or index >= written:
            keys.append(None)
        elif match[2] is None:
            keys.append(_elapsed(float(value), scale))
        else:
            keys.append(_since(float(value), scale, match[2], calendar))
    return keys


def _written(values: Sequence[float]) -> int:
    """How many values come before the zeros at the end."""
    count = len(values)
    while count > 1 and values[count - 1] == 0:
        count -= 1
    return len(values) if count and values[count - 1] < 0 else count


def _elapsed(value: float, unit_s: float) -> str | None:
    if not abs(value * unit_s) < MAX_ELAPSED_S:
        return None
    return elapsed_key(exact_seconds(value, unit_s))


def _since(value: float, unit_s: float, origin: str, calendar: str) -> str | None:
    if not abs(value * unit_s) < MAX_DATED_S:
        return None
    return _dated(exact_seconds(value, unit_s), origin, calendar)


def _dated(seconds: Decimal, origin: str, calendar: str) -> str | None:
    import cftime

    try:
        date = cftime.num2date(round(seconds * 10**6), f"microseconds since {origin}", calendar)
        return _key(date)
    except (ValueError, OverflowError):
        _require_origin(origin, calendar)
        return None


def _key(date: Any) -> str:
    clock = date.hour, date.minute, date.second, date.microsecond
    return calendar_key(date.year, date.month, date.day, *clock)


def _require_origin(origin: str, calendar: str) -> None:
    """Raise TimesError when the origin itself is no date of that calendar."""
    import cftime

    try:
        cftime.num2date(0, f"seconds since {origin}", calendar)
    except (ValueError, OverflowError):
        what = f"'since {printable(origin)}', calendar {printable(calendar)!r}"
        raise TimesError(f"the units of its times are not known: {what}") from None


def _counted(months: float, origin: str, calendar: str) -> str | None:
    """The key of a date so many months of the calendar after another one; a part of a month is
    that part of its days, so that 0.5 is the middle of the first month."""
    import cftime

    if not math.isfinite(months) or abs(months) > 1e6:
        return None
    whole = math.floor(months)
    try:
        start = cftime.num2date(0, f"seconds since {origin}", calendar)
        begin, end = (_month_later(start, number) for number in (whole, whole + 1))
        seconds = round((end - begin).total_seconds() * (months - whole))
        return _key(begin + timedelta(seconds=seconds))
    except (ValueError, OverflowError):
        _require_origin(origin, calendar)
        return None


def _month_later(start: Any, number: int) -> Any:
    """The same day so many months later; the last one of a month that lacks it."""
    years, month = divmod(start.month - 1 + number, 12)
    day = start.day
    while True:
        try:
            return start.replace(year=start.year + years, month=month + 1, day=day)
        except ValueError:
            if day <= 28:
                raise
            day -= 1


def _absolute(value: float, calendar: str) -> str | None:
    """The key of a date written as a number: 20080801.25 is 06:00 on 1 August 2008."""
    if not math.isfinite(value) or not 101 <= value < 1e8:
        return None
    day = math.floor(value)
    date = f"{day // 10000:04d}-{day // 100 % 100:02d}-{day % 100:02d}"
    return _dated(exact_seconds(value, 86400) - day * 86400, date, calendar)


def no_variable(name: str, names: Iterable[str]) -> str:
    """The message for a file without its time variable, with similar names."""
    known = list(names)
    near = get_close_matches(name, known, 3, 0.4) or known[:5]
    return f"it has no variable {name!r}" + (f" (near: {', '.join(near)})" if near else "")
