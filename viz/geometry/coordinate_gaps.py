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
_LEAST = 0.05
"""Share of the points that must have a position."""


def without_gaps(lon: Array, lat: Array) -> tuple[Array, Array] | None:
    """Both with a position for every point, as given where they have one; None if few have.

    2-D, degrees. Within a gap positions lie on the great circle between its ends along a row; at
    the border of the grid, and where a row has none, they repeat the nearest one, so that the
    cells there have no area. 1-D coordinates with gaps give None.
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
    columns, rows = np.arange(lon.shape[1]), np.arange(lon.shape[0])
    there = known.any(axis=1)
    for row in rows[there]:
        at = columns[known[row]]
        if at.size < columns.size:
            for part in vectors:
                part[row] = np.interp(columns, at, part[row, at])
    nearest = rows[there][np.abs(rows[:, None] - rows[there]).argmin(axis=1)]
    x, y, z = vectors[:, nearest]
    east, north = np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y)))
    east += 360 * np.round((np.median(lon[known]) - east) / 360)  # the file's own turn
    return (
        np.where(known, lon, east).astype(lon.dtype),
        np.where(known, lat, north).astype(lat.dtype),
    )


def _unset(lon: Array, lat: Array) -> NDArray[np.bool_]:
    """Points that a model has not set: the same number for longitude and latitude, many times."""
    same = lon == lat
    if same.sum() < _REPEATED:
        return np.zeros(np.shape(lon), bool)
    values, counts = np.unique(lon[same], return_counts=True)
    return np.asarray(same & np.isin(lon, values[counts >= _REPEATED]))
