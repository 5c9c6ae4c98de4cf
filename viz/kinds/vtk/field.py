"""A variable at the centres of the cells of a volume's grid."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.viz.geometry.columns import check_grid, dimensions_of
from burstlens.viz.geometry.destaggered import read_centred
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.product import ProductFrame
from burstlens.viz.seams import Window

Array = NDArray[Any]


def read_field(
    frame: ProductFrame, name: str, order: tuple[str, ...], window: Window, first: str
) -> Array:
    """The values at the cell centres as (z, y, x); FrameError when they are not on that grid."""
    check_grid(frame, name, order, first)
    stored = frame.variable(name).dimensions
    values = read_centred(frame, name, {d: window[d] for d in order})
    bases = [unstaggered(d, frame) for d in stored]
    rest = [n for n, base in enumerate(bases) if base not in order]
    if any(values.shape[n] != 1 for n in rest):
        raise FrameError(f"{name} has more than three dimensions: {dimensions_of(frame, name)}")
    values = values.transpose(*rest, *(bases.index(d) for d in order))
    return values.reshape((1,) * (3 - len(order)) + values.shape[len(rest) :])
