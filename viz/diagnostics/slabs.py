"""Slabs: what is local to columns is computed a few rows at a time, so that temporaries stay small
whatever the domain's size, and on all cores that this worker may use.

Compressed variables are read box by box, along the borders of the largest chunks, so that no chunk
is inflated twice. Only where chunks of another size lie across a border, they are inflated for both
boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod
from threading import RLock

import numpy as np

from burstlens.core.allowance import allowance
from burstlens.core.errors import RecipeError
from burstlens.core.quantity import show_bytes
from burstlens.viz.diagnostics.boxes import Boxed, Shared, along, is_spread
from burstlens.viz.diagnostics.strips import Array
from burstlens.viz.product import ProductFrame
from burstlens.viz.seams import OpenFrame, Variable, Window

SHARE = 0.05
"""The part of a worker's memory for the variables of its slabs, with the temporaries of a formula;
larger slabs would be no faster."""
_MOST = 0.5
"""The part of it that one row may take."""
_TEMPORARIES = 3
"""Arrays of a variable's size that a formula needs beside it, about."""


@dataclass(frozen=True, slots=True)
class Computation:
    """A quantity in a window, and how it is computed.

    ``compute(frame, part)`` gives any part of it. ``reads`` are the stored variables that it is
    computed from, ``halo`` is how many points around a column it needs; None: it is not local to
    columns. ``ground`` are its dimensions along rows and columns.
    """

    described: Variable
    window: Window
    compute: Callable[[ProductFrame, Window], Array]
    reads: Sequence[str] = ()
    halo: int | None = None
    ground: tuple[str, str] = ("south_north", "west_east")


def by_slabs(
    frame: ProductFrame, of: Computation, over: Callable[[ProductFrame, OpenFrame], ProductFrame]
) -> Array:
    """The whole window of a computation, put together from slabs where it is local to columns.

    ``over`` gives a frame whose stored variables are read from another. RecipeError if one row
    takes more memory than this worker may use for it.
    """
    if of.halo is None or not set(of.ground) <= set(of.described.dimensions):
        return _computed(of, frame, of.window)
    slabs = _Slabs(frame, of)
    if slabs.fit:
        return _computed(of, frame, of.window)
    cores, lock, whole = allowance().cores, RLock(), _Whole(of)
    boxes = slabs.boxes()
    boxed = Boxed(frame, lock, boxes, of.halo) if slabs.compressed else None
    source = frame
    if boxed is not None or cores > 1:
        source = over(frame, boxed or Shared(frame, lock))

    def compute(part: Window) -> None:
        whole.put(part, _computed(of, source, part))

    for numbers in product(*map(range, map(len, boxes.values()))):
        if boxed is not None:
            boxed.enter(*numbers)
        box = {d: cut[number] for (d, cut), number in zip(boxes.items(), numbers, strict=True)}
        parts = list(slabs.within(box))
        if cores == 1 or len(parts) == 1:
            for part in parts:
                compute(part)
            continue
        with ThreadPoolExecutor(cores, "slab") as pool:
            made = [pool.submit(copy_context().run, compute, part) for part in parts]
            try:
                for one in made:
                    one.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    return whole.values()


def _computed(of: Computation, frame: ProductFrame, part: Window) -> Array:
    with np.errstate(all="ignore"):
        return of.compute(frame, part)


class _Whole:
    """The result, made with the first slab, which says its type and its other sizes."""

    def __init__(self, of: Computation) -> None:
        self._dimensions = of.described.dimensions
        self._parts = _ranges(of)
        self._lock = RLock()
        self._values: Array | None = None

    def put(self, part: Window, values: Array) -> None:
        """Set what was computed for a part of the window."""
        with self._lock:
            if self._values is None:
                pairs = zip(self._dimensions, values.shape, strict=True)
                shape = [len(self._parts.get(d, range(size))) for d, size in pairs]
                self._values = np.empty(shape, values.dtype)
        index = []
        for dimension in self._dimensions:
            all_of, some = self._parts.get(dimension), part.get(dimension)
            if all_of is None or some is None:
                index.append(slice(None))
            else:
                first = (some.start - all_of.start) // all_of.step
                index.append(slice(first, first + len(range(some.start, some.stop, some.step))))
        self._values[tuple(index)] = values

    def values(self) -> Array:
        """The whole; each part was set."""
        assert self._values is not None
        return self._values


def _ranges(of: Computation) -> dict[str, range]:
    """The points of the window along the ground."""
    sizes = dict(zip(of.described.dimensions, of.described.shape, strict=True))
    return {d: range(*of.window.get(d, slice(None)).indices(sizes[d])) for d in of.ground}


class _Slabs:
    """How a window is cut: into boxes along the borders of chunks, and these into rows."""

    def __init__(self, frame: ProductFrame, of: Computation) -> None:
        self._of = of
        self._whole = _ranges(of)
        variables = [frame.variable(name) for name in of.reads]
        self._stored = [one for one in variables if is_spread(one, frame, of.ground)]
        self._frame = frame
        self._column = 4 * sum(prod(self._others(one)) for one in self._stored)
        self.compressed = any(one.chunks for one in self._stored)
        allowed = allowance()
        self._bytes = max(1, round(SHARE * allowed.memory / allowed.cores))
        row = self._row(self._whole[of.ground[1]])
        if row > max(_MOST * allowed.memory / allowed.cores, self._bytes):
            raise RecipeError(
                f"{of.described.name}: one row of {len(self._whole[of.ground[1]])} columns takes "
                f"{show_bytes(row)}, and a worker may use {show_bytes(allowed.memory)} (memory of "
                "the recipe's or the site's [viewing]): allow more, or crop"
            )

    @property
    def fit(self) -> bool:
        """Whether all rows fit at once."""
        rows, columns = (self._whole[dimension] for dimension in self._of.ground)
        return self._rows(columns) >= len(rows)

    def boxes(self) -> dict[str, list[range]]:
        """Parts of the window that are read together, down and across; all of it where nothing is
        compressed. They end before the borders of chunks by what they need beyond their end."""
        beyond = self._beyond()
        return {
            d: [self._whole[d][part] for part in _cut(self._whole[d], size, beyond)]
            for d, size in self._borders().items()
        }

    def within(self, box: Mapping[str, range]) -> Iterator[Window]:
        """The slabs of a box, each as many rows as fit."""
        rows, columns = self._of.ground
        step = self._rows(box[columns])
        for first in range(0, len(box[rows]), step):
            some = box[rows][first : first + step]
            yield {**self._of.window, rows: _slice(some), columns: _slice(box[columns])}

    def _row(self, columns: range) -> int:
        return max(1, self._column * (1 + _TEMPORARIES) * len(columns))

    def _rows(self, columns: range) -> int:
        return max(1, self._bytes // self._row(columns))

    def _others(self, variable: Variable) -> Iterator[int]:
        """The sizes of its dimensions that are not along the ground."""
        for dimension, size in zip(variable.dimensions, variable.shape, strict=True):
            if along(dimension, self._frame, self._of.ground) not in self._of.ground:
                yield size

    def _beyond(self) -> int:
        """How many points a box needs beyond its end: its halo and faces."""
        halo = self._of.halo or 0
        faces = any(
            d not in self._of.ground and along(d, self._frame, self._of.ground) in self._of.ground
            for one in self._stored
            for d in one.dimensions
        )
        return halo + int(faces or halo > 0)

    def _borders(self) -> dict[str, int]:
        """The sizes of boxes along both directions: the largest chunk of centres, several where
        they are small; 0 where none is compressed."""
        rows, columns = self._of.ground
        found = dict.fromkeys(self._of.ground, 0)
        for variable in self._stored:
            for dimension, size in zip(variable.dimensions, variable.chunks, strict=False):
                if dimension in found:
                    found[dimension] = max(found[dimension], size)
        chunk = found[rows] * found[columns]
        if chunk:
            fits = max(1, self._bytes // max(1, chunk * self._column))
            across = -(-self._whole[columns].stop // found[columns])
            found[columns] *= min(fits, across)
            found[rows] *= max(1, fits // across)
        return found


def _cut(whole: range, chunk: int, beyond: int) -> list[slice]:
    """Parts of ``whole`` by its own numbers, each within one chunk with so many points ``beyond``
    its end; all of it without chunks."""
    if not chunk:
        return [slice(0, len(whole))]
    numbers = (np.arange(whole.start, whole.stop, whole.step) + beyond) // chunk
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(whole)]
    return [slice(a, b) for a, b in pairwise(starts)]


def _slice(part: range) -> slice:
    return slice(part.start, part.stop, part.step)
