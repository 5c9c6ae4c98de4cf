"""Sizes and durations as people write them, read and shown."""

from __future__ import annotations

import math
import re

MOST_BYTES = 2**63 - 1
MOST_SECONDS = 1e12
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGTPE]?)(i?)B?\s*", re.IGNORECASE)
_PREFIXES = "KMGTPE"
_CLOCK = re.compile(r"\s*(?:(\d+)-)?(\d+):(\d\d)(?::(\d\d))?\s*")
_SPAN = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|min|h|d)?\s*")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}


def parse_bytes(text: str | int) -> int:
    """Bytes of ``"600 GiB"`` (powers of 1024), ``"600 GB"`` (powers of 1000) or a bare number.
    Raises ValueError for anything else, and for nothing at all (0 bytes)."""
    if isinstance(text, int) and not isinstance(text, bool):
        value = text
    else:
        match = _SIZE.fullmatch(str(text))
        if match is None:
            raise ValueError(f'expected a size such as "600 GiB" or "1.5 TB", got {_short(text)}')
        number, prefix, binary = match.groups()
        power = _PREFIXES.index(prefix.upper()) + 1 if prefix else 0
        size = float(number) * (1024 if binary else 1000) ** power
        value = int(size) if math.isfinite(size) else MOST_BYTES + 1
    if value <= 0:
        raise ValueError(f"expected a size above 0, got {_short(text)}")
    if value > MOST_BYTES:
        raise ValueError(f"expected a size below 8 EiB, got {_short(text)}")
    return value


def parse_duration(text: str | int | float) -> float:
    """Seconds of ``"02:00:00"``, ``"1-12:00:00"`` (days), ``"90 s"``, ``"15 min"`` or a number.
    Raises ValueError for anything else. Two fields are hours and minutes, as in ``"02:30"``."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        value = float(text) if abs(text) <= MOST_SECONDS else math.inf  # NaN compares as false
    elif clock := _CLOCK.fullmatch(str(text)):
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        value = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    elif span := _SPAN.fullmatch(str(text)):
        value = float(span[1]) * _SECONDS[span[2]]
    else:
        raise ValueError(
            f'expected a duration such as "02:00:00", "90 s", "15 min" or "2 h", got {_short(text)}'
        )
    if value > MOST_SECONDS:
        raise ValueError(f"expected a duration below {MOST_SECONDS:g} s, got {_short(text)}")
    return value


def parse_duration_with_unit(text: str) -> float:
    """The same of a text that has a unit or a colon: a bare number of an option may be meant in
    hours. Raises ValueError."""
    span = _SPAN.fullmatch(text)
    if span is not None and span[2] is None:
        number = span[1]
        raise ValueError(
            f"expected a unit, got {number!r}: {number}h are hours, {number}min minutes, "
            f"{number}s seconds"
        )
    return parse_duration(text)


def _short(value: object) -> str:
    """A value for a message; a number may have too many digits to be printed at all."""
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**20 else "a huge number"
    return text if len(text) <= 80 else f"{text[:60]}..."


def show_bytes(value: float) -> str:
    """A size in binary units with three significant digits: ``1.52 GiB``."""
    unit = "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if abs(value) < 1000 or unit == "PiB":
            break
        value /= 1024
    if unit == "B":
        return f"{value:.0f} B"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f} {unit}"


def show_duration(seconds: float) -> str:
    """A duration for people: ``0.24 s``, ``42 s``, ``3 min 05 s``, ``2 h 10 min``."""
    if seconds < 0.0005:
        return "0 s"
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds < 1 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    return f"{hours // 24} d {hours % 24} h"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "frame"), counted(3, "frame")
    ('1 frame', '3 frames')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def seconds_of(text: str | None) -> float | None:
    """The seconds that a text gives, as of a log line; None for anything but a number from 0 on."""
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if 0.0 <= found < math.inf else None
