"""Several variables of a frame on one mesh, cropped: what a VTK file holds, and a scene shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.core.units import convert
from burstlens.viz.diagnostics import earth
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.columns import check_grid, order_of
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.staggering import unstaggered, with_faces
from burstlens.viz.kinds.vtk.coordinates import (
    curvilinear,
    cut_mesh,
    cut_plane,
    read_heights,
    read_plane,
    straight,
)
from burstlens.viz.kinds.vtk.field import read_field
from burstlens.viz.kinds.vtk.options import Coordinates, WindVector
from burstlens.viz.kinds.vtk.split import Part
from burstlens.viz.kinds.vtk.volume import EARTH_CENTRED, WIND, Volume
from burstlens.viz.kinds.vtk.xml_file import Curvilinear, Mesh
from burstlens.viz.product import ProductFrame

Array = NDArray[Any]


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

    As :func:`open_box`, which has the arguments, and :meth:`Box.read`.
    """
    return open_box(
        frame, names, crop, simplest=simplest, coordinates=coordinates, wind=wind,
        exaggeration=exaggeration, surface=surface, units=units,
    ).read()  # fmt: skip


def open_box(
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
) -> Box:
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
    return Box(
        frame, names, wind, units, surface, order, window, plane, coordinates, exaggeration,
        simplest,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Box:
    """The part of a frame that a volume shows, see :func:`open_box`: ``plane`` is known, values
    are yet to be read."""

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
    simplest: bool

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
    def shape(self) -> tuple[int, int, int]:
        """The number of points as (z, y, x)."""
        z, y, x = (len(points) for points in self.points)
        return z, y, x

    def read(self, part: Part | None = None) -> Volume:
        """The whole, or a part that equals the whole's there, bit for bit.

        In a part integers become float64: whether the whole has missing ones, which are NaN, is
        not known. Raises FrameError as :meth:`.OpenFrame.read`, and when a variable of the whole is
        all NaN.
        """
        frame, grid_of, window = self.frame, self.reads[0], self._window(part)
        arrays: dict[str, Array] = {}
        for name in self.names:
            values = self._at_centres(name, part)
            if part is None and values.dtype.kind == "f" and not np.isfinite(values).any():
                raise FrameError(f"{name}: all values are NaN")
            arrays[name] = values
        stored = {name: frame.variable(name).units for name in self.names}
        units = {name: self.units.get(name, stored[name]) for name in self.names}
        arrays = {
            name: convert(values, stored[name], units[name]) for name, values in arrays.items()
        }
        long_names = {name: frame.variable(name).long_name for name in self.names}
        long_names[WIND] = "wind speed"
        z, z_units, vertical_words = read_heights(frame, grid_of, window, self.surface, self.order)
        plane, along = cut_plane(self.plane, part), z
        if part is not None and part.axis == 0 and z.ndim == 1:
            along = read_heights(frame, grid_of, self.window, self.surface, self.order)[0]
        if self.wind is not None:
            of = self.wind
            parts = [self._at_centres(n, part) for n in (of.u, of.v, of.w)]
            u, v, w = (one.astype(np.result_type(one, np.float32), copy=False) for one in parts)
            if plane.geographic != (of.relative_to == "earth"):
                u, v = earth.turn(u, v, frame, window, to_earth=plane.geographic)
            arrays[WIND] = np.stack([u, v, w], axis=-1)
            units[WIND] = frame.variable(of.u).units
        flips: tuple[int, ...] = ()
        mesh: Mesh
        if self.coordinates == "sphere":
            if z_units not in ("m", ""):
                z = convert(z, z_units, "m")
            mesh = Curvilinear(earth.points(plane, z * self.exaggeration))
            if self.wind is not None:
                arrays[WIND] = earth.vectors(plane, arrays[WIND])
            words, z_units = EARTH_CENTRED, "m"
        else:
            if self.exaggeration != 1:
                z, along = (one * one.dtype.type(self.exaggeration) for one in (z, along))
            across = (
                "x longitude, y latitude (degrees)" if plane.geographic else f"x, y ({plane.units})"
            )
            words = f"{across}, {vertical_words} ({z_units or 'from 0'})"
            if plane.x.ndim == 2 or z.ndim == 3 or not self.simplest:
                mesh = curvilinear(plane, z)
            else:
                mesh, flips = straight(self.plane, along)
        first, own = self._place(part, flips)
        if not isinstance(mesh, Curvilinear):
            arrays = {name: np.flip(values, flips) for name, values in arrays.items()}
            mesh = cut_mesh(mesh, first, self._shape(part))
        return Volume(
            mesh, arrays, units, words, self.plane, z_units, self.exaggeration, long_names,
            self.shape, first, own,
        )  # fmt: skip

    def corner(self) -> Volume:
        """Its first point alone, for what all points have in common: types, units, words."""
        plane = cut_plane(cut_plane(self.plane, Part(1, 0, 1, 1)), Part(2, 0, 1, 1))
        ends = {d: slice(self.window[d].start, self.window[d].start + 1, 1) for d in self.order}
        return replace(self, plane=plane, window=ends).read(Part(1, 0, 1, 1))

    def _shape(self, part: Part | None) -> tuple[int, int, int]:
        z, y, x = self.shape
        if part is None:
            return z, y, x
        size = part.stop - part.first
        return (size, y, x) if part.axis == 0 else (z, size, x) if part.axis == 1 else (z, y, size)

    def _place(
        self, part: Part | None, flips: tuple[int, ...]
    ) -> tuple[tuple[int, int, int], tuple[slice, ...]]:
        """Where in the whole a part begins, and the points that are its own."""
        if part is None:
            return (0, 0, 0), ()
        first, own, shared = [0, 0, 0], [slice(None)] * 3, part.stop - part.own
        if part.axis in flips:
            first[part.axis] = len(self.points[part.axis]) - part.stop
            own[part.axis] = slice(shared, None)
        else:
            first[part.axis] = part.first
            own[part.axis] = slice(part.own - part.first)
        return (first[0], first[1], first[2]), tuple(own)

    def _window(self, part: Part | None) -> dict[str, slice]:
        """The slices of the unstaggered dimensions, with those of the faces."""
        if part is None:
            return dict(self.window)
        points = self.points[part.axis][part.points]
        cut = self.order[part.axis - 3]
        kept = {d: s for d, s in self.window.items() if unstaggered(d, self.frame) == d}
        kept[cut] = slice(points.start, points.stop, points.step)
        return with_faces(kept, self.frame)

    def _at_centres(self, name: str, part: Part | None) -> Array:
        window = self._window(part)
        values = read_field(self.frame, name, self.order, window, self.reads[0])
        return values if part is None or values.dtype.kind == "f" else values.astype(np.float64)
