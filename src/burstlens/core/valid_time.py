"""Valid times as keys: strings that sort in time order and serve as parts of file names.

With a calendar a key is ``YYYYMMDDTHHMMSS`` (UTC), without one it is ``t`` and the elapsed
seconds in fixed width, ``t00000012.500``. Years below 1000 keep four digits, so that WRF's
idealized year 0001, outside ``datetime64[ns]``, needs no special case.
"""

from __future__ import annotations

import math
import re
from datetime import datetime

_WRF = re.compile(rb"(\d{4})-(\d\d)-(\d\d)_(\d\d)[:_](\d\d)[:_](\d\d)")
_GREGORIAN = frozenset({"", "standard", "gregorian", "proleptic_gregorian"})
_WRITTEN = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:[T_ ]?(\d\d)(?::?(\d\d)(?::?(\d\d))?)?)?(?: ?(?:Z|UTC))?"
)
_ELAPSED = re.compile(r"t(-?\d+\.\d+)")
_CALENDAR = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)")


def calendar_key(year: int, month: int, day: int, hour: int, minute: int, second: int) -> str:
    """The key of a calendar time, to the second.

    >>> calendar_key(2005, 8, 28, 12, 0, 0)
    '20050828T120000'
    """
    return f"{year:04d}{month:02d}{day:02d}T{hour:02d}{minute:02d}{second:02d}"


def elapsed_key(seconds: float) -> str:
    """The key of an elapsed time, to the millisecond.

    >>> elapsed_key(12.5)
    't00000012.500'
    """
    return f"t{seconds:012.3f}"


def wrf_key(text: str | bytes) -> str | None:
    """The key of a WRF time string (``2005-08-28_12:00:00``, or ``_`` for ``:``), else None."""
    raw = text.encode("ascii", "replace") if isinstance(text, str) else text
    match = _WRF.fullmatch(raw)
    return calendar_key(*(int(part) for part in match.groups())) if match else None


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


def label(key: str) -> str:
    """A key as people write it: ``2005-08-28 12:00:00 UTC``, or ``t = 12.5 s``.

    Anything else stays as it is: the name of a file without a time (``topo``).
    """
    match = _CALENDAR.fullmatch(key)
    if match:
        year, month, day, hour, minute, second = match.groups()
        return f"{year}-{month}-{day} {hour}:{minute}:{second} UTC"
    match = _ELAPSED.fullmatch(key)
    return f"t = {float(match[1]):g} s" if match else key


def is_calendar(key: str) -> bool:
    """Whether the key names a calendar time rather than an elapsed one."""
    return _CALENDAR.fullmatch(key) is not None


def is_key(key: str) -> bool:
    """Whether the text is a valid time; a file without a time has none."""
    return is_calendar(key) or _ELAPSED.fullmatch(key) is not None


def seconds(key: str) -> float:
    """Seconds since year 1 of a calendar key (proleptic Gregorian), or elapsed ones as they are.

    Only differences between keys of one kind mean something. A key does not name its calendar: a
    day that only another one has (30 February of 360_day) is counted from the month's first.
    Raises ValueError when it is not a key.

    >>> seconds("20050828T120000") - seconds("20050828T000000")
    43200.0
    """
    match = _CALENDAR.fullmatch(key)
    if match:
        year, month, day, hour, minute, second = (int(part) for part in match.groups())
        days = datetime(year, month, 1).toordinal() + day - 1
        return days * 86400.0 + hour * 3600.0 + minute * 60.0 + second
    match = _ELAPSED.fullmatch(key)
    if match:
        return float(match[1])
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
