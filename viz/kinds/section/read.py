"""The fields of a vertical section: read in the window that holds it, then taken along it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.diagnostic import check_needs
from burstlens.viz.drawing.maps.layers import Contours
from burstlens.viz.geometry.columns import Vertical, along, check_top, heights, pressures
from burstlens.viz.geometry.field import finite_range
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.transect import Transect
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.kinds.section.route import route
from burstlens.viz.product import ProductFrame


@dataclass(frozen=True, slots=True)
class Slice:
    """A field along a section: values as (level, point), NaN where there is none."""

    name: str
    long_name: str
    units: str
    values: Array

    def extent(self) -> tuple[float, float]:
        """The smallest and the largest finite value."""
        return finite_range(self.values)


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


def read_sections(options: SectionOptions, frame: ProductFrame) -> Sections:
    """Read what the options name, each variable in the window of the section alone.

    FrameError when a variable is missing or has no levels, when an end lies outside of the domain
    and when all values are NaN; RecipeError when units do not convert.
    """
    line = route(options, frame)
    field = _slice(frame, line, options.variable, options.units)
    if not np.isfinite(field.values).any():
        raise FrameError(f"{options.variable}: all values along the section are NaN")
    if options.vertical == "pressure":
        vertical = pressures(frame, line, options.variable)
    else:
        vertical = heights(frame, line, options.variable)
        check_top(options.top, vertical, "section")
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


def _slice(frame: ProductFrame, line: Transect, name: str, units: str | None) -> Slice:
    found = frame.variable(name)
    values = along(frame, line, name)
    if units:
        values = found.converted(values, units)
    return Slice(name, found.words, units or found.units, values)


def _wind(frame: ProductFrame, line: Transect, how: str) -> Wind:
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
