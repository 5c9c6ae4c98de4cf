"""The order of rows and columns whose coordinates a file has in another one, or with holes.

Pieces of the earth that were glued or selected have longitudes such as 0.5, 325.5 ... 355.5, and
may lack a column. Everything that draws and interpolates takes neighbours in the file for
neighbours on the earth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_EVEN = 0.02
"""Rounding of even steps, as a part of one."""
_MOST_FILLED = 4
"""Holes are filled with as many points as an even grid has, up to so many for each of the file."""
_LEAST = 4
"""Fewer points show no steps of a grid."""


@dataclass(frozen=True, slots=True)
class CoordinateOrder:
    """Points along a dimension: their numbers in the file, -1 where it has none; coordinates."""

    source: NDArray[np.intp]
    values: Array

    @property
    def nearest(self) -> NDArray[np.intp]:
        """The file's number of each point, of one that it has not the nearest one's."""
        there = np.flatnonzero(self.source >= 0)
        number = np.arange(self.source.size)
        return np.asarray(self.source[there[np.abs(number[:, None] - there).argmin(axis=1)]])


def order_of(values: NDArray[Any], period: float = 0.0) -> CoordinateOrder | None:
    """The order in which coordinates are monotonic and their holes are points; None if they are.

    Coordinates that repeat after ``period`` begin after their widest gap. Points without a
    coordinate get that of an even grid, on any other grid they are left out. None, too, where
    no order helps: few points, or several at one place.
    """
    at = np.asarray(values, np.float64)
    if _is_even(at):
        return None
    known = np.flatnonzero(np.isfinite(at))
    if values.size < _LEAST or known.size < max(_LEAST - 1, values.size / 2):
        return None
    if known.size < values.size:
        whole = _on_even_grid(at, known, period)
        known = known if whole is None else np.arange(values.size)
        at = at if whole is None else whole
    source = known.astype(np.intp)
    at = at[known]
    turned = np.unwrap(at, period=period) if period else at
    if not _is_monotonic(turned):
        found = _sorted(at, period)
        if found is None:
            return None
        source, turned = source[found[0]], found[1]
    filled = _filled(turned)
    if filled is not None:
        whole_source = np.full(filled[0].size, -1, np.intp)
        whole_source[filled[1]] = source
        source, turned = whole_source, filled[0]
    if source.size == values.size and np.array_equal(source, np.arange(values.size)):
        return None if np.isfinite(values).all() else CoordinateOrder(source, turned)
    return CoordinateOrder(source, turned)


def _is_even(values: Array) -> bool:
    """Whether all steps have one direction and nearly one size."""
    steps = np.diff(values)
    if not steps.size:
        return True
    low, high = sorted((float(steps.min()), float(steps.max())), key=abs)
    return low * high > 0 and abs(high) < 1.5 * abs(low)


def _is_monotonic(values: Array) -> bool:
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all())


def _on_even_grid(values: Array, known: NDArray[np.intp], period: float) -> Array | None:
    """All coordinates of a grid that is even where they are known, else None."""
    at = np.unwrap(values[known], period=period) if period else values[known]
    step = float(np.median(np.diff(at) / np.diff(known)))
    whole = at[0] + step * (np.arange(values.size) - known[0])
    off = at - whole[known]
    if period:
        off -= period * np.round(off / period)
    return whole if step and bool((np.abs(off) <= _EVEN * abs(step)).all()) else None


def _sorted(values: Array, period: float) -> tuple[NDArray[np.intp], Array] | None:
    """Which points follow each other, and their coordinates; None if several are at one place.

    Of columns that lie once round the earth on another the first one counts.
    """
    if not period:
        order = np.argsort(values, kind="stable")
        at = values[order]
        return (order, at) if (np.diff(at) > 0).all() else None
    within = np.mod(values, period)
    order = np.argsort(within, kind="stable")
    at = within[order]
    gaps = np.diff(at, append=at[0] + period)
    near = _EVEN * float(np.median(gaps))
    is_new = np.roll(gaps, 1) > near
    before = values[np.roll(order, 1)]
    if (np.abs(before - values[order])[~is_new] < period / 2).any():
        return None
    order, at = order[is_new], at[is_new]
    gaps = np.diff(at, append=at[0] + period)
    after = (np.flatnonzero(gaps >= (1 - _EVEN) * gaps.max()) + 1) % at.size
    first = int(after[values[order[after]].argmin()])
    turned = np.unwrap(np.roll(at, -first), period=period)
    own = np.median(values) - np.median(turned)
    return np.roll(order, -first), turned + period * np.round(own / period)


def _filled(values: Array) -> tuple[Array, NDArray[np.intp]] | None:
    """Coordinates with points in the holes of an otherwise even grid, and where the given ones
    are among them; None if there is no hole. Each hole lies between even steps."""
    steps = np.diff(values)
    if steps.size < _LEAST - 1:
        return None
    step = float(np.median(steps))
    counts = np.round(steps / step).astype(int)
    holes = counts > 1
    even = np.abs(steps / step - counts) <= _EVEN * np.maximum(counts, 1)
    if not holes.any() or not even.all() or (holes[1:] & holes[:-1]).any():
        return None
    if holes.mean() > 0.34:
        return None
    if counts.sum() - steps.size > _MOST_FILLED * values.size:
        counts = np.minimum(counts, 3)  # a point beside each end of a hole
    place = np.concatenate([[0], np.cumsum(counts)])
    at = np.interp(np.arange(place[-1] + 1), place, values)
    for hole in np.flatnonzero(holes & (counts == 3)):
        at[place[hole] + 1], at[place[hole] + 2] = values[hole] + step, values[hole + 1] - step
    return at, place.astype(np.intp)
