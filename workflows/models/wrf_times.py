"""The times of a WRF run as its namelist has them: start, end, length, and the intervals of output.

Days are Gregorian ones. How WRF reads these settings: share/set_timekeeping.F of v4.3.3.
"""

from __future__ import annotations

from datetime import datetime

from burstlens.core.valid_time import calendar_key
from burstlens.workflows.models.namelist import Namelist, number

DATE_PARTS = ("year", "month", "day", "hour", "minute", "second")
RUN_UNITS = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
_DEFAULTS = {"start": (1993, 3, 13, 12, 0, 0), "end": (1993, 3, 14, 12, 0, 0)}
"""What WRF takes where a list is too short for a domain (Registry/Registry.EM_COMMON)."""
INTERVAL_UNITS = {"_d": 86400, "_h": 3600, "_m": 60, "_s": 1}


def date(settings: Namelist, which: str, index: int = 0) -> datetime | None:
    """The ``start`` or the ``end`` of a domain; None where it is missing or no date."""
    if f"{which}_year" not in settings:
        return None
    values = [date_part(settings, which, part, index) for part in DATE_PARTS]
    try:
        return datetime(*values)  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return None


def date_part(settings: Namelist, which: str, part: str, index: int = 0) -> int:
    """The ``year`` ... ``second`` of the ``start`` or the ``end`` of a domain. WRF does not take
    the last value of a list that is too short, but its own."""
    values = settings.get(f"{which}_{part}", [])
    value = values[index] if index < len(values) else None
    if isinstance(value, int | float):
        return int(value)
    return _DEFAULTS[which][DATE_PARTS.index(part)]


def key(settings: Namelist, which: str, index: int = 0) -> str | None:
    """The valid-time key of the ``start`` or the ``end`` of a domain."""
    found = date(settings, which, index)
    return calendar_key(*found.timetuple()[:6]) if found is not None else None


def total_s(settings: Namelist) -> float | None:
    """The length of the run: ``run_*`` where given, else from start to end, as in WRF."""
    if run := run_s(settings):
        return run
    start, end = date(settings, "start"), date(settings, "end")
    return (end - start).total_seconds() if start and end and end > start else None


def run_s(settings: Namelist) -> float:
    """The length of the run by ``run_*``; 0 where that is not given."""
    run = sum(number(settings, f"run_{unit}") * seconds for unit, seconds in RUN_UNITS.items())
    return max(0.0, run)


def interval_s(settings: Namelist, output: str, index: int = 0) -> float:
    """Seconds from one ``history``, ``restart`` ... of a domain to the next, 0 where the namelist
    has none. The setting without a unit, in minutes, counts where that in minutes is 0."""
    return _seconds(settings, f"{output}_interval", index)


def begin_s(settings: Namelist, output: str, index: int = 0) -> float:
    """Seconds from the start of a domain to the first ``history``, ``auxhist2`` ... of it."""
    return _seconds(settings, f"{output}_begin", index)


def _seconds(settings: Namelist, name: str, index: int) -> float:
    values = {unit: number(settings, name + unit, index) for unit in INTERVAL_UNITS}
    values["_m"] = values["_m"] or number(settings, name, index)
    return sum(values[unit] * seconds for unit, seconds in INTERVAL_UNITS.items())
