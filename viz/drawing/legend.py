"""The lines below a picture that say what its symbols mean: contours, barbs, triangles, boxes.

Each kind of symbol has a sign in small, in the colour that it has on the picture; the page draws
the same (viz/live/drawing/signs.js). A legend has as many rows in each picture of a series: where
an entry's numbers differ between frames, its longest text decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from matplotlib.artist import Artist
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.textpath import text_to_path
from matplotlib.transforms import IdentityTransform

from burstlens.viz.drawing import style
from burstlens.viz.drawing.heading import LEFT, RIGHT, shortened

SIZE, ROW, FOOT = 8.0, 11.5, 22.0
"""Points: the letters, from one row to the next, and from the picture's edge to the last row."""
_BETWEEN, _MOST_ROWS = 12.0, 4
"""Points between entries; rows at most."""

SignKind = Literal[
    "line", "dashed", "dotted", "lines", "track", "barb", "arrow", "stream", "lowest", "highest",
    "triangle", "dot", "circle", "ring", "star", "box", "shade",
]  # fmt: skip
Points = tuple[tuple[float, float], ...]

_LONG, _SHORT, _GAP = 12.0, 7.0, 3.5
"""Points: width of a line and of a mark, and from a sign to its text."""
_EDGE = 2.6
"""Points by which the dark band below a pale line is wider."""
_PALE = 0.475
"""Luminance above which a colour has less than 2 to 1 of contrast with white."""
_LINE: Points = ((0.0, 0.0), (_LONG, 0.0))
_STROKES: dict[str, tuple[tuple[Points, str], ...]] = {
    "line": ((_LINE, "-"),),
    "dashed": ((_LINE, "--"),),
    "dotted": ((_LINE, ":"),),
    "lines": ((((0.0, 1.7), (_LONG, 1.7)), "-"), (((0.0, -1.7), (_LONG, -1.7)), "--")),
    "track": ((_LINE, "-"),),
    "barb": ((((0.0, -2.2), (_LONG, -2.2)), "-"), (((4.4, -2.2), (3.2, 2.8)), "-")),
    "arrow": ((((0.0, 0.0), (9.0, 0.0)), "-"),),
    "stream": ((_LINE, "-"),),
    "box": ((((0.6, -2.7), (11.4, -2.7), (11.4, 2.7), (0.6, 2.7), (0.6, -2.7)), "-"),),
}
"""The lines of a sign, in points from its left end and from the middle of the letters."""
_FILLS: dict[str, tuple[tuple[Points, str], ...]] = {
    "barb": ((((0.0, -2.2), (0.2, 2.8), (2.6, -2.2)), ""),),
    "arrow": ((((_LONG, 0.0), (7.6, 2.3), (7.6, -2.3)), ""),),
    "stream": ((((8.0, 0.0), (4.6, 1.8), (4.6, -1.8)), ""),),
    "shade": (
        (((0.0, -2.8), (0.0, 2.8), (_LONG, 2.8)), "#dcdfe2"),
        (((0.0, -2.8), (_LONG, -2.8), (_LONG, 2.8)), "#6b747d"),
    ),
}
"""Filled parts, and their colour where that is not the sign's."""
_MARKS: dict[str, tuple[str, float, str, str, float]] = {
    "track": ("o", 3.5, "white", style.INK, 1.0),
    "lowest": ("v", 6.5, "white", style.INK, 1.0),
    "highest": ("^", 6.5, "white", style.INK, 1.0),
    "triangle": ("^", 5.5, style.INK, "none", 0.0),
    "dot": ("o", 5.0, style.INK, "none", 0.0),
    "circle": ("o", 5.5, "white", style.INK, 0.9),
    "ring": ("o", 6.0, "none", style.INK, 1.3),
    "star": ("*", 9.0, style.EPICENTRE, "none", 0.0),
}
"""Marker, its width in points, colours of its face and its edge, width of the edge."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A symbol as a legend shows it: ``lines`` are solid ones over dashed ones. ``colour`` and
    ``width`` (points) are those of its lines; without a colour they have that of letters."""

    kind: SignKind
    colour: str = style.INK
    width: float = 0.9

    @property
    def room(self) -> float:
        """Points that it takes, with the gap to its text."""
        return (_LONG if self.kind in _STROKES or self.kind in _FILLS else _SHORT) + _GAP

    def facts(self) -> dict[str, str]:
        """For the page: ``sign``, and ``colour`` where its lines are not black."""
        found: dict[str, str] = {"sign": self.kind}
        colour = to_hex(self.colour)
        return found if colour in ("#000000", style.INK) else found | {"colour": colour}


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


def draw_sign(figure: Figure, sign: Sign, x: float, y: float) -> Iterator[Artist]:
    """The artists of a sign, placed on the figure but not added to it: ``x`` is its left end and
    ``y`` the middle of the letters beside it, in pixels. What is pale has a dark edge."""
    point = figure.dpi / 72

    def at(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(x + across * point, y + up * point) for across, up in points]

    is_pale = style.luminance(sign.colour) > _PALE
    edge = [(style.INK, _EDGE)] if is_pale else []
    for colour, more in [*edge, (sign.colour, 0.0)]:
        looks: dict[str, Any] = {"color": colour, "lw": sign.width + more, "solid_capstyle": "butt"}
        for points, dashes in _STROKES.get(sign.kind, ()):
            ls = "-" if more else dashes
            yield _placed(Line2D(*zip(*at(points), strict=True), ls=ls, **looks), figure)
    for points, own in _FILLS.get(sign.kind, ()):
        rim = style.INK if is_pale else "none"
        yield _placed(Polygon(at(points), fc=own or sign.colour, ec=rim, lw=0.6), figure)
    if sign.kind in _MARKS:
        marker, size, face, rim, width = _MARKS[sign.kind]
        middle = 0.5 * (_LONG if sign.kind in _STROKES else _SHORT)
        ((left, up),) = at([(middle, 0.0)])
        looks = {"mfc": face, "mec": rim, "mew": width}
        yield _placed(Line2D([left], [up], marker=marker, ms=size, **looks), figure)


def _placed(artist: Artist, figure: Figure) -> Artist:
    artist.set_figure(figure)
    artist.set_transform(IdentityTransform())
    return artist


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
