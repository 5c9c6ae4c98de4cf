"""The extent of a map: the edges of its cells, its surroundings, the domains inside it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.core.lengths import metres
from burstlens.viz.drawing.maps.graticule import Extent
from burstlens.viz.drawing.maps.layers import Nest
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.field import Field
from burstlens.viz.geometry.plane_cache import PlaneCache
from burstlens.viz.geometry.projection import EARTH_RADIUS_M
from burstlens.viz.geometry.sphere_cells import SphereCells

_kept = PlaneCache[Extent](lambda _: 0)


def extent(plane: grid.Plane, margin_km: float) -> tuple[Extent, float]:
    """Edges (left, right, bottom, top) half a cell beyond the points; height of a unit of y.

    FrameError if a margin is requested and the plane has no unit of length.
    """
    box = _box(plane) if plane.x.ndim == 1 else _kept.get(plane, lambda: _box(plane))
    return widened(box, plane, margin_km)


def _box(plane: grid.Plane) -> Extent:
    if plane.goes_around:
        return _once_around(plane)
    ends = [(x.min(), x.max(), y.min(), y.max()) for _, x, y in corner_bands(plane)]
    left, right, bottom, top = np.array(ends).T
    return float(left.min()), float(right.max()), float(bottom.min()), float(top.max())


def _once_around(plane: grid.Plane) -> Extent:
    """All longitudes, from the seam, and the latitudes of the cells."""
    ends = [(y.min(), y.max()) for _, _, y in corner_bands(plane)]
    low, high = max(min(low for low, _ in ends), -90.0), min(max(high for _, high in ends), 90.0)
    poles = SphereCells(plane.x, plane.y).find([0.0, 0.0], [-90.0, 90.0]) >= 0
    low, high = -90.0 if poles[0] else low, 90.0 if poles[1] else high
    middle = plane.projection.centre if plane.projection else 0.0
    return middle - 180, middle + 180, float(low), float(high)


def widened(box: Extent, plane: grid.Plane, margin_km: float) -> tuple[Extent, float]:
    """A box of the plane with a margin on each side; height of a unit of y, as :func:`extent`."""
    left, right, bottom, top = box
    shrink = 1.0
    if plane.geographic:
        shrink = max(math.cos(math.radians((bottom + top) / 2)), 0.05)
    if margin_km:
        unit = math.radians(EARTH_RADIUS_M) if plane.geographic else metres(plane.units)
        if unit is None:
            raise FrameError("margin_km: the frame's coordinates are neither lengths nor degrees")
        margin = margin_km * 1e3 / unit
        left, right = left - margin / shrink, right + margin / shrink
        bottom, top = bottom - margin, top + margin
        if plane.geographic:
            bottom, top = max(bottom, -90.0), min(top, 90.0)
    return (left, right, bottom, top), 1 / shrink


def outlines(
    field: Field, plane: grid.Plane, nests: tuple[Nest | str, ...], margin_km: float
) -> tuple[tuple[str, Extent], ...]:
    """Names and extents of fixed nests, and of the domain if its surroundings are shown."""
    fixed = [nest for nest in nests if isinstance(nest, Nest)]
    inner = tuple((nest.name, _nest_extent(nest, field)) for nest in fixed)
    own = (("", extent(plane, 0.0)[0]),) if margin_km and plane.x.ndim == 1 else ()
    return own + inner


def _nest_extent(nest: Nest, field: Field) -> Extent:
    """The extent of a nest on its parent's plane. FrameError if that has no straight rows.

    The parent's cell ``i_parent_start`` (from 1) is the nest's first one.
    """
    plane = grid.separated(field.plane)
    if plane.x.ndim != 1 or min(plane.x.size, plane.y.size) < 2:
        raise FrameError("nests: the grid that is shown has no straight rows and columns")
    ends = []
    for points, first, step, start, end in (
        (plane.x, field.first[1], field.step[1], nest.i_parent_start, nest.e_we),
        (plane.y, field.first[0], field.step[0], nest.j_parent_start, nest.e_sn),
    ):
        cell = float(points[1] - points[0]) / step
        low = float(points[0]) + (start - 1 - first - 0.5) * cell
        ends += [low, low + (end - 1) / nest.parent_grid_ratio * cell]
    return ends[0], ends[1], ends[2], ends[3]


def corners(plane: grid.Plane) -> tuple[grid.Array, grid.Array]:
    """The corners of the cells, 1-D or 2-D like the plane."""
    if plane.x.ndim == 1:
        cell_x, cell_y = (float(abs(v[1] - v[0])) if v.size > 1 else 0 for v in (plane.x, plane.y))
        return _edges(plane.x, 0, cell_x or cell_y or 1), _edges(plane.y, 0, cell_y or cell_x or 1)
    return _edges(_edges(plane.x, 1), 0), _edges(_edges(plane.y, 1), 0)


def corner_bands(
    plane: grid.Plane, at_once: int = 1 << 18
) -> Iterator[tuple[int, grid.Array, grid.Array]]:
    """The corners a few rows of cells at a time, with the first of these rows: all at once, if the
    plane has 1-D coordinates. Each band begins with the corners that the one before ends with."""
    if plane.x.ndim == 1:
        yield 0, *corners(plane)
        return
    rows, columns = plane.x.shape
    step = max(1, at_once // columns)
    for begin in range(0, rows, step):
        end = min(begin + step, rows)
        near = slice(max(0, begin - 1), min(rows, end + 1))  # corners lie half-way
        x, y = corners(replace(plane, x=plane.x[near], y=plane.y[near]))
        kept = slice(begin - near.start, begin - near.start + end - begin + 1)
        yield begin, x[kept], y[kept]


def _edges(points: grid.Array, axis: int, cell: float = 1.0) -> grid.Array:
    """Edges of cells half-way between points, and half a cell beyond the first and last.

    A single point has a cell of the size ``cell``.
    """
    points = np.asarray(points, dtype=np.float64)
    first, last = np.take(points, [0], axis), np.take(points, [-1], axis)
    if points.shape[axis] < 2:
        return np.concatenate([first - cell / 2, last + cell / 2], axis=axis)
    middle = grid.to_centres(points, axis)
    before = 2 * first - np.take(middle, [0], axis)
    after = 2 * last - np.take(middle, [-1], axis)
    return np.concatenate([before, middle, after], axis=axis)
