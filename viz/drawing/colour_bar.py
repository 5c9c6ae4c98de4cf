"""The colour bar of a map: the field's colours from low to high, their numbers and their unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, Colormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import FixedFormatter, FixedLocator, Formatter, LogLocator, MaxNLocator

from burstlens.core import digits
from burstlens.core.units import printed
from burstlens.viz.diagnostics.formula import bare
from burstlens.viz.drawing import style
from burstlens.viz.drawing.heading import RIGHT

STEPS = [1, 2, 2.5, 5, 10]
"""Leading digits of round numbers."""
_GAP, _WIDTH, _TIP = 14.0, 13.0, 9.0


class ColourBar:
    """A bar to the right of the map and as tall, with an arrow at each end for values beyond it."""

    def __init__(
        self, figure: Figure, axes: Axes, colours: Colormap, norm: Normalize, unit: str
    ) -> None:
        point = figure.dpi / 72
        width, height = figure.bbox.width, figure.bbox.height
        box = axes.get_position()
        place = box.x1 + _GAP * point / width, box.y0, _WIDTH * point / width, box.height
        bar = figure.add_axes(place, xlim=(0, 1), ylim=(0, 1))
        steps = len(norm.boundaries) - 1 if isinstance(norm, BoundaryNorm) else 256
        ramp = colours(np.linspace(0, 1, steps))[:, None]
        bar.imshow(ramp, extent=(0, 1, 0, 1), origin="lower", aspect="auto", interpolation="none")
        scale = style.SCALES.get(colours.name)
        names = scale.names if scale else ()
        ticks, places = _ticks(norm)
        if names:
            places = [(n + 0.5) / len(names) for n in range(len(names))]
        bar.yaxis.set_major_locator(FixedLocator(places))
        bar.yaxis.set_major_formatter(FixedFormatter(list(names) or tick_labels(ticks)))
        bar.set_xticks([])
        bar.yaxis.tick_right()
        plain_frame(bar)
        words = bar.annotate(
            unit, (0, 1), (0, 13), xycoords="axes fraction", textcoords="offset points",
            fontsize=9, color=style.INK, family=style.FONT, parse_math=False,
        )  # fmt: skip
        room = width / point - RIGHT - box.x1 * width / point - _GAP
        if words.get_window_extent().width > room * point:
            # A long unit is right-aligned with the other words and begins above the map.
            words.set(ha="right")
            words.xyann = (room, 13)
        tip = _TIP * point / (box.height * height)
        self.arrows = (
            _arrow(bar, 0.0, -tip, colours.get_under()),
            _arrow(bar, 1.0, 1 + tip, colours.get_over()),
        )


def _arrow(bar: Axes, base: float, apex: float, colour: Any) -> Polygon:
    corners = [(0.0, base), (1.0, base), (0.5, apex)]
    arrow = Polygon(corners, fc=colour, ec=style.FRAME, lw=0.7, clip_on=False)
    bar.add_patch(arrow)
    return arrow


def plain_frame(axes: Axes) -> None:
    """Give axes the frame, ticks and fonts that all pictures have."""
    axes.tick_params(
        labelsize=8.5, length=3.5, width=0.6, pad=3, color=style.FRAME, labelcolor=style.INK,
        labelfontfamily=style.FONT,
    )  # fmt: skip
    for spine in axes.spines.values():
        spine.set(linewidth=0.7, edgecolor=style.FRAME)


def tick_labels(values: Sequence[float]) -> list[str]:
    """The numbers of ticks, no two of which read the same; 0 for one that is negligible."""
    return [minus(text) for text in digits.format_ticks(values)]


class Numbers(Formatter):
    """Numbers along an axis, no two of which read the same; ``factor`` is that of their unit."""

    def __init__(self, factor: float = 1.0) -> None:
        self._factor = factor

    def format_ticks(self, values: Any) -> list[str]:
        """The texts of all ticks of the axis."""
        return tick_labels([float(value) * self._factor for value in values])

    def __call__(self, x: float, pos: int | None = None) -> str:
        return tick_labels([float(x) * self._factor])[0]


def minus(text: str) -> str:
    """The text with a minus sign in place of the hyphen."""
    return text.replace("-", "−")


def low_to_high(low: float, high: float) -> str:
    """The ends of a range as text (:func:`burstlens.core.digits.format_range`).

    >>> low_to_high(3.4e-08, 264.66)
    '0 to 264.7'
    """
    return minus(" to ".join(digits.format_range(low, high)))


def range_caption(name: str, extent: tuple[float, float], units: str) -> str:
    """The name of a variable and the range of its values, for below a picture."""
    return f"{bare(name)}: {low_to_high(*extent)} {printed(units)}".rstrip()


def _ticks(norm: Normalize) -> tuple[list[float], list[float]]:
    """Values that get a number, and the height on the bar (0 to 1) of each.

    Edges of colours in steps are equally far apart, whatever they span.
    """
    if isinstance(norm, BoundaryNorm):
        last = len(norm.boundaries) - 1
        return [float(edge) for edge in norm.boundaries], [n / last for n in range(last + 1)]
    low, high = float(norm.vmin or 0.0), float(norm.vmax or 0.0)
    locators: list[Any] = [MaxNLocator(7, steps=STEPS)]
    if isinstance(norm, LogNorm):
        # Within a decade there may be no power of ten at all.
        locators = [LogLocator(numticks=8), LogLocator(subs=(1, 2, 5), numticks=8), *locators]
    for locator in locators:
        ticks = [float(tick) for tick in locator.tick_values(low, high) if low <= tick <= high]
        if len(ticks) > 1:
            break
    return ticks, [float(norm(tick)) for tick in ticks]
