"""The lines below a picture that say what its symbols mean: contours, barbs, triangles, boxes.

A legend has as many rows in each picture of a series: where an entry's numbers differ between
frames, its longest text decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from burstlens.viz.drawing import style
from burstlens.viz.drawing.heading import LEFT, RIGHT, shortened
from burstlens.viz.drawing.signs import Sign, draw_sign

SIZE, ROW, FOOT = 8.0, 11.5, 22.0
"""Points: the letters, from one row to the next, and from the picture's edge to the last row."""
_BETWEEN, _MOST_ROWS = 12.0, 4
"""Points between entries; rows at most."""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """What one kind of symbol means, after its ``sign``: ``contours: pressure, every 4 hPa``.

    ``longest`` is the longest text of any frame, where that differs.
    """

    text: str
    longest: str = ""
    sign: Sign | None = None

    @property
    def width(self) -> float:
        """Points that it takes at most."""
        return max(map(_width, (self.text, self.longest))) + self.text_begins

    @property
    def text_begins(self) -> float:
        """Points from its left end to its text."""
        return self.sign.room if self.sign else 0.0

    def facts(self) -> dict[str, str]:
        """For the page: its text and its sign."""
        return {"text": self.text} | (self.sign.facts() if self.sign else {})


def rows(entries: Sequence[LegendEntry], width_px: int, dpi: float) -> int:
    """How many rows the entries take below a picture of that width; 0 for none."""
    return len(_rows_of(tuple(entry.width for entry in entries), width_px, dpi))


def rows_pt(count: int) -> float:
    """Points that rows take beyond the first, for which all pictures have room."""
    return ROW * max(0, count - 1)


def strip(count: int) -> tuple[float, float]:
    """Points from the picture's edge to the foot and to the top of so many rows."""
    return FOOT - 0.3 * SIZE, FOOT + (count - 1) * ROW + SIZE


def legend(figure: Figure, entries: Sequence[LegendEntry], count: int) -> list[Artist]:
    """The artists of at most ``count`` rows, placed on the figure but not added to it.

    The rows stand above the picture's foot (:mod:`.heading`). An entry longer than a row is cut.
    """
    point = figure.dpi / 72
    widest = _room(figure.bbox.width, figure.dpi)
    made: list[Artist] = []
    widths = tuple(entry.width for entry in entries)
    shown = _rows_of(widths, figure.bbox.width, figure.dpi)[:count]
    for down, row in enumerate(shown):
        x, y = LEFT, FOOT + (len(shown) - 1 - down) * ROW
        for entry in (entries[number] for number in row if entries[number].text):
            if entry.sign:
                made += draw_sign(figure, entry.sign, x * point, (y + 0.35 * SIZE) * point)
            at = x + entry.text_begins
            text = figure.text(
                at * point / figure.bbox.width, y * point / figure.bbox.height,
                shortened(entry.text, widest - (at - x), _width), fontsize=SIZE, color=style.INK,
                family=style.FONT, ha="left", va="baseline", parse_math=False,
            )  # fmt: skip
            text.remove()
            text.set_figure(figure)
            made.append(text)
            x = at + _width(entry.text) + _BETWEEN
    return made


def lowered(words: str) -> str:
    """Words as they stand within a sentence: ``Sea-level pressure`` begins with a small letter,
    ``CAPE`` and ``T2`` do not."""
    first = words.partition(" ")[0]
    plain = len(first) > 1 and first[1:].islower() and not any(c.isdigit() for c in first)
    return words[:1].lower() + words[1:] if plain else words


@lru_cache(maxsize=64)
def _rows_of(widths: tuple[float, ...], width_px: float, dpi: float) -> tuple[tuple[int, ...], ...]:
    """The numbers of the entries in each row, from the top, without those beyond the last row."""
    widest = _room(width_px, dpi)
    found: list[list[int]] = []
    used = 0.0
    for number, width in enumerate(widths):
        if found and used + _BETWEEN + width <= widest:
            found[-1].append(number)
            used += _BETWEEN + width
        else:
            found.append([number])
            used = width
    return tuple(map(tuple, found[:_MOST_ROWS]))


def _room(width_px: float, dpi: float) -> float:
    return float(width_px) * 72 / dpi - LEFT - RIGHT


@lru_cache(maxsize=256)
def _width(text: str) -> float:
    """Points of a text in the legend's letters; those on a canvas are hinted, at most so wide."""
    font = FontProperties(family=style.FONT, size=SIZE)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return 1.03 * float(width)
