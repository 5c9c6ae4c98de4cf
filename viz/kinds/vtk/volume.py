"""A volume: several variables of a frame on one mesh, whole or a part of one, and its facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from burstlens.viz.geometry import grid
from burstlens.viz.geometry.grid import Array
from burstlens.viz.kinds.vtk.facts import Form, Place, Shape, Types
from burstlens.viz.kinds.vtk.xml_file import (
    Curvilinear,
    Mesh,
    Rectilinear,
    components,
    geometry,
    vtk_type,
)

WIND = "wind"
"""What the vectors are called in the file."""
EARTH_CENTRED = "x, y, z from the centre of the earth (m), x to 0° E, z to the north pole"


@dataclass(frozen=True, slots=True)
class Volume:
    """``arrays`` as (z, y, x) on ``mesh``, with their ``units``; a vector has one more axis of 3.

    ``coordinates`` says in words what x, y and z are; ``plane`` is the one that x and y are taken
    from, ``height_units`` those of heights ("" for the numbers of levels). Heights are
    ``exaggeration`` times as high as they are. ``first`` is where it begins in a ``whole`` of that
    shape, (z, y, x), and ``own`` the points that are not another part's as well.
    """

    mesh: Mesh
    arrays: Mapping[str, Array]
    units: Mapping[str, str]
    coordinates: str
    plane: grid.Plane
    height_units: str
    exaggeration: float
    long_names: Mapping[str, str]
    whole: Shape
    first: Place = (0, 0, 0)
    own: tuple[slice, ...] = ()

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
        if self.coordinates == EARTH_CENTRED:
            return ()
        across = ("longitude", "latitude") if self.plane.geographic else ("x", "y")
        height = "height" if self.height_units else "level"
        return (*((name, self.plane.units) for name in across), (height, self.height_units))

    def form(self) -> Form:
        """What a table of pieces must know of it."""
        kind, about = geometry(self.mesh)
        held: dict[str, Array] = {}
        if isinstance(self.mesh, Rectilinear):
            held = {"x": self.mesh.x, "y": self.mesh.y, "z": self.mesh.z}
        elif isinstance(self.mesh, Curvilinear):
            held = {"Points": self.mesh.points}
        return Form(
            kind, about, _types(held), _types(self.arrays), self.first, self.mesh.shape, self.whole
        )

    def facts(self) -> dict[str, Any]:
        """Shape, coordinates; words, units, range and NaN count of each variable, as JSON values.

        The range of a vector is that of its length; None where no value is finite. Of a part,
        values and counts are those of its own points: :func:`.joined_facts` puts them together.
        """
        variables = {}
        for name, values in self.arrays.items():
            values = values[self.own]
            if values.ndim == 4:
                values = np.sqrt(np.einsum("...i,...i", values, values))
            finite, low, high = values, values.min(), values.max()
            if not np.isfinite([low, high]).all():
                finite = values[np.isfinite(values)]
                low, high = (finite.min(), finite.max()) if finite.size else (None, None)
            variables[name] = {
                "long_name": self.long_names.get(name, ""), "units": self.units[name],
                "min": None if low is None else float(low),
                "max": None if high is None else float(high),
                "nan": int(values.size - finite.size),
            }  # fmt: skip
        return {
            "shape": list(self.whole),
            "coordinates": self.coordinates,
            "axes": [list(axis) for axis in self.axes],
            "projection": self.projection,
            "exaggeration": self.exaggeration,
            "variables": variables,
        }


def _types(arrays: Mapping[str, Array]) -> Types:
    return {
        name: [vtk_type(values.dtype), components(values.shape)] for name, values in arrays.items()
    }
