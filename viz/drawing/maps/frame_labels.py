"""Degree labels along the frame of a map, and on parallels that do not meet the frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from burstlens.viz.drawing import style
from burstlens.viz.drawing.maps.graticule import Label

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


def write_labels(axes: Axes, labels: Sequence[Label]) -> list[Artist]:
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
