"""What a volume is read from: variables at the centres of cells, the plane, the heights; and the
mesh that coordinates make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.core.units import convert
from burstlens.viz.geometry import grid, vertical
from burstlens.viz.geometry.around_pole import pole_centred
from burstlens.viz.geometry.c_grid import read_centred
from burstlens.viz.geometry.columns import check_grid, dimensions_of
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.kinds.vtk.facts import Place, Shape
from burstlens.viz.kinds.vtk.options import Coordinates
from burstlens.viz.kinds.vtk.xml_file import Curvilinear, Rectilinear, Uniform
from burstlens.viz.product import ProductFrame
from burstlens.viz.seams import Window

_HEIGHT = "z height"


def read_field(
    frame: ProductFrame, name: str, order: tuple[str, ...], window: Window, first: str
) -> Array:
    """The values at the cell centres as (z, y, x); FrameError when they are not on that grid."""
    check_grid(frame, name, order, first)
    stored = frame.variable(name).dimensions
    values = read_centred(frame, name, {d: window[d] for d in order})
    bases = [unstaggered(d, frame) for d in stored]
    rest = [n for n, base in enumerate(bases) if base not in order]
    if any(values.shape[n] != 1 for n in rest):
        raise FrameError(f"{name} has more than three dimensions: {dimensions_of(frame, name)}")
    values = values.transpose(*rest, *(bases.index(d) for d in order))
    return values.reshape((1,) * (3 - len(order)) + values.shape[len(rest) :])


def read_plane(
    frame: ProductFrame, variable: str, window: Window, coordinates: Coordinates
) -> grid.Plane:
    """The horizontal coordinates that are asked for; FrameError where the frame lacks them.
    ``auto``: the model's plane, of a grid around a pole one that touches the earth there."""
    if coordinates in ("auto", "projection"):
        plane = grid.map_plane(frame, variable, window, centred=True)
        if coordinates == "projection" and plane.geographic:
            raise FrameError(
                "coordinates: the frame has no projection of the model, only longitude and "
                "latitude: use lonlat or sphere"
            )
        return pole_centred(plane) if coordinates == "auto" else plane
    plane = grid.plane(frame, variable, window, centred=True)
    if not plane.geographic:
        raise FrameError(
            f"coordinates: {coordinates} needs longitude and latitude, and the frame has none: "
            "use projection"
        )
    return plane


def read_heights(
    frame: ProductFrame, first: str, window: Window, surface: str | None, order: tuple[str, ...]
) -> tuple[Array, str, str]:
    """Heights upwards, 1-D or as (z, y, x), their unit ("" for the numbers of levels), words; of
    pressures alone, their heights in the standard atmosphere."""
    heights = vertical.heights(frame, first, window)
    if heights is not None and vertical.is_pressure(heights.units):
        known = vertical.metres(frame, first, window)
        if known is not None:
            return known.values, "m", _HEIGHT
        p = convert(heights.z, heights.units, "Pa")
        return vertical.standard_height(p), "m", "z height in the standard atmosphere"
    if heights is not None:
        words = _HEIGHT if heights.units else "z level number"
        return heights.z if heights.up else -heights.z, heights.units, words
    if surface is None:
        return np.zeros(1), "", "z level number"
    z = read_field(frame, surface, order, window, first)
    return np.asarray(convert(z, frame.variable(surface).units, "m")), "m", _HEIGHT


def straight(plane: grid.Plane, z: Array) -> tuple[Rectilinear | Uniform, tuple[int, ...]]:
    """The mesh of 1-D coordinates, and the axes along which arrays are flipped to make these
    increase."""
    axes = {2: plane.x, 1: plane.y, 0: z}
    flips = tuple(n for n, values in axes.items() if values.size > 1 and values[0] > values[-1])
    x, y, z = (values[::-1] if n in flips else values for n, values in axes.items())
    if not all(grid.is_uniform(values) for values in (x, y, z)):
        return Rectilinear(x, y, z), flips
    spacing = tuple(
        float(v[-1] - v[0]) / (v.size - 1) if v.size > 1 else 1.0
        for v in (np.asarray(a, dtype=np.float64) for a in (x, y, z))
    )
    origin = float(x[0]), float(y[0]), float(z[0])
    return Uniform((z.size, y.size, x.size), origin, (spacing[0], spacing[1], spacing[2])), flips


def cut_mesh(mesh: Rectilinear | Uniform, first: Place, shape: Shape) -> Rectilinear | Uniform:
    """The part of a mesh that begins at its point ``first`` and has ``shape`` points. The origin of
    a uniform one stays that of the whole, as VTK wants it of pieces."""
    if isinstance(mesh, Uniform):
        return replace(mesh, shape=shape)
    z, y, x = (slice(n, n + size) for n, size in zip(first, shape, strict=True))
    return Rectilinear(mesh.x[x], mesh.y[y], mesh.z[z])


def curvilinear(plane: grid.Plane, z: Array) -> Curvilinear:
    """The mesh of any coordinates, in the heights' own type where these are a field of the file."""
    x, y = (plane.x, plane.y) if plane.x.ndim == 2 else (plane.x[None, :], plane.y[:, None])
    kind = z.dtype if z.ndim == 3 else np.result_type(x, y, z)
    z = z if z.ndim == 3 else z[:, None, None]
    points = np.empty((z.shape[0], y.shape[0], x.shape[1], 3), dtype=kind)
    for n, values in enumerate((x, y, z)):
        points[..., n] = values
    return Curvilinear(points)


def cut_plane(plane: grid.Plane, axis: int, points: slice) -> grid.Plane:
    """The plane of some points along an axis (0, 1, 2: z, y, x)."""
    if axis == 0:
        return plane
    if plane.x.ndim == 2:
        index = (points,) if axis == 1 else (slice(None), points)
        return replace(plane, x=plane.x[index], y=plane.y[index])
    name = "y" if axis == 1 else "x"
    return replace(plane, **{name: getattr(plane, name)[points]})
