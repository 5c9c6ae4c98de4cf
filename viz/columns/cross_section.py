"""The fields of a vertical section: read in the window that holds it, then taken along it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from burstlens.errors import FrameError, RecipeError
from burstlens.viz import grid
from burstlens.viz.columns.route import route
from burstlens.viz.columns.section import SectionOptions
from burstlens.viz.columns.transect import Transect
from burstlens.viz.crop import unstaggered
from burstlens.viz.destaggered import read_centred
from burstlens.viz.diagnostics.diagnostic import check_needs
from burstlens.viz.frame import FrameReader
from burstlens.viz.maps.layers import Contours
from burstlens.viz.units import convert

Array = NDArray[Any]


class Points(Protocol):
    """Points of a grid over which columns are read: of a line, or of an area."""

    @property
    def window(self) -> dict[str, slice]:
        """The part of the file that holds them."""

    @property
    def distance(self) -> Array:
        """How far each is from the first, (n)."""

    def sample(self, values: Array) -> Array:
        """Values (..., y, x) of the window at the points, as (..., n)."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A field along a section: values as (level, point), NaN where there is none."""

    name: str
    long_name: str
    units: str
    values: Array

    def extent(self) -> tuple[float, float]:
        """The smallest and the largest finite value."""
        finite = self.values[np.isfinite(self.values)]
        return float(finite.min()), float(finite.max())


@dataclass(frozen=True, slots=True)
class Vertical:
    """Where the levels are: km, or hPa with ``log``, as (level, point), upwards.

    ``ground`` is that of the surface at each point, None where the file does not tell. ``down``:
    ``levels`` are depths with the sign turned.
    """

    levels: Array
    ground: Array | None
    units: str
    words: str
    log: bool = False
    down: bool = False


@dataclass(frozen=True, slots=True)
class Wind:
    """Along the section and upwards in m s-1, or towards the right and upwards in knots."""

    across: Array
    up: Array


@dataclass(frozen=True, slots=True)
class Sections:
    """All that the picture of one frame shows."""

    line: Transect
    vertical: Vertical
    field: Slice
    contours: tuple[tuple[Contours, Slice], ...]
    wind: Wind | None


def read_sections(options: SectionOptions, frame: FrameReader) -> Sections:
    """Read what the options name, each variable in the window of the section alone.

    FrameError when a variable is missing or has no levels, when an end lies outside of the domain
    and when all values are NaN; RecipeError when units do not convert.
    """
    line = route(options, frame)
    field = _slice(frame, line, options.variable, options.units)
    if not np.isfinite(field.values).any():
        raise FrameError(f"{options.variable}: all values along the section are NaN")
    if options.vertical == "pressure":
        vertical = pressures(frame, line)
    else:
        vertical = heights(frame, line, options.variable)
    lines = options.contours if isinstance(options.contours, tuple) else (options.contours,)
    contours = []
    for asked in lines:
        try:
            contours.append((asked, _slice(frame, line, asked.variable, asked.units)))
        except (FrameError, RecipeError) as error:
            raise type(error)(f"contours: {error}") from error
    wind = None if options.wind is None else _wind(frame, line, options.wind)
    levels = {found.name: found.values.shape[0] for found in (field, *(s for _, s in contours))}
    levels |= {} if wind is None else {"the wind": wind.up.shape[0]}
    if set(levels.values()) != {vertical.levels.shape[0]}:
        counts = ", ".join(f"{name} has {count}" for name, count in levels.items())
        raise FrameError(f"section: not all is on the same levels: {counts}")
    if vertical.levels.shape[0] < 2:
        raise FrameError(f"section: {field.name} has one level, and a section needs two and more")
    return _upwards(Sections(line, vertical, field, tuple(contours), wind))


def _slice(frame: FrameReader, line: Transect, name: str, units: str | None) -> Slice:
    found = frame.variable(name)
    values = along(frame, line, name)
    if units:
        values = convert(values, found.units, units)
    return Slice(name, found.long_name, units or found.units, values)


def along(frame: FrameReader, line: Points, name: str) -> Array:
    """The values (level, point) of a 3-D variable; FrameError when it has no levels there."""
    axes, order = check_levels(frame, name)
    if not set(line.window) <= set(order):
        raise FrameError(_no_levels(frame, name))
    whole = slice(0, frame.dimensions[axes["z"]], 1)
    values = read_centred(frame, name, {**line.window, axes["z"]: whole})
    return _sampled(line, values, order, axes["z"])


def check_levels(frame: FrameReader, name: str) -> tuple[dict[str, str], list[str]]:
    """The axes and the unstaggered dimensions of a 3-D variable; FrameError when it is none."""
    axes = grid.axes(frame, name)
    order = [unstaggered(dimension, frame) for dimension in frame.variable(name).dimensions]
    if set(axes) != {"x", "y", "z"} or len(order) != 3:
        raise FrameError(_no_levels(frame, name))
    return axes, order


def _no_levels(frame: FrameReader, name: str) -> str:
    stored = ", ".join(frame.variable(name).dimensions) or "no dimensions"
    return f"{name} is no field of levels on this grid (it has {stored})"


def _sampled(line: Points, values: Array, order: list[str], z: str) -> Array:
    rows, columns = line.window
    return line.sample(values.transpose([order.index(name) for name in (z, rows, columns)]))


def heights(frame: FrameReader, line: Points, variable: str) -> Vertical:
    """Where the levels of a variable are, in km where the file tells; FrameError without levels."""
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


def pressures(frame: FrameReader, line: Points) -> Vertical:
    """Where WRF's mass levels are, in hPa. FrameError when what pressure needs is not there."""
    levels = along(frame, line, "pressure") / 100
    ground = None
    if "PSFC" in frame:
        ground = line.sample(frame.read("PSFC", line.window)) / 100
        # Idealized cases without a surface scheme leave it 0.
        ground = ground if (ground > levels[0]).all() else None
    return Vertical(levels, ground, "hPa", "pressure", log=True)


def _wind(frame: FrameReader, line: Transect, how: str) -> Wind:
    if how == "barbs":
        u, v = (along(frame, line, name) for name in ("u_earth", "v_earth"))
        knots = 3600 / 1852
        return Wind(u * knots, v * knots)
    check_needs(frame, "the wind along a section", ("U", "V", "W"))
    u, v, w = (along(frame, line, name) for name in ("U", "V", "W"))
    return Wind(u * line.ahead[0] + v * line.ahead[1], w)


def _upwards(found: Sections) -> Sections:
    """The same with the lowest level first."""
    levels = found.vertical.levels
    rises = np.nanmean(levels[-1]) > np.nanmean(levels[0])
    if rises != found.vertical.log:
        return found

    def turned(one: Slice) -> Slice:
        return replace(one, values=one.values[::-1])

    wind = found.wind
    return replace(
        found,
        vertical=replace(found.vertical, levels=levels[::-1]),
        field=turned(found.field),
        contours=tuple((asked, turned(one)) for asked, one in found.contours),
        wind=None if wind is None else Wind(wind.across[::-1], wind.up[::-1]),
    )
