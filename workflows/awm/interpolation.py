"""Cubic interpolation on a staggered component, and its transpose, which spreads a source.

Positions and indices count grid spacings from node (0, 0, 0) of the whole padded array, in the
order (z, y, x).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Triple = tuple[float, float, float]

OFFSETS: dict[str, Triple] = {
    "vx": (0.0, 0.0, 0.5),
    "vy": (0.0, 0.5, 0.0),
    "vz": (-0.5, 0.0, 0.0),
    "sxx": (0.0, 0.0, 0.0),
    "syy": (0.0, 0.0, 0.0),
    "szz": (0.0, 0.0, 0.0),
    "sxy": (0.0, 0.5, 0.5),
    "sxz": (-0.5, 0.0, 0.5),
    "syz": (-0.5, 0.5, 0.0),
}
"""Where element (k, j, i) of each component lies, in spacings from node (k, j, i)."""


def cubic(position: float, last: int) -> tuple[int, NDArray[np.float64]]:
    """First index and the 4 Lagrange weights for ``position``; no index goes above ``last``.

    On a node the weights are those of the node alone; in the middle -1/16, 9/16, 9/16, -1/16.
    """
    first = min(math.floor(position) - 1, last - 3)
    at = position - first
    weights = np.ones(4)
    for n in range(4):
        for m in range(4):
            if m != n:
                weights[n] *= (at - m) / (n - m)
    return first, weights


@dataclass(frozen=True, slots=True)
class Footprint:
    """A block of 4 x 4 x 4 elements of one component and their weights, which add up to one."""

    block: tuple[slice, slice, slice]
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, component: str, position: Triple, last: tuple[int, int, int]) -> Footprint:
        """The footprint of a point in one component; ``last`` holds the last usable indices."""
        slices = []
        axes = []
        for where, offset, end in zip(position, OFFSETS[component], last, strict=True):
            first, weights = cubic(where - offset, end)
            slices.append(slice(first, first + 4))
            axes.append(weights)
        block = np.einsum("i,j,k->ijk", *axes).astype(np.float32)
        return cls((slices[0], slices[1], slices[2]), block)

    def value(self, field: NDArray[np.float32]) -> float:
        """The component at the point."""
        return float(np.vdot(self.weights, field[self.block]))

    def add(self, field: NDArray[np.float32], amount: float) -> None:
        """Spread ``amount`` over the component."""
        field[self.block] += np.float32(amount) * self.weights
