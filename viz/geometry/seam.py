"""Longitudes of a grid that jump somewhere between neighbours, however they are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_ONCE_AROUND = 360.5
"""More degrees than a row once around has, of float32 numbers."""


def unwrapped(longitude: Array) -> Array:
    """Longitudes without jumps between neighbours if possible, which it is not around a pole."""
    if np.ptp(longitude) <= 180:
        return longitude
    along = np.unwrap(longitude, period=360, axis=-1)
    if along.ndim == 2:
        along += np.unwrap(along[:, :1], period=360, axis=0) - along[:, :1]
    return min((along, longitude, longitude % 360), key=_jumps)


def jumps(longitude: Array) -> bool:
    """Whether 2-D longitudes, unwrapped, jump between neighbours, or go more than once around."""
    if longitude.ndim != 2:
        return False
    span = float(np.ptp(longitude))
    return span > _ONCE_AROUND or (span > 180 and _jumps(longitude) > 0)


def _jumps(values: Array) -> int:
    return sum(int((np.abs(np.diff(values, axis=n)) > 180).sum()) for n in range(values.ndim))


def opposite_to_seam(longitude: Array, latitude: Array) -> float:
    """The longitude in the middle of a map of a grid whose longitudes jump.

    The seam is where the row nearest to the equator begins, if that goes round the earth; else it
    is at 180 degrees, or at 0 if the file counts from there.
    """
    row = np.unwrap(longitude[np.abs(latitude).mean(axis=1).argmin()], period=360)
    if np.abs(row[-1] - row[0]) > 300:
        step = (row[-1] - row[0]) / (row.size - 1)
        return float((row[0] - step / 2 + (180 if step > 0 else -180) + 180) % 360 - 180)
    return 180.0 if longitude.min() >= 0 else 0.0
