"""``grid-<hash>.js``: where the points of values lie, one file for all pictures on the same grid.

Planes with straight rows and columns have two axes, and, where these are not longitude and
latitude, a coarse mesh of both with its greatest error. Of other planes the file holds the point
that each pixel of the picture shows, and the points' longitudes and latitudes, by which places are
looked up. docs/values.md describes the fields.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.drawing.maps.reach import corners
from burstlens.viz.geometry.grid import Plane, is_uniform
from burstlens.viz.geometry.plane_cache import digest_arrays
from burstlens.viz.geometry.projection import EARTH_RADIUS_M, Projection
from burstlens.viz.geometry.sphere import angle, bilinear, vectors
from burstlens.viz.geometry.sphere_cells import Ends, SphereCells
from burstlens.viz.values import blocks
from burstlens.viz.values.cells import Array, cells_facts
from burstlens.viz.values.lookup import FORMAT, NO_POINT

_MESH = (3, 5, 9, 17, 33, 65, 129)
_MESH_SHARE = 0.02
"""The mesh's error, as a part of the distance between points, below which it is fine enough."""
_CACHED = 8
"""Grids kept by a worker: their scripts, by what they were made of."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of a plane: all its points, and the edges of the first and last cell.

    ``log``: lengths on the picture go by the logarithm of the coordinate. ``dimension``, ``first``
    and ``step`` are the file's, for the numbers of its grid points; empty where there are none.
    """

    points: Array
    edges: tuple[float, float]
    name: str
    units: str
    log: bool = False
    dimension: str = ""
    first: int = 0
    step: int = 1

    def thinned(self, stride: int) -> Axis:
        """Every ``stride``-th point; the edges stay."""
        return replace(self, points=self.points[::stride], step=self.step * stride)

    def facts(self) -> dict[str, Any]:
        """As JSON values."""
        points = np.asarray(self.points, np.float64)
        found: dict[str, Any] = {"name": self.name, "units": self.units, "n": points.size}
        if not self.log and points.size > 1 and is_uniform(points):
            step = (points[-1] - points[0]) / (points.size - 1)
            found |= {"start": float(points[0]), "step": float(step)}
        else:
            found["points"] = [float(f"{at:.9g}") for at in points]
        found["edges"] = [float(edge) for edge in self.edges]
        if self.log:
            found["log"] = True
        if self.dimension:
            found |= {"dimension": self.dimension, "index": [int(self.first), int(self.step)]}
        return found


@dataclass(frozen=True, slots=True)
class GridScript:
    """A grid file: its hash, and the script's text."""

    hash: str
    text: bytes = field(repr=False)


def axes_grid(
    x: Axis, y: Axis, projection: Projection | None, along: Mapping[str, Array] | None = None
) -> GridScript:
    """The grid of two axes, ``y`` from the top of the picture.

    ``along`` are ``lon`` and ``lat`` of each point of x, for a section.
    """
    digest = digest_arrays(x.points, y.points, *(along or {}).values())
    key = ("axes", digest, _words(x), _words(y), along is None, projection)

    def make() -> dict[str, Any]:
        facts: dict[str, Any] = {"kind": "axes", "x": x.facts(), "y": y.facts()}
        if along is not None:
            facts["along"] = {
                name: [round(float(at), 5) for at in found] for name, found in along.items()
            }
        elif projection is not None and projection.units == "degrees":
            facts["geographic"] = True
        elif projection is not None:
            facts["mesh"] = _mesh(x, y, projection)
        return facts

    return _kept(key, make)


def pixel_grid(
    plane: Plane, extent: Sequence[float], size: tuple[int, int], stride: int,
    rows: Axis, columns: Axis,
) -> GridScript:  # fmt: skip
    """The grid of a plane whose rows and columns are not straight.

    ``extent`` (left, right, bottom, top) is shown by ``size`` (width, height) pixels; ``rows`` and
    ``columns`` give the numbers of the file's grid points, thinned by ``stride``.
    """
    key = ("pixels", digest_arrays(plane.x[::stride, ::stride], plane.y[::stride, ::stride]),
           plane.x.shape, tuple(extent), size, stride, _words(rows), _words(columns),
           plane.projection, plane.goes_around)  # fmt: skip

    def make() -> dict[str, Any]:
        shown = _pixels(plane, extent, size, stride)
        on_earth = {} if plane.projection is None else _on_earth(plane, extent, stride)
        encoder = blocks.Encoder()
        for part in shown:
            encoder.add(part)
        return {
            "kind": "pixels",
            "geographic": plane.geographic,
            "units": plane.units,
            "extent": [float(end) for end in extent],
            "width": size[0],
            "height": size[1],
            "block": blocks.BLOCK,
            "x": _numbers(columns) | {"edges": [float(end) for end in extent[:2]]},
            "y": _numbers(rows) | {"edges": [float(end) for end in extent[:1:-1]]},
            "stream": base64.b64encode(encoder.finish()).decode(),
            **on_earth,
        }

    return _kept(key, make)


def _on_earth(plane: Plane, extent: Sequence[float], stride: int) -> dict[str, Any]:
    """Where the points lie on the earth and, of a projected plane, the mesh of its pixels."""
    assert plane.projection is not None
    lon, lat = plane.projection.inverse(plane.x[::stride, ::stride], plane.y[::stride, ::stride])
    found: dict[str, Any] = {}
    if min(lon.shape) > 1:
        found["cells"] = cells_facts(lon, lat, _ends(plane.x.shape, stride))
    if not plane.geographic:
        left, right, bottom, top = (float(end) for end in extent)
        across = Axis(np.linspace(left, right, lon.shape[1]), (left, right), "x", plane.units)
        down = Axis(np.linspace(top, bottom, lon.shape[0]), (top, bottom), "y", plane.units)
        found["mesh"] = _mesh(across, down, plane.projection)
    return found


def _ends(shape: tuple[int, ...], stride: int) -> Ends:
    """How far the cells of every ``stride``-th point reach before the first and after the last."""
    (rows, columns) = ((0.5 / stride, ((size - 1) % stride + 0.5) / stride) for size in shape)
    return rows, columns


def _numbers(axis: Axis) -> dict[str, Any]:
    index = [int(axis.first), int(axis.step)]
    return {"n": int(axis.points.size), "dimension": axis.dimension, "index": index}


def _pixels(
    plane: Plane, extent: Sequence[float], size: tuple[int, int], stride: int
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Row and column of the point that each pixel shows, as (height, width)."""
    from matplotlib.collections import QuadMesh

    from burstlens.viz.drawing.picture import blank

    x, y = (_thinned_corners(edges, stride) for edges in corners(plane))
    rows, columns = x.shape[0] - 1, x.shape[1] - 1
    number = np.arange(1, rows * columns + 1).reshape(rows, columns)
    colours = np.stack([number >> 16 & 255, number >> 8 & 255, number & 255], axis=-1) / 255.0
    figure = blank(*size, 72.0, "black")
    axes = figure.add_axes((0, 0, 1, 1), xlim=extent[:2], ylim=extent[2:], autoscale_on=False)
    axes.set_axis_off()
    mesh: Any = QuadMesh(np.stack([x, y], axis=-1), antialiased=False)
    mesh.set_facecolor(colours.reshape(-1, 3))
    axes.add_collection(mesh, autolim=False)
    canvas: Any = figure.canvas
    canvas.draw()
    shown = np.asarray(canvas.buffer_rgba())[..., :3].astype(np.uint32)
    found = (shown[..., 0] << 16 | shown[..., 1] << 8 | shown[..., 2]).astype(np.int64) - 1
    outside = (found < 0) | (found >= number.size)
    if plane.goes_around:
        found = _on_sphere(plane, extent, size, stride, np.where(outside, -1, found))
        outside = found < 0
    row, column = (part.astype(np.uint16) for part in np.divmod(found, columns))
    row[outside] = column[outside] = NO_POINT
    return row, column


def _on_sphere(
    plane: Plane, extent: Sequence[float], size: tuple[int, int], stride: int, guess: Array
) -> Array:
    """The cells of pixels as they lie on the sphere, not on the plane of degrees."""
    left, right, bottom, top = extent
    (width, height), (x, y) = size, (plane.x[::stride, ::stride], plane.y[::stride, ::stride])
    if min(x.shape) < 2:
        return guess
    lon = left + (np.arange(width) + 0.5) / width * (right - left)
    lat = top - (np.arange(height) + 0.5) / height * (top - bottom)
    return SphereCells(x, y, _ends(plane.x.shape, stride)).find(*np.meshgrid(lon, lat), guess=guess)


def _thinned_corners(edges: Array, stride: int) -> Array:
    """Corners of the cells of every ``stride``-th point: half-way to the next one that is kept,
    the outer ones at the edge of the field."""
    for axis in (0, 1):
        count = edges.shape[axis] - 1
        points = np.arange(0, count, stride)
        at = np.concatenate([[0.0], 0.5 * (points[1:] + points[:-1]) + 0.5, [float(count)]])
        low, high = np.floor(at).astype(int), np.ceil(at).astype(int)
        edges = 0.5 * (np.take(edges, low, axis) + np.take(edges, high, axis))
    return edges


def _mesh(x: Axis, y: Axis, projection: Projection) -> dict[str, Any]:
    """Longitudes and latitudes on as many nodes as needed, row by row from the top.

    The error is that of the nodes as written. Where an edge of the earth crosses the plane (a
    satellite's disc), no number of nodes covers all of it: places in cells that it crosses have no
    point.
    """
    apart = [abs(float(one.points[-1] - one.points[0])) / max(1, one.points.size - 1)
             for one in (x, y) if one.points.size > 1]  # fmt: skip
    near = _MESH_SHARE * min(apart, default=0.0) / 1e3
    digits = _digits(near)
    for count in _MESH:
        at_x, at_y = np.meshgrid(np.linspace(*x.edges, count), np.linspace(*y.edges, count))
        lon, lat = (np.round(at, digits) for at in projection.inverse(at_x, at_y))
        nodes = vectors(lon, lat)
        error, covered = 0.0, True
        for shift in ((0.5, 0.5), (0.5, 0.0), (0.0, 0.5)):
            middles = (np.arange(count - 1) + part for part in shift)
            rows, columns = np.meshgrid(*middles, indexing="ij")
            between = bilinear(nodes, rows, columns)
            true = vectors(*projection.inverse(
                np.interp(columns, np.arange(count), np.linspace(*x.edges, count)),
                np.interp(rows, np.arange(count), np.linspace(*y.edges, count)),
            ))  # fmt: skip
            away = angle(between, true) * EARTH_RADIUS_M / 1e3
            error = max(error, float(np.nanmax(away, initial=0.0)))
            covered &= not (np.isfinite(true[..., 0]) & np.isnan(away)).any()
        if covered and error <= near:
            break
    rounded = float(f"{error:.3g}")
    return {"n": count, "lon": _degrees(lon), "lat": _degrees(lat), "error_km": rounded}


def _digits(near_km: float) -> int:
    """Decimal digits of degrees whose rounding is small beside that distance; 5 are a metre."""
    return 5 if near_km <= 0 else min(max(5, math.ceil(-math.log10(near_km / 111.0)) + 1), 12)


def _degrees(values: Array) -> list[float | None]:
    return [float(at) if np.isfinite(at) else None for at in values.ravel()]


def _words(axis: Axis) -> tuple[Any, ...]:
    return (axis.edges, axis.name, axis.units, axis.log, axis.dimension, axis.first, axis.step)


_scripts: OrderedDict[object, GridScript] = OrderedDict()


def _kept(key: object, make: Callable[[], Mapping[str, Any]]) -> GridScript:
    """The script for what the key says; made at its first use."""
    script = _scripts.get(key)
    if script is None:
        text = json.dumps({"format": FORMAT, **make()}, separators=(",", ":"), allow_nan=False)
        text = text.replace("<", "\\u003c")
        name = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        script = _scripts[key] = GridScript(name, f"burstlensFeed({text});\n".encode())
    _scripts.move_to_end(key)
    while len(_scripts) > _CACHED:
        _scripts.popitem(last=False)
    return script
