"""Longitudes and latitudes between the nodes of a mesh, by unit vectors: no seam, no pole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


def vectors(lon: ArrayLike, lat: ArrayLike) -> Array:
    """Unit vectors (..., 3) of positions in degrees; NaN where one is not finite."""
    with np.errstate(invalid="ignore"):
        lon, lat = np.radians(np.asarray(lon, np.float64)), np.radians(np.asarray(lat, np.float64))
        return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], -1)


def degrees(vector: Array) -> tuple[Array, Array]:
    """Longitude (-180 to 180) and latitude of vectors (..., 3) of any length."""
    x, y, z = np.moveaxis(vector, -1, 0)
    return np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y)))


def angle(a: Array, b: Array) -> Array:
    """Angles between vectors (..., 3), in radians; exact for small ones."""
    across = np.linalg.norm(np.cross(a, b), axis=-1)
    return np.asarray(np.arctan2(across, (a * b).sum(axis=-1)))


def bilinear(nodes: Array, rows: ArrayLike, columns: ArrayLike) -> Array:
    """Vectors (..., 3) between nodes (row, column, 3), at fractional rows and columns."""
    rows, columns = np.asarray(rows, np.float64), np.asarray(columns, np.float64)
    row = np.clip(np.floor(rows).astype(int), 0, nodes.shape[0] - 2)
    column = np.clip(np.floor(columns).astype(int), 0, nodes.shape[1] - 2)
    down, right = (rows - row)[..., None], (columns - column)[..., None]
    upper = nodes[row, column] * (1 - right) + nodes[row, column + 1] * right
    lower = nodes[row + 1, column] * (1 - right) + nodes[row + 1, column + 1] * right
    return np.asarray(upper * (1 - down) + lower * down)
