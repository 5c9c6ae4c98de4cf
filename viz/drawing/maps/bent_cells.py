"""Cells whose rows and columns are bent: which of them each pixel shows is found once per series.

To fill a million quadrilaterals takes most of the time of a map. They lie where they lay in the
frame before, so their numbers are drawn once as if they were colours, and kept; of each frame those
cells are coloured that pixels show. The pixels are those that filled quadrilaterals give.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.collections import QuadMesh
from matplotlib.colors import Colormap, Normalize
from numpy.typing import NDArray

from burstlens.viz.drawing.maps.reach import corner_bands
from burstlens.viz.drawing.picture import placed
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.plane_cache import PlaneCache
from burstlens.viz.geometry.sphere_cells import SphereCells

Array = NDArray[Any]
Shown = tuple[NDArray[np.uint32], NDArray[np.uint32]]
"""Flat numbers of pixels, the lowest row first, and of the cells that these show."""

_AT_ONCE = 1 << 20
"""Cells that are numbered at a time: their colours and corners take 48 MB; less than 2^24."""
_JUMP = 90.0
"""Degrees of longitude between the corners of a cell that lies across the seam, at least."""
_kept = PlaneCache[Shown](lambda shown: sum(numbers.nbytes for numbers in shown))
"""Of a picture of 900 x 900 pixels one takes 4 MB."""


class BentCells(Artist):
    """The field on a plane with 2-D coordinates, in flat colours, clipped to the axes."""

    def __init__(self, plane: Plane, values: Array, norm: Normalize, cmap: Colormap) -> None:
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
        image = pixels.view(np.uint8).reshape(height, width, 4)
        context = renderer.new_gc()
        renderer.draw_image(context, 0, 0, image)
        context.restore()


def _shown(axes: Axes, plane: Plane) -> Shown:
    figure: Any = axes.figure
    sheet = *axes.bbox.extents, *axes.viewLim.extents, *figure.bbox.size, figure.dpi
    return _kept.get(plane, lambda: _numbered(axes, plane), of=sheet)


def _numbered(axes: Axes, plane: Plane) -> Shown:
    figure: Any = axes.figure
    renderer: Any = RendererAgg(figure.bbox.width, figure.bbox.height, figure.dpi)  # type: ignore[no-untyped-call]
    shown = np.zeros(int(renderer.height) * int(renderer.width), np.uint32)  # numbers from 1
    columns = plane.x.shape[1]
    for begin, x, y in corner_bands(plane, _AT_ONCE):
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


def _on_sphere(axes: Axes, plane: Plane, guess: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The same numbers of cells as they lie on the sphere, not on the plane of degrees."""
    shown = np.zeros(guess.shape, np.uint32)
    left, low, right, top = (round(at) for at in axes.bbox.extents)
    part = slice(max(low, 0), top), slice(max(left, 0), right)
    rows, columns = np.mgrid[part]
    places = axes.transData.inverted().transform(
        np.stack([columns.ravel() + 0.5, rows.ravel() + 0.5], axis=-1)
    )
    number = guess[part].ravel().astype(np.int64) - 1
    found = SphereCells(plane.x, plane.y).find(places[:, 0], places[:, 1], number)
    shown[part] = (found + 1).reshape(rows.shape)
    return shown
