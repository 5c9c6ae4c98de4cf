"""Variables read at the cell centres, on whichever points they are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.geometry.grid import to_centres
from burstlens.viz.geometry.staggering import unstaggered, with_faces
from burstlens.viz.seams import OpenFrame, Window


def read_centred(frame: OpenFrame, name: str, centres: Window) -> NDArray[Any]:
    """A variable at the cell centres: one axis for each of its dimensions, in the file's order.

    ``centres`` are slices of unstaggered dimensions; those of faces follow from them. Staggered
    integers become float64. Raises FrameError as :meth:`OpenFrame.read` does.
    """
    stored = frame.variable(name).dimensions
    # A staggered dimension without centres in the file (WRF's soil layers) is used as it is.
    staggered = {
        axis: base
        for axis, dimension in enumerate(stored)
        if (base := unstaggered(dimension, frame)) != dimension and base in centres
    }
    # Strides are applied after neighbouring faces are averaged.
    dense = {d: slice(centres[d].start, centres[d].stop, 1) for d in staggered.values()}
    values = frame.read(name, with_faces(dict(centres) | dense, frame))
    if staggered and values.dtype.kind != "f":
        values = values.astype(np.float64)
    for axis, dimension in staggered.items():
        every = [slice(None)] * values.ndim
        every[axis] = slice(None, None, centres[dimension].step)
        values = to_centres(values, axis)[tuple(every)]
    return values
