"""Frames that slabs are computed from: read by one thread at a time, compressed boxes held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.geometry.c_grid import centres
from burstlens.viz.geometry.staggering import STAGGERED, unstaggered
from burstlens.viz.seams import OpenFrame, Stored, Variable, Window

Array = NDArray[Any]
_LEVELS = 8
"""Levels of compressed variables that are read together, at least."""


class Shared:
    """The stored variables of a frame that several threads read: one at a time, as netCDF wants."""

    def __init__(self, frame: OpenFrame, lock: RLock) -> None:
        self._frame = frame
        self._lock = lock
        self.attributes, self.names = frame.attributes, frame.names
        self.dimensions, self.time = frame.dimensions, frame.time
        self.start, self.record = frame.start, frame.record

    def __str__(self) -> str:
        return str(self._frame)

    def __contains__(self, name: object) -> bool:
        with self._lock:  # a file that could not be read is opened again
            return name in self._frame

    def variable(self, name: str) -> Variable:
        """As :meth:`.OpenFrame.variable`."""
        with self._lock:
            return self._frame.variable(name)

    def read(self, name: str, window: Window | None = None) -> Array:
        """As :meth:`.OpenFrame.read`."""
        with self._lock:
            return self._frame.read(name, window)

    def stored(self, name: str, window: Window | None = None) -> Stored:
        """As :meth:`.OpenFrame.stored`."""
        with self._lock:
            return self._frame.stored(name, window)

    def hold(self, name: str, window: Window | None, values: Array) -> None:
        """As :meth:`.OpenFrame.hold`."""
        with self._lock:
            self._frame.hold(name, window, values)


class Boxed(Shared):
    """The same, whose compressed variables are read once for a box of columns, with a halo and the
    faces."""

    def __init__(self, frame: OpenFrame, lock: RLock, box: Mapping[str, range], halo: int) -> None:
        super().__init__(frame, lock)
        self._box = {
            dimension: range(max(0, part.start - halo), part[-1] + 1 + halo)
            for dimension, part in box.items()
        }
        self._held: dict[tuple[Any, ...], Array] = {}

    def read(self, name: str, window: Window | None = None) -> Array:
        """As :meth:`.OpenFrame.read`; of the box's part a view."""
        with self._lock:
            variable = self._frame.variable(name)
            if not variable.chunks or not is_spread(variable, self._frame, tuple(self._box)):
                return self._frame.read(name, window)
            return self._read(variable, window or {})

    def _read(self, variable: Variable, window: Window) -> Array:
        wanted = {
            dimension: slice(*window.get(dimension, slice(None)).indices(size))
            for dimension, size in zip(variable.dimensions, variable.shape, strict=True)
        }
        held = {dimension: self._reach(dimension) for dimension in wanted}
        for dimension, reach in held.items():
            part = wanted[dimension]
            if reach and not (reach.start <= part.start and part.stop <= reach.stop):
                return self._frame.read(variable.name, window)
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
        centre = along(dimension, self._frame, tuple(self._box))
        part = self._box.get(centre)
        if part is None:
            return None
        before, behind = 0, int(dimension.endswith(STAGGERED))
        if dimension not in (centre, centre + STAGGERED):
            before, behind = 1, 1  # faces of other models lie on either side
        size = self.dimensions[dimension]
        return range(max(0, part.start - before), min(size, part.stop + behind))


def is_spread(variable: Variable, frame: OpenFrame, ground: Sequence[str]) -> bool:
    """Whether a variable has both of the dimensions along the ground."""
    return set(ground) <= {along(d, frame, ground) for d in variable.dimensions}


def along(dimension: str, frame: OpenFrame, ground: Sequence[str]) -> str:
    """The one of ``ground`` that a dimension lies along, as its faces perhaps; else another."""
    if dimension in ground:
        return dimension
    base = unstaggered(dimension, frame)
    return base if base != dimension else centres(frame, dimension)[0]


def _levels_held(variable: Variable, axis: int) -> int:
    """How many levels are read together: those of one chunk, of several where they are thin."""
    chunk = variable.chunks[axis]
    return chunk * -(-_LEVELS // chunk)
