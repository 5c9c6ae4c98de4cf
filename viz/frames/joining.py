"""Parts of an array, read one after another into the whole: temporaries are those of one part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.allowance import room

_MOST_BYTES, _LEAST_BYTES, _SHARE = 16 << 20, 1 << 20, 1 / 32
Index = Sequence[int | slice]
"""A number, or a slice with start, stop and step, along each dimension of a file."""


def part_bytes() -> int:
    """Size of a part, by this process's memory; to mask and unpack it takes a few times as much."""
    return min(_MOST_BYTES, max(_LEAST_BYTES, round(_SHARE * room())))


class JoinedArray:
    """An array of that shape, made with the type of its first part."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._values: NDArray[Any] | None = None

    def put(self, place: tuple[slice, ...], values: NDArray[Any]) -> None:
        """Set a part. Integers become floats once a part with missing values is one of floats."""
        if self._values is None:
            if values.shape == self._shape:
                self._values = values
                return
            self._values = np.empty(self._shape, values.dtype)
        kind = np.result_type(self._values, values)
        if kind != self._values.dtype:
            self._values = self._values.astype(kind)
        self._values[place] = values

    def values(self) -> NDArray[Any]:
        """The whole; each part was set."""
        assert self._values is not None
        return self._values


def parts(
    index: Index, item_bytes: int, chunk: Sequence[int]
) -> Iterator[tuple[tuple[slice, ...], tuple[int | slice, ...]]]:
    """The parts of a window of a file in its order, of about :func:`part_bytes` each: the place of
    each in the window, and its index in the file.

    They end at the borders of chunks, which have the shape ``chunk`` (1: any border will do), so
    that none is decompressed for two of them.
    """
    ranges = [range(one.start, one.stop, one.step) for one in index if isinstance(one, slice)]
    units = [unit for one, unit in zip(index, chunk, strict=True) if isinstance(one, slice)]
    if item_bytes * prod(len(one) for one in ranges) <= _LEAST_BYTES:
        yield tuple(slice(0, len(one)) for one in ranges), tuple(index)
        return
    most = part_bytes()
    cuts: list[list[slice]] = []
    for axis, along in enumerate(ranges):
        inner = item_bytes * max(1, prod(len(one) for one in ranges[axis + 1 :]))
        cuts.append(cut(along, max(1, most // inner), units[axis]))
    for places in product(*cuts):
        some = (along[place] for along, place in zip(ranges, places, strict=True))
        found = (slice(one.start, one.stop, one.step) for one in some)
        yield places, tuple(next(found) if isinstance(one, slice) else one for one in index)


def cut(along: range, count: int, unit: int) -> list[slice]:
    """Parts of a range of at most ``count`` points each, by their numbers in it, which end at the
    borders of chunks of ``unit`` points: of one chunk at least."""
    if count >= len(along):
        return [slice(0, len(along))]
    width = max(count * along.step // unit, 1) * unit
    found, first = [], 0
    while first < len(along):
        border = (along[first] // width + 1) * width
        last = min(len(along), -(-(border - along.start) // along.step))
        found.append(slice(first, last))
        first = last
    return found
