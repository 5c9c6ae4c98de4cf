"""Valid times as keys: strings that sort in time order and serve as parts of file names.

With a calendar a key is ``YYYYMMDDTHHMMSS`` (UTC); a part of a second follows a point,
``20200601T120000.25``. Years have four digits, so that WRF's idealized year 0001, outside
``datetime64[ns]``, needs no special case. A year above 9999 has six after a ``y``; one below 0 is
kept as ``-`` and what it is more than -1,000,000, so that earlier ones sort first. A key does not
name its calendar: the frame does.

Without a calendar a key is ``t`` and the elapsed seconds in fixed width and at least three
decimals, ``t00000012.500``, from 1e8 s on ``u000315532800.000``. Negative ones are kept as what
they are more than -1e8 s, ``s99999998.800`` for -1.2 s, or than -1e12 s, then with ``r``.

The key of a file without any time names the file: ``n`` and its number, ``n0000000120``, or ``f-``
and its name.
"""

from __future__ import annotations

import math
import re
import zlib
from decimal import Decimal
from pathlib import PurePath

from burstlens.core.calendars import (
    WITH_YEAR_0,
    calendar_name,
    date_of,
    day_number,
    has_day,
    is_known,
)
from burstlens.core.exact_seconds import exact_seconds

_WRF = re.compile(rb"(\d{4})-(\d\d)-(\d\d)_(\d\d)[:_](\d\d)[:_](\d\d)")
_WRITTEN = re.compile(
    r"(-?\d{4,6}(?=-)|\d{4})-?(\d\d)-?(\d\d)"
    r"(?:[T_ ]?(\d\d)(?::?(\d\d)(?::?(\d\d)(?:\.(\d{1,6}))?)?)?)?(?: ?(?:Z|UTC))?"
)
_ELAPSED = re.compile(r"([r-u])(-?\d+\.\d+)")
_BELOW = {"s": 10**8, "r": 10**12}
"""What is added to negative elapsed seconds, by the key's first letter."""
_CALENDAR = re.compile(r"(\d{4}|-\d{6}|y\d{6})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(?:\.(\d{1,6}))?")
_FAR = 10**6
"""Years are nearer to 0."""
_NUMBER = re.compile(r"n(\d+)")
_SUFFIX = re.compile(r"\.(?:nc4?|cdf|netcdf|h5|hdf5?|he5)\Z", re.IGNORECASE)
_DATE = re.compile(
    r"(?P<year>\d{4})(?P<dash>[-_.]?)(?P<month>\d\d)(?P=dash)(?P<day>\d\d)"
    r"(?:[T_. -]?(?P<hour>\d\d)(?:(?P<colon>(?:%3[Aa]|[:_.-])?)(?P<minute>\d\d)"
    r"(?:(?P=colon)(?P<second>\d\d))?)?)?Z?"
)
_MONTH = re.compile(r"(?:(?<!\d)(?P<year>\d{4,}).*)?_month(?P<month>\d+)$")
"""Of a key as :func:`label` shows it."""
_DIGITS = 10
"""Digits of a number in the key of a file: Unix seconds fit."""
_PADDED = re.compile(rf"([A-Za-z]?)(\d{{{_DIGITS},}})")
_LONGEST = 120
"""Characters of a file's name in its key: file names of products hold it, and more."""


def calendar_key(
    year: int, month: int, day: int, hour: int, minute: int, second: int, microsecond: int = 0
) -> str:
    """The key of a calendar time, to the microsecond. Raises OverflowError for a year of more than
    six digits.

    >>> calendar_key(2005, 8, 28, 12, 0, 0), calendar_key(2005, 8, 28, 12, 0, 0, 250_000)
    ('20050828T120000', '20050828T120000.25')
    """
    if not -_FAR < year < _FAR:
        raise OverflowError(f"the year {year} has more than six digits")
    early, late = f"-{_FAR + year:06d}", f"y{year:06d}"
    years = early if year < 0 else f"{year:04d}" if year < 10_000 else late
    part = f".{microsecond:06d}".rstrip("0") if microsecond else ""
    return f"{years}{month:02d}{day:02d}T{hour:02d}{minute:02d}{second:02d}{part}"


def elapsed_key(seconds: float | Decimal) -> str:
    """The key of an elapsed time of less than 1e12 s, as exactly as the number is.

    >>> elapsed_key(12.5), elapsed_key(0.0015), elapsed_key(315532800)
    ('t00000012.500', 't00000000.0015', 'u000315532800.000')
    """
    exact = seconds if isinstance(seconds, Decimal) else exact_seconds(seconds)
    letter, width = ("t", 8) if abs(exact) < 10**8 else ("u", 12)
    if exact < 0:
        letter = "s" if letter == "t" else "r"
        exact += _BELOW[letter]
    whole, _, part = f"{exact:f}".partition(".")
    # A longer number would sort before shorter ones: u sorts after t.
    return f"{letter}{whole.rjust(width, '0')}.{part.rstrip('0').ljust(3, '0')}"


def wrf_key(text: str | bytes) -> str | None:
    """The key of a WRF time string (``2005-08-28_12:00:00``, or ``_`` for ``:``), else None. The
    day may be one that only some calendars have."""
    raw = text.encode("ascii", "replace") if isinstance(text, str) else text
    match = _WRF.fullmatch(raw)
    if match is None or not _is_date(int(match[2]), int(match[3])):
        return None
    return (b"%b%b%bT%b%b%b" % match.groups()).decode()


def parse_key(text: str) -> str:
    """The key of a time as people write it: a date, with or without a time of day, or elapsed
    seconds. Raises ValueError.

    >>> parse_key("2005-08-28 12:30"), parse_key("20050828T12"), parse_key("90")
    ('20050828T123000', '20050828T120000', 't00000090.000')
    >>> parse_key("-2099-01-01"), parse_key("2005-08-28 12:30:00.25")
    ('-9979010101T000000', '20050828T123000.25')
    """
    match = _WRITTEN.fullmatch(text.strip())
    if match and _is_date(int(match[2]), int(match[3])):
        *parts, fraction = match.groups()
        year, month, day, hour, minute, second = (int(part or 0) for part in parts)
        return calendar_key(year, month, day, hour, minute, second, _microseconds(fraction))
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if match or not math.isfinite(seconds):
        raise ValueError(f'expected a time such as "2005-08-28 12:00" or "90" (s), got {text!r}')
    return elapsed_key(seconds)


def file_key(name: str, varying: str | None = None) -> str:
    """The key of a file without any time, by its name: unique among the files of one series.

    ``varying`` is the part of the name in which the files of its series differ; if it is not
    given, the part from the first digit to the last. A date there gives a calendar key, a number
    ``n`` and ten digits. Any other name is kept as a whole, with its numbers at ten digits, so
    that keys sort as people count.

    >>> file_key("out_000120.nc"), file_key("heat_2005-08-28_12.nc")
    ('n0000000120', '20050828T120000')
    >>> file_key("slice_x8_t10.nc")
    'f-slice_x0000000008_t0000000010'
    """
    stem = name.rpartition("/")[2]
    if suffix := _SUFFIX.search(stem, max(0, stem.rfind("."))):
        stem = stem[: suffix.start()]
    if varying is None:
        digits = re.search(r"\d(?:.*\d)?", stem, re.ASCII)
        varying = digits[0] if digits else ""
    varying = varying.strip("._-")
    if re.fullmatch(r"\d+", varying, re.ASCII) and not _dated(varying):
        return f"n{int(varying):0{_DIGITS}d}"
    return _dated(varying) or f"f-{_safe(stem)}"


def counted_keys(path: str, first: int, end: int) -> list[str]:
    """The keys of the records ``first`` to ``end`` of a file that has a dimension of records and
    no times along it: the file's name and their number, from 0.

    >>> counted_keys("out/waves.nc", 2, 4)
    ['f-waves_record0000000002', 'f-waves_record0000000003']
    """
    stem = PurePath(path).stem
    return [file_key(f"{stem}_record{number}", "record") for number in range(first, end)]


def _dated(text: str) -> str | None:
    """The key of a date; days that only other calendars have count, years of four zeros do not.
    Eight and more digits without a separator may be a number: then the year must be usual."""
    match = _DATE.fullmatch(text) if text.isascii() else None
    if match is None:
        return None
    parts = match.groupdict()
    year, month, day, hour, minute, second = (
        int(parts[part] or 0) for part in ("year", "month", "day", "hour", "minute", "second")
    )
    usual = year >= 1 if parts["dash"] else 1700 <= year < 2300
    if not (usual and _is_date(month, day)):
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    return calendar_key(year, month, day, hour, minute, second)


def _safe(stem: str) -> str:
    """A file's stem, fit for file names; a checksum distinguishes stems that had to be changed."""
    text = re.sub(r"[^A-Za-z0-9._-]", "_", stem)
    check = f"--{zlib.crc32(stem.encode('utf-8', 'surrogateescape')):08x}" if text != stem else ""
    text = re.sub(r"\d+", lambda number: number[0].lstrip("0").rjust(_DIGITS, "0"), text) + check
    if len(text) > _LONGEST:
        # The end is what differs in a series: its common beginning becomes a checksum.
        head, text = text[:-_LONGEST], text[-_LONGEST:]
        text = f"{zlib.crc32(head.encode()):08x}-{text}"
    return text


def label(key: str) -> str:
    """A key as people write it: ``2005-08-28 12:00:00 UTC``, ``t = 12.5 s``, ``number 120``."""
    if match := _CALENDAR.fullmatch(key):
        year = _year(match[1])
        month, day, hour, minute, second = match.groups()[1:6]
        part = f".{match[7]}" if match[7] else ""
        sign = "-" if year < 0 else ""
        return f"{sign}{abs(year):04d}-{month}-{day} {hour}:{minute}:{second}{part} UTC"
    if match := _ELAPSED.fullmatch(key):
        return f"t = {_plain(_elapsed(match))} s"
    if match := _NUMBER.fullmatch(key):
        return f"number {int(match[1])}"
    if key.startswith("f-"):
        text = re.sub("--[0-9a-f]{8}$", "", key[2:])
        return _PADDED.sub(_shortened, text)
    return key


def _shortened(padded: re.Match[str]) -> str:
    """A number without the zeros before it; of a date's parts two digits stay."""
    letter, digits = padded.groups()
    return letter + digits.lstrip("0").rjust(1 if letter else 2, "0")


def has_time(key: str) -> bool:
    """Whether the key is a time, calendar or elapsed; else it names a file without any."""
    return is_calendar(key) or is_elapsed(key)


def is_elapsed(key: str) -> bool:
    """Whether the key is an elapsed time."""
    return _ELAPSED.fullmatch(key) is not None


def position(key: str) -> float:
    """Where a key lies on an axis: its seconds, or the last number in the name of its file.

    A month of no year is at its number, and twelve further for each year by its file's name. Raises
    ValueError when it is not a key.

    >>> [position(file_key(f"clim_{name}", "month")) for name in ("2004_month1", "2003_month12")]
    [24049.0, 24048.0]
    """
    if has_time(key):
        return seconds(key)
    shown = label(key)
    if month := _MONTH.search(shown):
        return float(int(month["year"] or 0) * 12 + int(month["month"]))
    numbers = re.findall(r"\d+", shown)
    return float(numbers[-1]) if numbers else 0.0


def is_calendar(key: str) -> bool:
    """Whether the key names a calendar time rather than an elapsed one."""
    return _CALENDAR.fullmatch(key) is not None


def seconds(key: str, calendar: str = "") -> float:
    """Seconds since 1970 of a calendar key in its calendar, or elapsed ones as they are.

    ``calendar`` is one that CF names (CF 4.4.1); an empty or unknown one is Gregorian at all times.
    Only differences between keys of one kind and calendar mean something. A day that the calendar
    does not have (30 February) is counted from the month's first. Raises ValueError when it is not
    a key, and for the key of a file without any time.

    >>> seconds("20050828T120000") - seconds("20050828T000000")
    43200.0
    """
    if match := _CALENDAR.fullmatch(key):
        calendar = calendar if is_known(calendar) else ""
        days = day_number(*_date(match), calendar) - day_number(1970, 1, 1, calendar)
        whole = days * 86400 + _whole_seconds(match)
        return whole + _microseconds(match[7]) / 1e6
    if match := _ELAPSED.fullmatch(key):
        return float(_elapsed(match))
    if key.startswith("f-") or _NUMBER.fullmatch(key):
        raise ValueError(f"the frame {label(key)} has no time: its file has none")
    raise ValueError(f"{key!r} is not a valid-time key")


def counting_calendar(key: str, calendar: str) -> str:
    """The calendar by which seconds from or to a key of a file's calendar must be counted. Empty
    for elapsed times, and where days are Gregorian ones: what a frame says of its calendar."""
    name = calendar_name(calendar or "proleptic_gregorian")
    if not is_calendar(key) or not is_known(name) or name == "proleptic_gregorian":
        return ""
    return "" if name in ("standard", WITH_YEAR_0["standard"]) and key >= "15821015" else name


def series_calendar(before: str, named: str) -> str:
    """The calendar in which a series' next time counts, of the one ``before`` and the one that its
    frame names: one that names none is Gregorian, and goes on from a standard one before 1582."""
    return named or (before if before in ("standard", WITH_YEAR_0["standard"]) else "")


def iso(key: str) -> str:
    """A calendar key as ISO 8601: ``2005-08-28T12:00:00``."""
    return label(key).removesuffix(" UTC").replace(" ", "T")


def between(start: str, end: str, calendar: str = "") -> float | None:
    """Seconds from one calendar key to another, in a calendar that CF names (CF 4.4.1).

    None when the calendar has no such day or is unknown, and for keys of elapsed times. An empty
    calendar is Gregorian also before 1582, as in WRF.

    >>> between("20050228T000000", "20050301T000000", "360_day")
    259200.0
    """
    first, last = _CALENDAR.fullmatch(start), _CALENDAR.fullmatch(end)
    if not (first and last and is_known(calendar)):
        return None
    if not all(has_day(*_date(match), calendar) for match in (first, last)):
        return None
    return seconds(end, calendar) - seconds(start, calendar)


def earlier(key: str, by_s: float, calendar: str = "") -> str:
    """The key so many seconds before another one, in the calendar of both; see :func:`seconds`.

    Raises ValueError when it is not the key of a time, and OverflowError out of range.

    >>> earlier("20200301T000000", 86400), earlier("t00000012.500", 10)
    ('20200229T000000', 't00000002.500')
    """
    match = _CALENDAR.fullmatch(key)
    if match is None:
        return elapsed_key(seconds(key) - by_s)
    calendar = calendar if is_known(calendar) else ""
    clock_us = _whole_seconds(match) * 10**6 + _microseconds(match[7])
    days, left_us = divmod(clock_us - round(by_s * 1e6), 86400 * 10**6)
    whole, part = divmod(left_us, 10**6)
    clock = whole // 3600, whole // 60 % 60, whole % 60, part
    number = day_number(*_date(match), calendar) + days
    return calendar_key(*date_of(number, calendar), *clock)


def _is_date(month: int, day: int) -> bool:
    """Whether some calendar may have that day."""
    return 1 <= month <= 12 and 1 <= day <= 31


def _date(match: re.Match[str]) -> tuple[int, int, int]:
    """Year, month and day of a calendar key."""
    return _year(match[1]), int(match[2]), int(match[3])


def _whole_seconds(match: re.Match[str]) -> int:
    """Whole seconds since midnight of a calendar key."""
    return int(match[4]) * 3600 + int(match[5]) * 60 + int(match[6])


def _year(text: str) -> int:
    """The year of a calendar key."""
    number = int(text.lstrip("-y"))
    return number - _FAR if text.startswith("-") else number


def _microseconds(digits: str | None) -> int:
    return int((digits or "0").ljust(6, "0"))


def _elapsed(match: re.Match[str]) -> Decimal:
    """The seconds of an elapsed key."""
    return Decimal(match[2]) - _BELOW.get(match[1], 0)


def _plain(number: Decimal) -> str:
    """A number as people write it: ``12.5``, ``0.0015``, ``2e-9``."""
    if number and abs(number) < Decimal("1e-6"):
        mantissa, _, exponent = f"{number.normalize():e}".partition("e")
        return f"{mantissa}e{int(exponent)}"
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
