"""From a file's time variable to valid-time keys (:mod:`burstlens.core.valid_time`).

Two forms are supported: character times as WRF writes them, and numbers with CF ``units``, either
``<unit> since <date>`` in a ``calendar``, or a bare unit for elapsed time. A value that is not a
time (fill, zeros instead of text, not finite) gives None: such a record is not written yet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from burstlens.core.valid_time import calendar_key, elapsed_key, wrf_key

_UNITS = re.compile(r"\s*([A-Za-z]+)(?:\s+since\s+(\S.*?))?\s*")
_SECONDS = {
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
MAX_ELAPSED_S = 1e8
"""A larger elapsed time does not fit its key; netCDF's fill value 9.97e36 is far larger."""
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


def text_keys(rows: bytes, width: int) -> list[str | None]:
    """The key of each record of a character variable, ``width`` bytes each."""
    return [wrf_key(rows[at : at + width].rstrip(b"\0 ")) for at in range(0, len(rows), width)]


def fill_of(code: str, given: float | None = None) -> float | None:
    """What an unwritten value of that ``struct`` type is: ``given`` by ``_FillValue``, else by
    netCDF's default. Bytes have none."""
    return _FILLS.get(code) if given is None else given


def string_keys(rows: Iterable[object]) -> list[str | None]:
    """The key of each record of a variable of strings."""
    return [wrf_key(row) if isinstance(row, str | bytes) else None for row in rows]


def numeric_keys(
    values: Iterable[float],
    units: str = "s",
    calendar: str = "standard",
    *,
    fill: float | None = None,
    is_fixed: bool = False,
) -> list[str | None]:
    """The key of each record of a numeric variable, by CF conventions 1.11, section 4.4.

    Calendar times are rounded to the second, elapsed ones to the millisecond. Unknown units give
    None for every record. ``fill`` is the value of a time that is not written yet. ``is_fixed``:
    the number of records is fixed, so that zeros at the end, after a time that is not negative,
    are not written yet either; the first value counts.
    """
    values = list(values)
    match = _UNITS.fullmatch(units)
    scale = _SECONDS.get(match[1].lower()) if match else None
    if match is None or scale is None:
        return [None for _ in values]
    written = _written(values) if is_fixed else len(values)
    keys: list[str | None] = []
    for index, value in enumerate(values):
        if value == fill or index >= written:
            keys.append(None)
        elif match[2] is None:
            keys.append(_elapsed(float(value) * scale))
        else:
            keys.append(_dated(float(value) * scale, match[2], calendar))
    return keys


def _written(values: Sequence[float]) -> int:
    """How many values come before the zeros at the end."""
    count = len(values)
    while count > 1 and values[count - 1] == 0:
        count -= 1
    return len(values) if count and values[count - 1] < 0 else count


def _elapsed(seconds: float) -> str | None:
    return elapsed_key(seconds) if abs(seconds) < MAX_ELAPSED_S else None


def _dated(seconds: float, origin: str, calendar: str) -> str | None:
    import cftime

    if not math.isfinite(seconds) or abs(seconds) > 1e12:
        return None
    try:
        date = cftime.num2date(round(seconds), f"seconds since {origin}", calendar)
    except (ValueError, OverflowError):
        return None
    return calendar_key(date.year, date.month, date.day, date.hour, date.minute, date.second)


def no_variable(name: str, names: Iterable[str]) -> str:
    """The message for a file without its time variable, with similar names."""
    known = list(names)
    near = get_close_matches(name, known, 3, 0.4) or known[:5]
    return f"it has no variable {name!r}" + (f" (near: {', '.join(near)})" if near else "")
