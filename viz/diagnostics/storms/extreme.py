"""The extreme of a smoothed field that is nearest to a first guess, between the grid points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_REACH = 3.0
"""Standard deviations at which the Gaussian is cut off."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """Fractional row and column of a minimum, the nearest grid point, and whether that lies at the
    edge of the points with values: the true minimum may lie beyond."""

    row: float
    column: float
    point: tuple[int, int]
    at_edge: bool


def smoothed(values: Array, sigma: tuple[float, float]) -> Array:
    """The field (y, x) under a Gaussian with these standard deviations, in grid points along y, x.

    NaN has no weight and stays NaN. Beyond the edge the field is extended by odd reflection, so
    that smoothing does not move a minimum near the edge: padding with a constant or the mirror
    image would draw it to the edge.
    """
    missing = ~np.isfinite(values)
    field = np.where(missing, np.nan, values).astype(np.float64)
    widths = zip(sigma, field.shape, strict=True)
    reaches = [min(int(np.ceil(_REACH * width)), size - 1) for width, size in widths]
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
    """The nearest point, ``away`` at most ``reach``, that is lower than all nearer points and than
    its eight neighbours. None if there is none: the lowest point lies at the rim of the search.

    Of two minima the nearer is taken, however deep the other is. A dent in the slope of a deeper
    minimum does not count, because lower points are nearer. With ``away`` None it is the
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
    """The minimum of a parabola through the neighbours along each axis."""
    shifts, at_edge = [], False
    for line, at in ((field[:, column], row), (field[row], column)):
        three = line[at - 1 : at + 2] if 0 < at < line.size - 1 else np.array([np.nan])
        bend = three[0] - 2 * three[1] + three[2] if three.size == 3 else np.nan
        # A single row has no edge in this direction.
        at_edge |= bool(np.isnan(bend)) and line.size > 1
        shifts.append(0.5 * (three[0] - three[2]) / bend if bend > 0 else 0.0)
    return Extreme(row + shifts[0], column + shifts[1], (row, column), at_edge)


def _blurred(field: Array, sigma: tuple[float, float], reaches: list[int]) -> Array:
    """The convolution with the Gaussian along each axis, where its taps lie within the array."""
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
