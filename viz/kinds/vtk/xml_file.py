"""Structured VTK XML files: ``.vti``, ``.vtr`` and ``.vts``, their arrays appended as raw bytes.

Format: VTK's "VTK XML Formats", serial structured files, version 1.0, header type UInt64. The
arrays go from numpy's memory into the file as they are;
:mod:`burstlens.viz.kinds.vtk.zlib_file` compresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from burstlens.viz.kinds.vtk.facts import Fields, Place, Shape, extent, opening
from burstlens.viz.kinds.vtk.placed import Array, Named, Placed, native, write_at, write_held
from burstlens.viz.product import whole_file

_TYPES = {
    "f4": "Float32", "f8": "Float64", "i1": "Int8", "u1": "UInt8", "i2": "Int16", "u2": "UInt16",
    "i4": "Int32", "u4": "UInt32", "i8": "Int64", "u8": "UInt64",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Uniform:
    """Equally spaced points, ``shape`` as (z, y, x): ``origin`` and ``spacing`` as (x, y, z)."""

    shape: Shape
    origin: tuple[float, float, float]
    spacing: tuple[float, float, float]
    extension = "vti"


@dataclass(frozen=True, slots=True)
class Rectilinear:
    """Points where three increasing 1-D coordinates meet."""

    x: Array
    y: Array
    z: Array
    extension = "vtr"

    @property
    def shape(self) -> Shape:
        """The number of points as (z, y, x)."""
        return self.z.size, self.y.size, self.x.size


@dataclass(frozen=True, slots=True)
class Curvilinear:
    """Points anywhere: ``points`` as (z, y, x, 3)."""

    points: Array
    extension = "vts"

    @property
    def shape(self) -> Shape:
        """The number of points as (z, y, x)."""
        nz, ny, nx, _ = self.points.shape
        return nz, ny, nx


Mesh = Uniform | Rectilinear | Curvilinear
Arrays = Mapping[str, Array]
"""Point data by name, of the mesh's shape (z, y, x), or with one more axis of 3 for a vector."""
MeshPart = tuple[Mesh, Arrays, Place]
"""A part of a volume: its mesh, its arrays and its place."""
_SIZE = 8
"""Bytes that say before each array how long it is: ``header_type`` UInt64."""


def write_vtk(
    out: Path, mesh: Mesh, arrays: Arrays, *, fields: Fields, first: Place = (0, 0, 0)
) -> None:
    """Write point data on a mesh as one file; the arrays' types are kept.

    ``first`` is the place of the mesh in a whole of which the file is a piece.
    Raises ValueError when a shape does not fit, StagingError when ``out`` cannot be written.
    """
    write_vtk_parts(out, mesh.shape, [(mesh, arrays, (0, 0, 0))], fields=fields, first=first)


def write_vtk_parts(
    out: Path, shape: Shape, parts: Iterable[MeshPart], *, fields: Fields, first: Place = (0, 0, 0)
) -> None:
    """Write what :func:`write_vtk` writes, byte for byte, from parts that together fill ``shape``,
    each taken when the one before has been written."""
    with whole_file(out), out.open("wb", buffering=0) as file:
        places: list[Placed] = []
        end = 0
        for mesh, arrays, place in parts:
            check_shapes(mesh, arrays)
            held = _named(mesh, fields, arrays)
            if not end:
                text, places, end = _head(mesh, held, shape, first, fields)
                write_at(file, text, 0)
                for one in places:
                    write_at(file, np.uint64(one.size).tobytes(), one.begin - _SIZE)
            write_held(file, places, held, place)
        write_at(file, b"\n</AppendedData>\n</VTKFile>\n", end)


def check_shapes(mesh: Mesh, arrays: Arrays) -> None:
    """ValueError when an array does not have one value, or vector, per point of the mesh."""
    for name, values in arrays.items():
        if values.shape[:3] != mesh.shape:
            raise ValueError(f"{name} has shape {values.shape}, the mesh {mesh.shape}")


def vtk_type(kind: np.dtype[Any]) -> str:
    """A type as VTK calls it."""
    return _TYPES[f"{kind.kind}{kind.itemsize}"]


def components(shape: tuple[int, ...]) -> int:
    """The number of values per point of an array of that shape: 3 for vectors and points."""
    return shape[-1] if len(shape) in (2, 4) else 1


def geometry(mesh: Mesh) -> tuple[str, str]:
    """VTK's name for the kind of mesh, and what its element says of the points."""
    if isinstance(mesh, Uniform):
        origin = " ".join(f"{value:.17g}" for value in mesh.origin)
        spacing = " ".join(f"{value:.17g}" for value in mesh.spacing)
        return "ImageData", f' Origin="{origin}" Spacing="{spacing}"'
    return ("RectilinearGrid" if isinstance(mesh, Rectilinear) else "StructuredGrid"), ""


def _named(mesh: Mesh, fields: Fields, arrays: Arrays) -> list[Named]:
    """All arrays of a file in the order of their bytes: coordinates, numbers of fields, data."""
    named: list[Named] = []
    if isinstance(mesh, Rectilinear):
        named = [(name, native(getattr(mesh, name)), (2 - n,)) for n, name in enumerate("xyz")]
    elif isinstance(mesh, Curvilinear):
        named = [("Points", native(mesh.points), (0, 1, 2))]
    for name, value in fields.items():
        if not isinstance(value, str):
            named.append((name, np.array([value], dtype=np.float64), ()))
    return named + [(name, native(values), (0, 1, 2)) for name, values in arrays.items()]


def _head(
    mesh: Mesh, held: Sequence[Named], shape: Shape, first: Place, fields: Fields
) -> tuple[bytes, list[Placed], int]:
    """The file up to the arrays, the places of these in a whole of ``shape``, where they end."""
    places: list[Placed] = []  # from the underscore of AppendedData on
    elements = []
    offset = 0
    for name, values, axes in held:
        whole = (*(shape[axis] for axis in axes), *values.shape[len(axes) :])
        places.append(Placed(values.dtype, whole, offset + _SIZE))
        count = "" if axes else f' NumberOfTuples="{whole[0]}"'
        elements.append(
            f'<DataArray type="{vtk_type(values.dtype)}" Name={quoteattr(name)} '
            f'NumberOfComponents="{components(whole)}"{count} format="appended" offset="{offset}"/>'
        )
        offset += _SIZE + places[-1].size
    numbers = sum(not isinstance(value, str) for value in fields.values())
    points = {Uniform: 0, Rectilinear: 3, Curvilinear: 1}[type(mesh)]
    holder = "Coordinates" if isinstance(mesh, Rectilinear) else "Points"
    kind, about = geometry(mesh)
    where = extent(first, shape)
    lines = [
        *opening(kind),
        f'<{kind} WholeExtent="{where}"{about}>',
        "<FieldData>",
        *_field_data(fields, iter(elements[points : points + numbers])),
        "</FieldData>",
        f'<Piece Extent="{where}">',
        *([f"<{holder}>", *elements[:points], f"</{holder}>"] if points else []),
        "<PointData>",
        *elements[points + numbers :],
        "</PointData>",
        "</Piece>",
        f"</{kind}>",
        '<AppendedData encoding="raw">',
        "_",
    ]
    text = "\n".join(lines).encode()
    moved = [replace(place, begin=place.begin + len(text)) for place in places]
    return text, moved, offset + len(text)


def _field_data(fields: Fields, numbers: Iterator[str]) -> Iterator[str]:
    for name, value in fields.items():
        if not isinstance(value, str):
            yield next(numbers)
            continue
        # VTK reads an array of strings from ASCII only: character codes, ended by a 0.
        codes = " ".join(str(code) for code in (*value.encode(), 0))
        yield (
            f'<Array type="String" Name={quoteattr(name)} NumberOfTuples="1" format="ascii">'
            f"{codes}</Array>"
        )
