"""The extreme of a smoothed field that is nearest to a first guess, between the grid points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_REACH = 3.0
"""Standard deviations to which the Gaussian is taken."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """Row and column of a minimum as fractions, the grid point that it is nearest to, and whether
    that lies at the edge of what there are values of: the true one may lie beyond."""

    row: float
    column: float
    point: tuple[int, int]
    at_edge: bool


def reach_points(sigma: float) -> int:
    """How many grid points a Gaussian of so many grid points reaches to each side."""
    return int(np.ceil(_REACH * sigma))


def smoothed(values: Array, sigma: tuple[float, float]) -> Array:
    """The field (y, x) under a Gaussian with these standard deviations, in grid points along y, x.

    NaN has no weight, and stays. Beyond the edge the field goes on as it came there (an odd
    reflection), so that smoothing moves no minimum that lies near it: padded with a constant or
    the mirror image it would be drawn to the edge.
    """
    missing = ~np.isfinite(values)
    field = np.where(missing, np.nan, values).astype(np.float64)
    reaches = [min(reach_points(w), size - 1) for w, size in zip(sigma, field.shape, strict=True)]
    for axis, reach in enumerate(reaches):
        pad = [(reach, reach) if n == axis else (0, 0) for n in (0, 1)]
        field = np.pad(field, pad, mode="reflect", reflect_type="odd") if reach > 0 else field
    if not missing.any():
        return _blurred(field, sigma, reaches)
    there = np.isfinite(field)
    weight = _blurred(there.astype(np.float64), sigma, reaches)
    weight[missing] = np.nan
    return _blurred(np.where(there, field, 0.0), sigma, reaches) / weight


def nearest_minimum(field: Array, away: Array | None, reach: float) -> Extreme | None:
    """The nearest point, ``away`` at most ``reach``, lower than all that are nearer and than its
    eight neighbours. None when there is none: what is lowest lies at the rim of the search.

    So of two minima the nearer is kept, however deep the other is, while a dent in the slope of
    a deeper one, which has lower points nearer by, does not count. With ``away`` None it is the
    lowest point of all.
    """
    valid = np.isfinite(field)
    if away is None:
        if not valid.any():
            return None
        lowest = int(np.argmin(np.where(valid, field, np.inf)))
        return _refined(field, *divmod(lowest, field.shape[1]))
    within = np.flatnonzero((valid & (away <= reach)).ravel())
    order = within[np.argsort(away.ravel()[within], kind="stable")]
    values = field.ravel()[order]
    lower = values < np.concatenate([[np.inf], np.minimum.accumulate(values)[:-1]])
    for flat in order[lower]:
        row, column = divmod(int(flat), field.shape[1])
        around = field[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        # Flat ground has no lowest point.
        if np.nanmin(around) == field[row, column] < np.nanmax(around):
            return _refined(field, row, column)
    return None


def _refined(field: Array, row: int, column: int) -> Extreme:
    """By a parabola through the neighbours along each axis."""
    shifts, at_edge = [], False
    for line, at in ((field[:, column], row), (field[row], column)):
        three = line[at - 1 : at + 2] if 0 < at < line.size - 1 else np.array([np.nan])
        bend = three[0] - 2 * three[1] + three[2] if three.size == 3 else np.nan
        # A single row has no edge: there is nowhere to go along it.
        at_edge |= bool(np.isnan(bend)) and line.size > 1
        shifts.append(0.5 * (three[0] - three[2]) / bend if bend > 0 else 0.0)
    return Extreme(row + shifts[0], column + shifts[1], (row, column), at_edge)


def _blurred(field: Array, sigma: tuple[float, float], reaches: list[int]) -> Array:
    """Convolved with the Gaussian along each axis, where its taps lie wholly within the array."""
    for axis, (width, reach) in enumerate(zip(sigma, reaches, strict=True)):
        if reach < 1:
            continue
        taps = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
        size = field.shape[axis] - 2 * reach
        total = np.zeros([size if n == axis else field.shape[n] for n in (0, 1)])
        for n, tap in enumerate(taps / taps.sum()):
            total += tap * (field[n : n + size] if axis == 0 else field[:, n : n + size])
        field = total
    return field
