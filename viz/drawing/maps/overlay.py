"""What lies over the field of a map, as transparent pixels: coast, borders, lines, nests, layers.

What all maps of a series share is drawn once; for each frame only the pixels that an overlay covers
are blended with the field, which takes a few milliseconds. Beside the values of a picture it is
kept as a PNG of its own without words, and the words as text: readers draw both over the field.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.quiver import QuiverKey
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

from burstlens.viz.drawing import style
from burstlens.viz.drawing.coast.lines import KINDS, Kind, lines
from burstlens.viz.drawing.maps.graticule import Extent, Graticule, scale_length
from burstlens.viz.drawing.picture import attached, placed
from burstlens.viz.drawing.png import overlay_png
from burstlens.viz.geometry.projection import Projection

_WIDTHS: dict[Kind, float] = {"lakes": 0.6, "states": 0.4, "coast": 0.9, "borders": 0.6}
_CLEAR = np.array([255, 255, 255, 0], np.uint8).view(np.uint32)[0]
"""A pixel on which nothing is drawn."""
_CORNER = 12.0
"""Points from the map's corner to the scale."""
_ACROSS = {"left": 0.0, "center": 0.5, "right": 1.0}
_DOWN = {"top": 0.0, "center": 0.5, "center_baseline": 0.5, "baseline": 1.0, "bottom": 1.0}
Piece = tuple[tuple[int, int, int, int], bytes]
"""A PNG with transparency, and where it lies: (left, top, width, height) in pixels."""


class Overlay:
    """Pixels that are not fully transparent: positions, colours and opacity.

    With ``apart`` it also knows what it is without its words, and these as text.
    """

    def __init__(self, artists: Sequence[Artist], axes: Axes, *, apart: bool = False) -> None:
        renderer, bare, texts = _draw(artists, axes, apart=apart)
        self._shape = int(renderer.height), int(renderer.width)
        self._where, self._seen = _covered(renderer)
        self._bare = (self._where, self._seen) if bare is None else _covered(bare)
        cover = self._seen[:, 3:].astype(np.uint16)
        self._rest = np.repeat(255 - cover, 4, axis=1)
        self._colour = self._seen * cover + 127
        self._rest[:, 3], self._colour[:, 3] = 255, 0  # what lies below stays opaque
        box = axes.bbox
        height = self._shape[0]
        self._box = [round(v) for v in (box.x0, height - box.y1, box.x1, height - box.y0)]
        self.words = tuple(_words_within(texts, renderer, self._box))

    @cached_property
    def piece(self) -> Piece | None:
        """The part of it that lies in the axes, as small as possible; None where that is empty.

        Of an overlay whose words are known ``apart`` it has none of them."""
        left, top, right, bottom = self._box
        covered, seen = self._bare
        rows, columns = np.divmod(covered, self._shape[1])
        inside = (rows >= top) & (rows < bottom) & (columns >= left) & (columns < right)
        if not inside.any():
            return None
        rows, columns = rows[inside], columns[inside]
        y, x = int(rows.min()), int(columns.min())
        width, height = int(columns.max()) - x + 1, int(rows.max()) - y + 1
        where = (rows - y) * width + columns - x
        return (x, y, width, height), overlay_png(where, seen[inside], width, height)

    def lay_over(self, pixels: NDArray[np.uint8]) -> None:
        """Change opaque ``pixels`` (height, width, 4), contiguous, in place."""
        flat = pixels.reshape(-1, 4).view(np.uint32)[:, 0]  # whole pixels move fastest
        below = flat[self._where].view(np.uint8).reshape(-1, 4)
        blended = ((below * self._rest + self._colour) // 255).astype(np.uint8)
        flat[self._where] = blended.view(np.uint32)[:, 0]


def _draw(
    artists: Sequence[Artist], axes: Axes, *, apart: bool
) -> tuple[RendererAgg, RendererAgg | None, list[Text]]:
    """The artists as pixels; with ``apart`` also those without words, if any, and the texts."""
    figure: Any = axes.figure
    size = figure.bbox.width, figure.bbox.height, figure.dpi
    whole, bare, texts = RendererAgg(*size), None, list[Text]()  # type: ignore[no-untyped-call]
    for artist in artists:
        text = _words_of(artist) if apart else None
        if text is not None:
            texts.append(text)
            if bare is None:  # what lies below the first words is the same
                bare = RendererAgg(*size)  # type: ignore[no-untyped-call]
                np.asarray(bare.buffer_rgba())[:] = np.asarray(whole.buffer_rgba())  # type: ignore[no-untyped-call]
        artist.draw(whole)
        if bare is None or artist is text:
            continue
        if text is not None:
            text.set_visible(False)
        artist.draw(bare)
        if text is not None:
            text.set_visible(True)
    return whole, bare, texts


def _words_of(artist: Artist) -> Text | None:
    """The text that an artist is, or has; None where it has none or hides it."""
    text = artist.text if isinstance(artist, QuiverKey) else artist
    shown = isinstance(text, Text) and artist.get_visible() and text.get_text()
    return text if isinstance(text, Text) and shown else None


def _words_within(
    texts: Sequence[Text], renderer: RendererAgg, box: Sequence[float]
) -> Iterator[dict[str, Any]]:
    """The texts whose place is in ``box`` (left, top, right, bottom), as JSON for a reader.

    The place ``at`` and the size of the font, ``letter``, are in pixels, from the upper left corner
    of the picture; ``align`` says where in the words' box the place is (0 to 1 from its left and
    its top; by default in its middle); they are turned by ``angle`` degrees, counter-clockwise,
    around the middle of the box.
    """
    for text in texts:
        x, y = text.get_transform().transform(text.get_unitless_position())
        x, y = float(x), float(renderer.height - y)
        if not (box[0] <= x < box[2] and box[1] <= y < box[3]):
            continue
        found: dict[str, Any] = {
            "text": text.get_text(),
            "at": [round(x, 1), round(y, 1)],
            "letter": round(float(text.get_fontsize()) * renderer.dpi / 72, 1),
            "colour": to_hex(text.get_color()),
        }
        align = [_ACROSS[text.get_horizontalalignment()], _DOWN[text.get_verticalalignment()]]
        if align != [0.5, 0.5]:
            found["align"] = align
        if angle := (text.get_rotation() + 180) % 360 - 180:
            found["angle"] = round(angle, 1)
        if text.get_fontweight() in ("bold", 700):
            found["bold"] = True
        yield found


def _covered(renderer: RendererAgg) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """The pixels that are not transparent, and their colours."""
    pixels: Any = renderer.buffer_rgba()  # type: ignore[no-untyped-call]
    whole = np.asarray(pixels).reshape(-1, 4).view(np.uint32)[:, 0]  # which move fastest
    where = np.flatnonzero(whole != _CLEAR)
    return where, whole[where].view(np.uint8).reshape(-1, 4)


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
        yield attached(text, axes)


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
    return tuple(attached(part, axes) for part in parts)


def _drawn(axes: Axes, points: NDArray[np.float64], **looks: Any) -> Artist:
    return placed(Line2D(points[:, 0], points[:, 1], solid_joinstyle="round", **looks), axes)
