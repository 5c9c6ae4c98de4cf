"""Structured VTK XML files: ``.vti``, ``.vtr`` and ``.vts``, their arrays appended as raw bytes.

Format: VTK's "VTK XML Formats", serial structured files, version 1.0, header type UInt64. The
arrays go from numpy's memory into the file as they are;
:mod:`burstlens.viz.kinds.vtk.zlib_file` compresses.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.product import whole_file

Array = NDArray[Any]
_TYPES = {
    "f4": "Float32", "f8": "Float64", "i1": "Int8", "u1": "UInt8", "i2": "Int16", "u2": "UInt16",
    "i4": "Int32", "u4": "UInt32", "i8": "Int64", "u8": "UInt64",
}  # fmt: skip
ENDIAN = "LittleEndian" if sys.byteorder == "little" else "BigEndian"


@dataclass(frozen=True, slots=True)
class Uniform:
    """Equally spaced points, ``shape`` as (z, y, x): ``origin`` and ``spacing`` as (x, y, z)."""

    shape: tuple[int, int, int]
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
    def shape(self) -> tuple[int, int, int]:
        """The number of points as (z, y, x)."""
        return self.z.size, self.y.size, self.x.size


@dataclass(frozen=True, slots=True)
class Curvilinear:
    """Points anywhere: ``points`` as (z, y, x, 3)."""

    points: Array
    extension = "vts"

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of points as (z, y, x)."""
        nz, ny, nx, _ = self.points.shape
        return nz, ny, nx


Mesh = Uniform | Rectilinear | Curvilinear


Place = tuple[int, int, int]
"""The first point of a part in the whole, as (z, y, x)."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """An array of the file, and the place of its bytes after the underscore of AppendedData."""

    kind: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    @property
    def header(self) -> bytes:
        return np.uint64(self.end - self.offset - 8).tobytes()

    @property
    def end(self) -> int:
        return self.offset + 8 + math.prod(self.shape) * self.kind.itemsize


_Named = tuple[str, Array, tuple[int, ...]]
"""An array by name, with the axes of the mesh (0, 1, 2: z, y, x) that it lies along."""


def write_vtk(
    out: Path,
    mesh: Mesh,
    arrays: Mapping[str, Array],
    *,
    fields: Mapping[str, float | str],
    first: Place = (0, 0, 0),
) -> None:
    """Write point data on a mesh as one file.

    ``arrays`` have the mesh's shape (z, y, x), or one more axis of 3 for a vector; their type is
    kept. ``fields`` is field data: numbers, and words as strings. ``first`` is the place of the
    mesh in a whole of which the file is a piece.
    Raises ValueError when a shape does not fit, StagingError when ``out`` cannot be written.
    """
    parts = [(mesh, arrays, (0, 0, 0))]
    write_vtk_parts(out, mesh.shape, parts, fields=fields, first=first)


def write_vtk_parts(
    out: Path,
    shape: tuple[int, int, int],
    parts: Iterable[tuple[Mesh, Mapping[str, Array], Place]],
    *,
    fields: Mapping[str, float | str],
    first: Place = (0, 0, 0),
) -> None:
    """Write what :func:`write_vtk` writes, byte for byte, from parts that together fill ``shape``.

    Each is a mesh, its arrays and its place, and is taken when the one before has been written.
    """
    with whole_file(out), out.open("wb", buffering=0) as file:
        begin, stored = 0, list[_Stored]()
        for mesh, arrays, place in parts:
            check_shapes(mesh, arrays)
            held = _named(mesh, fields, arrays)
            if not stored:
                text, stored = _head(mesh, held, shape, first, fields)
                begin = len(text)
                _write(file, text, 0)
            for one, (name, values, axes) in zip(stored, held, strict=True):
                if values.dtype != one.kind:
                    raise ValueError(f"{name} is {values.dtype} in one part, {one.kind} in another")
                _write(file, one.header, begin + one.offset)
                start = tuple(place[axis] for axis in axes)
                _write_part(file, values, one, start, begin + one.offset + len(one.header))
        _write(file, b"\n</AppendedData>\n</VTKFile>\n", begin + stored[-1].end if stored else 0)


def check_shapes(mesh: Mesh, arrays: Mapping[str, Array]) -> None:
    """ValueError when an array does not have one value, or vector, per point of the mesh."""
    for name, values in arrays.items():
        if values.shape[:3] != mesh.shape:
            raise ValueError(f"{name} has shape {values.shape}, the mesh {mesh.shape}")


def native(values: Array) -> Array:
    """The values in one piece and in this machine's byte order, copied only where they are not."""
    values = np.ascontiguousarray(values)
    if values.dtype.byteorder not in "=|":
        values = values.astype(values.dtype.newbyteorder("="))
    return values


def vtk_type(kind: np.dtype[Any]) -> str:
    """A type as VTK calls it."""
    return _TYPES[f"{kind.kind}{kind.itemsize}"]


def components(shape: tuple[int, ...]) -> int:
    """The number of values per point of an array of that shape: 3 for vectors and points."""
    return shape[-1] if len(shape) in (2, 4) else 1


def extent(first: Place, shape: tuple[int, int, int]) -> str:
    """The first and the last point along x, y and z, as VTK writes them."""
    ends = [f"{n} {n + size - 1}" for n, size in zip(first, shape, strict=True)]
    return " ".join(reversed(ends))


def geometry(mesh: Mesh) -> tuple[str, str]:
    """VTK's name for the kind of mesh, and what its element says of the points."""
    if isinstance(mesh, Uniform):
        origin = " ".join(f"{value:.17g}" for value in mesh.origin)
        spacing = " ".join(f"{value:.17g}" for value in mesh.spacing)
        return "ImageData", f' Origin="{origin}" Spacing="{spacing}"'
    return ("RectilinearGrid" if isinstance(mesh, Rectilinear) else "StructuredGrid"), ""


def _named(
    mesh: Mesh, fields: Mapping[str, float | str], arrays: Mapping[str, Array]
) -> list[_Named]:
    """All arrays of a file in the order of their bytes: coordinates, numbers of fields, data."""
    named: list[_Named] = []
    if isinstance(mesh, Rectilinear):
        named = [(name, native(getattr(mesh, name)), (2 - n,)) for n, name in enumerate("xyz")]
    elif isinstance(mesh, Curvilinear):
        named = [("Points", native(mesh.points), (0, 1, 2))]
    for name, value in fields.items():
        if not isinstance(value, str):
            named.append((name, np.array([value], dtype=np.float64), ()))
    return named + [(name, native(values), (0, 1, 2)) for name, values in arrays.items()]


def _head(
    mesh: Mesh,
    held: Sequence[_Named],
    shape: tuple[int, int, int],
    first: Place,
    fields: Mapping[str, float | str],
) -> tuple[bytes, list[_Stored]]:
    """The file up to the arrays, and the places of these in a whole of ``shape``."""
    stored: list[_Stored] = []
    elements = []
    for name, values, axes in held:
        whole = (*(shape[axis] for axis in axes), *values.shape[len(axes) :])
        offset = stored[-1].end if stored else 0
        stored.append(_Stored(values.dtype, whole, offset))
        count = "" if axes else f' NumberOfTuples="{whole[0]}"'
        elements.append(
            f'<DataArray type="{vtk_type(values.dtype)}" Name={quoteattr(name)} '
            f'NumberOfComponents="{components(whole)}"{count} format="appended" offset="{offset}"/>'
        )
    numbers = sum(not isinstance(value, str) for value in fields.values())
    points = {Uniform: 0, Rectilinear: 3, Curvilinear: 1}[type(mesh)]
    holder = "Coordinates" if isinstance(mesh, Rectilinear) else "Points"
    kind, about = geometry(mesh)
    where = extent(first, shape)
    lines = [
        '<?xml version="1.0"?>',
        f'<VTKFile type="{kind}" version="1.0" byte_order="{ENDIAN}" header_type="UInt64">',
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
    return "\n".join(lines).encode(), stored


def _field_data(fields: Mapping[str, float | str], numbers: Iterator[str]) -> Iterator[str]:
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


def _write_part(
    file: BinaryIO, values: Array, whole: _Stored, start: tuple[int, ...], begin: int
) -> None:
    """Write values to their places in an array that begins at ``begin``, in runs that are as long
    as the part allows."""
    strides = [
        math.prod(whole.shape[axis + 1 :]) * whole.kind.itemsize for axis in range(values.ndim)
    ]
    cut = [n for n in range(values.ndim) if values.shape[n] != whole.shape[n]]
    across = cut[-1] if cut else 0
    begin += sum(first * stride for first, stride in zip(start, strides, strict=False))
    for index in np.ndindex(values.shape[:across]):
        at = begin + sum(n * stride for n, stride in zip(index, strides, strict=False))
        _write(file, _bytes(values[index]), at)


def _bytes(values: Array) -> memoryview:
    """The array's own memory, not a copy."""
    raw: Any = values.reshape(-1).view(np.uint8)
    return memoryview(raw)


def _write(file: BinaryIO, data: bytes | memoryview, at: int) -> None:
    """All of it: a write may stop short, at 2 GiB for instance."""
    rest = memoryview(data)
    while rest:
        count = os.pwrite(file.fileno(), rest, at)
        rest, at = rest[count:], at + count
