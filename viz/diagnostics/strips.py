"""Strips: the edges of boxes that later boxes need too, so that no chunk is inflated for both.

A box needs a halo and the faces of its columns. Boxes end a little before the border of their
chunks, so that a box never needs a chunk of the next one; what it needs of earlier ones, a few rows
and columns along its first edges, was read with these.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Span:
    """What a box holds along a dimension, ``start`` to ``stop``. From ``fresh`` on no earlier box
    holds it; from ``later`` on the next one does, None for the last."""

    start: int
    fresh: int
    stop: int
    later: int | None

    @property
    def whole(self) -> slice:
        """All that the box holds."""
        return slice(self.start, self.stop)

    @property
    def new(self) -> slice:
        """The part that no earlier box holds."""
        return slice(self.fresh, self.stop)

    def within(self, first: int) -> slice:
        """From ``first`` on, counted from ``start``."""
        return slice(first - self.start, None)


class Strips:
    """Puts the arrays of boxes together that are read in order, row of boxes by row of boxes."""

    def __init__(self) -> None:
        self._beside: dict[Hashable, Array] = {}
        self._above: dict[Hashable, _Row] = {}
        self._next: dict[Hashable, _Row] = {}
        self._read: set[Hashable] = set()

    def next_box(self) -> None:
        """The next box of the same row follows."""
        self._beside = {key: self._beside[key] for key in self._read & self._beside.keys()}
        self._read = set()

    def next_row(self) -> None:
        """The first box of the next row follows."""
        self._beside, self._above, self._next, self._read = {}, self._next, {}, set()

    def box(
        self,
        key: Hashable,
        axes: tuple[int, int],
        spans: tuple[Span, Span],
        read: Callable[[slice, slice], Array],
        width: int,
    ) -> Array:
        """The array of a box, once for each ``key``: ``read`` gives the parts that no strip has, of
        rows and columns, which lie along ``axes``. ``width`` is how many columns there are."""
        rows, columns = spans
        values = self._joined(key, axes, spans, read)
        if values is None:
            values = read(rows.whole, columns.whole)
        self._read.add(key)
        if columns.later is not None:
            down, across = rows.within(rows.fresh), columns.within(columns.later)
            self._beside[key] = values[_at(axes, down, across)].copy()
        if rows.later is not None:
            kept = values[_at(axes, rows.within(rows.later), columns.within(columns.fresh))]
            if key not in self._next:
                shape = list(kept.shape)
                shape[axes[1]] = width
                self._next[key] = _Row(np.empty(shape, kept.dtype), np.zeros(width, np.bool_))
            if self._next[key].values.dtype == kept.dtype:
                self._next[key].put(axes, columns.new, kept)
        return values

    def _joined(
        self,
        key: Hashable,
        axes: tuple[int, int],
        spans: tuple[Span, Span],
        read: Callable[[slice, slice], Array],
    ) -> Array | None:
        """The new part beside and below the strips; None if one of these was not read."""
        rows, columns = spans
        beside = self._beside.get(key) if columns.fresh > columns.start else None
        above = self._above.get(key) if rows.fresh > rows.start else None
        if (columns.fresh > columns.start and beside is None) or (
            rows.fresh > rows.start and (above is None or not above.has(columns.whole))
        ):
            return None
        if beside is None and above is None:
            return read(rows.new, columns.new)
        strip = beside if above is None else above.values
        assert strip is not None
        shape, kind = list(strip.shape), strip.dtype
        shape[axes[0]], shape[axes[1]] = rows.stop - rows.start, columns.stop - columns.start
        values = np.empty(shape, kind)
        if rows.fresh < rows.stop and columns.fresh < columns.stop:
            part = read(rows.new, columns.new)
            if part.dtype != kind:  # integers, with missing values here or there alone
                return None
            values[_at(axes, rows.within(rows.fresh), columns.within(columns.fresh))] = part
        if beside is not None:
            edge = slice(0, columns.fresh - columns.start)
            values[_at(axes, rows.within(rows.fresh), edge)] = beside[_at(axes, slice(None), edge)]
        if above is not None:
            edge = slice(0, rows.fresh - rows.start)
            values[_at(axes, edge, slice(None))] = above.values[_at(axes, edge, columns.whole)]
        return values


@dataclass(slots=True)
class _Row:
    """The last rows of a row of boxes, over all columns, and which columns were read."""

    values: Array
    columns: NDArray[np.bool_]

    def put(self, axes: tuple[int, int], columns: slice, values: Array) -> None:
        self.values[_at(axes, slice(None), columns)] = values
        self.columns[columns] = True

    def has(self, columns: slice) -> bool:
        return bool(self.columns[columns].all())


def _at(axes: Sequence[int], rows: slice, columns: slice) -> tuple[slice, ...]:
    """An index of these parts along two axes."""
    index = [slice(None)] * (max(axes) + 1)
    index[axes[0]], index[axes[1]] = rows, columns
    return tuple(index)
