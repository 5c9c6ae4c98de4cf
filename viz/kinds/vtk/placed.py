"""Arrays at known places of a file, written from numpy's memory, as a whole or part by part."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.kinds.vtk.facts import Place

Array = NDArray[Any]
Named = tuple[str, Array, tuple[int, ...]]
"""An array by name, with the axes of the mesh (0, 1, 2: z, y, x) that it lies along."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An array of a file: its type, its shape, and where its bytes begin, in the order of C."""

    kind: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int

    @property
    def size(self) -> int:
        """Its bytes."""
        return math.prod(self.shape) * self.kind.itemsize

    def write(self, file: BinaryIO, values: Array, start: Sequence[int]) -> None:
        """Write values to their places, the first at index ``start``; in runs that are as long as
        their shape allows. Raises OSError."""
        strides = [math.prod(self.shape[n + 1 :]) * self.kind.itemsize for n in range(values.ndim)]
        cut = [n for n in range(values.ndim) if values.shape[n] != self.shape[n]]
        across = cut[-1] if cut else 0
        begin = self.begin + sum(n * size for n, size in zip(start, strides, strict=False))
        for index in np.ndindex(values.shape[:across]):
            at = begin + sum(n * size for n, size in zip(index, strides, strict=False))
            write_at(file, values[index].reshape(-1).view(np.uint8).data, at)  # not a copy


def write_held(
    file: BinaryIO, places: Iterable[Placed], held: Sequence[Named], place: Place
) -> None:
    """Write the arrays of a part that begins at ``place``. ValueError when the type of one is not
    that of the part before; raises OSError."""
    for of, (name, values, axes) in zip(places, held, strict=True):
        if values.dtype != of.kind:
            raise ValueError(f"{name} is {values.dtype} in one part, {of.kind} in another")
        of.write(file, values, [place[axis] for axis in axes])


def native(values: Array) -> Array:
    """The values in one piece and in this machine's byte order, copied only where they are not."""
    values = np.ascontiguousarray(values)
    if values.dtype.byteorder not in "=|":
        values = values.astype(values.dtype.newbyteorder("="))
    return values


def write_at(file: BinaryIO, data: bytes | memoryview, at: int) -> None:
    """All of it: a write may stop short, at 2 GiB for instance. Raises OSError."""
    rest = memoryview(data)
    while rest:
        count = os.pwrite(file.fileno(), rest, at)
        rest, at = rest[count:], at + count
