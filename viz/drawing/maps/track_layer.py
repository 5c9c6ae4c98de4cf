"""A storm's track on a map: a line so far, and a dot for each time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.transforms import Bbox

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.storms.track import Point, Track
from burstlens.viz.drawing import style
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.projection import EARTH_RADIUS_M

_SEAM = {"degrees": 180.0, "m": math.pi * EARTH_RADIUS_M}
"""A step across more than half of the plane goes around the other side of the earth."""
_SMALLEST, _LARGEST = 3.5, 8.0
"""Points across a dot of the weakest and of the strongest storm so far."""
_EVEN = 6.0
_MANY = 60
"""Dots that touch each other have thin edges: else only edges would show."""
_PIECE, _PIECES = 5.0, 400
"""Pixels of the line in one box; maximum number of boxes of a step."""


@dataclass(frozen=True, slots=True)
class TrackLayer:
    """A track to be drawn: dots as large as the storm is strong, or all alike in ``colours``."""

    track: Track
    colours: ScalarMappable | None = None


def edge_width(track: Track) -> float:
    """Width of a dot's edge in points."""
    return 0.9 if len(track.points) <= _MANY else 0.3


def on_plane(track: Track, plane: Plane) -> tuple[tuple[float, float], ...]:
    """x and y of each point on a map's plane; FrameError if the plane has other coordinates."""
    if track.on_earth != (plane.projection is not None):
        other = "longitude and latitude" if track.on_earth else f"x and y in {track.plane}"
        raise FrameError(f"the track has {other}, which the map does not have")
    if plane.projection is None:
        return tuple((point.x, point.y) for point in track.points)
    x, y = plane.projection.forward(
        [point.x for point in track.points], [point.y for point in track.points]
    )
    return tuple(zip(x.tolist(), y.tolist(), strict=True))


def draw_storm(axes: Axes, plane: Plane, layer: TrackLayer) -> None:
    """Add the line, dotted at positions where the storm was lost, and the dots, the newest ringed.

    A dot without a storm is small and pale.
    """
    track, places = layer.track, on_plane(layer.track, plane)
    seam = _SEAM.get(plane.units, math.inf)
    steps = [
        (a, b, "lost" in (start.status, end.status))
        for (start, a), (end, b) in pairwise(zip(track.points, places, strict=True))
        if abs(b[0] - a[0]) <= seam
    ]
    whole: dict[str, Any] = {"colors": style.INK, "linewidths": 1.3, "zorder": 2.3}
    halo: dict[str, Any] = {"colors": "white", "linewidths": 3.2, "alpha": 0.7, "zorder": 2.2}
    for segments, looks in (
        ([step[:2] for step in steps], halo),
        ([step[:2] for step in steps if not step[2]], whole),
        ([step[:2] for step in steps if step[2]], whole | {"linestyles": ":"}),
    ):
        axes.add_collection(LineCollection(segments, **looks))
    x, y = np.transpose(places)
    across = np.array(_sizes(layer))
    fills = [_colour(point, layer) for point in track.points]
    edges = [style.FAINT if point.value is None else style.INK for point in track.points]
    axes.scatter(
        x, y, across**2, c=fills, edgecolors=edges, linewidths=edge_width(track), zorder=2.4
    )
    ring: dict[str, Any] = {"ms": across[-1] + 5, "mfc": "none"}
    axes.plot(x[-1], y[-1], "o", **ring, mec="white", mew=2.6, alpha=0.8, zorder=2.4)
    axes.plot(x[-1], y[-1], "o", **ring, mec=style.INK, mew=1.3, zorder=2.5)


def track_boxes(axes: Axes, plane: Plane, track: Track) -> Iterator[Bbox]:
    """The parts of the picture, in pixels, that the line and its dots cover."""
    pixels = axes.transData.transform(on_plane(track, plane))
    for a, b in pairwise(pixels):
        for part in np.linspace(0, 1, min(int(np.hypot(*(b - a)) / _PIECE) + 2, _PIECES)):
            x, y = a + part * (b - a)
            yield Bbox.from_extents(x - _PIECE / 2, y - _PIECE / 2, x + _PIECE / 2, y + _PIECE / 2)


def _sizes(layer: TrackLayer) -> list[float]:
    """Diameter of each dot, in points."""
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


def _colour(point: Point, layer: TrackLayer) -> Any:
    if point.value is None:
        return style.CALM
    return "white" if layer.colours is None else layer.colours.to_rgba(np.array(point.value))
