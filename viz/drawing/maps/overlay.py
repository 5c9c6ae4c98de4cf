"""What lies over the field of a map, as transparent pixels: coast, borders, lines, nests, layers.

What all maps of a series share is drawn once; for each frame only the pixels that an overlay covers
are blended with the field, which takes a few milliseconds. Beside the values of a picture it is
kept as a PNG of its own, for readers who change the field's colours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

from burstlens.viz.drawing import style
from burstlens.viz.drawing.coast.lines import KINDS, Kind, lines
from burstlens.viz.drawing.maps.graticule import Extent, Graticule, scale_length
from burstlens.viz.drawing.png import overlay_png
from burstlens.viz.geometry.projection import Projection

_WIDTHS: dict[Kind, float] = {"lakes": 0.6, "states": 0.4, "coast": 0.9, "borders": 0.6}
_CORNER = 12.0
"""Points from the map's corner to the scale."""


Piece = tuple[tuple[int, int, int, int], bytes]
"""A PNG with transparency, and where it lies: (left, top, width, height) in pixels."""


class Overlay:
    """Pixels that are not fully transparent: positions, colours and opacity."""

    def __init__(self, artists: Sequence[Artist], axes: Axes) -> None:
        figure: Any = axes.figure
        renderer: Any = RendererAgg(figure.bbox.width, figure.bbox.height, figure.dpi)  # type: ignore[no-untyped-call]
        for artist in artists:
            artist.draw(renderer)
        pixels = np.asarray(renderer.buffer_rgba())
        self._shape = pixels.shape
        pixels = pixels.reshape(-1, 4)
        self._where = np.flatnonzero(pixels[:, 3])
        self._seen = pixels[self._where]
        cover = self._seen[:, 3:].astype(np.uint16)
        self._rest = np.repeat(255 - cover, 4, axis=1)
        self._colour = self._seen * cover + 127
        self._rest[:, 3], self._colour[:, 3] = 255, 0  # what lies below stays opaque
        box = axes.bbox
        height = self._shape[0]
        self._box = [round(v) for v in (box.x0, height - box.y1, box.x1, height - box.y0)]

    @cached_property
    def piece(self) -> Piece | None:
        """The part of it that lies in the axes, as small as possible; None where that is empty."""
        left, top, right, bottom = self._box
        rows, columns = np.divmod(self._where, self._shape[1])
        inside = (rows >= top) & (rows < bottom) & (columns >= left) & (columns < right)
        if not inside.any():
            return None
        rows, columns = rows[inside], columns[inside]
        y, x = int(rows.min()), int(columns.min())
        width, height = int(columns.max()) - x + 1, int(rows.max()) - y + 1
        where = (rows - y) * width + columns - x
        return (x, y, width, height), overlay_png(where, self._seen[inside], width, height)

    def lay_over(self, pixels: NDArray[np.uint8]) -> None:
        """Change opaque ``pixels`` (height, width, 4), contiguous, in place."""
        flat = pixels.reshape(-1, 4).view(np.uint32)[:, 0]  # whole pixels move fastest
        below = flat[self._where].view(np.uint8).reshape(-1, 4)
        blended = ((below * self._rest + self._colour) // 255).astype(np.uint8)
        flat[self._where] = blended.view(np.uint32)[:, 0]


def map_lines(
    axes: Axes, projection: Projection, extent: Extent, net: Graticule, shown: Collection[Kind]
) -> Iterator[Artist]:
    """The ``shown`` of coasts, borders and lakes, and the lines of ``net``, on the map's plane."""
    for line in net.lines:
        yield _drawn(axes, line, color=style.INK, lw=0.5, alpha=0.35, dashes=(5, 3))
    for kind in KINDS:
        if kind in shown:
            line = lines(projection, extent, kind)
            width = _WIDTHS[kind]
            # Without its light edge a coast cannot be seen on the dark end of a colour map.
            yield _drawn(axes, line, color="white", lw=width + 1.1, alpha=0.5)
            yield _drawn(axes, line, color=style.COAST, lw=width, alpha=0.9)


def nest_outlines(axes: Axes, outlines: tuple[tuple[str, Extent], ...]) -> Iterator[Artist]:
    """The border of each nest (left, right, bottom, top), with its name in the upper left."""
    for name, (left, right, bottom, top) in outlines:
        box = np.array([[left, bottom], [right, bottom], [right, top], [left, top], [left, bottom]])
        yield _drawn(axes, box, color="white", lw=2.4, alpha=0.6)
        yield _drawn(axes, box, color=style.INK, lw=1.2)
        text = axes.annotate(
            name, (left, top), (3, -3), textcoords="offset points", va="top", fontsize=8.5,
            color=style.INK, family=style.FONT, parse_math=False, clip_on=True,
            bbox=style.LABEL,
        )  # fmt: skip
        text.remove()
        yield _attached(text, axes)


def scale_bar(axes: Axes, projection: Projection, extent: Extent) -> tuple[Artist, ...]:
    """A bar of a round number of km in the lower left corner, true in the middle of the map."""
    length_km, length = scale_length(projection, extent)
    if not length_km:
        return ()
    point = axes.figure.dpi / 72
    x0, y0 = axes.transData.transform((extent[0], extent[2]))
    width = axes.transData.transform((extent[0] + length, extent[2]))[0] - x0
    x, y, high = x0 + _CORNER * point, y0 + _CORNER * point, 3.5 * point
    pad = 5 * point
    parts: list[Artist] = [
        Rectangle(
            (x - pad, y - pad), width + 2 * pad, high + 12 * point + pad, fc="white", alpha=0.8
        ),
        Rectangle((x, y), width / 2, high, fc=style.INK, ec=style.INK, lw=0.7),
        Rectangle((x + width / 2, y), width / 2, high, fc="white", ec=style.INK, lw=0.7),
        Text(
            x + width / 2, y + high + 3 * point, f"{length_km:g} km", fontsize=8, color=style.INK,
            family=style.FONT, ha="center", va="bottom", parse_math=False,
        ),
    ]  # fmt: skip
    for part in parts:
        part.set_transform(IdentityTransform())
    return tuple(_attached(part, axes) for part in parts)


def _drawn(axes: Axes, points: NDArray[np.float64], **looks: Any) -> Artist:
    line = Line2D(points[:, 0], points[:, 1], solid_joinstyle="round", **looks)
    line.set_transform(axes.transData)
    _attached(line, axes)
    line.set_clip_path(axes.patch)
    return line


def _attached(artist: Artist, axes: Axes) -> Artist:
    """The artist with the axes' figure, but not added to the axes."""
    artist.set_figure(axes.figure)
    artist.axes = axes
    return artist
