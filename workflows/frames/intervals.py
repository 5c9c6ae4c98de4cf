"""The seconds between the frames of a stream, by their mtimes."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence

KEPT = 8
"""Intervals that are remembered of a stream."""


def intervals(mtimes: Sequence[float]) -> tuple[float, ...]:
    """Those between neighbours."""
    return tuple(later - earlier for earlier, later in itertools.pairwise(mtimes))


def usual_interval(mtimes: Sequence[float]) -> float:
    """The median; 0.0 if unknown."""
    found = intervals(mtimes)
    return statistics.median(found) if found else 0.0


def with_mtime(mtimes: Sequence[float], mtime: float) -> tuple[float, ...]:
    """The newest ones, in order, with one more."""
    return tuple(sorted({*mtimes, mtime})[-KEPT - 1 :])
