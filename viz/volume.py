"""Several variables of a frame on one mesh, cropped: what a VTK file holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.errors import FrameError
from burstlens.viz import grid
from burstlens.viz.crop import Crop, resolve, unstaggered
from burstlens.viz.destaggered import read_centred
from burstlens.viz.frame import FrameReader
from burstlens.viz.units import convert
from burstlens.viz.vtk_file import Curvilinear, Mesh, Rectilinear, Uniform

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Volume:
    """``arrays`` as (z, y, x) on ``mesh``, with their ``units``.

    ``coordinates`` says in words what x, y and z are.
    """

    mesh: Mesh
    arrays: Mapping[str, Array]
    units: Mapping[str, str]
    coordinates: str

    def facts(self) -> dict[str, Any]:
        """Shape, coordinates, and range, mean and NaN count of each variable, as JSON values."""
        variables = {}
        for name, values in self.arrays.items():
            low, high = float(values.min()), float(values.max())
            missing = 0
            if not np.isfinite([low, high]).all():
                finite = values[np.isfinite(values)]
                missing = int(values.size - finite.size)
                low, high = float(finite.min()), float(finite.max())
            variables[name] = {"units": self.units[name], "min": low, "max": high, "nan": missing}
        return {
            "shape": list(self.mesh.shape),
            "coordinates": self.coordinates,
            "variables": variables,
        }


def read_volume(
    frame: FrameReader,
    names: tuple[str, ...],
    crop: Crop,
    *,
    simplest: bool,
    model_plane: bool,
    units: Mapping[str, str] = MappingProxyType({}),
) -> Volume:
    """Read the crop of each variable at the cell centres, and the coordinates of these.

    ``units`` are those that are asked for, by variable; else they are the file's.
    ``simplest`` takes the simplest mesh that holds the coordinates, else it is curvilinear.
    ``model_plane``: metres on the model's plane instead of longitude and latitude. A depth
    (CF ``positive = "down"``) becomes a negative height, so that the picture stands upright.
    Raises FrameError when a variable is missing, all NaN or on another grid than the first.
    """
    first = names[0]
    directions = grid.axes(frame, first)
    order = tuple(directions[d] for d in ("z", "y", "x") if d in directions)
    window = resolve(crop, frame, first)
    arrays: dict[str, Array] = {}
    for name in names:
        mine = grid.axes(frame, name)
        if tuple(mine[d] for d in ("z", "y", "x") if d in mine) != order:
            raise FrameError(
                f"{name} and {first} are not on the same grid: {_dimensions(frame, name)} "
                f"and {_dimensions(frame, first)}"
            )
        values = _centred(frame, name, order, window)
        if values.dtype.kind == "f" and not np.isfinite(values).any():
            raise FrameError(f"{name}: all values are NaN")
        arrays[name] = values
    stored = {name: frame.variable(name).units for name in names}
    units = {name: units.get(name, stored[name]) for name in names}
    arrays = {name: convert(values, stored[name], units[name]) for name, values in arrays.items()}
    if model_plane:
        plane = grid.model_plane(frame, first, window)
        lonlat = grid.plane(frame, first, window, centred=True)
        if lonlat.geographic:
            arrays |= _as_arrays(lonlat, arrays[first].shape)
            units |= {"longitude": "degrees_east", "latitude": "degrees_north"}
    else:
        plane = grid.plane(frame, first, window, centred=True)
    heights = grid.heights(frame, first, window)
    if heights is None:
        heights = grid.Heights(np.zeros(1), "")
    z = heights.z if heights.up else -heights.z
    mesh, flips = _mesh(plane, z, simplest)
    arrays = {name: np.flip(values, flips) if flips else values for name, values in arrays.items()}
    horizontal = (
        "x longitude, y latitude (degrees)" if plane.geographic else f"x, y ({plane.units})"
    )
    vertical = "z height" if heights.units else "z level number"
    return Volume(mesh, arrays, units, f"{horizontal}, {vertical} ({heights.units or 'from 0'})")


def _centred(frame: FrameReader, name: str, order: tuple[str, ...], window: Any) -> Array:
    """The values at the cell centres as (z, y, x)."""
    stored = frame.variable(name).dimensions
    values = read_centred(frame, name, {d: window[d] for d in order})
    bases = [unstaggered(d, frame) for d in stored]
    rest = [n for n, base in enumerate(bases) if base not in order]
    if any(values.shape[n] != 1 for n in rest):
        raise FrameError(f"{name} has more than three dimensions: {_dimensions(frame, name)}")
    values = values.transpose(*rest, *(bases.index(d) for d in order))
    return values.reshape((1,) * (3 - len(order)) + values.shape[len(rest) :])


def _mesh(plane: grid.Plane, z: Array, simplest: bool) -> tuple[Mesh, tuple[int, ...]]:
    """The mesh, and the axes along which arrays are flipped to make coordinates increase."""
    if plane.x.ndim == 2 or z.ndim == 3 or not simplest:
        return Curvilinear(_points(plane, z)), ()
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


def _points(plane: grid.Plane, z: Array) -> Array:
    """Points as (z, y, x, 3), in the heights' own type where these are a field of the file."""
    x, y = (plane.x, plane.y) if plane.x.ndim == 2 else (plane.x[None, :], plane.y[:, None])
    kind = z.dtype if z.ndim == 3 else np.result_type(x, y, z)
    z = z if z.ndim == 3 else z[:, None, None]
    points = np.empty((z.shape[0], y.shape[0], x.shape[1], 3), dtype=kind)
    for n, values in enumerate((x, y, z)):
        points[..., n] = values
    return points


def _as_arrays(lonlat: grid.Plane, shape: tuple[int, ...]) -> dict[str, Array]:
    x, y = (lonlat.x, lonlat.y) if lonlat.x.ndim == 2 else (lonlat.x[None], lonlat.y[:, None])
    return {
        "longitude": np.ascontiguousarray(np.broadcast_to(x, shape)),
        "latitude": np.ascontiguousarray(np.broadcast_to(y, shape)),
    }


def _dimensions(frame: FrameReader, name: str) -> str:
    return "(" + ", ".join(frame.variable(name).dimensions) + ")"
