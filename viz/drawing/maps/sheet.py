"""The sheet of a map: frame, lines, labels, colour bar and titles that a series shares.

A sheet is drawn once, kept as pixels, and used again for each frame of a series: only the
field, its layers and the texts that change are redrawn. Everything is placed in pixels, so that
pictures of a series match exactly and no layout engine runs. The Agg canvas is used
without pyplot: no display, no global list of figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from burstlens.viz.drawing import style
from burstlens.viz.drawing.coast.lines import Kind
from burstlens.viz.drawing.colour_bar import STEPS, ColourBar, Numbers, plain_frame
from burstlens.viz.drawing.colours import norm
from burstlens.viz.drawing.heading import LEFT, Heading
from burstlens.viz.drawing.legend import LegendEntry, legend, rows_pt, strip
from burstlens.viz.drawing.maps.graticule import Extent, Graticule, Label, graticule
from burstlens.viz.drawing.maps.overlay import Overlay, map_lines, nest_outlines, scale_bar
from burstlens.viz.drawing.picture import blank
from burstlens.viz.geometry.projection import Projection

# Margins in points (1/72 inch), so that they grow with dpi as letters do.
RIGHT, TOP, BOTTOM = 84.0, 68.0, 52.0
_CACHED = 6
"""Sheets kept by a worker: one to five megabytes each."""
_LONGEST = 12.0
"""Maximum ratio of the sides of a map."""
_AXIS = 13.0
"""Points that the name of an axis takes from the room of the legend's first row."""
_OFF = 4.0
"""Points between the frame and a label."""
_APART = 1.15
"""Room that a label takes, relative to its own size."""
_ALIGNED: dict[str, tuple[str, Literal["center", "top", "bottom"], tuple[float, float]]] = {
    "left": ("right", "center", (-_OFF, 0)),
    "bottom": ("center", "top", (0, -_OFF)),
    "top": ("center", "bottom", (0, _OFF)),
    "inside": ("center", "center", (0, 0)),
}


def bottom(legend_rows: int, *, on_earth: bool) -> float:
    """Points below a map with such a legend."""
    return BOTTOM + rows_pt(legend_rows) + (_AXIS if legend_rows and not on_earth else 0.0)


@dataclass(frozen=True, slots=True)
class Look:
    """All that the pictures of a series have in common.

    ``extent`` is (left, right, bottom, top) in the plane's ``units``; ``aspect`` is the height of a
    unit of y relative to one of x; ``projection`` None for a plane that is not on the earth.
    ``unit`` is that of the field, as printed; ``bounds`` the edges of its colours if these are
    steps. ``ground`` is the colour where there is no field; ``nests`` are names and extents of
    domains inside this one; ``legend_rows`` that the legend takes at most.
    """

    width: int
    height: int
    dpi: float
    extent: Extent
    aspect: float
    units: str
    projection: Projection | None
    lines: tuple[Kind, ...]
    ground: str
    nests: tuple[tuple[str, Extent], ...]
    limits: tuple[float, float]
    bounds: tuple[float, ...]
    log: bool
    colormap: str
    unit: str
    title: str
    subtitle: str
    maker: str
    legend_rows: int = 0

    @property
    def bottom(self) -> float:
        """Points below the map."""
        return bottom(self.legend_rows, on_earth=self.projection is not None)

    @property
    def point(self) -> float:
        """Pixels in a point."""
        return self.dpi / 72


class Sheet:
    """A drawn sheet with room for a field. Make it by :func:`sheet`, which keeps the latest few."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.colours: Colormap = style.colormap(look.colormap)
        self.norm = norm(self.colours, look.limits, look.bounds, log=look.log)
        self.figure = blank(look.width, look.height, look.dpi)
        canvas: Any = self.figure.canvas
        self._canvas = canvas
        self.axes = _map_axes(self.figure, look)
        net, inside = Graticule((), ()), list[Artist]()
        if look.projection is None:
            _label_axes(self.axes, look)
        else:
            self.axes.set(xticks=[], yticks=[])
            net = graticule(look.projection, look.extent)
            inside = _write_labels(self.axes, net.labels)
        self._arrows = ColourBar(self.figure, self.axes, self.colours, self.norm, look.unit).arrows
        self._heading = Heading(self.figure, look.title, look.subtitle, look.maker)
        self._changing: tuple[Artist, ...] = (*self._arrows, *self._heading.changing)
        for artist in self._changing:
            artist.set_animated(True)
        self._canvas.draw()
        self._blank: Any = self._canvas.copy_from_bbox(self.figure.bbox)
        self._legend: tuple[LegendEntry, ...] = ()
        self._scale: tuple[Artist, ...] = ()
        fixed: list[Artist] = []
        if look.projection is not None:
            self._scale = scale_bar(self.axes, look.projection, look.extent)
            fixed += map_lines(self.axes, look.projection, look.extent, net, look.lines)
            fixed += inside
        fixed += nest_outlines(self.axes, look.nests)
        self._overlay = Overlay(fixed, self.axes, apart=True)
        self._ruler = Overlay(self._scale, self.axes, apart=True)

    @property
    def reserved(self) -> list[Bbox]:
        """Parts of the map, in pixels, where a layer must not draw text."""
        return [part.get_window_extent() for part in self._scale[:1]]

    def print(
        self, painted: Sequence[Artist], words: tuple[str, str, str], outside: tuple[int, int],
        layers: Sequence[Artist] = (), entries: Sequence[LegendEntry] = (), *, apart: bool = False,
    ) -> tuple[NDArray[np.uint8], list[Overlay]]:  # fmt: skip
        """The picture as (height, width, 4) bytes, valid until the next one is printed; and what
        lies over the field, the lowest first.

        ``painted`` are the field's artists and ``layers`` those above the coast, in the axes'
        coordinates; ``words`` the valid time, the time since the start, and the caption;
        ``outside`` how many values lie beyond each end of the colour bar; ``entries`` are those of
        the legend. With ``apart`` the words of the layers are known apart from their pixels.
        """
        renderer = self._canvas.get_renderer()
        self._write_legend(tuple(entries))
        self._canvas.restore_region(self._blank)
        self._heading.write(*words)
        for arrow, count in zip(self._arrows, outside, strict=True):
            arrow.set_visible(count > 0)
        pixels = np.asarray(self._canvas.buffer_rgba())
        for artist in painted:
            artist.draw(renderer)
        over = [self._overlay, self._ruler]
        if layers:
            over.insert(1, Overlay(layers, self.axes, apart=apart))
        for overlay in over:
            overlay.lay_over(pixels)
        for artist in (*self.axes.spines.values(), *self._changing):
            artist.draw(renderer)
        return pixels, over

    def _write_legend(self, entries: tuple[LegendEntry, ...]) -> None:
        """Keep the sheet with its legend: most frames of a series have the same one."""
        if entries == self._legend:
            return
        self._canvas.restore_region(self._blank)
        renderer = self._canvas.get_renderer()
        pixels = np.asarray(self._canvas.buffer_rgba())
        low, high = (len(pixels) - round(y * self.look.point) for y in strip(self.look.legend_rows))
        pixels[high:low] = 255
        for artist in legend(self.figure, entries, self.look.legend_rows):
            artist.draw(renderer)
        self._blank, self._legend = self._canvas.copy_from_bbox(self.figure.bbox), entries


@lru_cache(maxsize=_CACHED)
def sheet(look: Look) -> Sheet:
    """The sheet of that look, drawn at its first use."""
    return Sheet(look)


def _map_axes(figure: Figure, look: Look) -> Axes:
    left, right, bottom, top = look.extent
    room_x = look.width - (LEFT + RIGHT) * look.point
    room_y = look.height - (TOP + look.bottom) * look.point
    # A strip of a few rows is stretched to be visible.
    shape = min(max((top - bottom) * look.aspect / (right - left), 1 / _LONGEST), _LONGEST)
    body_x, body_y = round(min(room_x, room_y / shape)), round(min(room_y, room_x * shape))
    x = round(LEFT * look.point + (room_x - body_x) / 2)
    y = round(look.bottom * look.point + (room_y - body_y) / 2)
    box = x / look.width, y / look.height, body_x / look.width, body_y / look.height
    limits: dict[str, Any] = {"xlim": (left, right), "ylim": (bottom, top), "autoscale_on": False}
    axes = figure.add_axes(box, facecolor=look.ground, **limits)
    plain_frame(axes)
    return axes


def _label_axes(axes: Axes, look: Look) -> None:
    """Ticks and their numbers, for a plane that is not on the earth."""
    in_km = look.units == "m" and max(map(abs, look.extent)) >= 3000
    units, factor = ("km", 0.001) if in_km else (look.units, 1.0)
    for axis, name in ((axes.xaxis, "x"), (axes.yaxis, "y")):
        axis.set_major_locator(MaxNLocator(6, steps=STEPS))
        axis.set_major_formatter(Numbers(factor))
        text = f"{name} ({units or 'grid point'})"
        axis.set_label_text(text, fontsize=9, color=style.INK, family=style.FONT)
        axis.labelpad = 3


def _write_labels(axes: Axes, labels: Sequence[Label]) -> list[Artist]:
    """Write labels on the figure; return those inside the map, which are drawn over the field.

    A label that would touch an earlier one is left out.
    """
    figure: Any = axes.figure
    point = figure.dpi / 72
    taken: list[Bbox] = []
    inside: list[Artist] = []
    for label in labels:
        across, up, (off_x, off_y) = _ALIGNED[label.side]
        x, y = axes.transData.transform((label.x, label.y))
        place = (x + off_x * point) / figure.bbox.width, (y + off_y * point) / figure.bbox.height
        text: Text = figure.text(
            *place, label.text, fontsize=8.5, color=style.INK, ha=across, va=up,
            family=style.FONT, parse_math=False,
        )  # fmt: skip
        box = text.get_window_extent().expanded(_APART, 1.0)
        if any(box.overlaps(other) for other in taken):
            text.remove()
            continue
        taken.append(box)
        if label.side == "inside":
            text.set(animated=True, bbox=style.LABEL)
            inside.append(text)
    return inside
