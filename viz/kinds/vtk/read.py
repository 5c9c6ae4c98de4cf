"""Several variables of a frame on one mesh, cropped: what a VTK file holds, and a scene shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.core.units import convert
from burstlens.viz.diagnostics import earth
from burstlens.viz.geometry import grid, vertical
from burstlens.viz.geometry.columns import check_grid, dimensions_of, order_of
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.destaggered import read_centred
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.kinds.vtk.options import Coordinates, WindVector
from burstlens.viz.kinds.vtk.xml_file import Curvilinear, Mesh, Rectilinear, Uniform
from burstlens.viz.product import ProductFrame
from burstlens.viz.seams import Window

Array = NDArray[Any]
WIND = "wind"
"""What the vectors are called in the file."""
_HEIGHT = "z height"
_EARTH_CENTRED = "x, y, z from the centre of the earth (m), x to 0° E, z to the north pole"


@dataclass(frozen=True, slots=True)
class Volume:
    """``arrays`` as (z, y, x) on ``mesh``, with their ``units``; a vector has one more axis of 3.

    ``coordinates`` says in words what x, y and z are; ``plane`` is the one that x and y are taken
    from, ``height_units`` those of heights ("" for the numbers of levels). Heights are
    ``exaggeration`` times as high as they are.
    """

    mesh: Mesh
    arrays: Mapping[str, Array]
    units: Mapping[str, str]
    coordinates: str
    plane: grid.Plane
    height_units: str
    exaggeration: float
    long_names: Mapping[str, str]

    @property
    def points(self) -> Array:
        """The points of a curvilinear mesh, as (z, y, x, 3); ValueError for another one."""
        if not isinstance(self.mesh, Curvilinear):
            raise ValueError("the mesh is not curvilinear")
        return self.mesh.points

    @property
    def projection(self) -> str | None:
        """The PROJ string of the plane that x and y are on; None where there is none."""
        plane = self.plane
        return plane.projection.definition if plane.projection and not plane.geographic else None

    @property
    def axes(self) -> tuple[tuple[str, str], ...]:
        """Names and units of x, y and z; none where they are from the centre of the earth."""
        if self.coordinates == _EARTH_CENTRED:
            return ()
        across = ("longitude", "latitude") if self.plane.geographic else ("x", "y")
        height = "height" if self.height_units else "level"
        return (*((name, self.plane.units) for name in across), (height, self.height_units))

    def facts(self) -> dict[str, Any]:
        """Shape, coordinates; words, units, range and NaN count of each variable, as JSON values.

        The range of a vector is that of its length.
        """
        variables = {}
        for name, values in self.arrays.items():
            if values.ndim == 4:
                values = np.sqrt(np.einsum("...i,...i", values, values))
            low, high = float(values.min()), float(values.max())
            missing = 0
            if not np.isfinite([low, high]).all():
                finite = values[np.isfinite(values)]
                missing = int(values.size - finite.size)
                low, high = float(finite.min()), float(finite.max())
            variables[name] = {
                "long_name": self.long_names.get(name, ""), "units": self.units[name],
                "min": low, "max": high, "nan": missing,
            }  # fmt: skip
        return {
            "shape": list(self.mesh.shape),
            "coordinates": self.coordinates,
            "axes": [list(axis) for axis in self.axes],
            "projection": self.projection,
            "exaggeration": self.exaggeration,
            "variables": variables,
        }


def read_volume(
    frame: ProductFrame,
    names: tuple[str, ...],
    crop: Crop,
    *,
    simplest: bool,
    coordinates: Coordinates = "auto",
    exaggeration: float = 1.0,
    wind: WindVector | None = None,
    surface: str | None = None,
    units: Mapping[str, str] = MappingProxyType({}),
) -> Volume:
    """Read the crop of each variable at the cell centres, and the coordinates of these.

    ``units`` are the requested ones, by variable; the others keep the file's.
    ``simplest`` takes the simplest mesh that holds the coordinates, else it is curvilinear.
    ``surface`` is a 2-D variable in metres on which 2-D variables lie, at 0 otherwise. A depth
    (CF ``positive = "down"``) becomes a negative height, so that the picture stands upright.
    Raises FrameError when a variable is missing, all NaN or on another grid than the first, and
    when the frame does not have the coordinates that are asked for.
    """
    first = names[0] if names else (wind or WindVector()).u
    order = order_of(frame, first)
    window = resolve(crop, frame, first)
    arrays: dict[str, Array] = {}
    for name in names:
        values = _on_grid(frame, name, order, window, first)
        if values.dtype.kind == "f" and not np.isfinite(values).any():
            raise FrameError(f"{name}: all values are NaN")
        arrays[name] = values
    stored = {name: frame.variable(name).units for name in names}
    units = {name: units.get(name, stored[name]) for name in names}
    arrays = {name: convert(values, stored[name], units[name]) for name, values in arrays.items()}
    long_names = {name: frame.variable(name).long_name for name in names} | {WIND: "wind speed"}
    plane = _plane(frame, first, window, coordinates)
    z, z_units, vertical_words = _heights(frame, first, window, surface, order)
    if wind is not None:
        parts = [_on_grid(frame, n, order, window, first) for n in (wind.u, wind.v, wind.w)]
        u, v, w = (part.astype(np.result_type(part, np.float32), copy=False) for part in parts)
        east_north = plane.geographic
        if east_north != (wind.relative_to == "earth"):
            u, v = earth.turn(u, v, frame, window, to_earth=east_north)
        arrays[WIND] = np.stack([u, v, w], axis=-1)
        units[WIND] = frame.variable(wind.u).units
    if coordinates == "sphere":
        if z_units not in ("m", ""):
            z = convert(z, z_units, "m")
        globe = Curvilinear(earth.points(plane, z * exaggeration))
        if wind is not None:
            arrays[WIND] = earth.vectors(plane, arrays[WIND])
        return Volume(
            globe, arrays, units, _EARTH_CENTRED, plane, "m", exaggeration, long_names
        )  # fmt: skip
    z = z if exaggeration == 1 else z * z.dtype.type(exaggeration)
    mesh, flips = _mesh(plane, z, simplest)
    arrays = {name: np.flip(values, flips) if flips else values for name, values in arrays.items()}
    horizontal = (
        "x longitude, y latitude (degrees)" if plane.geographic else f"x, y ({plane.units})"
    )
    words = f"{horizontal}, {vertical_words} ({z_units or 'from 0'})"
    return Volume(mesh, arrays, units, words, plane, z_units, exaggeration, long_names)


def _plane(
    frame: ProductFrame, variable: str, window: Window, coordinates: Coordinates
) -> grid.Plane:
    """The horizontal coordinates that are asked for; FrameError where the frame lacks them."""
    if coordinates in ("auto", "projection"):
        plane = grid.map_plane(frame, variable, window, centred=True)
        if coordinates == "projection" and plane.geographic:
            raise FrameError(
                "coordinates: the frame has no projection of the model, only longitude and "
                "latitude: use lonlat or sphere"
            )
        return plane
    plane = grid.plane(frame, variable, window, centred=True)
    if not plane.geographic:
        raise FrameError(
            f"coordinates: {coordinates} needs longitude and latitude, and the frame has none: "
            "use projection"
        )
    return plane


def _heights(
    frame: ProductFrame, first: str, window: Window, surface: str | None, order: tuple[str, ...]
) -> tuple[Array, str, str]:
    """Heights upwards, 1-D or as (z, y, x), their unit ("" for the numbers of levels), words.

    Where there are only pressures: their heights in the standard atmosphere.
    """
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
    z = _on_grid(frame, surface, order, window, first)
    return np.asarray(convert(z, frame.variable(surface).units, "m")), "m", _HEIGHT


def _on_grid(
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
