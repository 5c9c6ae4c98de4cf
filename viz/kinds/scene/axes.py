"""Numbers along the edges of a scene's box: km, or degrees where the plane is on the earth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from burstlens.viz.drawing import style
from burstlens.viz.drawing.colour_bar import STEPS, minus
from burstlens.viz.drawing.maps.graticule import latitude, longitude
from burstlens.viz.geometry.grid import Array
from burstlens.viz.kinds.scene.read import Scene
from burstlens.viz.kinds.scene.stage import View

_TICK, _NUMBER, _NAME = 4.0, 13.0, 33.0
"""Points from an edge to the end of its ticks, to the middle of its numbers and of its name."""
_SAMPLES = 101
_CROWDED = 0.06
"""The part of an edge from its end in which a number would touch that of the next edge."""


@dataclass(frozen=True, slots=True)
class _Edge:
    """An edge of the box from ``begin`` to ``end`` (3), and what is written along it: ``values`` at
    ``_SAMPLES`` equal steps are what the numbers count; ``name`` is the axis."""

    begin: Array
    end: Array
    values: Array
    write: Callable[[float], str]
    name: str
    count: int


def label_box(axes: Axes, scene: Scene, view: View, tall: float) -> None:
    """Write ticks, numbers and names along the two front edges of the bottom and one upright."""
    low, high = np.array(view.low), np.array(view.high)
    toward = -view.axes[2]
    front_y = high[1] if toward[1] > 0 else low[1]
    front_x = high[0] if toward[0] > 0 else low[0]
    along_x = np.array([low[0], front_y, low[2]]), np.array([high[0], front_y, low[2]])
    along_y = np.array([front_x, low[1], low[2]]), np.array([front_x, high[1], low[2]])
    feet = product((low[0], high[0]), (low[1], high[1]))
    uprights = [(np.array([x, y, low[2]]), np.array([x, y, high[2]])) for x, y in feet]
    leftmost = min(uprights, key=lambda edge: float(view.project(edge[0])[0, 0]))
    middle = view.project((low + high) / 2)[0]
    level = "height (km)" if scene.height_in_km else "level"
    edges = [
        _horizontal(scene, along_x, 0),
        _horizontal(scene, along_y, 1),
        _Edge(*leftmost, np.linspace(low[2], high[2], _SAMPLES) / tall, _plain, level, 5),
    ]
    for n, edge in enumerate(edges):
        _write(axes, view, edge, middle, foot=None if n == 2 else leftmost[0])


def _plain(value: float) -> str:
    return minus(f"{value:.6g}")


def _horizontal(scene: Scene, ends: tuple[Array, Array], direction: int) -> _Edge:
    """Degrees along an edge where the plane is on the earth and they run along it, else km."""
    path = np.linspace(*ends, _SAMPLES)
    projection = scene.plane.projection
    if projection is not None and not scene.plane.geographic:
        lonlat = projection.inverse(*(path[:, :2] / scene.scale).T)
        degrees = np.unwrap(lonlat[direction], period=360)
        if np.isfinite(degrees).all() and (np.diff(degrees) > 0).all():
            return _Edge(*ends, degrees, (longitude, latitude)[direction], "", 6)
    unit = "km" if scene.in_km else scene.plane.units or "grid point"
    name = "xy"[direction]
    if scene.plane.geographic:
        name, unit = ("east", "north")[direction] + "ward", "km"
    return _Edge(*ends, path[:, direction], _plain, f"{name} ({unit})", 6)


def _write(axes: Axes, view: View, edge: _Edge, middle: Array, *, foot: Array | None) -> None:
    """``foot`` is that of the upright edge, None for that edge itself."""
    upright = foot is None
    size = np.array([axes.bbox.width, axes.bbox.height])
    begin, end = view.project(np.stack([edge.begin, edge.end]))
    run = (end - begin) * size
    length = float(np.hypot(*run))
    if length < 20:
        return
    out = np.array([run[1], -run[0]]) / length
    if out @ ((begin + end) / 2 * size - middle * size) < 0:
        out = -out
    if upright:
        out = np.array([-1.0, 0.0])
    point = axes.figure.dpi / 72
    lowest, highest = edge.values[0], edge.values[-1]
    # As many numbers as find room.
    count = int(np.clip(length / (34 * point), 2, edge.count))
    ticks = MaxNLocator(count, steps=STEPS).tick_values(lowest, highest)
    slack = 1e-6 * (highest - lowest)
    ticks = ticks[(ticks >= lowest - slack) & (ticks <= highest + slack)]
    share = np.interp(ticks, edge.values, np.linspace(0, 1, _SAMPLES))
    for value, part in zip(ticks, share, strict=True):
        near = min(float(part), 1 - float(part)) < _CROWDED
        if near and foot is not None and np.allclose((edge.begin, edge.end)[int(part > 0.5)], foot):
            continue  # the number at the foot of the upright edge stands there
        at = view.project(edge.begin + part * (edge.end - edge.begin))[0]
        if not ((at >= 0) & (at <= 1)).all():
            continue  # zoomed out of the picture, where other words stand
        tip = at + out * _TICK * point / size
        axes.plot(*np.stack([at, tip]).T, color=style.FRAME, lw=0.7, clip_on=False)
        text = edge.write(float(round(value, 9)))
        number = at + out * (_NUMBER if not upright else _TICK + 3) * point / size
        axes.text(
            float(number[0]), float(number[1]), text, ha="right" if upright else "center",
            va="center", fontsize=8.5, color=style.INK, family=style.FONT, parse_math=False,
        )  # fmt: skip
    if not edge.name:
        return
    place = (begin + end) / 2 + out * _NAME * point / size
    if not ((place >= 0) & (place <= 1)).all():
        if upright and ((end >= 0) & (end <= 1)).all():
            # No room beside the numbers: it stands above them.
            axes.text(
                0.0, float(end[1]) + 9 * point / size[1], edge.name, ha="left", va="bottom",
                fontsize=8.5, color=style.INK, family=style.FONT,
            )  # fmt: skip
        return
    angle = float(np.degrees(np.arctan2(run[1], run[0])))
    # From left to right, and steep words from the bottom to the top, as along any axis.
    angle = (angle + 75) % 180 - 75 if not upright else 90.0
    axes.text(
        float(place[0]), float(place[1]), edge.name, ha="center", va="center", rotation=angle,
        fontsize=9, color=style.INK, family=style.FONT, rotation_mode="anchor",
    )  # fmt: skip
