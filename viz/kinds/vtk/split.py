"""Where a box of points is cut into parts: along one axis, at the borders of compressed chunks.

The parts follow from the box and their number alone, so that each worker finds the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burstlens.core.errors import FrameError

_PREFERRED = (1, 0, 2)
"""Rows before levels before columns: a column lies whole in a part, and runs of a file are long."""


@dataclass(frozen=True, slots=True)
class Part:
    """The points ``first`` to before ``stop`` along ``axis`` (0, 1, 2: z, y, x) of a box.

    Those from ``own`` on are the next part's as well.
    """

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

    def parts(self, count: int) -> tuple[Part, ...]:
        """That many parts, about equal; FrameError where the box has too few points."""
        axes = [axis for axis in _PREFERRED if axis or self.by_level]
        able = [axis for axis in axes if len(self.points[axis]) - self.shared >= count]
        if not able:
            shape = " x ".join(str(len(points)) for points in self.points[::-1])
            raise FrameError(f"a box of {shape} points cannot be cut into {count} pieces")
        axis = max(able, key=lambda axis: len(self._borders(axis)))
        length = len(self.points[axis])
        # Cut where chunks meet if there are enough such places, else anywhere.
        places: Sequence[int] = self._borders(axis)
        if len(places) < count - 1:
            places = range(1, length - self.shared)
        cuts = [places[n * (len(places) + 1) // count - 1] for n in range(1, count)]
        firsts, ends = [0, *cuts], [*cuts, length]
        return tuple(
            Part(axis, first, end + (self.shared and end < length), end)
            for first, end in zip(firsts, ends, strict=True)
        )

    def _borders(self, axis: int) -> list[int]:
        """The points, by their number in the box, that are the first of a chunk."""
        if not self.chunks[axis]:
            return []
        chunks = np.asarray(self.points[axis]) // self.chunks[axis]
        found: list[int] = (np.flatnonzero(np.diff(chunks)) + 1).tolist()
        return [place for place in found if place < len(chunks) - self.shared]
