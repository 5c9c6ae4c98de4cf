"""The shade of mountains over a map's field, from a variable that holds heights."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LightSource
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.core.lengths import metres
from burstlens.viz.drawing.maps.reach import corners
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.field import Field
from burstlens.viz.geometry.projection import EARTH_RADIUS_M

_LIGHT = LightSource(azdeg=315, altdeg=45)
"""Light from the upper left, as on printed maps: from below, valleys would look like ridges."""
_STEEPEST = 0.35
"""The slope (m per m) to which the steepest hundredth of the terrain is scaled."""
_STRENGTH = 0.55
"""Opacity of the darkest slope over the field."""


def draw_relief(axes: Axes, terrain: Field) -> None:
    """Add the shade to the axes: slopes away from the light darker, those towards it lighter.

    FrameError if the heights have no unit of length or the grid has no even rows and columns.
    """
    plane = grid.separated(terrain.plane)
    is_even = grid.is_uniform(plane.x) and grid.is_uniform(plane.y)
    if not is_even or min(plane.x.size, plane.y.size) < 2:
        raise FrameError(f"{terrain.name}: the shade needs a grid of even rows and columns")
    x, y = corners(plane)
    flip_y, flip_x = (1 if ends[0] < ends[-1] else -1 for ends in (y, x))
    shade = hillshade(terrain.values[::flip_y, ::flip_x], *spacing(plane))
    pixels = np.zeros((*shade.shape, 4))
    pixels[..., :3] = (shade > 0)[..., None]
    pixels[..., 3] = _STRENGTH * np.abs(shade)
    extent = x.min(), x.max(), y.min(), y.max()
    image = AxesImage(axes, origin="lower", extent=extent, interpolation="bilinear")
    image.set_data(pixels)
    image.set_zorder(1.0)
    image.set_clip_path(axes.patch)
    # Not by add_image, which would change the axes' limits.
    axes.add_artist(image)


def hillshade(height: NDArray[Any], dx: float, dy: float) -> NDArray[Any]:
    """Light (y, x) from -1 (turned away) over 0 (level, or no height) to 1, y northward.

    The cosine between light and normal (Horn 1981, Proc. IEEE 69(1)), less that of level ground;
    the relief is exaggerated until its steep slopes show. ``height`` and the spacings are in m.
    """
    known = np.isfinite(height)
    filled = np.where(known, height, np.mean(height[known]) if known.any() else 0.0)
    rise_y, rise_x = np.gradient(filled.astype(np.float64), dy, dx)
    steep = float(np.percentile(np.hypot(rise_x, rise_y), 99))
    if not steep > 0:
        return np.zeros(height.shape)
    exaggeration = _STEEPEST / steep
    towards = _LIGHT.direction
    normal = np.stack([-exaggeration * rise_x, -exaggeration * rise_y, np.ones(height.shape)])
    cosine = np.tensordot(towards, normal / np.linalg.norm(normal, axis=0), 1)
    level = towards[2]
    light = np.where(cosine > level, (cosine - level) / (1 - level), (cosine - level) / level)
    return np.where(known, np.clip(light, -1.0, 1.0), 0.0)


def spacing(plane: grid.Plane) -> tuple[float, float]:
    """Metres between neighbours along x and y. FrameError when the plane has no lengths."""
    dx, dy = (abs(float(v[-1] - v[0])) / (v.size - 1) for v in (plane.x, plane.y))
    if plane.geographic:
        degree = np.radians(1.0) * EARTH_RADIUS_M
        return dx * degree * max(float(np.cos(np.radians(plane.y.mean()))), 0.05), dy * degree
    unit = metres(plane.units)
    if unit is None:
        raise FrameError("the shade of heights needs coordinates that are lengths or degrees")
    return dx * unit, dy * unit
