"""Columns over points on the ground: values on all levels, and positions of the levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.destaggered import read_centred
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.seams import OpenFrame

Array = NDArray[Any]


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
    return _sampled(line, values, order, axes["z"])


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


def _sampled(line: Points, values: Array, order: list[str], z: str) -> Array:
    rows, columns = line.window
    return line.sample(values.transpose([order.index(name) for name in (z, rows, columns)]))


def heights(frame: OpenFrame, line: Points, variable: str) -> Vertical:
    """Positions of a variable's levels, in km if the file says so; FrameError without levels."""
    found = grid.heights(frame, variable, line.window)
    if found is None:
        raise FrameError(f"{variable} has no levels")
    levels = line.sample(found.z) if found.z.ndim == 3 else found.z[:, None] + 0 * line.distance
    factor = {"m": 0.001, "km": 1.0}.get(found.units)
    ground = None
    if {"PH", "PHB"} <= set(frame.names) and "bottom_top" in grid.axes(frame, variable).values():
        lowest = {**line.window, "bottom_top_stag": slice(0, 1, 1)}
        face = frame.read("PH", lowest) + frame.read("PHB", lowest)
        ground = 0.001 * line.sample(face[0]) / grid.GRAVITY
    units, words = ("km", "height" if found.up else "depth") if factor else (found.units, "level")
    sign = 1.0 if found.up else -1.0
    return Vertical(sign * levels * (factor or 1.0), ground, units, words, down=not found.up)


def pressures(frame: OpenFrame, line: Points) -> Vertical:
    """Pressure of WRF's mass levels, in hPa. FrameError if a variable for it is missing."""
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
