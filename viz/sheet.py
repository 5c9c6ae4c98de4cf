"""The sheet a map is printed on: axes, labels, colour bar and titles that a series shares.

A sheet is drawn once, kept as pixels, and used again for each frame of a series: only the
field and the words that change are drawn anew. Everything is placed in pixels, so that
pictures of a series lie exactly on each other and no layout engine runs. The Agg canvas is used
without pyplot: no display, no global list of figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Colormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Polygon
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator
from numpy.typing import NDArray

from burstlens.viz import style

# Margins in points (1/72 inch), so that they grow with dpi as letters do.
LEFT, RIGHT, TOP, BOTTOM = 58.0, 84.0, 68.0, 52.0
_BAR_GAP, _BAR_WIDTH, _TIP = 14.0, 13.0, 9.0
_CACHED = 6
"""Sheets kept by a worker: a megabyte or three each."""
_LONGEST_STAMP = "0000-00-00 00:00:00 UTC"
_STEPS = [1, 2, 2.5, 5, 10]


@dataclass(frozen=True, slots=True)
class Look:
    """All that the pictures of a series have in common.

    ``extent`` is (left, right, bottom, top) in the plane's ``units``; ``aspect`` how tall a unit
    of y is next to one of x. ``unit`` is that of the field, as printed.
    """

    width: int
    height: int
    dpi: int
    extent: tuple[float, float, float, float]
    aspect: float
    units: str
    geographic: bool
    limits: tuple[float, float]
    log: bool
    colormap: str
    unit: str
    title: str
    subtitle: str
    maker: str

    @property
    def point(self) -> float:
        """Pixels in a point."""
        return self.dpi / 72


class Sheet:
    """A drawn sheet with room for a field. Make it by :func:`sheet`, which keeps the last few."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.colours: Colormap = style.colormap(look.colormap)
        self.norm: Normalize = LogNorm(*look.limits) if look.log else Normalize(*look.limits)
        size = look.width / look.dpi, look.height / look.dpi
        self.figure = Figure(figsize=size, dpi=look.dpi)
        canvas: Any = FigureCanvasAgg(self.figure)
        self._canvas = canvas
        self.axes = _map_axes(self.figure, look)
        _label(self.axes, look)
        bar = _bar_axes(self.figure, self.axes, look, self.colours, self.norm)
        tip = _TIP * look.point / (self.axes.get_position().height * look.height)
        self._arrows = (
            _arrow(bar, 0.0, -tip, self.colours(0.0)),
            _arrow(bar, 1.0, 1 + tip, self.colours(1.0)),
        )
        left, right = LEFT * look.point, look.width - 12 * look.point
        top, below, foot = look.height - 21 * look.point, look.height - 37 * look.point, 10.0
        foot *= look.point
        room = right - left - self._text_width(_LONGEST_STAMP, 11) - 16 * look.point
        title = self._fitted(look.title, room)
        self._words(left, top, title, 13, style.INK, "left").set_fontweight("bold")
        self._words(left, below, look.subtitle, 9, style.FAINT, "left")
        self._words(right, foot, look.maker, 8, style.FAINT, "right")
        self._stamp = self._words(right, top, "", 11, style.INK, "right")
        self._lead = self._words(right, below, "", 9, style.FAINT, "right")
        self._caption = self._words(left, foot, "", 8, style.FAINT, "left")
        self._changing: tuple[Artist, ...] = (
            *self._arrows,
            self._stamp,
            self._lead,
            self._caption,
        )
        for artist in self._changing:
            artist.set_animated(True)
        self._canvas.draw()
        self._blank: Any = self._canvas.copy_from_bbox(self.figure.bbox)

    def print(
        self, painted: list[Artist], words: tuple[str, str, str], outside: tuple[int, int]
    ) -> NDArray[np.uint8]:
        """The picture as (height, width, 4) bytes, which stand until the next one is printed.

        ``painted`` are the field's artists, in the axes' coordinates; ``words`` the valid time,
        the time since the start, and the caption; ``outside`` how many values lie beyond each
        end of the colour bar.
        """
        renderer = self._canvas.get_renderer()
        self._canvas.restore_region(self._blank)
        for text, value in zip((self._stamp, self._lead, self._caption), words, strict=True):
            text.set_text(value)
        for arrow, count in zip(self._arrows, outside, strict=True):
            arrow.set_visible(count > 0)
        for artist in (*painted, *self.axes.spines.values(), *self._changing):
            artist.draw(renderer)
        return np.asarray(self._canvas.buffer_rgba())

    def _words(self, x: float, y: float, text: str, size: float, colour: str, side: str) -> Text:
        return self.figure.text(
            x / self.look.width, y / self.look.height, text, fontsize=size, color=colour,
            ha=side, va="baseline", family=style.FONT, parse_math=False,
        )  # fmt: skip

    def _text_width(self, text: str, size: float, weight: str = "normal") -> float:
        font = FontProperties(family=style.FONT, size=size, weight=weight)
        width, _, _ = self._canvas.get_renderer().get_text_width_height_descent(text, font, False)
        return float(width)

    def _fitted(self, text: str, room: float) -> str:
        """The title, cut with an ellipsis where it would run into the valid time."""
        if self._text_width(text, 13, "bold") <= room:
            return text
        while len(text) > 4 and self._text_width(text + "…", 13, "bold") > room:
            text = text[:-1].rstrip()
        return text + "…"


@lru_cache(maxsize=_CACHED)
def sheet(look: Look) -> Sheet:
    """The sheet of that look, drawn at its first use."""
    return Sheet(look)


def _map_axes(figure: Figure, look: Look) -> Axes:
    left, right, bottom, top = look.extent
    room_x = look.width - (LEFT + RIGHT) * look.point
    room_y = look.height - (TOP + BOTTOM) * look.point
    shape = (top - bottom) * look.aspect / (right - left)
    body_x, body_y = round(min(room_x, room_y / shape)), round(min(room_y, room_x * shape))
    x = round(LEFT * look.point + (room_x - body_x) / 2)
    y = round(BOTTOM * look.point + (room_y - body_y) / 2)
    box = x / look.width, y / look.height, body_x / look.width, body_y / look.height
    limits: dict[str, Any] = {"xlim": (left, right), "ylim": (bottom, top)}
    return figure.add_axes(box, facecolor=style.MISSING, **limits)


def _label(axes: Axes, look: Look) -> None:
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, steps=_STEPS))
    if look.geographic:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: longitude(v)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: latitude(v)))
    else:
        in_km = look.units == "m" and max(map(abs, look.extent)) >= 3000
        units = "km" if in_km else look.units
        factor = 0.001 if in_km else 1.0
        for axis, name in ((axes.xaxis, "x"), (axes.yaxis, "y")):
            axis.set_major_formatter(FuncFormatter(lambda v, _: minus(f"{v * factor:g}")))
            text = f"{name} ({units or 'grid point'})"
            axis.set_label_text(text, fontsize=9, color=style.INK, family=style.FONT)
            axis.labelpad = 3
    _plain_frame(axes)


def _bar_axes(figure: Figure, axes: Axes, look: Look, colours: Colormap, norm: Normalize) -> Axes:
    """The colour bar, as tall as the map, its unit above it. Its axis runs from 0 to 1."""
    box = axes.get_position()
    place = (
        box.x1 + _BAR_GAP * look.point / look.width,
        box.y0,
        _BAR_WIDTH * look.point / look.width,
        box.height,
    )
    bar = figure.add_axes(place, xlim=(0, 1), ylim=(0, 1))
    ramp = np.linspace(0, 1, 256)[:, None]
    bar.imshow(
        ramp, extent=(0, 1, 0, 1), origin="lower", aspect="auto", cmap=colours, vmin=0, vmax=1
    )
    low, high = look.limits
    locator = LogLocator(numticks=8) if look.log else MaxNLocator(7, steps=_STEPS)
    ticks = [tick for tick in locator.tick_values(low, high) if low <= tick <= high]
    bar.yaxis.set_major_locator(FixedLocator([float(norm(tick)) for tick in ticks]))
    bar.yaxis.set_major_formatter(
        FuncFormatter(lambda _, n: tick_label(ticks[n or 0], 0.0 if look.log else high - low))
    )
    bar.set_xticks([])
    bar.yaxis.tick_right()
    _plain_frame(bar)
    bar.annotate(
        look.unit, (0, 1), (0, 13), xycoords="axes fraction", textcoords="offset points",
        fontsize=9, color=style.INK, family=style.FONT, parse_math=False,
    )  # fmt: skip
    return bar


def _arrow(bar: Axes, base: float, apex: float, colour: Any) -> Polygon:
    corners = [(0.0, base), (1.0, base), (0.5, apex)]
    arrow = Polygon(corners, fc=colour, ec=style.FRAME, lw=0.7, clip_on=False)
    bar.add_patch(arrow)
    return arrow


def _plain_frame(axes: Axes) -> None:
    axes.tick_params(
        labelsize=8.5, length=3.5, width=0.6, pad=3, color=style.FRAME, labelcolor=style.INK,
        labelfontfamily=style.FONT,
    )  # fmt: skip
    for spine in axes.spines.values():
        spine.set(linewidth=0.7, edgecolor=style.FRAME)


def longitude(value: float) -> str:
    """A longitude in degrees as on maps: ``85°W``."""
    degrees = round((value + 180) % 360 - 180, 6)
    return f"{abs(degrees):g}°{'E' if degrees > 0 else 'W' if degrees < 0 else ''}"


def latitude(value: float) -> str:
    """A latitude in degrees as on maps: ``20°N``."""
    degrees = round(value, 6)
    return f"{abs(degrees):g}°{'N' if degrees > 0 else 'S' if degrees < 0 else ''}"


def tick_label(value: float, span: float) -> str:
    """A tick's number; what is nothing next to the bar's whole span is 0."""
    return "0" if abs(value) < 1e-9 * span else minus(f"{value:.6g}")


def minus(text: str) -> str:
    """The text with a minus sign in place of the hyphen."""
    return text.replace("-", "−")
