"""Rings on a map where a guard found something, with a few words beside each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import offset_copy

from burstlens.core.digits import format_number
from burstlens.core.errors import RecipeError
from burstlens.core.units import conversion, printed
from burstlens.viz.drawing import style
from burstlens.viz.drawing.maps.sheet import Sheet
from burstlens.viz.drawing.picture import attached, placed
from burstlens.viz.geometry.field import Field
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.product import Mark

ALARM = "#c8102e"
_WIDTH, _AWAY = 15.0, 13.0
"""Points: across the ring, and from its middle to the words."""


def rings(paper: Sheet, plane: Plane, field: Field, marks: Sequence[Mark]) -> list[Artist]:
    """A ring and words for each mark of the shown variable that lies on the map.

    The ring has a white rim and the words a white background, so that they show on any colours.
    """
    drawn: list[Artist] = []
    for mark in marks:
        point = _point(field, mark)
        if point is None:
            continue
        row, column = point
        x = float(plane.x[row, column] if plane.x.ndim == 2 else plane.x[column])
        y = float(plane.y[row, column] if plane.y.ndim == 2 else plane.y[row])
        drawn += _ring(paper, x, y)
        drawn.append(_words(paper, x, y, _label(field, mark)))
    return drawn


def _point(field: Field, mark: Mark) -> tuple[int, int] | None:
    """Row and column of the mark in the field; None if the field shows something else."""
    if mark.variable != field.name or not set(field.dimensions) <= mark.index.keys():
        return None
    place = []
    for dimension, first, step, size in zip(
        field.dimensions, field.first, field.step, field.values.shape, strict=True
    ):
        number = round((mark.index[dimension] - first) / step)
        if not 0 <= number < size:
            return None
        place.append(number)
    return place[0], place[1]


def _label(field: Field, mark: Mark) -> str:
    """The mark's words, with its level if the map shows another one."""
    others = [n for name, n in mark.index.items() if name not in field.dimensions]
    level = "".join(f" at level {n}" for n in others if field.level != f"level {n}")
    words = mark.label
    if mark.value is not None:
        value, units = mark.value, mark.units
        with suppress(RecipeError):
            factor, offset = conversion(units, field.units, difference=field.is_difference)
            value, units = value * factor + offset, field.units
        words = f"{mark.variable} {format_number(value)} {printed(units)}".rstrip()
    elif field.units and words.endswith(field.units):
        words = words.removesuffix(field.units) + printed(field.units)
    return words.replace("-", "−") + level


def _ring(paper: Sheet, x: float, y: float) -> Iterator[Artist]:
    for colour, width in (("white", 4.5), (ALARM, 2.0)):
        ring = Line2D([x], [y], marker="o", ms=_WIDTH, mfc="none", mec=colour, mew=width)
        yield placed(ring, paper.axes, clip=False)


def _words(paper: Sheet, x: float, y: float, label: str) -> Artist:
    """The words beside the ring, on the side where there is room."""
    left, right = paper.axes.get_xlim()
    low, high = paper.axes.get_ylim()
    across, up = (x - left) / (right - left), (y - low) / (high - low)
    side, shift = ("right", -_AWAY) if across > 0.55 else ("left", _AWAY)
    lift = -_AWAY if up > 0.95 else _AWAY if up < 0.05 else 0.0
    words = Text(
        x, y, label, fontsize=9.5, color=ALARM, fontweight="bold", family=style.FONT,
        ha=side, va="center", parse_math=False,
        bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none", "alpha": 0.85},
    )  # fmt: skip
    beside = offset_copy(paper.axes.transData, paper.figure, shift, lift, units="points")
    attached(words, paper.axes).set_transform(beside)
    return words
