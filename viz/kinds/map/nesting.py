"""Nests on their parent's map: where each one lies, and what its own finer grid holds there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from burstlens.core import valid_time
from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.derived import choosing, open_frame
from burstlens.viz.drawing import style
from burstlens.viz.drawing.maps.reach import corners, extent
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.around_pole import pole_centred
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import Field, read_field
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.projection import nest_corner
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import ProductFrame

_MASS = ("south_north", "west_east")
_HORIZONTAL = frozenset({*_MASS, "west_east_stag", "south_north_stag", "x", "y", "lat", "lon"})

Corners = dict[int, tuple[float, float]]
"""By GRID_ID: metres along x and y of a domain's corner, on a plane that is not on the earth."""


@dataclass(frozen=True, slots=True)
class Nested:
    """A nest on its parent's map.

    ``border`` runs around its cells, (n, 2) in the units of the parent's plane; None where that
    is not known. ``shown`` holds its own values on the parent's plane, None when they are not
    shown. ``facts`` are for the index: what is there, and why something is missing.
    """

    label: str
    facts: Mapping[str, Any]
    border: NDArray[np.float64] | None = None
    shown: Field | None = None


def read_nests(options: MapOptions, frame: ProductFrame, parent: Plane) -> tuple[Nested, ...]:
    """The nests that the options name by their streams, on the map of their parent's plane.

    A nest that has no frame yet, or whose frame cannot be read, has no border, and its facts say
    so: the parent's map is made without it. A frame of an earlier time than the parent's gives
    the border, and no field.
    """
    names = [nest for nest in options.nests if isinstance(nest, str)]
    if not names:
        return ()
    parent = pole_centred(parent)
    attributes = frame.attributes
    origin = tuple(nest_corner(attributes, base) for base in reversed(_MASS))
    known: Corners = {int(attributes.get("GRID_ID", 1)): (origin[0], origin[1])}
    return tuple(_read(name, options, frame, parent, known) for name in names)


def draw_nests(axes: Axes, nests: Sequence[Nested]) -> None:
    """Add the border of each nest, with its name in the upper left corner."""
    for nest in nests:
        if nest.border is None:
            continue
        x, y = nest.border.T
        axes.plot(x, y, color="white", lw=2.4, alpha=0.6, solid_joinstyle="round")
        axes.plot(x, y, color=style.INK, lw=1.2, solid_joinstyle="round")
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        if x.max() < left or x.min() > right or y.max() < bottom or y.min() > top:
            continue
        upper_left = np.argmax(y - x)
        corner = max(float(x[upper_left]), left), min(float(y[upper_left]), top)
        axes.annotate(
            nest.label, corner, (3, -3), textcoords="offset points", va="top", fontsize=8.5,
            color=style.INK, family=style.FONT, parse_math=False, bbox=style.LABEL,
        )  # fmt: skip


def _read(
    name: str, options: MapOptions, frame: ProductFrame, parent: Plane, known: Corners
) -> Nested:
    newest = frame.beside.get(name)
    if newest is None:
        return Nested(name, {"stream": name, "missing": "it has no frame yet"})
    facts: dict[str, Any] = {"stream": name, "time": newest.time}
    nested = Nested(name, facts)
    try:
        with open_frame(
            newest.paths, newest.record, stream=newest.stream, time=newest.time
        ) as stored:
            inner = choosing(stored, options.crop.index)
            whole = _domain(inner)
            on_earth = whole.projection is not None or parent.projection is not None
            shift = (0.0, 0.0) if on_earth else _shift(inner, known)
            plane = onto(_shifted(whole, shift), parent)
            facts["extent"] = list(extent(plane, 0.0)[0])
            nested = replace(nested, border=_border(plane))
            if newest.time != frame.time:
                facts["missing"] = f"its newest frame is of {valid_time.label(newest.time)}"
                return replace(nested, label=f"{name}, of {valid_time.label(newest.time)}")
            if options.nest_fields:
                own = _field(inner, options)
                own = replace(own, plane=onto(_shifted(own.plane, shift), parent))
                facts["min"], facts["max"] = own.extent()
                nested = replace(nested, shown=own)
    except (FrameError, RecipeError) as error:
        facts["missing"] = str(error)
    return nested


def onto(plane: Plane, target: Plane) -> Plane:
    """A plane's points on another plane: x and y stay 1-D where rows and columns are straight.
    FrameError when one of the two is on the earth and the other is not."""
    if plane.projection == target.projection:
        return plane
    if plane.projection is None or target.projection is None:
        raise FrameError("of the nest and the map one has a projection and the other has none")

    def there(x: grid.Array, y: grid.Array) -> tuple[grid.Array, grid.Array]:
        lon, lat = plane.projection.inverse(x, y)  # type: ignore[union-attr]
        return target.projection.forward(lon, lat)  # type: ignore[union-attr]

    def moved(x: grid.Array, y: grid.Array) -> Plane:
        return replace(target, x=x, y=y, goes_around=False)

    if plane.x.ndim == 1 and min(plane.x.size, plane.y.size) > 1:
        # Two planes of one kind may differ by a shift alone.
        edges = [there(plane.x, np.full_like(plane.x, y)) for y in plane.y[[0, -1]]]
        sides = [there(np.full_like(plane.y, x), plane.y) for x in plane.x[[0, -1]]]
        ends = Plane(np.stack([x for x, _ in edges]), np.stack([y for _, y in edges]), "")
        across = Plane(np.stack([x for x, _ in sides], 1), np.stack([y for _, y in sides], 1), "")
        if grid.separated(ends).x.ndim == grid.separated(across).x.ndim == 1:
            return moved(edges[0][0], sides[0][1])
    x, y = np.meshgrid(plane.x, plane.y) if plane.x.ndim == 1 else (plane.x, plane.y)
    return grid.separated(moved(*there(x, y)))


def _domain(frame: ProductFrame) -> Plane:
    """The plane of all cell centres of a WRF domain. FrameError when the file has none."""
    flat = (n for n in frame.names if frame.variable(n).dimensions == _MASS)
    deep = (n for n in frame.names if set(_MASS) <= set(frame.variable(n).dimensions))
    name = next(chain(flat, deep), None)
    if name is None:
        raise FrameError(f"{frame} has no field on the dimensions {', '.join(_MASS)}")
    return grid.separated(grid.map_plane(frame, name, {}))


def _shift(inner: ProductFrame, known: Corners) -> tuple[float, float]:
    """How far a nest has to be moved on a plane that is not on the earth, by I_PARENT_START and
    J_PARENT_START: the parent's cell, from 1, in which the nest begins."""
    attributes = inner.attributes
    own, outer = int(attributes.get("GRID_ID", 0)), int(attributes.get("PARENT_ID", 0))
    if outer not in known:
        raise FrameError(
            f"it lies in d{outer:02d}, which is not on this map: name that one before it"
        )
    ratio = int(attributes.get("PARENT_GRID_RATIO", 1))
    shift, corner = [], []
    sides = (("I", "DX", "west_east"), ("J", "DY", "south_north"))
    for at, (letter, spacing, base) in enumerate(sides):
        start = int(attributes.get(f"{letter}_PARENT_START", 1))
        corner.append(known[outer][at] + (start - 1) * ratio * float(attributes[spacing]))
        shift.append(corner[at] - nest_corner(attributes, base))
    known[own] = corner[0], corner[1]
    return shift[0], shift[1]


def _shifted(plane: Plane, shift: tuple[float, float]) -> Plane:
    return replace(plane, x=plane.x + shift[0], y=plane.y + shift[1])


def _field(inner: ProductFrame, options: MapOptions) -> Field:
    """The map's field on the nest's whole domain; of the crop only the level is used."""
    index = {name: at for name, at in options.crop.index.items() if name not in _HORIZONTAL}
    range_ = {name: at for name, at in options.crop.range.items() if name not in _HORIZONTAL}
    crop = Crop(index=index, range=range_)
    return read_field(inner, options.variable, level=options.level, crop=crop, units=options.units)


def _border(plane: Plane) -> NDArray[np.float64]:
    x, y = corners(plane)
    if x.ndim == 1:
        x, y = np.meshgrid(x[[0, -1]], y[[0, -1]])
    around = [np.concatenate([v[0, :-1], v[:-1, -1], v[-1, :0:-1], v[::-1, 0]]) for v in (x, y)]
    return np.stack(around, axis=1).astype(np.float64)
