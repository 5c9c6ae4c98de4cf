"""Cubic interpolation on a staggered component, and its transpose, which spreads a source.

Positions and indices count grid spacings from node (0, 0, 0) of the whole padded array, in the
order (z, y, x).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations

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
    for n, m in permutations(range(4), 2):
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
        found = zip(position, OFFSETS[component], last, strict=True)
        (z, wz), (y, wy), (x, wx) = (cubic(at - offset, end) for at, offset, end in found)
        block = np.einsum("i,j,k->ijk", wz, wy, wx).astype(np.float32)
        return cls((slice(z, z + 4), slice(y, y + 4), slice(x, x + 4)), block)

    def value(self, field: NDArray[np.float32]) -> float:
        """The component at the point."""
        return float(np.vdot(self.weights, field[self.block]))

    def add(self, field: NDArray[np.float32], amount: float) -> None:
        """Spread ``amount`` over the component."""
        field[self.block] += np.float32(amount) * self.weights
