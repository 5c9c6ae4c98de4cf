"""One variable of a crop, as the netCDF file will hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.product import ProductFrame
from burstlens.viz.seams import Variable


@dataclass(frozen=True, slots=True)
class Part:
    """A variable's values in ``window``, on its own (perhaps staggered) points."""

    variable: Variable
    window: dict[str, slice]
    values: NDArray[Any]

    def extent(self) -> dict[str, float]:
        """The smallest and the largest value, as ``min`` and ``max``."""
        return {"min": float(np.nanmin(self.values)), "max": float(np.nanmax(self.values))}


def read_part(frame: ProductFrame, name: str, crop: Crop, units: str | None) -> Part:
    """Read the crop of a variable; ``units`` None keeps the file's. FrameError when the variable is
    missing, holds text or no finite value."""
    variable = frame.variable(name)
    window = resolve(crop, frame, name)
    values = frame.read(name, window)
    if values.dtype.kind not in "fiu":
        raise FrameError(f"{name} holds text, not numbers")
    if values.dtype.kind == "f" and not np.isfinite(values).any():
        raise FrameError(f"{name}: all values are NaN")
    if units is not None:
        values = variable.converted(values, units)
    return Part(variable, window, values)
