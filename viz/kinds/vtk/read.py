"""Several variables of a frame on one mesh, cropped: what a VTK file holds, and a scene shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.core.units import convert
from burstlens.viz.diagnostics import earth
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.columns import check_grid, order_of
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.staggering import unstaggered, with_faces
from burstlens.viz.kinds.vtk.coordinates import (
    curvilinear,
    cut_mesh,
    cut_plane,
    read_field,
    read_heights,
    read_plane,
    straight,
)
from burstlens.viz.kinds.vtk.facts import Place, Shape
from burstlens.viz.kinds.vtk.options import Coordinates, WindVector
from burstlens.viz.kinds.vtk.split import Part
from burstlens.viz.kinds.vtk.volume import EARTH_CENTRED, WIND, Volume
from burstlens.viz.kinds.vtk.xml_file import Curvilinear, Mesh, Rectilinear, Uniform
from burstlens.viz.product import ProductFrame


def open_box(
    frame: ProductFrame, names: tuple[str, ...], crop: Crop, *,
    simplest: bool, coordinates: Coordinates = "auto", exaggeration: float = 1.0,
    wind: WindVector | None = None, surface: str | None = None,
    units: Mapping[str, str] = MappingProxyType({}),
) -> Box:  # fmt: skip
    """The crop of several variables, to be read as a whole or in parts.

    ``units`` are the requested ones, by variable; the others keep the file's.
    ``simplest`` takes the simplest mesh that holds the coordinates, else it is curvilinear.
    ``surface`` is a 2-D variable in metres on which 2-D variables lie, at 0 otherwise. A depth
    (CF ``positive = "down"``) becomes a negative height, so that the picture stands upright.
    Raises FrameError when a variable is missing or on another grid than the first, and when the
    frame does not have the coordinates that are asked for.
    """
    first = names[0] if names else (wind or WindVector()).u
    order = order_of(frame, first)
    window = resolve(crop, frame, first)
    for name in names:
        check_grid(frame, name, order, first)
    plane = read_plane(frame, first, window, coordinates)
    box = Box(frame, names, wind, units, surface, order, window, plane, coordinates, exaggeration)
    if not simplest or coordinates == "sphere" or plane.x.ndim == 2:
        return box
    column = replace(box, window=box.cut(1, slice(0, 1))).cut(2, slice(0, 1))
    z = box.heights(column)[0]
    return box if z.ndim == 3 else replace(box, straight=straight(plane, z))


@dataclass(frozen=True, slots=True)
class Box:
    """The part of a frame that a volume shows, see :func:`open_box`: its values are yet to be read.

    ``straight`` is the mesh of the whole where its coordinates are 1-D and may be written as such,
    and the axes along which arrays are flipped to make these increase.
    """

    frame: ProductFrame
    names: tuple[str, ...]
    wind: WindVector | None
    units: Mapping[str, str]
    surface: str | None
    order: tuple[str, ...]
    window: Mapping[str, slice]
    plane: grid.Plane
    coordinates: Coordinates
    exaggeration: float
    straight: tuple[Rectilinear | Uniform, tuple[int, ...]] | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """The variables, with those of the wind."""
        of = self.wind
        return self.names if of is None else (*self.names, of.u, of.v, of.w)

    @property
    def points(self) -> tuple[range, range, range]:
        """The points in the file along z, y and x; one of those that it does not have."""
        along = [range(1)] * 3
        for axis, dimension in enumerate(self.order, 3 - len(self.order)):
            part = self.window[dimension]
            along[axis] = range(part.start, part.stop, part.step)
        return along[0], along[1], along[2]

    @property
    def shape(self) -> Shape:
        """The number of points as (z, y, x)."""
        z, y, x = (len(points) for points in self.points)
        return z, y, x

    def shape_of(self, part: Part) -> Shape:
        """The number of a part's points as (z, y, x)."""
        shape = list(self.shape)
        shape[part.axis] = part.stop - part.first
        return shape[0], shape[1], shape[2]

    def first_of(self, part: Part) -> Place:
        """Where a part begins in the mesh of the whole, as (z, y, x)."""
        first = [0, 0, 0]
        is_flipped = self._is_flipped(part)
        first[part.axis] = self.shape[part.axis] - part.stop if is_flipped else part.first
        return first[0], first[1], first[2]

    def whole(self) -> Part:
        """All of it as a part."""
        rows = self.shape[1]
        return Part(1, 0, rows, rows)

    def corner(self) -> Volume:
        """Its first point alone, for what all points have in common: types, units, words."""
        plane = cut_plane(cut_plane(self.plane, 1, slice(0, 1)), 2, slice(0, 1))
        ends = {d: slice(self.window[d].start, self.window[d].start + 1, 1) for d in self.order}
        one = replace(self, plane=plane, window=ends, straight=None)
        volume = one.read(one.whole())
        return volume if self.straight is None else replace(volume, mesh=self.straight[0])

    def has_integers(self) -> bool:
        """Whether a variable is stored as integers."""
        return any(
            self._at_centres(n, {d: slice(s.start, s.start + 1) for d, s in self.window.items()})
            .dtype.kind != "f" for n in self.names
        )  # fmt: skip

    def read(self, part: Part | None = None) -> Volume:
        """The whole, or a part that equals the whole's there, bit for bit.

        In a part integers become float64: whether the whole has missing ones, which are NaN, is
        not known. Raises FrameError as :meth:`.OpenFrame.read`, and when a variable of the whole is
        all NaN.
        """
        frame, cut = self.frame, part or self.whole()
        window = self.cut(cut.axis, cut.points)
        plane = cut_plane(self.plane, cut.axis, cut.points)
        arrays: dict[str, Array] = {}
        for name in self.names:
            values = self._at_centres(name, window)
            if part is None and values.dtype.kind == "f" and not np.isfinite(values).any():
                raise FrameError(f"{name}: all values are NaN")
            whole_type = part is None or values.dtype.kind == "f"
            arrays[name] = values if whole_type else values.astype(np.float64)
        units = {name: self.units.get(name, frame.variable(name).units) for name in self.names}
        arrays = {
            name: frame.variable(name).converted(values, units[name])
            for name, values in arrays.items()
        }
        long_names = {name: frame.variable(name).words for name in self.names}
        long_names[WIND] = "wind speed"
        z, z_units, words = self.heights(window)
        if self.wind is not None:
            of = self.wind
            parts = [self._at_centres(n, window) for n in (of.u, of.v, of.w)]
            u, v, w = (one.astype(np.result_type(one, np.float32), copy=False) for one in parts)
            if plane.geographic != (of.relative_to == "earth"):
                u, v = earth.turn(u, v, frame, window, plane, to_earth=plane.geographic)
            arrays[WIND] = np.stack([u, v, w], axis=-1)
            units[WIND] = frame.variable(of.u).units
        mesh: Mesh
        if self.coordinates == "sphere":
            mesh = Curvilinear(earth.points(plane, z))
            if self.wind is not None:
                arrays[WIND] = earth.vectors(plane, arrays[WIND])
        elif self.straight is not None:
            mesh = cut_mesh(self.straight[0], self.first_of(cut), self.shape_of(cut))
            flips = self.straight[1]
            arrays = {name: np.flip(values, flips) for name, values in arrays.items()}
        else:
            mesh = curvilinear(plane, z)
        own, count = [slice(None)] * 3, cut.own - cut.first
        own[cut.axis] = slice(cut.stop - cut.own, None) if self._is_flipped(cut) else slice(count)
        return Volume(
            mesh, arrays, units, words, self.plane, z_units, self.exaggeration, long_names,
            self.shape, self.first_of(cut), tuple(own),
        )  # fmt: skip

    def heights(self, window: Mapping[str, slice]) -> tuple[Array, str, str]:
        """Heights as the mesh has them, 1-D or as (z, y, x), their units, and what x, y and z are,
        in words."""
        z, units, words = read_heights(self.frame, self.reads[0], window, self.surface, self.order)
        if self.coordinates == "sphere":
            z = convert(z, units, "m") if units not in ("m", "") else z
            return z * self.exaggeration, "m", EARTH_CENTRED
        z = z if self.exaggeration == 1 else z * z.dtype.type(self.exaggeration)
        plane = self.plane
        across = (
            "x longitude, y latitude (degrees)" if plane.geographic else f"x, y ({plane.units})"
        )
        return z, units, f"{across}, {words} ({units or 'from 0'})"

    def cut(self, axis: int, points: slice) -> dict[str, slice]:
        """The slices of some points along an axis, with those of the faces."""
        kept = {d: s for d, s in self.window.items() if unstaggered(d, self.frame) == d}
        if self.order[axis - 3 :]:
            some = self.points[axis][points]
            kept[self.order[axis - 3]] = slice(some.start, some.stop, some.step)
        return with_faces(kept, self.frame)

    def _is_flipped(self, part: Part) -> bool:
        return self.straight is not None and part.axis in self.straight[1]

    def _at_centres(self, name: str, window: Mapping[str, slice]) -> Array:
        return read_field(self.frame, name, self.order, window, self.reads[0])
