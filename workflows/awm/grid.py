"""The padded grid: the nodes of a run, with absorbing layers and the room that stencils need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from burstlens.workflows.awm.parameters import Parameters

PAD = 2
"""Elements that the stencil needs beyond the last one advanced."""
VECTOR = 4
"""Elements of the shortest vectors that compilers use for rows: memory variables fill whole
ones. Vectors of 8 are no faster here, and take 2 bytes more a point."""

Three = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Slab:
    """Where an absorbing layer lies: axis 0, 1, 2 for z, y, x, at its low or high end.

    ``start`` and ``extent`` are those of its elements (z, y, x); ``thick`` are damped along its
    axis, the others fill up whole vectors.
    """

    axis: int
    high: bool
    start: Three
    extent: Three
    thick: int


@dataclass(frozen=True, slots=True)
class PaddedGrid:
    """``shape`` of all fields (z, y, x); ``rim`` is the first node inside the absorbing layers,
    along each axis, ``top`` the highest level advanced, ``surface`` that of the free surface or -1.
    """

    shape: Three
    rim: int
    above: int
    top: int
    surface: int
    layer: int

    @classmethod
    def of(cls, parameters: Parameters) -> Self:
        """The grid of these parameters."""
        grid, layer = parameters.grid, parameters.absorbing.points
        rim = PAD + layer
        above = PAD if parameters.free_surface else rim
        shape = (grid.nz + rim + above, grid.ny + 2 * rim, grid.nx + 2 * rim)
        top = shape[0] - PAD - 1
        return cls(shape, rim, above, top, top if parameters.free_surface else -1, layer)

    @property
    def points(self) -> int:
        """Points advanced in a step, those of the absorbing layers included."""
        return (self.top + 1 - PAD) * (self.shape[1] - 2 * PAD) * (self.shape[2] - 2 * PAD)

    @property
    def pads(self) -> tuple[tuple[int, int], ...]:
        """Elements below and above the nodes of the grid, along (z, y, x)."""
        return ((self.rim, self.above), (self.rim, self.rim), (self.rim, self.rim))

    def slabs(self) -> list[Slab]:
        """The absorbing layers: all sides but a free surface.

        Each spans its nodes and the last one of the interior, where half-spaced components are
        already in it, and the whole grid along the other axes.
        """
        sides = [(2, False), (2, True), (1, False), (1, True), (0, False)]
        return [self._slab(*side) for side in (*sides, *[(0, True)] * (self.surface < 0))]

    def _slab(self, axis: int, high: bool) -> Slab:
        thick = self.layer + 1
        start = [PAD, PAD, PAD]
        extent = [self.top + 1 - PAD, self.shape[1] - 2 * PAD, self.shape[2] - 2 * PAD]
        wide = min(extent[2], -(-thick // VECTOR) * VECTOR) if axis == 2 else thick
        if high:
            start[axis] += extent[axis] - wide
        extent[axis] = wide
        return Slab(axis, high, (start[0], start[1], start[2]), (*extent,), thick)  # type: ignore[arg-type]
