"""Frames that slabs are computed from: read by one thread at a time, compressed boxes held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Any

import numpy as np

from burstlens.viz.diagnostics.strips import Array, Span, Strips
from burstlens.viz.frames.held import slices
from burstlens.viz.geometry.c_grid import centres
from burstlens.viz.geometry.staggering import STAGGERED, unstaggered
from burstlens.viz.seams import OpenFrame, Stored, Variable, Window

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
        with self._lock:
            return self._frame.variable(name)

    def read(self, name: str, window: Window | None = None) -> Array:
        with self._lock:
            return self._frame.read(name, window)

    def stored(self, name: str, window: Window | None = None) -> Stored:
        with self._lock:
            return self._frame.stored(name, window)

    def hold(self, name: str, window: Window | None, values: Array) -> None:
        with self._lock:
            self._frame.hold(name, window, values)


class Boxed(Shared):
    """The same, whose compressed variables are read box by box of columns, each with a halo and the
    faces; ``enter`` the first box before anything is read.

    ``parts`` are the boxes' points along both directions of the ground, down and across.
    """

    def __init__(
        self, frame: OpenFrame, lock: RLock, parts: Mapping[str, Sequence[range]], halo: int
    ) -> None:
        super().__init__(frame, lock)
        self._parts = parts
        self._halo = halo
        self._at = dict.fromkeys(parts, 0)
        self._held: dict[tuple[Any, ...], Array] = {}
        self._strips = Strips()

    def enter(self, down: int, across: int) -> None:
        """Go on to a box by its numbers: row by row, each from its first column on."""
        with self._lock:
            self._held = {}
            if across:
                self._strips.next_box()
            elif down:
                self._strips.next_row()
            self._at = dict(zip(self._parts, (down, across), strict=True))

    def read(self, name: str, window: Window | None = None) -> Array:
        """As :meth:`.OpenFrame.read`; of the box's part a view."""
        with self._lock:
            variable = self._frame.variable(name)
            if not variable.chunks or not is_spread(variable, self._frame, tuple(self._parts)):
                return self._frame.read(name, window)
            return self._read(variable, window)

    def _read(self, variable: Variable, window: Window | None) -> Array:
        wanted = dict(zip(variable.dimensions, slices(variable, window), strict=True))
        held = self._spans(variable)
        for dimension, span in held.items():
            part = wanted[dimension]
            if not (span.start <= part.start and part.stop <= span.stop):
                return self._frame.read(variable.name, window)
        # Levels are held by their chunks, as each slab may need others of them.
        axis = next((n for n, d in enumerate(wanted) if d not in held), None)
        if axis is None:
            return self._cut(variable, wanted, held, None)
        levels, chunk = wanted[variable.dimensions[axis]], _levels_held(variable, axis)
        numbers = range(levels.start // chunk, max(levels.stop - 1, levels.start) // chunk + 1)
        pieces = [self._cut(variable, wanted, held, (axis, number)) for number in numbers]
        values = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis)
        index: list[Any] = [slice(None)] * values.ndim
        at = numbers.start * chunk
        index[axis] = slice(levels.start - at, levels.stop - at, levels.step)
        return np.asarray(values[tuple(index)])

    def _cut(
        self,
        variable: Variable,
        wanted: Mapping[str, slice],
        held: Mapping[str, Span],
        chunk: tuple[int, int] | None,
    ) -> Array:
        """What is wanted along the ground, of the levels of one chunk (its axis and number)."""
        others = {d: s for d, s in wanted.items() if d not in held}
        if chunk is not None:
            axis, number = chunk
            size = _levels_held(variable, axis)
            others[variable.dimensions[axis]] = slice(number * size, (number + 1) * size)
        key = variable.name, tuple((s.start, s.stop, s.step) for s in others.values())
        if key not in self._held:
            down, across = held

            def part(rows: slice, columns: slice) -> Array:
                return self._frame.read(variable.name, {**others, down: rows, across: columns})

            axes = variable.dimensions.index(down), variable.dimensions.index(across)
            spans, width = (held[down], held[across]), variable.shape[axes[1]]
            self._held[key] = self._strips.box(key, axes, spans, part, width)
        index = tuple(
            slice(s.start - held[d].start, s.stop - held[d].start, s.step)
            if d in held
            else slice(None)
            for d, s in wanted.items()
        )
        return np.asarray(self._held[key][index])

    def _spans(self, variable: Variable) -> dict[str, Span]:
        """What the box holds of the variable's two dimensions along the ground, down and across."""
        found = {}
        for ground, parts in self._parts.items():
            for dimension, chunk in zip(variable.dimensions, variable.chunks, strict=True):
                if along(dimension, self._frame, tuple(self._parts)) == ground:
                    at, reach = self._at[ground], self._reaches(dimension, ground, chunk)
                    start, stop = reach(parts[at])
                    fresh = min(stop, max(start, reach(parts[at - 1])[1])) if at else start
                    later = reach(parts[at + 1])[0] if at + 1 < len(parts) else None
                    found[dimension] = Span(start, fresh, stop, later)
        return found

    def _reaches(
        self, dimension: str, ground: str, chunk: int
    ) -> Callable[[range], tuple[int, int]]:
        """The points of a dimension, first and behind the last, that parts of the ground need; up
        to the border of the chunk, where that is near."""
        before, behind = self._halo, self._halo + int(dimension.endswith(STAGGERED))
        if dimension not in (ground, ground + STAGGERED):  # faces of other models lie on both sides
            before, behind = self._halo + 1, self._halo + 1
        size = self.dimensions[dimension]

        def reach(part: range) -> tuple[int, int]:
            stop = part[-1] + 1 + behind
            border = -(-stop // chunk) * chunk
            stop = border if border - stop <= 2 * (self._halo + 1) else stop
            return max(0, part.start - before), min(size, stop)

        return reach


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
