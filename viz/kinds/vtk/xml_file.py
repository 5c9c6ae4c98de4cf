"""Structured VTK XML files: ``.vti``, ``.vtr`` and ``.vts``, their arrays appended as raw bytes.

Format: VTK's "VTK XML Formats", serial structured files, version 1.0, header type UInt64. The
arrays go from numpy's memory into the file as they are;
:mod:`burstlens.viz.kinds.vtk.zlib_file` compresses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
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
_ENDIAN = "LittleEndian" if sys.byteorder == "little" else "BigEndian"


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


@dataclass(frozen=True, slots=True)
class _Stored:
    """An array with the place of its bytes after the underscore of AppendedData."""

    values: Array
    offset: int

    @property
    def header(self) -> bytes:
        return np.uint64(self.values.nbytes).tobytes()

    @property
    def end(self) -> int:
        return self.offset + len(self.header) + self.values.nbytes


def write_vtk(
    out: Path, mesh: Mesh, arrays: Mapping[str, Array], *, fields: Mapping[str, float | str]
) -> None:
    """Write point data on a mesh as one file.

    ``arrays`` have the mesh's shape (z, y, x), or one more axis of 3 for a vector; their type is
    kept. ``fields`` is field data: numbers, and words as strings.
    Raises ValueError when a shape does not fit, StagingError when ``out`` cannot be written.
    """
    check_shapes(mesh, arrays)
    stored: list[_Stored] = []

    def data_array(name: str, values: Array, *, tuples: bool = False) -> str:
        values = native(values)
        offset = stored[-1].end if stored else 0
        stored.append(_Stored(values, offset))
        parts = values.shape[-1] if values.ndim in (2, 4) else 1
        count = f' NumberOfTuples="{values.shape[0]}"' if tuples else ""
        kind = _TYPES[f"{values.dtype.kind}{values.dtype.itemsize}"]
        return (
            f'<DataArray type="{kind}" Name={quoteattr(name)} NumberOfComponents="{parts}"'
            f'{count} format="appended" offset="{offset}"/>'
        )

    nz, ny, nx = mesh.shape
    extent = f"0 {nx - 1} 0 {ny - 1} 0 {nz - 1}"
    kind, geometry, about = _geometry(mesh, data_array)
    text = [
        '<?xml version="1.0"?>',
        f'<VTKFile type="{kind}" version="1.0" byte_order="{_ENDIAN}" header_type="UInt64">',
        f'<{kind} WholeExtent="{extent}"{about}>',
        *_field_data(fields, data_array),
        f'<Piece Extent="{extent}">',
        *geometry,
        "<PointData>",
        *(data_array(name, values) for name, values in arrays.items()),
        "</PointData>",
        "</Piece>",
        f"</{kind}>",
        '<AppendedData encoding="raw">',
        "_",
    ]
    with whole_file(out), out.open("wb", buffering=0) as file:
        _write(file, "\n".join(text).encode())
        for part in stored:
            _write(file, part.header)
            _write(file, _bytes(part.values))
        _write(file, b"\n</AppendedData>\n</VTKFile>\n")


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


def _geometry(mesh: Mesh, data_array: Any) -> tuple[str, list[str], str]:
    if isinstance(mesh, Uniform):
        origin = " ".join(f"{value:.17g}" for value in mesh.origin)
        spacing = " ".join(f"{value:.17g}" for value in mesh.spacing)
        return "ImageData", [], f' Origin="{origin}" Spacing="{spacing}"'
    if isinstance(mesh, Rectilinear):
        axes = [data_array(name, getattr(mesh, name)) for name in "xyz"]
        return "RectilinearGrid", ["<Coordinates>", *axes, "</Coordinates>"], ""
    points = data_array("Points", mesh.points)
    return "StructuredGrid", ["<Points>", points, "</Points>"], ""


def _field_data(fields: Mapping[str, float | str], data_array: Any) -> Iterator[str]:
    yield "<FieldData>"
    for name, value in fields.items():
        if isinstance(value, str):
            # VTK reads an array of strings from ASCII only: character codes, ended by a 0.
            codes = " ".join(str(code) for code in (*value.encode(), 0))
            yield (
                f'<Array type="String" Name={quoteattr(name)} NumberOfTuples="1" format="ascii">'
                f"{codes}</Array>"
            )
        else:
            yield data_array(name, np.array([value], dtype=np.float64), tuples=True)
    yield "</FieldData>"


def _bytes(values: Array) -> memoryview:
    """The array's own memory, not a copy."""
    raw: Any = values.reshape(-1).view(np.uint8)
    return memoryview(raw)


def _write(file: BinaryIO, data: bytes | memoryview) -> None:
    """All of it: an unbuffered write may stop short, at 2 GiB for instance."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
