"""Longitudes and latitudes between the nodes of a mesh, by unit vectors: no seam, no pole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
_STEPS = 12
_NEAR = 1e-9


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


def middles(nodes: Array) -> Array:
    """Unit vectors (row, column, 3) of the middles of a mesh's cells; NaN where a corner is.

    Unlike nodes, no two are at one place: the edges of a whole turn meet, a row may be the pole.
    """
    rows, columns = (np.arange(size - 1) + 0.5 for size in nodes.shape[:2])
    found = bilinear(nodes, *np.meshgrid(rows, columns, indexing="ij"))
    return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))


def steps_to(
    nodes: Array, wanted: Sequence[float], row: float, column: float
) -> tuple[float, float] | None:
    """The fractional row and column at which the mesh ``nodes`` (row, column, 3) points to the unit
    vector ``wanted``, by Newton's steps from a start; None where there is no way.

    One place, so in plain numbers: arrays of three would take ten times as long.
    """
    last_row, last_column = nodes.shape[0] - 1, nodes.shape[1] - 1
    for _ in range(_STEPS):
        here = _between(nodes, row, column)
        far = math.sqrt(sum(part * part for part in here))
        rest = [part * far - at for part, at in zip(wanted, here, strict=True)]
        down = _apart(nodes, (row + 0.5, column), (row - 0.5, column))
        along = _apart(nodes, (row, column + 0.5), (row, column - 0.5))
        # Least squares of three equations in two unknowns.
        aa, ab, bb = _dot(down, down), _dot(down, along), _dot(along, along)
        ra, rb = _dot(down, rest), _dot(along, rest)
        whole = aa * bb - ab * ab
        if not (math.isfinite(whole) and whole and math.isfinite(ra) and math.isfinite(rb)):
            return None
        by_row, by_column = (ra * bb - rb * ab) / whole, (rb * aa - ra * ab) / whole
        row = min(max(row + by_row, -1.0), last_row + 1.0)
        column = min(max(column + by_column, -1.0), last_column + 1.0)
        if abs(by_row) < _NEAR and abs(by_column) < _NEAR:
            break
    return row, column


def _between(nodes: Array, row: float, column: float) -> list[float]:
    """As :func:`bilinear`, of one place."""
    top = min(max(math.floor(row), 0), nodes.shape[0] - 2)
    left = min(max(math.floor(column), 0), nodes.shape[1] - 2)
    (a, b), (c, d) = nodes[top : top + 2, left : left + 2].tolist()
    down, right = row - top, column - left
    return [
        (p * (1 - right) + q * right) * (1 - down) + (r * (1 - right) + s * right) * down
        for p, q, r, s in zip(a, b, c, d, strict=True)
    ]


def _apart(nodes: Array, a: tuple[float, float], b: tuple[float, float]) -> list[float]:
    return [p - q for p, q in zip(_between(nodes, *a), _between(nodes, *b), strict=True)]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
