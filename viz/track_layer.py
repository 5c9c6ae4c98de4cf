"""A storm's track on a map: the way so far, and a dot for each time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable

from burstlens.errors import FrameError
from burstlens.viz import style
from burstlens.viz.grid import Plane
from burstlens.viz.projection import EARTH_RADIUS_M
from burstlens.viz.track import Point, Track

_SEAM = {"degrees": 180.0, "m": math.pi * EARTH_RADIUS_M}
"""A step across more than half of the plane goes around the other side of the earth."""
_SMALLEST, _LARGEST = 3.5, 8.0
"""Points across a dot of the weakest and of the strongest storm so far."""
_EVEN = 6.0


@dataclass(frozen=True, slots=True)
class TrackLayer:
    """A track to be drawn: dots as large as the storm is strong, or all alike in ``colours``."""

    track: Track
    colours: ScalarMappable | None = None


def on_plane(track: Track, plane: Plane) -> tuple[tuple[float, float], ...]:
    """x and y of each point on a map's plane; FrameError where it has no such positions."""
    if track.on_earth != (plane.projection is not None):
        other = "longitude and latitude" if track.on_earth else f"x and y in {track.plane}"
        raise FrameError(f"the track has {other}, which the map has not")
    if plane.projection is None:
        return tuple((point.x, point.y) for point in track.points)
    x, y = plane.projection.forward(
        [point.x for point in track.points], [point.y for point in track.points]
    )
    return tuple(zip(x.tolist(), y.tolist(), strict=True))


def draw_storm(axes: Axes, plane: Plane, layer: TrackLayer) -> None:
    """Add the line, dashed to where the storm was lost, and the dots, the newest with a ring.

    A dot without a storm is small and pale.
    """
    track, places = layer.track, on_plane(layer.track, plane)
    seam = _SEAM.get(plane.units, math.inf)
    for (start, a), (end, b) in pairwise(zip(track.points, places, strict=True)):
        if abs(b[0] - a[0]) > seam:
            continue
        lost = "lost" in (start.status, end.status)
        xs, ys = (a[0], b[0]), (a[1], b[1])
        axes.plot(xs, ys, "-", color="white", lw=3.2, alpha=0.7, zorder=2.2)
        axes.plot(xs, ys, ":" if lost else "-", color=style.INK, lw=1.3, zorder=2.3)
    for point, (x, y), across in zip(track.points, places, _sizes(layer), strict=True):
        edge = style.FAINT if point.value is None else style.INK
        axes.plot(x, y, "o", ms=across, mfc=_colour(point, layer), mec=edge, mew=0.9, zorder=2.4)
    x, y = places[-1]
    newest = _sizes(layer)[-1] + 5
    axes.plot(x, y, "o", ms=newest, mfc="none", mec="white", mew=2.6, alpha=0.8, zorder=2.4)
    axes.plot(x, y, "o", ms=newest, mfc="none", mec=style.INK, mew=1.3, zorder=2.5)


def _sizes(layer: TrackLayer) -> list[float]:
    """Of each dot, in points."""
    track = layer.track
    known = [point.value for point in track.points if point.value is not None]
    if layer.colours is not None or not known:
        return [_EVEN if point.value is not None else _SMALLEST for point in track.points]
    weak, strong = (max(known), min(known)) if track.extreme == "min" else (min(known), max(known))
    sizes = []
    for point in track.points:
        strength = 0.0 if point.value is None else (point.value - weak) / ((strong - weak) or 1.0)
        sizes.append(_SMALLEST + strength * (_LARGEST - _SMALLEST))
    return sizes


def _colour(point: Point, layer: TrackLayer) -> object:
    if point.value is None:
        return style.CALM
    return "white" if layer.colours is None else layer.colours.to_rgba(np.array(point.value))
