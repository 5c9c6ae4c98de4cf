"""Columns over points on the ground: values on all levels, and positions of the levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.geometry import grid, vertical
from burstlens.viz.geometry.c_grid import read_centred
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.seams import OpenFrame


class Points(Protocol):
    """Points of a grid over which columns are read: of a line, or of an area."""

    @property
    def window(self) -> dict[str, slice]:
        """The part of the file that holds them."""

    @property
    def distance(self) -> Array:
        """Distance of each from the first, (n)."""

    def sample(self, values: Array) -> Array:
        """Values (..., y, x) of the window at the points, as (..., n)."""


@dataclass(frozen=True, slots=True)
class Vertical:
    """Positions of the levels: km, or hPa with ``log``, as (level, point), upwards.

    ``ground`` is that of the surface at each point, None if the file does not have it. ``down``:
    ``levels`` are negated depths.
    """

    levels: Array
    ground: Array | None
    units: str
    words: str
    log: bool = False
    down: bool = False


def along(frame: OpenFrame, line: Points, name: str) -> Array:
    """The values (level, point) of a 3-D variable; FrameError if it has no levels there."""
    axes, order = check_levels(frame, name)
    if not set(line.window) <= set(order):
        raise FrameError(_no_levels(frame, name))
    whole = slice(0, frame.dimensions[axes["z"]], 1)
    values = read_centred(frame, name, {**line.window, axes["z"]: whole})
    rows, columns = line.window
    return line.sample(values.transpose([order.index(d) for d in (axes["z"], rows, columns)]))


def check_levels(frame: OpenFrame, name: str) -> tuple[dict[str, str], list[str]]:
    """The axes and unstaggered dimensions of a 3-D variable; FrameError for other variables."""
    axes = grid.axes(frame, name)
    order = [unstaggered(dimension, frame) for dimension in frame.variable(name).dimensions]
    if set(axes) != {"x", "y", "z"} or len(order) != 3:
        raise FrameError(_no_levels(frame, name))
    return axes, order


def _no_levels(frame: OpenFrame, name: str) -> str:
    stored = ", ".join(frame.variable(name).dimensions) or "no dimensions"
    return f"{name} is not a 3-D field on this grid (it has {stored})"


def heights(frame: OpenFrame, line: Points, variable: str) -> Vertical:
    """Positions of a variable's levels, in km if the file has heights; FrameError without levels.

    In hPa where it has only pressures. Heights of a sea are shown as depths.
    """
    directions = grid.axes(frame, variable)
    if "z" not in directions:
        raise FrameError(f"{variable} has no levels")
    if directions["z"] != "bottom_top":
        found = vertical.metres(frame, variable, line.window)
        if found is not None:
            levels, ground = (_along(line, of) for of in (found.values, found.ground))
            words = "depth" if found.is_sea else "height"
            ground = None if ground is None else 0.001 * ground[0]
            return Vertical(0.001 * levels, ground, "km", words, down=found.is_sea)
        if vertical.pascals(frame, variable, line.window) is not None:
            return pressures(frame, line, variable)
    stored = vertical.heights(frame, variable, line.window)
    assert stored is not None
    levels = line.sample(stored.z) if stored.z.ndim == 3 else stored.z[:, None] + 0 * line.distance
    if directions["z"] == "bottom_top" and {"PH", "PHB"} <= set(frame.names):
        lowest = {**line.window, "bottom_top_stag": slice(0, 1, 1)}
        face = frame.read("PH", lowest) + frame.read("PHB", lowest)
        ground = line.sample(face[0]) / grid.GRAVITY
        return Vertical(0.001 * levels, 0.001 * ground, "km", "height")
    sign = 1.0 if stored.up else -1.0
    return Vertical(sign * levels, None, stored.units, "level", down=not stored.up)


def check_top(top: float | None, vertical: Vertical, what: str) -> None:
    """RecipeError if an upper end in km is given for levels whose heights are not known."""
    if top is not None and vertical.log:
        raise RecipeError(
            f"{what}: the heights of the levels are not known: vertical = 'pressure' takes a top "
            "in hPa"
        )


def _along(line: Points, values: Array | None) -> Any:
    """Positions (z) or (z, y, x) at the points, as (z, n); (y, x) as (1, n)."""
    if values is None:
        return None
    if values.ndim == 1:
        return values[:, None] + 0 * line.distance
    values = values[None] if values.ndim == 2 else values
    sizes = (len(range(s.start, s.stop, s.step or 1)) for s in line.window.values())
    return line.sample(np.broadcast_to(values, (values.shape[0], *sizes)))


def pressures(frame: OpenFrame, line: Points, variable: str = "") -> Vertical:
    """Pressure of the levels of WRF's mass points, or of another model's variable, in hPa.

    FrameError if a variable for it is missing.
    """
    if variable and "bottom_top" not in frame.dimensions:
        found = vertical.pascals(frame, variable, line.window)
        if found is None:
            raise FrameError(f"the pressure of the levels of {variable} is not known")
        p, below = (_along(line, of) for of in (found.values, found.ground))
        below = None if below is None else below[0] / 100
        return Vertical(p / 100, below, "hPa", "pressure", log=True)
    levels = along(frame, line, "pressure") / 100
    ground = None
    if "PSFC" in frame:
        ground = line.sample(frame.read("PSFC", line.window)) / 100
        # Idealized cases without a surface scheme leave it at 0.
        ground = ground if (ground > levels[0]).all() else None
    return Vertical(levels, ground, "hPa", "pressure", log=True)


def order_of(frame: OpenFrame, name: str) -> tuple[str, ...]:
    """Those of the dimensions along z, y and x that a variable has, unstaggered."""
    directions = grid.axes(frame, name)
    return tuple(directions[d] for d in ("z", "y", "x") if d in directions)


def check_grid(frame: OpenFrame, name: str, order: tuple[str, ...], first: str) -> None:
    """FrameError when a variable is not on the dimensions ``order``, those of ``first``."""
    if order_of(frame, name) != order:
        raise FrameError(
            f"{name} and {first} are not on the same grid: {dimensions_of(frame, name)} "
            f"and {dimensions_of(frame, first)}"
        )


def dimensions_of(frame: OpenFrame, name: str) -> str:
    return "(" + ", ".join(frame.variable(name).dimensions) + ")"
