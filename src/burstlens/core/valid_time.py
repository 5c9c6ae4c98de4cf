"""Valid times as keys: strings that sort in time order and serve as parts of file names.

With a calendar a key is ``YYYYMMDDTHHMMSS`` (UTC), without one it is ``t`` and the elapsed
seconds in fixed width, ``t00000012.500``, from 1e8 s on ``u000315532800.000``. Years below 1000
keep four digits, so that WRF's idealized year 0001, outside ``datetime64[ns]``, needs no special
case. The key of a file without any time names the file: ``n`` and its number, ``n0000000120``, or
``f-`` and its name.
"""

from __future__ import annotations

import math
import re
import zlib
from datetime import datetime

_WRF = re.compile(rb"(\d{4})-(\d\d)-(\d\d)_(\d\d)[:_](\d\d)[:_](\d\d)")
_GREGORIAN = frozenset({"", "standard", "gregorian", "proleptic_gregorian"})
_WRITTEN = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:[T_ ]?(\d\d)(?::?(\d\d)(?::?(\d\d))?)?)?(?: ?(?:Z|UTC))?"
)
_ELAPSED = re.compile(r"[tu](-?\d+\.\d+)")
_CALENDAR = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)")
_NUMBER = re.compile(r"n(\d+)")
_SUFFIX = re.compile(r"\.(?:nc4?|cdf|netcdf|h5|hdf5?|he5)", re.IGNORECASE)
_DATE = re.compile(
    r"(?P<year>\d{4})(?P<dash>[-_.]?)(?P<month>\d\d)(?P=dash)(?P<day>\d\d)"
    r"(?:[T_. -]?(?P<hour>\d\d)(?:(?P<colon>[:_.-]?)(?P<minute>\d\d)"
    r"(?:(?P=colon)(?P<second>\d\d))?)?)?Z?"
)
_DIGITS = 10
"""Digits of a number in the key of a file: Unix seconds fit."""
_PADDED = re.compile(rf"([A-Za-z]?)(\d{{{_DIGITS},}})")
_SHORT = 13
"""Characters of the key of an elapsed time of less than 1e8 s: three years."""
_LONGEST = 120
"""Characters of a file's name in its key: file names of products hold it, and more."""


def calendar_key(year: int, month: int, day: int, hour: int, minute: int, second: int) -> str:
    """The key of a calendar time, to the second.

    >>> calendar_key(2005, 8, 28, 12, 0, 0)
    '20050828T120000'
    """
    return f"{year:04d}{month:02d}{day:02d}T{hour:02d}{minute:02d}{second:02d}"


def elapsed_key(seconds: float) -> str:
    """The key of an elapsed time, to the millisecond.

    >>> elapsed_key(12.5), elapsed_key(315532800)
    ('t00000012.500', 'u000315532800.000')
    """
    short = f"t{seconds:012.3f}"
    # A longer number would sort before shorter ones: u sorts after t.
    return short if len(short) == _SHORT else f"u{seconds:016.3f}"


def wrf_key(text: str | bytes) -> str | None:
    """The key of a WRF time string (``2005-08-28_12:00:00``, or ``_`` for ``:``), else None."""
    raw = text.encode("ascii", "replace") if isinstance(text, str) else text
    match = _WRF.fullmatch(raw)
    return (b"%b%b%bT%b%b%b" % match.groups()).decode() if match else None


def parse_key(text: str) -> str:
    """The key of a time as people write it: a date, with or without a time of day, or elapsed
    seconds. Raises ValueError.

    >>> parse_key("2005-08-28 12:30"), parse_key("20050828T12"), parse_key("90")
    ('20050828T123000', '20050828T120000', 't00000090.000')
    """
    match = _WRITTEN.fullmatch(text.strip())
    if match:
        return calendar_key(*(int(part or default) for part, default in zip(
            match.groups(), (1, 1, 1, 0, 0, 0), strict=True)))  # fmt: skip
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
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


def _dated(text: str) -> str | None:
    """The key of a date; days that only other calendars have count, years of four zeros do not.

    Eight and more digits without a separator may be a number: then the year must be usual.
    """
    match = _DATE.fullmatch(text) if text.isascii() else None
    if match is None:
        return None
    parts = match.groupdict()
    year, month, day, hour, minute, second = (
        int(parts[part] or 0) for part in ("year", "month", "day", "hour", "minute", "second")
    )
    usual = year >= 1 if parts["dash"] else 1700 <= year < 2300
    if not (usual and 1 <= month <= 12 and 1 <= day <= 31):
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
    match = _CALENDAR.fullmatch(key)
    if match:
        year, month, day, hour, minute, second = match.groups()
        return f"{year}-{month}-{day} {hour}:{minute}:{second} UTC"
    if match := _ELAPSED.fullmatch(key):
        number = f"{float(match[1]):.3f}".rstrip("0").rstrip(".")
        return f"t = {number} s"
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

    Raises ValueError when it is not a key.
    """
    if has_time(key):
        return seconds(key)
    numbers = re.findall(r"\d+", label(key))
    return float(numbers[-1]) if numbers else 0.0


def is_calendar(key: str) -> bool:
    """Whether the key names a calendar time rather than an elapsed one."""
    return _CALENDAR.fullmatch(key) is not None


def seconds(key: str) -> float:
    """Seconds since year 1 of a calendar key (proleptic Gregorian), or elapsed ones as they are.

    Only differences between keys of one kind mean something. A key does not name its calendar: a
    day that only another one has (30 February of 360_day) is counted from the month's first.
    Raises ValueError when it is not a key, and for the key of a file without any time.

    >>> seconds("20050828T120000") - seconds("20050828T000000")
    43200.0
    """
    match = _CALENDAR.fullmatch(key)
    if match:
        year, month, day, hour, minute, second = (int(part) for part in match.groups())
        days = datetime(year, month, 1).toordinal() + day - 1
        return days * 86400.0 + hour * 3600.0 + minute * 60.0 + second
    if match := _ELAPSED.fullmatch(key):
        return float(match[1])
    if key.startswith("f-") or _NUMBER.fullmatch(key):
        raise ValueError(f"the frame {label(key)} has no time: its file has none")
    raise ValueError(f"{key!r} is not a valid-time key")


def between(start: str, end: str, calendar: str = "standard") -> float | None:
    """Seconds from one calendar key to another, in a calendar that CF names (CF 4.4.1).

    None when the calendar has no such day or is unknown, and for keys of elapsed times.
    ``standard`` is taken as Gregorian also before 1582, as in WRF.

    >>> between("20050228T000000", "20050301T000000", "360_day")
    259200.0
    """
    if not (is_calendar(start) and is_calendar(end)):
        return None
    if calendar in _GREGORIAN:
        return seconds(end) - seconds(start)
    from cftime import datetime as calendar_time  # netCDF4 brings it; not needed on login nodes

    try:
        first, last = (
            calendar_time(*_parts(key), calendar=calendar, has_year_zero=True)
            for key in (start, end)
        )
    except ValueError:
        return None
    return float((last - first).total_seconds())


def _parts(key: str) -> tuple[int, ...]:
    match = _CALENDAR.fullmatch(key)
    if match is None:
        raise ValueError(f"{key!r} is not a calendar key")
    return tuple(int(part) for part in match.groups())
