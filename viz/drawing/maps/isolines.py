"""Lines of equal value over a map, with their values written on them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from burstlens.core.errors import RecipeError
from burstlens.viz.drawing import style
from burstlens.viz.drawing.colour_bar import STEPS, tick_labels
from burstlens.viz.drawing.maps.layers import Contours
from burstlens.viz.geometry.field import Field
from burstlens.viz.geometry.grid import Plane

LINE_PT = 0.9
"""Width of a line."""
_MOST = 200
"""Maximum number of values; more are a mistake in the recipe and would take too long."""
_POINTS_PER_PIXEL = 0.4
"""Detail finer than the picture is left out before the lines are traced."""


def draw_isolines(
    axes: Axes, field: Field, asked: Contours, reserved: Sequence[Bbox] = ()
) -> list[float]:
    """Add the lines and their labels to the axes, no label on a ``reserved`` part of the picture;
    return the values of the lines.

    RecipeError when the interval gives more than two hundred lines.
    """
    low, high = field.extent()
    signed = style.is_signed(field.units, field.long_name, low, high)
    levels = contour_levels(asked, low, high, signed=signed)
    if not levels.size or min(field.values.shape) < 2:
        return []
    rows, columns = field.values.shape
    plane = field.plane
    wide, tall = pixels_of(axes, plane)
    step_y = max(1, int(rows / (tall * _POINTS_PER_PIXEL)))
    step_x = max(1, int(columns / (wide * _POINTS_PER_PIXEL)))
    part = slice(None, None, step_y), slice(None, None, step_x)
    x = plane.x[part] if plane.x.ndim == 2 else plane.x[part[1]]
    y = plane.y[part] if plane.y.ndim == 2 else plane.y[part[0]]
    values = np.ma.masked_invalid(field.values[part])
    if plane.geographic and x.ndim == 2:
        values = np.ma.masked_where(_beside_seam(x), values)
    if min(values.shape) < 2:
        return []
    # The labels of other isolines as well.
    taken = [*reserved, *(text.get_window_extent() for text in axes.texts if text.get_visible())]
    drawn = axes.contour(
        x, y, values, levels=levels, colors=[asked.colour], linewidths=LINE_PT,
        negative_linestyles="dashed", zorder=2.5,
    )  # fmt: skip
    drawn.set_path_effects([withStroke(linewidth=2.1, foreground="white", alpha=0.45)])
    values_drawn = [float(level) for level in levels]
    if not asked.labels:
        return values_drawn
    texts = dict(zip(levels, tick_labels(values_drawn), strict=True))
    ink = style.legible(asked.colour)
    for text in drawn.clabel(levels=levels, fontsize=8.5, fmt=texts, colors=ink):
        text.set(family=style.FONT, parse_math=False, bbox=style.LABEL)
        box = text.get_window_extent()
        whole = axes.bbox.contains(box.x0, box.y0) and axes.bbox.contains(box.x1, box.y1)
        text.set_visible(whole and not any(box.overlaps(other) for other in taken))
        taken.append(box)
    return values_drawn


def _beside_seam(longitude: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Points before a jump along their row or column: a line across it would cross the map."""
    beside = np.zeros(longitude.shape, bool)
    beside[:-1] |= np.abs(np.diff(longitude, axis=0)) > 180
    beside[:, :-1] |= np.abs(np.diff(longitude, axis=1)) > 180
    return beside


def pixels_of(axes: Axes, plane: Plane) -> tuple[float, float]:
    """How wide and how tall the points of a plane are on the picture, at least a pixel."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    wide = float(np.ptp(plane.x)) / (right - left) * axes.bbox.width
    tall = float(np.ptp(plane.y)) / (top - bottom) * axes.bbox.height
    return max(wide, 1.0), max(tall, 1.0)


def contour_levels(
    asked: Contours, low: float, high: float, *, signed: bool = False
) -> NDArray[np.float64]:
    """The values that get a line between ``low`` and ``high``, increasing.

    In a ``signed`` field zero gets a line only if it is among the levels: in calm areas that line
    would follow the noise.
    """
    if asked.levels:
        levels: NDArray[np.float64] = np.asarray(asked.levels, np.float64)
    elif asked.interval is not None:
        first, last = math.ceil(low / asked.interval), math.floor(high / asked.interval)
        if last - first >= _MOST:
            raise RecipeError(
                f"contours: an interval of {asked.interval:g} gives {last - first + 1} lines "
                f"between {low:g} and {high:g}; at most {_MOST} are drawn"
            )
        levels = asked.interval * np.arange(first, last + 1, dtype=np.float64)
    else:
        levels = np.array(MaxNLocator(10, steps=STEPS).tick_values(low, high), np.float64)
    if signed and not asked.levels:
        levels = levels[np.abs(levels) > 1e-9 * (high - low)]
    return levels[(levels >= low) & (levels <= high)]
