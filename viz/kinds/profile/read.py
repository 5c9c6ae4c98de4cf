"""Vertical profiles: the values of a column, or the means of an area level by level."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.viz.drawing.maps.graticule import latitude, longitude
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.columns import Points, Vertical, along, check_top, heights, pressures
from burstlens.viz.geometry.crop import resolve
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.transect import spot
from burstlens.viz.kinds.profile.options import ProfileOptions
from burstlens.viz.product import ProductFrame

_SPREAD = 5, 95
"""Percentiles between which the band of an area's values lies."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One variable from the lowest level upwards, (n); ``spread`` is that of an area's values,
    ``levels`` are as on the axis: km or hPa, depths with the sign turned."""

    name: str
    long_name: str
    units: str
    levels: Array
    values: Array
    spread: tuple[Array, Array] | None


@dataclass(frozen=True, slots=True)
class Profiles:
    """All panels of a picture, the axis that they share, and where they are, in words."""

    profiles: tuple[Profile, ...]
    vertical: Vertical
    where: str


@dataclass(frozen=True, slots=True)
class _Area:
    """All points of a window, one after the other."""

    window: dict[str, slice]
    distance: Array

    def sample(self, values: Array) -> Array:
        """Values (..., y, x) as (..., y x)."""
        return values.reshape(*values.shape[:-2], -1)


def read_profiles(options: ProfileOptions, frame: ProductFrame) -> Profiles:
    """Read what the options name: the four columns around a point, else those of the crop.

    FrameError when a variable is missing, has no levels or no finite value, when the point is
    outside of the domain, and when variables lie on heights and others on depths or numbers.
    """
    found: list[Profile] = []
    shared: Vertical | None = None
    # Heights of a large domain take longer to read than a variable: they are read once per grid.
    known: dict[tuple[str, str], Vertical] = {}
    for name in options.variables:
        points, where = _points(options, frame, name)
        try:
            values = along(frame, points, name)
            key = str(points.window), grid.axes(frame, name)["z"]
            if key not in known:
                read_levels = pressures if options.vertical == "pressure" else heights
                known[key] = read_levels(frame, points, name)
            vertical = known[key]
            if options.vertical == "height":
                check_top(options.top, vertical, "profile")
        except FrameError as error:
            raise type(error)(f"profile: {error}") from error
        if vertical.levels.shape[0] != values.shape[0]:
            raise FrameError(f"profile: {name} is not on the levels of pressure: use heights")
        if not np.isfinite(values).any():
            raise FrameError(f"profile: all values of {name} are NaN")
        if values.shape[0] < 2:
            raise FrameError(f"profile: {name} has one level")
        if shared is not None and (shared.units, shared.down) != (vertical.units, vertical.down):
            raise FrameError(f"profile: {name} is not on the levels of {found[0].name}")
        shared = shared or vertical
        about = frame.variable(name)
        units = options.units.get(name, about.units)
        if units != about.units:
            values = about.converted(values, units)
        found.append(_profile(name, about.words, units, vertical, values))
    assert shared is not None
    return Profiles(tuple(found), shared, where)


def _points(options: ProfileOptions, frame: ProductFrame, name: str) -> tuple[Points, str]:
    if options.at is not None:
        point = spot(frame, name, options.at, "profile: the point")
        if point.lat is None or point.lon is None:
            return point, f"at {options.at}"
        lat, lon = (round(float(of[0]), 2) for of in (point.lat, point.lon))
        return point, f"{latitude(lat)} {longitude(lon)}"
    x, y = grid.horizontal_dimensions(frame, name, centred=True)
    window = resolve(options.crop, frame, name)
    kept = {dimension: window[dimension] for dimension in (y, x)}
    counts = [len(range(*kept[d].indices(frame.dimensions[d]))) for d in (x, y)]
    area = _Area(kept, np.zeros(counts[0] * counts[1]))
    return area, f"mean of {counts[0]} × {counts[1]} columns"


def _profile(name: str, long_name: str, units: str, vertical: Vertical, values: Array) -> Profile:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a level without a value is NaN
        levels = np.asarray(np.nanmean(vertical.levels, axis=1))
        middle = np.asarray(np.nanmean(values, axis=1, dtype=np.float64))
        spread = None
        if values.shape[1] > 1:
            low, high = (np.asarray(np.nanpercentile(values, part, axis=1)) for part in _SPREAD)
            spread = low, high
    rises = levels[-1] > levels[0]
    order = slice(None, None, -1 if rises == vertical.log else 1)
    ordered = None if spread is None else (spread[0][order], spread[1][order])
    return Profile(name, long_name, units, levels[order], middle[order], ordered)
