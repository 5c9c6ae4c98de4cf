"""Slabs: what is local to columns is computed a few rows at a time, so that temporaries stay small
whatever the domain's size.

Compressed variables are read box by box, along the borders of the largest chunks, so that no chunk
is inflated for each slab anew. A chunk across a border (of faces, or of another size) is inflated
for both boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.geometry.staggering import STAGGERED, unstaggered
from burstlens.viz.product import Beside, ProductFrame
from burstlens.viz.seams import Stored, Variable, Window

Array = NDArray[Any]
SLAB_BYTES = 48 << 20
"""What the variables of one slab may take, with the temporaries of a formula."""
_TEMPORARIES = 3
"""Arrays of a variable's size that a formula needs beside it, about."""
_LEVELS = 8
"""Levels of compressed variables that are read together, at least."""
_ROWS, _COLUMNS = "south_north", "west_east"


def by_slabs(
    frame: ProductFrame,
    reads: Sequence[str],
    described: Variable,
    part: Window,
    halo: int,
    compute: Callable[[ProductFrame, Window], Array],
) -> Array:
    """``compute(frame, part)``, put together from slabs; it must be local to columns.

    ``reads`` are the stored variables that it reads, ``halo`` is how many points around a column it
    needs. Each slab is a window of ``described``'s dimensions, with the strides of ``part``.
    """
    dimensions = described.dimensions
    whole = {
        dimension: range(*part.get(dimension, slice(None)).indices(frame.dimensions[dimension]))
        for dimension in (_ROWS, _COLUMNS)
    }
    variables = [frame.variable(name) for name in reads]
    stored = [one for one in variables if _is_spread(one, frame)]
    each = sum(prod(_others(one, frame)) for one in stored) * 4 * (1 + _TEMPORARIES)
    rows = max(1, SLAB_BYTES // max(1, each * len(whole[_COLUMNS])))
    if rows >= len(whole[_ROWS]) or _ROWS not in dimensions or _COLUMNS not in dimensions:
        return compute(frame, part)
    borders = _borders(stored, whole, each // (1 + _TEMPORARIES))
    found: Array | None = None
    for down, across in product(_cut(whole[_ROWS], borders[_ROWS]),
                                _cut(whole[_COLUMNS], borders[_COLUMNS])):  # fmt: skip
        box = {_ROWS: whole[_ROWS][down], _COLUMNS: whole[_COLUMNS][across]}
        source = _Boxed(frame, box, halo) if any(one.chunks for one in stored) else frame
        columns = len(box[_COLUMNS])
        rows = max(1, SLAB_BYTES // (each * columns))
        for first in range(0, len(box[_ROWS]), rows):
            some = box[_ROWS][first : first + rows]
            values = compute(source, {**part, _ROWS: _slice(some), _COLUMNS: _slice(box[_COLUMNS])})
            if found is None:
                shape = [
                    len(whole[d]) if d in whole else size
                    for d, size in zip(dimensions, values.shape, strict=True)
                ]
                found = np.empty(shape, values.dtype)
            at = {
                _ROWS: slice(down.start + first, down.start + first + len(some)),
                _COLUMNS: across,
            }
            found[tuple(at.get(d, slice(None)) for d in dimensions)] = values
    assert found is not None
    return found


def _is_spread(variable: Variable, frame: ProductFrame) -> bool:
    return {_ROWS, _COLUMNS} <= {unstaggered(d, frame) for d in variable.dimensions}


def _others(variable: Variable, frame: ProductFrame) -> Iterator[int]:
    """The sizes of its dimensions that are not along the ground."""
    for dimension, size in zip(variable.dimensions, variable.shape, strict=True):
        if unstaggered(dimension, frame) not in (_ROWS, _COLUMNS):
            yield size


def _borders(
    variables: Sequence[Variable], whole: Mapping[str, range], column_bytes: int
) -> dict[str, int]:
    """The sizes of boxes along both directions: the largest chunk of centres, several where they
    are small; 0 where none is compressed."""
    found = {_ROWS: 0, _COLUMNS: 0}
    for variable in variables:
        for dimension, size in zip(variable.dimensions, variable.chunks, strict=False):
            if dimension in found:
                found[dimension] = max(found[dimension], size)
    chunk = found[_ROWS] * found[_COLUMNS]
    if chunk:
        fits = max(1, SLAB_BYTES // max(1, chunk * column_bytes))
        across = -(-whole[_COLUMNS].stop // found[_COLUMNS])
        found[_COLUMNS] *= min(fits, across)
        found[_ROWS] *= max(1, fits // across)
    return found


def _cut(whole: range, chunk: int) -> list[slice]:
    """Parts of ``whole`` by its own numbers, within one chunk each; all of it without chunks."""
    if not chunk:
        return [slice(0, len(whole))]
    numbers = np.arange(whole.start, whole.stop, whole.step) // chunk
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(whole)]
    return [slice(a, b) for a, b in pairwise(starts)]


def _levels_held(variable: Variable, axis: int) -> int:
    """How many levels are read together: those of one chunk, of several where they are thin."""
    chunk = variable.chunks[axis]
    return chunk * -(-_LEVELS // chunk)


def _slice(part: range) -> slice:
    return slice(part.start, part.stop, part.step)


class _Boxed:
    """A frame whose variables are read once for a box of columns, with a halo and the faces."""

    def __init__(self, frame: ProductFrame, box: Mapping[str, range], halo: int) -> None:
        self._frame = frame
        self._box = {
            dimension: range(max(0, part.start - halo), part[-1] + 1 + halo)
            for dimension, part in box.items()
        }
        self._held: dict[tuple[Any, ...], Array] = {}
        self.paths: tuple[Path, ...] = frame.paths
        self.stream, self.previous = frame.stream, frame.previous
        self.followed: Mapping[str, Path] = frame.followed
        self.beside: Mapping[str, Beside] = frame.beside
        self.attributes, self.names = frame.attributes, frame.names
        self.dimensions, self.time = frame.dimensions, frame.time
        self.start, self.record = frame.start, frame.record

    def __str__(self) -> str:
        return str(self._frame)

    def __contains__(self, name: object) -> bool:
        return name in self._frame

    def variable(self, name: str) -> Variable:
        """As :meth:`.OpenFrame.variable`."""
        return self._frame.variable(name)

    def read(self, name: str, window: Window | None = None) -> Array:
        """As :meth:`.OpenFrame.read`; of the box's part a view."""
        variable = self.variable(name)
        if not variable.chunks or not _is_spread(variable, self._frame):
            return self._frame.read(name, window)
        wanted = {
            dimension: slice(*(window or {}).get(dimension, slice(None)).indices(size))
            for dimension, size in zip(variable.dimensions, variable.shape, strict=True)
        }
        held = {dimension: self._reach(dimension) for dimension in wanted}
        for dimension, reach in held.items():
            part = wanted[dimension]
            if reach and not (reach.start <= part.start and part.stop <= reach.stop):
                return self._frame.read(name, window)
        # Levels are held by their chunks, as each slab may need others of them.
        axis = next((n for n, d in enumerate(wanted) if not held[d]), None)
        if axis is None:
            return self._cut(variable, wanted, held, None)
        levels, chunk = wanted[variable.dimensions[axis]], _levels_held(variable, axis)
        first, last = levels.start // chunk, max(levels.stop - 1, levels.start) // chunk
        pieces = [
            self._cut(variable, wanted, held, (axis, number)) for number in range(first, last + 1)
        ]
        values = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis)
        index: list[Any] = [slice(None)] * values.ndim
        at = first * chunk
        index[axis] = slice(levels.start - at, levels.stop - at, levels.step)
        return np.asarray(values[tuple(index)])

    def _cut(
        self,
        variable: Variable,
        wanted: Mapping[str, slice],
        held: Mapping[str, range | None],
        chunk: tuple[int, int] | None,
    ) -> Array:
        """What is wanted along the ground, of the levels of one chunk (its axis and number)."""
        box = {d: slice(r.start, r.stop) if (r := held[d]) else s for d, s in wanted.items()}
        if chunk is not None:
            axis, number = chunk
            size = _levels_held(variable, axis)
            box[variable.dimensions[axis]] = slice(number * size, (number + 1) * size)
        key = variable.name, chunk, tuple(
            (s.start, s.stop, s.step)
            for n, (d, s) in enumerate(box.items())
            if not held[d] and (chunk is None or n != chunk[0])
        )  # fmt: skip
        if key not in self._held:
            self._held[key] = self._frame.read(variable.name, box)
        index = tuple(
            slice(s.start - r.start, s.stop - r.start, s.step) if (r := held[d]) else slice(None)
            for d, s in wanted.items()
        )
        return np.asarray(self._held[key][index])

    def _reach(self, dimension: str) -> range | None:
        """The part of a dimension along the ground that is held; None for others."""
        part = self._box.get(dimension.removesuffix(STAGGERED))
        if part is None:
            return None
        size = self.dimensions[dimension]
        return range(part.start, min(size, part.stop + dimension.endswith(STAGGERED)))

    def stored(self, name: str, window: Window | None = None) -> Stored:
        """As :meth:`.OpenFrame.stored`."""
        return self._frame.stored(name, window)

    def hold(self, name: str, window: Window | None, values: Array) -> None:
        """As :meth:`.OpenFrame.hold`."""
        self._frame.hold(name, window, values)
