"""Named points of a map and lines through them; names are drawn where there is room."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from burstlens.viz.drawing import style
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.place import Place, Source, located_on

_STAR = "*"
_ABOVE = 3.5
"""Above isolines and symbols of the wind."""
_SIDES = ((1, 0, "left", "center"), (-1, 0, "right", "center"),
          (0, 1, "center", "bottom"), (0, -1, "center", "top"),
          (0.7, 0.7, "left", "bottom"), (-0.7, -0.7, "right", "top"),
          (-0.7, 0.7, "right", "bottom"), (0.7, -0.7, "left", "top"))  # fmt: skip
"""Positions of a name: right, left, above, below its mark, and in its corners."""


def draw_places(
    axes: Axes, plane: Plane, places: Sequence[Place], mark: str, reserved: Sequence[Bbox] = (), *,
    gap: float = 5.0,
) -> None:  # fmt: skip
    """Add each place within the map, with its name if there is room for it.

    The name is ``gap`` points from the mark, not on a ``reserved`` part of the picture (pixels).
    """
    if not places:
        return
    others = [(text, text.get_window_extent()) for text in axes.texts if text.get_text()]
    taken = [*reserved, *(box for text, box in others if isinstance(text, Annotation))]
    for place in places:
        x, y = located_on(plane, place)
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        if not (left <= x <= right and bottom <= y <= top):
            continue
        star = mark == _STAR
        axes.plot(
            x, y, mark, ms=15 if star else 4.5, mfc=style.EPICENTRE if star else style.INK,
            mec="white", mew=0.8, zorder=_ABOVE,
        )  # fmt: skip
        if not place.name:
            continue
        for dx, dy, across, up in _SIDES:
            text = axes.annotate(
                place.name, (x, y), (dx * gap, dy * gap), textcoords="offset points",
                ha=across, va=up, fontsize=8.5, color=style.INK, family=style.FONT,
                parse_math=False, bbox=style.LABEL, zorder=_ABOVE,
            )  # fmt: skip
            box = text.get_window_extent()
            frame = axes.bbox
            fits = frame.x0 < box.x0 and box.x1 < frame.x1 and frame.y0 < box.y0 < box.y1 < frame.y1
            if fits and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                for other, there in others:
                    # The number of a line is repeated elsewhere, the name of a place is not.
                    if other.axes is not None and box.overlaps(there):
                        other.set_visible(False)
                break
            text.remove()


def draw_source(axes: Axes, plane: Plane, source: Source) -> None:
    """Add a star at the epicentre, with its name if there is room for it."""
    place = Place(source.name, source.lat, source.lon, source.x, source.y)
    draw_places(axes, plane, (place,), _STAR, gap=9.0)


def draw_track(axes: Axes, plane: Plane, places: Sequence[Place]) -> None:
    """Add a line through the points, in their order, with a dot at each."""
    points = [located_on(plane, place) for place in places]
    if points:
        x, y = zip(*points, strict=True)
        axes.plot(x, y, "-", color="white", lw=3.0, alpha=0.7)
        axes.plot(x, y, "-o", color=style.INK, lw=1.3, ms=3.5, mfc="white", mec=style.INK)
