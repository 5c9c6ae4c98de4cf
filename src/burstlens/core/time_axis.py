"""From the stored times of a file to valid-time keys (:mod:`.valid_time`): the only place.

Numbers have CF ``units`` (:mod:`.time_units`) and may be packed (:mod:`.packing`); texts are dates
as WRF, FVCOM and ISO 8601 write them. A value that is not a time (fill, zeros or blanks instead of
text, not finite) gives None: such a record is not written yet. Units or text of which no time can
be made raise TimesError: waiting does not help.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from burstlens.core.calendars import calendar_of, day_number, has_day, is_known, year_later
from burstlens.core.errors import TimesError
from burstlens.core.exact_seconds import exact_seconds
from burstlens.core.packing import Packing, read_packing
from burstlens.core.printable import printable
from burstlens.core.time_origin import Moment, read_moment
from burstlens.core.time_units import (
    DAY_US,
    EXACT_IN_4_BYTES,
    SHORTEST,
    DatedMoment,
    TimeUnits,
    date_moment,
    digits_key,
    is_recent,
    may_be_digits,
    read_units,
)
from burstlens.core.valid_time import elapsed_key, file_key, wrf_key

ATTRIBUTES = frozenset(
    {"units", "calendar", "calendar_type", "config_calendar_type", "scale_factor", "add_offset",
     "_FillValue", "missing_value", "_Unsigned", "long_name"}
)  # fmt: skip
"""What a time variable says of its numbers."""
MAX_ELAPSED_S = 1e12
"""A larger elapsed time does not fit its key; netCDF's fill value 9.97e36 is far larger."""
MAX_DATED_S = 9e12
"""More seconds after a date are beyond the years of a calendar: 285,000 years."""
MAX_DIGITS = 1e14
"""The digits of a date are fewer than 15."""
_STEPS_S = (86400, 3600, 1800, 900, 600, 300, 60, 1)
"""What packed and coarse times are rounded to: whole days, hours, parts of these, seconds."""
_DECIDING = 128
"""So many first and so many newest records show whether numbers are digits of dates."""
_COARSE_S = 1.0
"""Numbers of 4 bytes whose units in the last place are longer than that are coarse."""
_BEGUN = re.compile(rb"[\d_:T/ -]*\0+")
_WHOLE = re.compile(rb"\d{4,}[-/]?\d\d[-/]?\d\d[T_ ]\d\d[:_-]?\d\d[:_-]?\d\d(?:\.\d*)?[^\0]*\0+")


@dataclass(frozen=True, slots=True)
class TimeDecoding:
    """How the numbers of a time variable become keys."""

    units: TimeUnits
    packing: Packing
    path: str = ""
    """The file: its name is part of the keys of months of no year."""
    may_be_digits: bool = False
    """Numbers without units that are all the digits of dates are dates, others seconds."""

    def decided(self, stored: Sequence[float]) -> TimeDecoding:
        """With what these numbers, those of :func:`deciding_records`, show: whether they are digits
        of dates."""
        if not self.may_be_digits:
            return self
        written = stored[: _written(stored)]
        values = [value for one in written if (value := self.packing.value(one)) is not None]
        found = [self._is_recent(value) for value in values if math.isfinite(value)]
        is_dated = bool(found) and all(found)
        units = replace(self.units, digits=SHORTEST) if is_dated else self.units
        return replace(self, units=units, may_be_digits=False)

    def keys(
        self, stored: Iterable[float], first: int = 0, *, is_fixed: bool = False
    ) -> list[str | None]:
        """The key of each record. ``is_fixed``: the number of records is fixed, so that zeros at
        the end, after a time that is not negative, are not written yet either; the first value
        counts. TimesError where ``key`` raises it for record ``first``."""
        stored = list(stored)
        written = _written(stored) if is_fixed else len(stored)
        decoding = self.decided(stored[:written])
        keys: list[str | None] = [None] * len(stored)
        for number, one in enumerate(stored[:written]):
            try:
                keys[number] = decoding.key(one)
            except TimesError:
                if number == first:
                    raise
        return keys

    @property
    def calendar(self) -> str:
        """The calendar of its dates; empty for elapsed times."""
        dated = self.units.is_absolute or self.units.digits or self.units.origin is not None
        return self.units.calendar if dated else ""

    def key(self, stored: float) -> str | None:
        """The key of a stored number; None if it is not a time. TimesError for what should be a
        date or the month of a year, and is none."""
        value = self.packing.value(stored)
        if value is None or not math.isfinite(value):
            return None
        units = self.units
        try:
            if units.digits or (units.is_absolute and not units.months):
                return self._dated(value)
            if units.is_month:
                return _month(value, self.path)
            if units.is_absolute:
                return _absolute(value, units)
            if units.origin is not None and units.months:
                return _counted(value * units.months, units.origin)
            if not abs(value * units.unit_s) < (MAX_DATED_S if units.origin else MAX_ELAPSED_S):
                return None
            seconds = self._seconds(value)
            if units.origin is None:
                return elapsed_key(seconds)
            return units.origin.later(round(seconds * 10**6)).key
        except (ValueError, ArithmeticError):
            return None

    def _dated(self, value: float) -> str | None:
        """The key of a date written as a number. TimesError for one that is none."""
        units, is_single = self.units, self.packing.is_single and not self.packing.is_packed
        if not 1 <= value < (MAX_DIGITS if units.digits else 1e8):
            return None  # such as a fill
        if is_single and value > EXACT_IN_4_BYTES:
            raise TimesError(
                f"its times are dates in numbers of 4 bytes, which are days off ({value:.0f}): "
                "they need 8 bytes"
            )
        calendar = units.calendar
        key = digits_key(value, units.digits, calendar) if units.digits else _absolute(value, units)
        if key is None:
            raise TimesError(f"its time is no date of the calendar {calendar!r}: {value:.12g}")
        return key

    def _is_recent(self, value: float) -> bool:
        near = (-1, 0, 1) if self.packing.is_single else (0,)  # 20010131 is kept as 20010132
        return any(is_recent(value + by, self.units.calendar) for by in near)

    def _seconds(self, value: float) -> Decimal:
        unit_s = self.units.unit_s
        is_single = self.packing.is_single and not self.packing.is_packed
        step_s = self.packing.step * unit_s
        if is_single and (place_s := 2.0 ** (math.frexp(value)[1] - 24) * unit_s) > _COARSE_S:
            step_s = place_s
        if step_s:
            for step in _STEPS_S:
                nearest = round(value * unit_s / step) * step
                if abs(nearest - value * unit_s) <= step_s / 2:
                    return Decimal(nearest)
        if isinstance(value, int):
            return Decimal(value) * Decimal(repr(unit_s))
        return exact_seconds(value, unit_s, is_single=is_single)


def read_axis(
    attributes: Mapping[str, Any], code: str, path: str = "", name: str = ""
) -> TimeDecoding:
    """The time axis of a numeric variable of a file by its name and attributes; ``code`` is the
    ``struct`` letter of its type. Without units times are seconds, or digits of dates. TimesError
    for unknown units and calendars."""
    given, calendar = str(attributes.get("units") or "").strip(" \0"), calendar_of(attributes)
    units = read_units(given or "s", calendar)
    if not given and is_known(calendar):
        units = replace(units, calendar=calendar or "standard")
    is_open = not given and may_be_digits(name, attributes, code)
    return TimeDecoding(units, read_packing(attributes, code), path, is_open)


def deciding_records(count: int) -> tuple[range, range]:
    """Of so many records the first ones and the newest ones, which show whether numbers without
    units are digits of dates.

    >>> deciding_records(3)
    (range(0, 3), range(3, 3))
    """
    first = min(count, _DECIDING)
    return range(first), range(max(first, count - _DECIDING), count)


def text_key(text: str | bytes, calendar: str = "") -> str | None:
    """The key of a date in words; None where it is none, and for a number alone: it may be a year
    or seconds. ``calendar`` says which days there are; unknown, those of the standard one."""
    key = wrf_key(text)
    if key is not None:
        return key
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    moment = read_moment(text)
    if moment is None or _is_year(text, moment):
        return None
    try:
        return date_moment(moment, calendar if calendar and is_known(calendar) else "standard").key
    except (ValueError, OverflowError):
        return None


def text_keys(rows: bytes, width: int, first: int = 0, calendar: str = "") -> list[str | None]:
    """The key of each record of a character variable, ``width`` bytes each. Raises TimesError when
    that of record ``first`` is text, and no time."""
    parts = [rows[at : at + width] for at in range(0, len(rows), width)]
    # The beginning of a date, then null bytes: it is not all written.
    texts = [
        b"" if _BEGUN.fullmatch(part) and not _WHOLE.fullmatch(part) else part.strip(b"\0 \t\n")
        for part in parts
    ]
    return _keys(texts, first, calendar)


def string_keys(rows: Iterable[object], first: int = 0, calendar: str = "") -> list[str | None]:
    """The key of each record of a variable of strings. Raises TimesError as :func:`text_keys`."""
    texts = [row.strip() if isinstance(row, str | bytes) else "" for row in rows]
    return _keys(texts, first, calendar)


def _keys(texts: Sequence[str | bytes], first: int, calendar: str) -> list[str | None]:
    """TimesError when the text of record ``first`` is not a time."""
    keys = [text_key(text, calendar) if text else None for text in texts]
    for key, text in list(zip(keys, texts, strict=True))[first : first + 1]:
        if key is None and text:
            shown = text.decode(errors="replace") if isinstance(text, bytes) else text
            raise TimesError(f"its time is not known: {printable(shown)[:60]!r}")
    return keys


def _is_year(text: str, moment: Moment) -> bool:
    """Whether all that a text says is the year of a moment."""
    digits = text.strip().lstrip("+-")
    return digits.isdecimal() and int(digits) == abs(moment.year)


def _written(values: Sequence[float]) -> int:
    """How many values come before the zeros at the end."""
    count = len(values)
    while count > 1 and values[count - 1] == 0:
        count -= 1
    return len(values) if count and values[count - 1] < 0 else count


def _month(value: float, path: str) -> str:
    """The key of a month of a year that is not named: its file, which may name the year, and its
    number."""
    if value != int(value) or not 1 <= value <= 12:
        raise TimesError(f"the units of its times are not known: 'month', and its value {value:g}")
    return file_key(f"{PurePath(path).stem}_month{int(value)}", "month")


def _absolute(value: float, units: TimeUnits) -> str | None:
    """The key of a date written as a number: 20080801.25 is 06:00 on 1 August 2008; as months
    200808.5 is the middle of August, as years 2008.5 that of the year."""
    whole = math.floor(value)
    if units.months:
        if not 1 <= value < 1e8:
            return None
        year, month = (whole, 1) if units.months == 12 else divmod(whole, 100)
        first = date_moment(Moment(year, month, 1, 0.0), units.calendar)
        return _counted((value - whole) * units.months, first)
    seconds = round((exact_seconds(value, 86400) - whole * 86400) * 10**6)
    date = Moment(whole // 10000, whole // 100 % 100, whole % 100, 0.0)
    try:
        return date_moment(date, units.calendar).later(seconds).key
    except (ValueError, OverflowError):
        return None


def _counted(months: float, origin: DatedMoment) -> str | None:
    """The key of a date so many months of the calendar after another one; a part of a month is
    that part of its days, so that 0.5 is the middle of the first month."""
    if abs(months) > 1e6:
        return None
    whole = math.floor(months)
    begin, end = (_month_later(origin, number) for number in (whole, whole + 1))
    part = round((end.day - begin.day) * DAY_US * (months - whole) / 10**6) * 10**6
    return begin.later(part).key


def _month_later(origin: DatedMoment, number: int) -> DatedMoment:
    """The same day so many months later; the last one of a month that lacks it."""
    year, month, day = origin.date
    years, month = divmod(month - 1 + number, 12)
    year, month = year_later(year, years, origin.calendar), month + 1
    while not has_day(year, month, day, origin.calendar) and day > 28:
        day -= 1
    return replace(origin, day=day_number(year, month, day, origin.calendar))
