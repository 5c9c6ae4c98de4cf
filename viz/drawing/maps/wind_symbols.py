"""Winds over a map: barbs, vectors or streamlines, turned as the map's plane needs them.

Barbs: half a feather 5, a feather 10, a flag 50 knots, feathers on the low-pressure side, which is
the other side south of the equator (WMO-No. 485, Manual on the GDPFS, attachment II.4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.patches import Rectangle
from matplotlib.patheffects import AbstractPathEffect, withStroke
from matplotlib.transforms import IdentityTransform

from burstlens.core.errors import FrameError
from burstlens.core.units import conversion, printed
from burstlens.viz.diagnostics import velocity
from burstlens.viz.drawing import style
from burstlens.viz.drawing.legend import LegendEntry, Sign
from burstlens.viz.drawing.maps.isolines import pixels_of
from burstlens.viz.drawing.maps.layers import Wind, components_of
from burstlens.viz.drawing.maps.meanings import barbs_entry, flow_words
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.c_grid import read_at_centres
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.field import Field, one_level_of, read_field
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.staggering import STAGGERED
from burstlens.viz.seams import OpenFrame

Symbols = Literal["barbs", "vectors", "streamlines"]
_HALO: list[AbstractPathEffect] = [withStroke(linewidth=1.6, foreground="white", alpha=0.55)]


@dataclass(frozen=True, slots=True)
class WindField:
    """Components along x and y of ``plane``, as (y, x), in ``units``; ``how`` they are shown, and
    ``words`` for what they are."""

    how: Symbols
    asked: Wind
    u: Array
    v: Array
    plane: grid.Plane
    units: str
    words: str = "wind"

    @property
    def entry(self) -> LegendEntry:
        """Its line in a legend."""
        colour = self.asked.colour
        if self.how == "barbs":
            return barbs_entry(self.words, colour)
        if self.how == "streamlines":
            return LegendEntry(f"streamlines: {self.words}", sign=Sign("stream", colour, 0.8))
        text = ", ".join(part for part in (f"arrows: {self.words}", printed(self.units)) if part)
        return LegendEntry(text, sign=Sign("arrow", colour, 1.2))


def read_wind(frame: OpenFrame, how: Symbols, asked: Wind, crop: Crop) -> WindField:
    """Read both components at the cell centres and turn them to the map's plane.

    Components along WRF's grid are those of its own projection; on a plane of longitude and
    latitude they are turned by COSALPHA and SINALPHA (WRF Users' Guide, "Postprocessing":
    U cosα - V sinα eastward, V cosα + U sinα northward), those of other models as
    :func:`.turned_to_earth` does. Raises FrameError when a component is missing or both are not on
    one grid, RecipeError if a unit is not one of speed.
    """
    asked = components_of(frame, asked)
    # Thinned for the picture, not by the crop's stride, which does not fit staggered points.
    dense = replace(crop, stride=1)
    on_wrf = "west_east" in frame.dimensions
    u_values, v_values, plane, to_earth = (_wrfs if on_wrf else _others)(frame, asked, dense)
    units = frame.variable(asked.u).units
    if how == "barbs":
        factor, _ = conversion(units, "kn")
        u_values, v_values = u_values * factor, v_values * factor
    if to_earth and plane.projection is not None and not plane.geographic:
        x, y = np.meshgrid(plane.x, plane.y) if plane.x.ndim == 1 else (plane.x, plane.y)
        north = plane.projection.north(x, y)
        cos, sin = np.cos(north), np.sin(north)
        u_values, v_values = u_values * cos + v_values * sin, v_values * cos - u_values * sin
    level = "" if asked.level is None else f"level {asked.level}"
    words = flow_words(frame.variable(asked.u), frame.variable(asked.v), level)
    return WindField(how, asked, u_values, v_values, plane, units, words)


def _wrfs(frame: OpenFrame, asked: Wind, crop: Crop) -> tuple[Array, Array, grid.Plane, bool]:
    """WRF's components, their plane, and whether they are eastward and northward."""
    u, v = (_centred(frame, name, asked.level, crop) for name in (asked.u, asked.v))
    if u.values.shape != v.values.shape:
        raise FrameError(
            f"{asked.u} {u.values.shape} and {asked.v} {v.values.shape} are not on the same grid"
        )
    to_earth = asked.relative_to == "earth"
    if not to_earth and u.plane.geographic and "COSALPHA" in frame:
        cos, sin = (
            read_field(frame, name, level=None, crop=crop, units=None).values
            for name in ("COSALPHA", "SINALPHA")
        )
        return u.values * cos - v.values * sin, v.values * cos + u.values * sin, u.plane, True
    return u.values, v.values, u.plane, to_earth


def _others(frame: OpenFrame, asked: Wind, crop: Crop) -> tuple[Array, Array, grid.Plane, bool]:
    """The components of another model, likewise: averaged from the faces of the cells."""
    of = velocity.pair(frame, asked.u, asked.v)
    to_earth = of.to_earth if asked.relative_to is None else asked.relative_to == "earth"
    like = velocity.placed_like(frame, of)
    window = resolve(crop, frame, like)
    x, y = grid.horizontal_dimensions(frame, like)
    part = {dimension: window[dimension] for dimension in (y, x)}
    both = []
    for name in (asked.u, asked.v):
        level, _ = one_level_of(frame, name, asked.level, resolve(_whole(crop), frame, name))
        inside = {d: s for d, s in level.items() if d in velocity.beside(frame, name)}
        dimensions = velocity.dimensions(frame, of)
        values = read_at_centres(frame, name, part | inside)
        axes = [dimensions.index(d) for d in (y, x)]
        others = [n for n in range(values.ndim) if n not in axes]
        if any(values.shape[n] != 1 for n in others):
            raise FrameError(f"{name} has more than two dimensions: crop the others to one index")
        both.append(values.transpose(*others, *axes).reshape([values.shape[n] for n in axes]))
    u, v = both
    plane = grid.map_plane(frame, like, window)
    if plane.geographic and not to_earth:
        u, v = velocity.turned_to_earth(frame, like, u, v, part)
        to_earth = True
    return u, v, plane, to_earth


def _whole(crop: Crop) -> Crop:
    """The crop's indices and ranges of levels alone: faces do not lie where centres do."""
    level = {name: ends for name, ends in crop.range.items() if name in ("z", "level")}
    return Crop(index=crop.index, range=level)


def draw_wind(axes: Axes, wind: WindField) -> None:
    """Add the symbols to the axes at the requested spacing."""
    spacing = wind.asked.spacing_px * axes.figure.dpi / 100
    if wind.how == "streamlines":
        _streamlines(axes, wind, spacing)
        return
    rows, columns = wind.u.shape
    wide, tall = pixels_of(axes, wind.plane)
    part = _thinned(rows, tall / spacing), _thinned(columns, wide / spacing)
    points = (wind.plane.x, wind.plane.y)
    points = points if points[0].ndim == 2 else np.meshgrid(*points, copy=False)
    x, y = (along[part] for along in points)
    u, v = wind.u[part], wind.v[part]
    whole = np.isfinite(u) & np.isfinite(v)
    x, y, u, v = x[whole], y[whole], u[whole], v[whole]
    if not x.size:
        return
    if wind.how == "barbs":
        south: Any = False
        if wind.plane.projection is not None:
            south = wind.plane.projection.inverse(x, y)[1] < 0
        barbs = axes.barbs(
            x, y, u, v, length=5.4, linewidth=0.7, color=wind.asked.colour, flip_barb=south,
            sizes={"emptybarb": 0.12}, zorder=3,
        )  # fmt: skip
        # A light edge, for dark fields; as a path effect it would take many times as long.
        edge = PathCollection(
            barbs.get_paths(), barbs.get_sizes(), offsets=barbs.get_offsets(),
            offset_transform=axes.transData, fc="none", ec="white", lw=2.2, alpha=0.85, zorder=2.9,
        )  # fmt: skip
        edge.set_transform(IdentityTransform())
        axes.add_collection(edge, autolim=False)
        return
    reference = wind.asked.reference or _round(float(np.percentile(np.hypot(u, v), 99)))
    drawn = axes.quiver(
        x, y, u, v, color=wind.asked.colour, angles="uv", scale_units="dots", pivot="mid",
        scale=reference / (0.9 * spacing), units="dots", width=max(1.0, spacing / 24),
        path_effects=_HALO,
    )  # fmt: skip
    point = axes.figure.dpi / 72
    width, height = axes.bbox.width, axes.bbox.height
    box = Rectangle(
        (1 - (spacing + 64 * point) / width, 8 * point / height), (spacing + 56 * point) / width,
        18 * point / height, transform=axes.transAxes, fc="white", ec="none", alpha=0.8, zorder=5,
    )  # fmt: skip
    axes.add_patch(box)
    axes.quiverkey(
        drawn, 1 - (12 * point + spacing) / width, 17 * point / height, reference,
        f"{reference:g} {printed(wind.units)}", labelpos="W", labelsep=0.06, coordinates="axes",
        fontproperties={"family": style.FONT, "size": 8}, zorder=6,
    )  # fmt: skip


def _streamlines(axes: Axes, wind: WindField, spacing: float) -> None:
    plane = grid.separated(wind.plane)
    if min(wind.u.shape) < 2 or not (grid.is_uniform(plane.x) and grid.is_uniform(plane.y)):
        raise FrameError(
            "streamlines need two or more rows and columns, equally spaced; use barbs or vectors"
        )
    lines = tuple(max(1.0, pixels / spacing) for pixels in pixels_of(axes, plane))
    # Four points between lines carry all that a streamline can show.
    step_y, step_x = (
        max(1, int(size / (4 * number)))
        for size, number in zip(wind.u.shape, lines[::-1], strict=True)
    )
    rows = slice(None, None, step_y if plane.y[0] < plane.y[-1] else -step_y)
    u, v = (np.ma.masked_invalid(a[rows, ::step_x]) for a in (wind.u, wind.v))
    if plane.geographic:
        # A metre is more degrees of longitude than of latitude, and lines are traced in degrees.
        u = u / np.maximum(np.cos(np.radians(plane.y[rows])), 0.01)[:, None]
    drawn = axes.streamplot(
        _even(plane.x[::step_x]), _even(plane.y[rows]), u, v, color=wind.asked.colour,
        density=(lines[0] / 30, lines[1] / 30), linewidth=0.8, arrowsize=0.8,
    )  # fmt: skip
    drawn.lines.set_path_effects(_HALO)


def _centred(frame: OpenFrame, name: str, level: int | None, crop: Crop) -> Field:
    """A component at the cell centres: WRF's U and V are averaged from the faces."""
    field = read_field(frame, name, level=level, crop=crop, units=None)
    values, plane = field.values, field.plane
    for axis, dimension in enumerate(field.dimensions):
        if not dimension.endswith(STAGGERED):
            continue
        values = grid.to_centres(values, axis)
        if plane.x.ndim == 2:
            x, y = grid.to_centres(plane.x, axis), grid.to_centres(plane.y, axis)
        else:
            x = grid.to_centres(plane.x, 0) if axis == 1 else plane.x
            y = grid.to_centres(plane.y, 0) if axis == 0 else plane.y
        plane = replace(plane, x=x, y=y)
    return replace(field, values=values, plane=plane)


def _thinned(size: int, wanted: float) -> slice:
    step = max(1, round(size / max(wanted, 1.0)))
    return slice(min(step // 2, size - 1), None, step)


def _even(values: Array) -> Array:
    """The same coordinates without float32's unevenness, which streamplot refuses."""
    return np.linspace(float(values[0]), float(values[-1]), values.size)


def _round(value: float) -> float:
    """1, 2 or 5 times a power of ten, near to the value; 1 for a calm."""
    if not value > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(min((1, 2, 5, 10), key=lambda n: abs(n * power - value)) * power)
