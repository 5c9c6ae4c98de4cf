"""Which model times were reached: those of ``at``, and the multiples of ``every``."""

from __future__ import annotations

import math
from collections.abc import Iterable

from burstlens.core import valid_time
from burstlens.workflows.notify.options import Notify


def reached(
    tables: Iterable[Notify], first: str, since: str | None, now: str, calendar: str = ""
) -> bool:
    """Whether one of the tables' model times lies in (``since``, ``now``], all valid times.

    Without a word before (``since`` None) a time of ``at`` counts from the ``first`` frame that was
    seen on, and a multiple of ``every`` if it is later. Multiples count from midnight, or from 0
    without a calendar; seconds are those of ``calendar``. Times of another kind of calendar than
    the frames' are never reached.
    """
    if not valid_time.has_time(now):
        return False
    for table in tables:
        if any(_is_between(time, first, since, now) for time in table.at):
            return True
        if table.every is not None:
            before, after = (_steps(key, table.every, calendar) for key in (since or first, now))
            if before < after:
                return True
    return False


def _is_between(time: str, first: str, since: str | None, now: str) -> bool:
    same = valid_time.is_calendar(time) == valid_time.is_calendar(now)
    return same and time <= now and (time >= first if since is None else time > since)


def _steps(time: str, every: float, calendar: str) -> int:
    return math.floor(valid_time.seconds(time, calendar) / every + 1e-9)
