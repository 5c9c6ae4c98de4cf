"""The components of a map's symbols: those that a recipe names, else those that the file has.

Importable without matplotlib: recipes are checked with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from burstlens.core.errors import FrameError
from burstlens.viz.drawing.maps.layers import Wind
from burstlens.viz.seams import OpenFrame

_MEDIA: tuple[Literal["sea", "air"], ...] = ("sea", "air")
"""What is looked for: a file of an ocean model may hold the wind over it, too."""

_WRFS = Wind().u, Wind().v


def components_of(frame: OpenFrame, asked: Wind) -> Wind:
    """The same with the frame's own components and their level where the recipe names none.

    WRF's frames have U10 and V10; in others the current, else the wind, nearest to the surface.
    """
    if (asked.u, asked.v) != _WRFS or asked.u in frame or asked.v in frame:
        return asked
    if "west_east" in frame.dimensions:
        return asked
    from burstlens.viz.diagnostics import velocity

    for medium in _MEDIA:
        try:
            found = velocity.find(frame, medium)
            if found is None:
                continue
            level = asked.level
            if level is None:
                level = velocity.near_surface(frame, found.u, medium)
        except FrameError:  # a future frame has no values yet
            return asked
        return replace(asked, u=found.u, v=found.v, level=level)
    return asked
