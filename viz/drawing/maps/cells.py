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
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.collections import QuadMesh
from matplotlib.colors import Colormap, Normalize
from matplotlib.image import AxesImage
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from burstlens.viz.drawing.maps.graticule import Extent
from burstlens.viz.drawing.maps.reach import corner_bands, corners
from burstlens.viz.drawing.picture import placed
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.plane_cache import PlaneCache
from burstlens.viz.geometry.sphere_cells import SphereCells

Shown = tuple[NDArray[np.uint32], NDArray[np.uint32]]
"""Flat numbers of pixels, the lowest row first, and of the cells that these show."""

_ENLARGED = 2.0
"""Pixels per cell from which on cells are rectangles: a colour is found per cell, not per pixel."""
_AT_ONCE = 1 << 17
"""Cells that are coloured at a time, if these are enough rows: their colours take 4 MB."""
_REACHES = 8
"""A band of rows is at least so many times as tall as the reach of the filter beyond its ends."""
_NUMBERED_AT_ONCE = 1 << 20
"""Cells that are numbered at a time: their colours and corners take 48 MB; less than 2^24."""
_JUMP = 90.0
"""Degrees of longitude between the corners of a cell that lies across the seam, at least."""
_kept = PlaneCache[Shown](lambda shown: sum(numbers.nbytes for numbers in shown))
"""Of a picture of 900 x 900 pixels one takes 4 MB."""


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
        _paint(renderer, left, low, pixels)


def _cells_of_pixels(edges: Array, shown: Any, pixels: Any) -> tuple[int, Array]:
    """The first pixel whose middle lies between increasing ``edges``, and the cells of it and those
    after it. ``shown`` are the ends of the axis, ``pixels`` where these are in the picture."""
    first, end = (int(pixel + 0.5) for pixel in pixels)
    bounds = np.linspace(float(shown[0]), float(shown[1]), end - first + 1)
    found = edges.searchsorted((bounds[:-1] + bounds[1:]) / 2)
    inside = np.flatnonzero((found > 0) & (found < edges.size))
    return first + int(inside[0]) if inside.size else first, found[inside] - 1


class BentCells(Artist):
    """Cells whose rows and columns are bent, in flat colours, clipped to the axes.

    To fill a million quadrilaterals takes most of the time of a map. They lie where they lay in the
    frame before, so their numbers are drawn once per series as if they were colours, and kept; of
    each frame those cells are coloured that pixels show, the pixels of filled quadrilaterals.
    """

    def __init__(self, plane: grid.Plane, values: Array, norm: Normalize, cmap: Colormap) -> None:
        super().__init__()
        self._plane, self._values, self._norm, self._colours = plane, values, norm, cmap

    def draw(self, renderer: Any) -> None:
        axes: Any = self.axes
        where, cell = _shown(axes, self._plane)
        values = np.ma.masked_invalid(self._values.ravel()[cell])
        # Agg rounds the colours of shapes, and cuts those of images.
        colours = np.floor(255 * self._colours(self._norm(values)) + 0.5).astype(np.uint8)
        width, height = (int(size) for size in axes.figure.bbox.size)
        pixels = np.zeros(height * width, np.uint32)
        pixels[where] = colours.view(np.uint32)[:, 0]
        _paint(renderer, 0, 0, pixels.reshape(height, width))


def _shown(axes: Axes, plane: grid.Plane) -> Shown:
    figure: Any = axes.figure
    sheet = *axes.bbox.extents, *axes.viewLim.extents, *figure.bbox.size, figure.dpi
    return _kept.get(plane, lambda: _numbered(axes, plane), of=sheet)


def _numbered(axes: Axes, plane: grid.Plane) -> Shown:
    figure: Any = axes.figure
    renderer: Any = RendererAgg(figure.bbox.width, figure.bbox.height, figure.dpi)  # type: ignore[no-untyped-call]
    shown = np.zeros(int(renderer.height) * int(renderer.width), np.uint32)  # numbers from 1
    columns = plane.x.shape[1]
    for begin, x, y in corner_bands(plane, _NUMBERED_AT_ONCE):
        number = np.arange(1, (x.shape[0] - 1) * columns + 1)
        colours = np.stack([number >> 16, number >> 8 & 255, number & 255], axis=-1) / 255.0
        if plane.goes_around:
            colours = np.column_stack([colours, np.float64(_without_jump(x))])
        # Smooth edges would let the background shine through between neighbours.
        mesh = QuadMesh(np.stack([x, y], axis=-1), antialiased=False, facecolor=colours)
        renderer.clear()
        placed(mesh, axes).draw(renderer)
        pixels = np.asarray(renderer.buffer_rgba())[::-1].reshape(-1, 4).astype(np.uint32)
        seen = np.flatnonzero(pixels[:, 3])
        red, green, blue, _ = pixels[seen].T
        shown[seen] = (red << 16 | green << 8 | blue) + np.uint32(begin * columns)
    if plane.goes_around:
        shown = _on_sphere(axes, plane, shown.reshape(-1, int(renderer.width))).ravel()
    where = np.flatnonzero(shown)
    return where.astype(np.uint32), shown[where] - np.uint32(1)


def _without_jump(x: Array) -> NDArray[np.bool_]:
    """Which cells between corners have them all on one side of the seam."""
    four = np.stack([x[:-1, :-1], x[:-1, 1:], x[1:, :-1], x[1:, 1:]])
    return np.asarray(np.ptp(four, axis=0).ravel() < _JUMP)


def _on_sphere(axes: Axes, plane: grid.Plane, guess: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The same numbers of cells as they lie on the sphere, not on the plane of degrees."""
    shown = np.zeros(guess.shape, np.uint32)
    left, low, right, top = (round(at) for at in axes.bbox.extents)
    part = slice(max(low, 0), top), slice(max(left, 0), right)
    rows, columns = np.mgrid[part]
    middles = np.stack([columns.ravel() + 0.5, rows.ravel() + 0.5], axis=-1)
    places = axes.transData.inverted().transform(middles)
    number = guess[part].ravel().astype(np.int64) - 1
    found = SphereCells(plane.x, plane.y).find(places[:, 0], places[:, 1], number)
    shown[part] = (found + 1).reshape(rows.shape)
    return shown


def _paint(renderer: Any, left: int, low: int, pixels: NDArray[np.uint32]) -> None:
    """Draw pixels (row, column), four bytes each, with the lowest row first."""
    context = renderer.new_gc()
    renderer.draw_image(context, left, low, pixels[..., None].view(np.uint8))
    context.restore()
