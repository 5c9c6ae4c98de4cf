"""The texts around a picture: title and times above it, caption, run and program below."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

from burstlens.viz.drawing import style
from burstlens.viz.drawing.picture import NARROW_PT
from burstlens.viz.drawing.png import write_png
from burstlens.viz.frames.times import stamp
from burstlens.viz.product import Context

LEFT, RIGHT = 58.0, 12.0
"""Points from the picture's sides to the words."""
_LONGEST_STAMP = "valid 0000-00-00 00:00:00 UTC"
_LONGEST_LEAD = "init 0000-00-00 00:00:00 UTC  ·  +000 h 00 min"
_HEAD, _STAMP, _LINE, _SMALL = 13.0, 11.0, 9.0, 8.0
"""Points: sizes of the title, the valid time, the line below and the words at the foot."""
_GAP = 16.0
"""Points between words on the left and on the right of a line."""


class Heading:
    """Texts on a figure of an Agg canvas, cut where one would overlap another.

    ``changing`` are those that differ between the pictures of a series: valid time, time since
    the start, caption; :meth:`write` sets them.
    """

    def __init__(self, figure: Figure, title: str, subtitle: str, maker: str) -> None:
        self._figure = figure
        canvas: Any = figure.canvas
        self._renderer = canvas.get_renderer()
        point = figure.dpi / 72
        width, height = figure.bbox.width, figure.bbox.height
        left, right = LEFT * point, width - RIGHT * point
        top, below, foot = height - 21 * point, height - 37 * point, 10.0 * point
        room = right - left - _GAP * point
        small = width / point < NARROW_PT + 1
        # If the title needs the whole line, the valid time is below it, in the place of the
        # time since the start.
        needed = self._width(title, _HEAD, "bold") + self._width(_LONGEST_STAMP, _STAMP)
        self._narrow = small or needed > room
        beside = 0.0 if self._narrow else self._width(_LONGEST_STAMP, _STAMP)
        longest = self._width(_LONGEST_STAMP if self._narrow else _LONGEST_LEAD, _LINE)
        maker = "" if small else maker
        title = self._fitted(title, _HEAD, room - beside, "bold")
        self._words(left, top, title, _HEAD, style.INK, "left").set_fontweight("bold")
        subtitle = self._fitted(subtitle, _LINE, room - longest)
        self._words(left, below, subtitle, _LINE, style.FAINT, "left")
        written = self._words(right, foot, maker, _SMALL, style.FAINT, "right")
        self._room = room - self._width(written.get_text(), _SMALL)
        self.changing = (
            self._words(right, top, "", _STAMP, style.INK, "right"),
            self._words(right, below, "", _LINE, style.FAINT, "right"),
            self._words(left, foot, "", _SMALL, style.FAINT, "left"),
        )

    def write(self, stamp: str, lead: str, caption: str) -> None:
        """Set the texts of one picture: valid time, time since the start, caption."""
        caption = self._fitted(caption, _SMALL, self._room)
        if self._narrow:
            stamp, lead = "", stamp
        for place, text in zip(self.changing, (stamp, lead, caption), strict=True):
            place.set_text(text)

    def _words(self, x: float, y: float, text: str, size: float, colour: str, side: str) -> Text:
        width, height = self._figure.bbox.width, self._figure.bbox.height
        return self._figure.text(
            x / width, y / height, text, fontsize=size, color=colour, ha=side, va="baseline",
            family=style.FONT, parse_math=False,
        )  # fmt: skip

    def _width(self, text: str, size: float, weight: str = "normal") -> float:
        font = FontProperties(family=style.FONT, size=size, weight=weight)
        width, _, _ = self._renderer.get_text_width_height_descent(text, font, False)
        return float(width)

    def _fitted(self, text: str, size: float, room: float, weight: str = "normal") -> str:
        return shortened(text, room, lambda words: self._width(words, size, weight))


def shortened(text: str, room: float, width: Callable[[str], float]) -> str:
    """The text, cut with an ellipsis if it is wider than the room for it."""
    if width(text) <= room:
        return text
    while len(text) > 4 and width(text + "…") > room:
        text = text[:-1].rstrip()
    return text + "…"


def write_picture(
    figure: Figure, out: Path, context: Context, dpi: float, title: str, where: str,
    words: tuple[str, str], texts: Mapping[str, str],
) -> int:  # fmt: skip
    """Write the words around a picture, and it as a PNG; returns the file's CRC-32.

    ``where`` follows the subtitle, ``words`` are the time since the start and the caption.
    StagingError when the file cannot be written whole.
    """
    heading = Heading(figure, title, subtitle(context, where), maker(context))
    heading.write(stamp(context.time), *words)
    canvas: Any = figure.canvas
    canvas.draw()
    return write_png(np.asarray(canvas.buffer_rgba()), out, texts, dpi)


def subtitle(context: Context, where: str = "") -> str:
    """The domain, the run's title and a place; the end is cut first if there is not enough room."""
    return "  ·  ".join(part for part in (context.stream, context.title, where) if part)


def maker(context: Context) -> str:
    """The run's name and what made the picture."""
    return "  ·  ".join(part for part in (context.run, software(context)) if part)


def software(context: Context) -> str:
    """The program and its version."""
    return f"Burstlens {context.version}".rstrip()


def texts(title: str, context: Context, description: str = "") -> dict[str, str]:
    """Text chunks of a PNG (its specification, 11.3.4); no creation time and no attempt, so that
    what is computed again is the same."""
    found = {"Software": software(context), "Title": title, "Description": description}
    source = f"run {context.run}, stream {context.stream}, time "
    return {key: text for key, text in found.items() if text} | {"Source": source + context.time}
