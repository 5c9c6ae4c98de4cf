"""Where a box of points is cut into parts: along one axis, at the borders of compressed chunks.

The parts follow from the box and their number alone, so that each worker finds the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from burstlens.core.errors import FrameError

_PREFERRED = (1, 0, 2)
"""Rows before levels before columns: a column lies whole in a part, and runs of a file are long."""


@dataclass(frozen=True, slots=True)
class Part:
    """The points ``first`` to before ``stop`` along ``axis`` (0, 1, 2: z, y, x) of a box; those
    from ``own`` on are the next part's as well."""

    axis: int
    first: int
    stop: int
    own: int

    @property
    def points(self) -> slice:
        """Its points along the axis."""
        return slice(self.first, self.stop)


@dataclass(frozen=True, slots=True)
class Split:
    """How a box can be cut: its points in the file along z, y and x, and the sizes of the chunks
    that are inflated as a whole (0: none). ``by_level``: whether it may be cut between levels.

    ``shared``: neighbours have the points between them in common, as VTK's structured pieces need.
    """

    points: tuple[range, range, range]
    chunks: tuple[int, int, int]
    by_level: bool
    shared: bool

    @property
    def most(self) -> int | None:
        """The most parts that gain anything: of two layers of chunks, those that share a plane
        inflate both. None: any number."""
        if not any(self.chunks):
            return None
        axis = self._best(self._axes())
        layers = len(self._borders(axis, 0, len(self.points[axis]))) + 1
        return (layers + 1) // 2 if self.shared else layers

    def parts(self, count: int) -> tuple[Part, ...]:
        """That many parts, about equal; FrameError where the box has too few points."""
        able = [axis for axis in self._axes() if len(self.points[axis]) - self.shared >= count]
        if not able:
            shape = " x ".join(str(len(points)) for points in self.points[::-1])
            raise FrameError(f"a box of {shape} points cannot be cut into {count} pieces")
        axis = self._best(able)
        length = len(self.points[axis])
        # Cut where chunks meet if there are enough such places, else anywhere.
        places: Sequence[int] = self._borders(axis, 0, length - self.shared)
        if len(places) < count - 1:
            places = range(1, length - self.shared)
        return tuple(
            Part(axis, first, end + (self.shared and end < length), end)
            for first, end in _ranges(0, length, places, count)
        )

    def whole(self) -> Part:
        """All points as one part, along the axis that slabs are best cut along."""
        axis = self._best(self._axes())
        length = len(self.points[axis])
        return Part(axis, 0, length, length)

    def slabs(self, part: Part, count: int, least: int) -> tuple[Part, ...]:
        """A part in up to ``count`` slabs without common points, none through a compressed chunk
        where there are places for ``least`` of them."""
        # None begins where only points lie that the next part counts.
        places: Sequence[int] = self._borders(part.axis, part.first, part.own)
        if not self.chunks[part.axis] or len(places) < least - 1:
            count = count if not self.chunks[part.axis] else least
            places = range(part.first + 1, part.own)
        count = min(count, len(places) + 1)
        return tuple(
            Part(part.axis, first, end, max(first, min(end, part.own)))
            for first, end in _ranges(part.first, part.stop, places, count)
        )

    def _axes(self) -> list[int]:
        return [axis for axis in _PREFERRED if axis or self.by_level]

    def _best(self, axes: list[int]) -> int:
        """The axis with the most places where chunks meet; without any the first."""
        return max(axes, key=lambda axis: len(self._borders(axis, 0, len(self.points[axis]))))

    def _borders(self, axis: int, first: int, stop: int) -> list[int]:
        """The points between, by their number in the box, that are the first of a chunk."""
        if not self.chunks[axis]:
            return []
        chunks = np.asarray(self.points[axis]) // self.chunks[axis]
        found: list[int] = (np.flatnonzero(np.diff(chunks)) + 1).tolist()
        return [place for place in found if first < place < stop]


def _ranges(first: int, stop: int, places: Sequence[int], count: int) -> list[tuple[int, int]]:
    """``first`` to ``stop`` in so many ranges, which end at some of ``places``."""
    cuts = [places[n * (len(places) + 1) // count - 1] for n in range(1, count)]
    return list(pairwise([first, *cuts, stop]))
