"""The cells of a map's field in their colours, by the cheapest means that is exact for their grid.

Cells are coloured a few rows at a time, so that memory does not grow with the field. Of even cells
smaller than two pixels each pixel shows all the colours beneath it; of larger ones, and of uneven
rows and columns, only those that a pixel shows are coloured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import Colormap, Normalize
from matplotlib.image import AxesImage
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from burstlens.viz.drawing.maps.bent_cells import BentCells
from burstlens.viz.drawing.maps.graticule import Extent
from burstlens.viz.drawing.maps.reach import corners
from burstlens.viz.drawing.picture import placed
from burstlens.viz.geometry import grid

Array = NDArray[Any]

_ENLARGED = 2.0
"""From this many pixels per cell on, cells are painted as rectangles: each colour is found once per
cell, not once per pixel."""
_AT_ONCE = 1 << 17
"""Cells that are coloured at a time, if these are enough rows: their colours take 4 MB."""
_REACHES = 8
"""A band of rows is at least so many times as tall as the reach of the filter beyond its ends."""


def cells(
    axes: Axes, plane: grid.Plane, values: Array, norm: Normalize, colours: Colormap, *,
    smooth: bool,
) -> Artist:  # fmt: skip
    """An artist of (row, column) ``values`` on the ``plane``; ``smooth`` blends neighbours.

    It is clipped to the axes, but not added to them.
    """
    looks: dict[str, Any] = {"norm": norm, "cmap": colours}
    bent = plane.x.ndim == 2
    even = not bent and grid.is_uniform(plane.x) and grid.is_uniform(plane.y)
    if smooth and not even and min(values.shape) > 1 and not plane.goes_around:
        x, y = (plane.x, plane.y) if bent else np.meshgrid(plane.x, plane.y)
        points = np.stack([x, y], axis=-1)
        return placed(QuadMesh(points, array=values, shading="gouraud", **looks), axes)
    if bent:
        return placed(BentCells(plane, values, **looks), axes)
    x, y = corners(plane)
    values = values[:: 1 if y[0] < y[-1] else -1, :: 1 if x[0] < x[-1] else -1]
    x, y = np.sort(x), np.sort(y)
    rows, columns = values.shape
    enlarged = min(axes.bbox.width / columns, axes.bbox.height / rows) >= _ENLARGED
    if not even or (enlarged and not smooth):
        return placed(_Rectangles(x, y, values, **looks), axes)
    extent = float(x[0]), float(x[-1]), float(y[0]), float(y[-1])
    if not enlarged:
        return placed(_Image(axes, values, extent, **looks), axes)
    image = AxesImage(axes, origin="lower", extent=extent, interpolation="bilinear", **looks)
    image.set_data(values)
    return placed(image, axes)


class _Image(AxesImage):
    """Even cells smaller than two pixels, rows upward, drawn a band of pixel rows at a time."""

    def __init__(self, axes: Axes, values: Array, extent: Extent, **looks: Any) -> None:
        super().__init__(axes, origin="lower", extent=extent, interpolation_stage="rgba", **looks)
        self._values, self._whole = values, extent

    def draw(self, renderer: Any) -> None:
        left, right, bottom, top = self._whole
        rows, columns = self._values.shape
        (x0, y0), (x1, y1) = self.get_transform().transform([(left, bottom), (right, top)])
        self.set_interpolation(_filter((x1 - x0) / columns, (y1 - y0) / rows))
        row = (top - bottom) / rows
        clip: Any = self.get_clip_box()
        ends = max(y0, clip.y0), min(y1, clip.y1)
        for low, high, begin, end in _bands(ends, y0, rows / (y1 - y0), rows, columns):
            self.set_data(self._values[begin:end])
            self.set_extent((left, right, bottom + begin * row, bottom + end * row))
            bounds = clip.x0, max(low, clip.y0), clip.x1, min(high, clip.y1)
            self.set_clip_box(Bbox.from_extents(*bounds))
            super().draw(renderer)
        self.set_clip_box(clip)


def _bands(
    ends: tuple[float, float], origin: float, per: float, rows: int, columns: int
) -> Iterator[tuple[int, int, int, int]]:
    """Bands of pixel rows (first, end) between the ``ends``, and the rows of cells that they show.

    The first cell begins at the pixel row ``origin``; a pixel is ``per`` cells tall.
    """
    reach = max(per, 1.0) + 2.0  # a filter reaches one pixel or one cell, whichever is larger
    step = max(1, round(max(_AT_ONCE / columns, _REACHES * reach) / per))
    first, end = math.floor(ends[0]), math.ceil(ends[1])
    for low in range(first, end, step):
        high = min(low + step, end)
        begin = max(0, math.floor((low - origin) * per - reach))
        yield low, high, begin, min(rows, math.ceil((high - origin) * per + reach))


def _filter(wide: float, tall: float) -> str:
    """How cells of so many pixels are blended: what matplotlib's "auto" chooses for an image."""
    whole = all(pixels > 3 or math.isclose(pixels, 1, rel_tol=1e-12)
                or math.isclose(pixels, 2, rel_tol=1e-12) for pixels in (wide, tall))  # fmt: skip
    return "nearest" if whole else "hanning"


class _Rectangles(Artist):
    """Cells between increasing edges, in flat colours: each pixel shows that of its middle."""

    def __init__(self, x: Array, y: Array, values: Array, norm: Normalize, cmap: Colormap) -> None:
        super().__init__()
        self._x, self._y, self._values, self._norm, self._colours = x, y, values, norm, cmap

    def draw(self, renderer: Any) -> None:
        axes: Any = self.axes
        left, across = _cells_of_pixels(self._x, axes.viewLim.intervalx, axes.bbox.intervalx)
        low, up = _cells_of_pixels(self._y, axes.viewLim.intervaly, axes.bbox.intervaly)
        if not (across.size and up.size):
            return
        (columns, across), (rows, up) = (np.unique(at, return_inverse=True) for at in (across, up))
        values = np.ma.masked_invalid(self._values[np.ix_(rows, columns)], copy=False)
        colours = self._colours(self._norm(values), bytes=True).view(np.uint32)[..., 0]
        pixels = colours.take(across, axis=1).take(up, axis=0)  # whole rows move fastest
        context = renderer.new_gc()
        renderer.draw_image(context, left, low, pixels[..., None].view(np.uint8))
        context.restore()


def _cells_of_pixels(edges: Array, shown: Any, pixels: Any) -> tuple[int, Array]:
    """The first pixel whose middle lies between increasing ``edges``, and the cells of it and those
    after it. ``shown`` are the ends of the axis, ``pixels`` where these are in the picture."""
    first, end = (int(pixel + 0.5) for pixel in pixels)
    bounds = np.linspace(float(shown[0]), float(shown[1]), end - first + 1)
    found = edges.searchsorted((bounds[:-1] + bounds[1:]) / 2)
    inside = np.flatnonzero((found > 0) & (found < edges.size))
    return first + int(inside[0]) if inside.size else first, found[inside] - 1
