"""What a scene shows as a haze: a variable laid out on a regular grid, from thin to dense."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.core.units import convert
from burstlens.viz.geometry.grid import Array
from burstlens.viz.kinds.scene.options import Haze
from burstlens.viz.kinds.scene.stage import DENSEST
from burstlens.viz.kinds.vtk.volume import Volume
from burstlens.viz.product import ProductFrame

_HEIGHTS = 40, 120
"""Between the lowest and the highest point: two for each level, within these numbers."""
_CROOKED = 0.01
"""How far points may lie off a regular grid, as a part of their spacing."""


@dataclass(frozen=True, slots=True)
class Density:
    """A haze as it is rendered, and in words.

    ``corners`` (2, 3) are the lowest and the highest of the regular grid, ``values`` (z, y, x) from
    0, nothing, to 65535; ``extent`` is that of the variable, in ``units``.
    """

    asked: Haze
    corners: Array
    values: Array
    units: str
    long_name: str
    extent: tuple[float, float]


def read_density(asked: Haze, frame: ProductFrame, volume: Volume, placed: Array) -> Density:
    """The variable between the ends of its range, on heights equally far apart.

    ``placed`` are the volume's points (z, y, x, 3). FrameError when the variable has no levels or
    is all NaN, and when its rows and columns are not straight and equally far apart.
    """
    name = asked.variable
    values = volume.arrays[name]
    if values.shape[0] < 2:
        raise FrameError(f"haze: {name} has no levels")
    units = asked.units or volume.units[name]
    about = frame.variable(name)
    values = convert(values, volume.units[name], units, difference=about.is_difference)
    finite = values[np.isfinite(values)]
    if not finite.size:
        raise FrameError(f"haze: all values of {name} are NaN")
    _check_regular(placed)
    if placed[0, ..., 2].mean() > placed[-1, ..., 2].mean():  # depths
        values, placed = values[::-1], placed[::-1]
    low, high = asked.range
    part = np.nan_to_num(np.clip((values - low) / (high - low), 0, 1))
    bottom, top = float(np.nanmin(placed[..., 2])), float(np.nanmax(placed[..., 2]))
    heights = np.linspace(bottom, top, int(np.clip(2 * len(part), *_HEIGHTS)))
    dense = np.zeros((heights.size, *part.shape[1:]), np.uint16)
    for row, column in np.ndindex(part.shape[1:]):
        at, of = placed[:, row, column, 2], part[:, row, column]
        if of.any():
            # The lowest value reaches half a spacing down; above the highest level there is none.
            dense[:, row, column] = np.interp(heights, at, of, right=0) * DENSEST
            dense[heights < at[0] - 0.5 * (at[1] - at[0]), row, column] = 0
    corners = np.array([[*placed[0, 0, 0, :2], bottom], [*placed[0, -1, -1, :2], top]])
    extent = float(finite.min()), float(finite.max())
    return Density(asked, corners, dense, units, frame.variable(name).words, extent)


def _check_regular(placed: Array) -> None:
    x, y = placed[..., 0], placed[..., 1]
    even_x = np.linspace(x[0, 0, 0], x[0, 0, -1], x.shape[2])
    even_y = np.linspace(y[0, 0, 0], y[0, -1, 0], y.shape[1])[:, None]
    for along, even in ((x, even_x), (y, even_y)):
        step = np.abs(np.diff(even.ravel())).min()
        if not np.abs(along - even).max() <= _CROOKED * step:
            raise FrameError(
                "haze: the rows and columns are not straight and equally far apart, as a haze "
                "needs them: use isosurfaces"
            )
