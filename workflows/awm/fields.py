"""Arrays on the padded grid, laid out so that they do not evict each other from the cache."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.float32]

PAGE_BYTES = 4096
APART_BYTES = 256


def apart(shape: tuple[int, ...], count: int, start: int = 0) -> list[Field]:
    """``count`` arrays of zeros, float32, each 256 bytes further into its page than the last.

    Arrays of one size that start at the same place in a page put the same element into the same
    set of an 8-way first-level cache; a loop over 17 of them then runs two to three times slower.
    ``start`` numbers the first, so that arrays of a later call fall between.
    """
    size = math.prod(shape)
    fields = []
    for n in range(start, start + count):
        raw = np.zeros(size * 4 + 2 * PAGE_BYTES, dtype=np.uint8)
        first = (-raw.ctypes.data + n * APART_BYTES) % PAGE_BYTES
        fields.append(raw[first : first + size * 4].view(np.float32).reshape(shape))
    return fields


@dataclass(frozen=True, slots=True)
class Wavefield:
    """Velocities in m/s and stresses in Pa, each (z, y, x) on the padded grid, float32."""

    vx: Field
    vy: Field
    vz: Field
    sxx: Field
    syy: Field
    szz: Field
    sxy: Field
    sxz: Field
    syz: Field

    @classmethod
    def at_rest(cls, shape: tuple[int, int, int]) -> Wavefield:
        """Nine fields of zeros."""
        return cls(*apart(shape, 9))
