"""Cells of a curvilinear grid on the sphere: which of them contains a place.

No seam and no pole is special here. The page looks places up likewise (cells.js).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burstlens.viz.geometry.sphere import angle, vectors

Array = NDArray[Any]
Numbers = NDArray[np.int64]
Ends = tuple[tuple[float, float], tuple[float, float]]
HALF: Ends = ((0.5, 0.5), (0.5, 0.5))
"""The outer cells reach half a cell beyond the outer points."""

_TILES = 20_000
_LEAST_SIDE = 8
_FEW, _MOSTLY = 3, 0.9
_TOGETHER = 128
"""Places near each other that are looked up together."""
_AT_ONCE = 1 << 16
_AROUND = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]


class SphereCells:
    """Cells about points (row, column), whose corners lie half-way between these.

    ``lon`` and ``lat`` are 2-D, in degrees, two rows and columns at least. ``ends`` say how far the
    cells reach before the first and beyond the last row and column, in steps of the grid.
    """

    def __init__(self, lon: Array, lat: Array, ends: Ends = HALF) -> None:
        self._lon, self._lat, self._ends = lon, lat, ends
        rows, columns = self.shape = lon.shape
        self._side = max(_LEAST_SIDE, int(np.ceil(np.sqrt(lon.size / _TILES))))
        self._closed = self._is_closed()
        self._across = -(-columns // self._side)
        tiles = [self._tiles(first) for first in range(0, rows, self._side)]
        middles, reach = (np.concatenate(part) for part in zip(*tiles, strict=True))
        self._tile = np.flatnonzero(np.isfinite(reach))
        self._middles, self._reach = middles[self._tile], reach[self._tile]

    def find(
        self, lon: ArrayLike, lat: ArrayLike, guess: NDArray[np.integer[Any]] | None = None
    ) -> Numbers:
        """The flat number of the cell that contains each place, -1 where none does.

        ``guess`` are numbers of cells that may contain the places, and -1: where they do, they are
        taken. Else the cell of the nearest point, else the first of those beside it that does.
        """
        lon, lat = np.broadcast_arrays(np.asarray(lon, float), np.asarray(lat, float))
        shape, lon, lat = lon.shape, lon.ravel(), lat.ravel()
        found = np.full(lon.size, -1, np.int64)
        if not self._tile.size:
            return found.reshape(shape)
        if guess is not None:
            guess = guess.ravel()
            for at in _pieces(np.flatnonzero(guess >= 0)):
                cells = guess[at].astype(np.int64)
                inside, _ = self._inside(vectors(lon[at], lat[at]), cells)
                found[at[inside]] = cells[inside]
        left = np.flatnonzero((found < 0) & np.isfinite(lon) & np.isfinite(lat))
        left = left[_neighbours_together(lon[left], lat[left])]
        for at in _pieces(left):
            found[at] = self._containing(vectors(lon[at], lat[at]))
        return found.reshape(shape)

    def _containing(self, places: Array) -> Numbers:
        starts = range(0, len(places), _TOGETHER)
        nearest = np.concatenate([self._nearest(places[n : n + _TOGETHER]) for n in starts])
        inside, near = self._inside(places, nearest)
        found = np.where(inside, nearest, -1)
        row, column = np.divmod(nearest, self.shape[1])
        for down, right in _AROUND:
            r, c = row + down, column + right
            c = c % self.shape[1] if self._closed else c
            there = (r >= 0) & (r < self.shape[0]) & (c >= 0) & (c < self.shape[1])
            at = np.flatnonzero((found < 0) & there)
            if not at.size:
                continue
            cells = r[at] * self.shape[1] + c[at]
            within, _ = self._inside(places[at], cells)
            found[at[within]] = cells[within]
        # Between cells that do not quite meet, as where the last column returns to the first.
        return np.where((found < 0) & near, nearest, found)

    def _nearest(self, places: Array) -> Numbers:
        """Flat numbers of the points nearest to places that lie near each other."""
        middle = places.mean(axis=0)
        size = float(np.linalg.norm(middle))
        middle = middle / size if size > 1e-6 else places[0]
        reach = float(_arc(places @ middle).max())
        away = _arc(self._middles @ middle)
        most = float((away + self._reach).min()) + 2 * reach
        tiles = self._tile[away - self._reach <= most]
        steps = np.arange(self._side)
        down, right = np.divmod(tiles, self._across)
        rows = np.minimum(down[:, None] * self._side + steps, self.shape[0] - 1)[:, :, None]
        columns = np.minimum(right[:, None] * self._side + steps, self.shape[1] - 1)[:, None, :]
        rows, columns = np.broadcast_arrays(rows, columns)
        rows, columns = rows.ravel(), columns.ravel()
        points = np.where(self._usable(rows, columns)[:, None], self._vectors(rows, columns), 0.0)
        at = (places @ points.T).argmax(axis=1)
        return np.asarray(rows[at] * self.shape[1] + columns[at], np.int64)

    def _usable(self, rows: Numbers, columns: Numbers) -> NDArray[np.bool_]:
        """Points with a place of their own: those of gaps repeat that of their neighbours."""
        lon, lat = self._lon[rows, columns], self._lat[rows, columns]
        usable = np.isfinite(lon) & np.isfinite(lat)
        for axis in (0, 1):
            same = np.ones(rows.shape, bool)
            for step in (-1, 1):
                at = [rows, columns]
                at[axis] = np.clip(at[axis] + step, 0, self.shape[axis] - 1)
                r, c = at
                same &= (self._lon[r, c] == lon) & (self._lat[r, c] == lat)
            usable &= ~same
        return np.asarray(usable)

    def _inside(
        self, places: Array, numbers: Numbers
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether each cell contains its place; whether its point is as near as its corners are."""
        cells, which = np.unique(numbers, return_inverse=True)
        row, column = np.divmod(cells, self.shape[1])
        edges = (0, 0), (0, 1), (1, 1), (1, 0)
        a, b, c, d = corners = [self._corner(row + r, column + k) for r, k in edges]
        middle = a + b + c + d
        side = np.sign((np.cross(c - a, d - b) * middle).sum(axis=-1))
        inside = (middle[which] * places).sum(axis=-1) > 0
        for start, end in zip(corners, [*corners[1:], a], strict=True):
            beyond = (np.cross(start, end)[which] * places).sum(axis=-1) * side[which]
            inside &= beyond >= -1e-15
        points = self._vectors(row, column)
        far = np.max([angle(points, corner) for corner in corners], axis=0)
        return inside, angle(points[which], places) <= far[which]

    def _corner(self, rows: Numbers, columns: Numbers) -> Array:
        """The corners before these rows and columns: linear between points, and beyond them."""
        low, part = self._places_of_edges(rows, 0)
        if self._closed:
            size, (before, after) = self.shape[1], self._ends[1]
            seam = columns % size == 0
            left = np.where(seam, size - 1, columns - 1)
            right, share = columns % size, np.where(seam, after / (after + before), 0.5)[:, None]
        else:
            left, share = self._places_of_edges(columns, 1)
            right = left + 1
        upper = self._vectors(low, left) * (1 - share) + self._vectors(low, right) * share
        low = low + 1
        lower = self._vectors(low, left) * (1 - share) + self._vectors(low, right) * share
        corner = upper * (1 - part) + lower * part
        return np.asarray(corner / np.linalg.norm(corner, axis=-1, keepdims=True))

    def _places_of_edges(self, numbers: Numbers, axis: int) -> tuple[Numbers, Array]:
        """The points before edges of cells, and how far on these lie, in steps of the grid."""
        size, (before, after) = self.shape[axis], self._ends[axis]
        at = np.where(numbers < size, numbers - 0.5, size - 1 + after)
        at = np.where(numbers > 0, at, -before)
        low = np.clip(np.floor(at).astype(np.int64), 0, size - 2)
        return low, (at - low)[:, None]

    def _is_closed(self) -> bool:
        """Whether the last column is followed by the first, once around the earth."""
        rows = np.arange(self.shape[0])
        first, second, before, last = (
            self._vectors(rows, np.full_like(rows, column)) for column in (0, 1, -2, -1)
        )
        step, closing = last - before, first - last
        on = (step * closing).sum(axis=-1) > 0
        size = [np.linalg.norm(one, axis=-1) for one in (closing, step, second - first)]
        gap = sum(self._ends[1])
        near = (size[0] < 1.5 * gap * size[1]) | (size[0] < 1.5 * gap * size[2])
        known = np.isfinite(size[0]) & (size[0] > 0)
        return bool(known.any() and (on & near)[known].mean() > _MOSTLY and self.shape[1] > _FEW)

    def _vectors(self, rows: Any, columns: Any) -> Array:
        return vectors(self._lon[rows, columns], self._lat[rows, columns])

    def _tiles(self, first: int) -> tuple[Array, Array]:
        """Middles (unit vectors) and reaches (radians; infinite without a point) of some rows'
        tiles."""
        rows, columns = np.mgrid[first : min(first + self._side, self.shape[0]), 0 : self.shape[1]]
        shape = rows.shape
        usable = self._usable(rows.ravel(), columns.ravel()).reshape(shape)
        points = np.where(usable[..., None], self._vectors(rows, columns), 0.0)
        starts = np.arange(0, self.shape[1], self._side)
        sums = np.add.reduceat(points.sum(axis=0), starts, axis=0)
        size = np.linalg.norm(sums, axis=-1, keepdims=True)
        middles = np.divide(sums, size, out=np.zeros_like(sums), where=size > 1e-9)
        across = (points * middles[np.arange(self.shape[1]) // self._side]).sum(axis=-1)
        arcs = np.where(usable, _arc(across), -np.inf).max(axis=0)
        reach = np.maximum.reduceat(arcs, starts)
        return middles, np.where(reach >= 0, reach, np.inf)


def _pieces(numbers: Numbers) -> Iterator[Numbers]:
    return (numbers[first : first + _AT_ONCE] for first in range(0, numbers.size, _AT_ONCE))


def _neighbours_together(lon: Array, lat: Array) -> Numbers:
    """An order of places in which most are near those before them: along bands of latitude."""
    if not lat.size:
        return np.zeros(0, np.int64)
    low, high = float(lat.min()), float(lat.max())
    bands = max(1, round(float(np.sqrt(lat.size / _TOGETHER))))
    band = np.floor((lat - low) / (high - low or 1.0) * bands)
    return np.lexsort((lon % 360, band))


def _arc(cosines: Array) -> Array:
    return np.asarray(np.arccos(np.clip(cosines, -1.0, 1.0)))
