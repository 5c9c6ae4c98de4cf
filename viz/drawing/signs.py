"""Signs of a legend: each kind of symbol in small, in the colour that it has on the picture.

The page draws the same (viz/live/drawing/signs.js).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.artist import Artist
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.transforms import IdentityTransform

from burstlens.viz.drawing import style

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
