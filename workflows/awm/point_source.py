"""The point source on the grid: moment released as stress.

In a step of length dt a moment tensor M with the moment rate m takes dt m M / h^3 from the
stresses at its place (Virieux 1986, Geophysics 51; Coutant, Virieux & Zollo 1995, BSSA 85), each
component spread over 64 elements by the transpose of cubic interpolation (:mod:`.interpolation`),
so that it may lie anywhere between the nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from burstlens.workflows.awm.fields import Wavefield
from burstlens.workflows.awm.interpolation import Footprint, Triple

_TENSOR = (("sxx", 0, 0), ("syy", 1, 1), ("szz", 2, 2), ("sxy", 0, 1), ("sxz", 0, 2), ("syz", 1, 2))


class PointSource:
    """``tensor`` (3, 3) in N m at the position ``where``; ``released`` (steps + 1) is what each
    step releases of it per cubic metre of a cell, in 1/m3.
    """

    def __init__(
        self, fields: Wavefield, tensor: NDArray[np.float64], where: Triple,
        last: tuple[int, int, int], released: NDArray[np.float64],
    ) -> None:  # fmt: skip
        self._released = released
        self._components = [
            (getattr(fields, name), Footprint.of(name, where, last), float(tensor[a, b]))
            for name, a, b in _TENSOR
            if tensor[a, b] != 0
        ]

    def release(self, step: int) -> None:
        """Change the stresses by what that step releases."""
        for field, footprint, moment in self._components:
            footprint.add(field, -self._released[step] * moment)
