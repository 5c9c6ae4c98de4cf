"""Longitudes and latitudes of grids whose files leave them out on land.

CICE and POP write fill values where blocks of land are not computed, NEMO zeros; the fields have no
values there either. The positions only have to keep the cells beside the gap in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_REPEATED = 4
"""So many points at one place whose longitude equals its latitude are no grid."""
_BESIDE = 4
"""So many points beside known ones get positions; values are thinned to every fourth or less."""
_LEAST = 0.05
"""Share of the points that must have a position."""


def without_gaps(lon: Array, lat: Array) -> tuple[Array, Array] | None:
    """Both with a position for every point, as given where they have one; None if few have.

    2-D, degrees. Beside points with a position the grid goes on as it does there, so that their
    cells are whole. Further within a gap positions lie between its ends, along its row and column;
    at the border of the grid they repeat the nearest one, so that the cells there have no area.
    1-D coordinates with gaps give None.
    """
    if lon.ndim != 2 or lon.shape != lat.shape:
        return (lon, lat) if np.isfinite(lon).all() and np.isfinite(lat).all() else None
    known = np.isfinite(lon) & np.isfinite(lat) & ~_unset(lon, lat)
    if known.all():
        return lon, lat
    if known.mean() < _LEAST:
        return None
    lam, phi = np.radians(np.where(known, lon, 0.0)), np.radians(np.where(known, lat, 0.0))
    vectors = np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])
    given = known
    for _ in range(_BESIDE):
        known = _continued(vectors, known)
    along, across = _interpolated(vectors, known), _interpolated(vectors.swapaxes(1, 2), known.T)
    shares = 1 / along[1] ** 2, 1 / across[1].T ** 2
    between = np.asarray(shares[0] + shares[1] > 0)
    mixed = along[0] * shares[0] + across[0].swapaxes(1, 2) * shares[1]
    vectors = np.where(known, vectors, np.where(between, mixed, along[0]))
    rows = np.arange(lon.shape[0])
    there = np.asarray(known.any(axis=1))
    nearest = rows[there][np.abs(rows[:, None] - rows[there]).argmin(axis=1)]
    x, y, z = np.where(between | there[:, None], vectors, vectors[:, nearest])
    east, north = np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y)))
    east += 360 * np.round((np.median(lon[given]) - east) / 360)  # the file's own turn
    return (
        np.where(given, lon, east).astype(lon.dtype),
        np.where(given, lat, north).astype(lat.dtype),
    )


def _interpolated(vectors: Array, known: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Positions (3, row, column) along rows, and the length of the gap that each lies in: infinite
    beside the outermost known point, whose position they repeat there."""
    found, length = vectors.copy(), np.full(known.shape, np.inf)
    columns = np.arange(known.shape[1])
    for row in np.flatnonzero(known.any(axis=1) & ~known.all(axis=1)):
        at = columns[known[row]]
        for part in found:
            part[row] = np.interp(columns, at, part[row, at])
        after = np.searchsorted(at, columns)
        inside = (after > 0) & (after < at.size)
        length[row, inside] = at[after[inside]] - at[after[inside] - 1]
    return found, length


def _continued(vectors: Array, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Puts positions (unit vectors, (3, row, column)) beside known ones: as far from the neighbour
    as that is from the one behind it, the mean of all sides. Returns where there are some now."""
    total, count = np.zeros(vectors.shape), np.zeros(known.shape)
    for axis, step in ((0, 1), (0, -1), (1, 1), (1, -1)):
        (near, one), (far, two) = (_shifted(vectors, known, axis, n * step) for n in (1, 2))
        there = one & two & ~known
        total[:, there] += 2 * near[:, there] - far[:, there]
        count[there] += 1
    beside = count > 0
    vectors[:, beside] = total[:, beside] / np.linalg.norm(total[:, beside], axis=0)
    return np.asarray(known | beside)


def _shifted(
    vectors: Array, known: NDArray[np.bool_], axis: int, step: int
) -> tuple[Array, NDArray[np.bool_]]:
    """The positions so many rows or columns on, and which of them are known."""
    there = np.roll(known, -step, axis)
    beyond = slice(-step, None) if step > 0 else slice(None, -step)
    there[(slice(None),) * axis + (beyond,)] = False
    return np.roll(vectors, -step, axis + 1), there


def _unset(lon: Array, lat: Array) -> NDArray[np.bool_]:
    """Points that a model has not set: the same number for longitude and latitude, many times."""
    same = lon == lat
    if same.sum() < _REPEATED:
        return np.zeros(np.shape(lon), bool)
    values, counts = np.unique(lon[same], return_counts=True)
    return np.asarray(same & np.isin(lon, values[counts >= _REPEATED]))
