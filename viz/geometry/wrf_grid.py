"""WRF's own grid: metres along its dimensions, and its position on its plane.

Arakawa C grid (ARW Technical Note v4, section 3); WRF-Fire's finer cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.frames import fire
from burstlens.viz.geometry.projection import Projection
from burstlens.viz.geometry.staggering import STAGGERED, unstaggered
from burstlens.viz.seams import OpenFrame, Window

Array = NDArray[Any]


def steps(frame: OpenFrame, dimension: str, window: Window) -> tuple[Array, float]:
    """Metres from the first cell centre along a WRF dimension, and the distance of such centres.

    WRF-Fire's grid divides the cells of the atmosphere's grid. For any other dimension, the
    numbers of the points, and 0.
    """
    base, is_fire, _ = unstaggered(dimension, frame).partition(fire.SUFFIX)
    size, attributes = frame.dimensions[dimension], frame.attributes
    part = slice(*window.get(dimension, slice(None)).indices(size))
    number = np.arange(part.start, part.stop, part.step, dtype=np.float64)
    spacing = attributes.get({"west_east": "DX", "south_north": "DY"}.get(base, ""))
    coarse = size
    if is_fire:  # the cells of the atmosphere's grid, 0 if their number is not known
        faces = int(attributes.get(_grid_dimension(base), 1))
        coarse = frame.dimensions.get(base, faces - 1)
    if spacing is None or not coarse or size % coarse:
        return number, 0.0
    cells = size // coarse
    shift = 0.5 if dimension.endswith(STAGGERED) else 0.5 - 0.5 / cells
    return (number / cells - shift) * float(spacing), float(spacing)


def _grid_dimension(dimension: str) -> str:
    """The global attribute with the number of a dimension's faces in the whole domain."""
    return f"{dimension.replace('_', '-').upper()}_GRID_DIMENSION"


def corner(frame: OpenFrame, projection: Projection) -> tuple[float, float] | None:
    """x and y of the first cell centre of a WRF grid, None if the file does not have them."""
    dimensions = ("west_east", "south_north")
    sizes = frame.dimensions
    if not all(dimension in sizes for dimension in dimensions):
        return None
    corners = {d: slice(0, sizes[d], max(1, sizes[d] - 1)) for d in dimensions}
    (x, dx), (y, dy) = (steps(frame, dimension, corners) for dimension in dimensions)
    if not dx or not dy:
        return None
    if "XLAT" in frame and "XLONG" in frame:
        if frame.variable("XLAT").dimensions != dimensions[::-1]:
            return None
        at_x, at_y = projection.forward(frame.read("XLONG", corners), frame.read("XLAT", corners))
        # float32 degrees are about a metre apart: the mean of the corners is more accurate.
        first_x, first_y = float(np.mean(at_x - x)), float(np.mean(at_y - y[:, None]))
        missed_x, missed_y = np.abs(at_x - x - first_x), np.abs(at_y - y[:, None] - first_y)
        if missed_x.max() < dx / 2 and missed_y.max() < dy / 2:
            return first_x, first_y
        return None
    attributes = frame.attributes
    whole = [attributes.get(_grid_dimension(d)) for d in dimensions]
    if whole != [sizes[d] + 1 for d in dimensions]:
        return None
    if "CEN_LON" not in attributes or "CEN_LAT" not in attributes:
        return None
    middle_x, middle_y = projection.forward(attributes["CEN_LON"], attributes["CEN_LAT"])
    return float(middle_x - x.mean()), float(middle_y - y.mean())
