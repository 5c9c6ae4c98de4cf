"""Model times of steps: as numbers, as texts of the log, and the step that a time falls on."""

from __future__ import annotations

import math

CLOSE = 1e-9
"""A step that is so near before a time, relative to that, is at it."""


def time_of(step: int, step_s: float) -> float:
    """Seconds from the start to a step, as files have them: to the nanosecond."""
    return round(step * step_s, 9)


def text_of(time_s: float) -> str:
    """Seconds as log lines have them: with all decimals, so that a frame has the same key by its
    line as by its file, and three at least.

    >>> text_of(0.18), text_of(0.0125)
    ('0.180', '0.0125')
    """
    whole, _, part = f"{time_s:.9f}".partition(".")
    return f"{whole}.{part.rstrip('0').ljust(3, '0')}"


def step_at(time_s: float, step_s: float) -> int:
    """The first step at or beyond a time above 0.

    >>> step_at(0.3, 0.1), step_at(0.301, 0.1), step_at(0.001, 0.1)
    (3, 4, 1)
    """
    nearest = round(time_s / step_s)
    if abs(nearest * step_s - time_s) <= CLOSE * time_s:
        return nearest
    return math.ceil(time_s / step_s)
