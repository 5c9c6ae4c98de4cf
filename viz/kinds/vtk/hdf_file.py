"""VTKHDF files: a frame's structured grid in each, and one file that shows them as a series.

Format: VTK's "VTKHDF file format", version 2.7, StructuredGrid, which VTK 9.7 and ParaView 6.2 are
the first to read. In a series each array has the number of the time step as its first axis. That
series is a file of references (HDF5 virtual datasets) to the frames' files, a few hundred bytes per
frame, so that it can be written anew, whole, for each frame: docs/decisions/0034 says why. The
table of a frame's pieces is another one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"

import h5py
import numpy as np

from burstlens.viz.kinds.vtk.facts import Fields, Shape
from burstlens.viz.kinds.vtk.image import Image
from burstlens.viz.kinds.vtk.placed import Array, Named, Placed, native, write_held
from burstlens.viz.kinds.vtk.xml_file import Arrays, Curvilinear, Mesh, MeshPart, check_shapes
from burstlens.viz.product import whole_file

Layout = Mapping[str, tuple[str, tuple[int, ...]]]
"""The type (as numpy writes it) and the shape of each array, by its path in the file."""
_VERSION = (2, 7)
_ROOT = "VTKHDF"
_KIND = b"StructuredGrid"
_LEVEL = 1
_REST = 1 << 16
"""Bytes of a file beside its arrays, about."""


@dataclass(frozen=True, slots=True)
class Step:
    """A frame's file, relative to the folder of the series, its time in seconds, its arrays."""

    name: str
    time: float
    layout: Layout


@dataclass(frozen=True, slots=True)
class Reference:
    """A piece's file, relative to the folder of the table, its first point along ``axis`` of the
    whole (0, 1, 2: z, y, x), its arrays."""

    name: str
    axis: int
    first: int
    layout: Layout


def write_vtkhdf(
    out: Path, points: Array, arrays: Arrays, *, fields: Fields, compress: bool = False
) -> Layout:
    """Write point data on ``points`` (z, y, x, 3) as one file, and return its layout. Raises
    ValueError when a shape does not fit, StagingError when ``out`` cannot be written."""
    mesh = Curvilinear(points)
    if not compress:
        return write_vtkhdf_parts(out, mesh.shape, [(mesh, arrays, (0, 0, 0))], fields=fields)
    check_shapes(mesh, arrays)
    layout = {}
    held = _named(mesh, arrays)
    size = sum(values.nbytes for _, values, _ in held) + _REST
    options = {"compression": "gzip", "compression_opts": _LEVEL, "shuffle": True}
    with whole_file(out), _hdf5(out, size) as file:
        root = _root(file, mesh.shape)
        for path, values, _ in held:
            stored = root.create_dataset(path, data=values, **options)
            layout[path] = (stored.dtype.str, tuple(stored.shape))
        _write_fields(root, fields)
    return layout


def write_vtkhdf_parts(
    out: Path, shape: Shape, parts: Iterable[MeshPart], *, fields: Fields
) -> Layout:
    """Write what :func:`write_vtkhdf` writes uncompressed, from curvilinear parts that together
    fill ``shape``, each taken when the one before has been written."""
    places: dict[str, Placed] = {}
    with whole_file(out), out.open("wb", buffering=0) as file:
        for mesh, arrays, place in parts:
            check_shapes(mesh, arrays)
            held = _named(mesh, arrays)
            if not places:
                places = _head(file, held, shape, fields)
            write_held(file, places.values(), held, place)
    return {path: (place.kind.str, place.shape) for path, place in places.items()}


def _named(mesh: Mesh, arrays: Arrays) -> list[Named]:
    if not isinstance(mesh, Curvilinear):
        raise ValueError("VTKHDF holds curvilinear meshes")
    named: list[Named] = [("Points", native(mesh.points), (0, 1, 2))]
    return named + [(f"PointData/{_name(n)}", native(a), (0, 1, 2)) for n, a in arrays.items()]


def _head(file: BinaryIO, held: Sequence[Named], shape: Shape, fields: Fields) -> dict[str, Placed]:
    """Write all but the values, and return their places, by path: HDF5 makes the file in memory and
    allots one run of bytes to each array, without writing it."""
    place = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    place.set_layout(h5py.h5d.CONTIGUOUS)
    place.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    place.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    place.set_obj_track_times(False)  # the same values give the same bytes
    linked = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    linked.set_create_intermediate_group(True)
    places = {}
    image = Image()
    with h5py.File(image, "w") as made:
        root = _root(made, shape)
        for path, values, _ in held:
            whole = (*shape, *values.shape[3:])
            stored = h5py.h5d.create(
                root.id, path.encode(), h5py.h5t.py_create(values.dtype),
                h5py.h5s.create_simple(whole), place, linked,
            )  # fmt: skip
            places[path] = Placed(values.dtype, whole, stored.get_offset())
        _write_fields(root, fields)
    image.copy(file)
    return places


def write_table(out: Path, shape: Shape, pieces: Sequence[Reference], *, fields: Fields) -> Layout:
    """Write one file that shows the pieces of a volume of ``shape`` as a whole, and return its
    layout. StagingError when ``out`` cannot be written."""
    layout = {}
    with whole_file(out), _hdf5(out, _REST) as file:
        root = _root(file, shape)
        for path, (kind, part) in pieces[0].layout.items():
            whole = (*shape, *part[3:])
            table = h5py.VirtualLayout(whole, kind)
            for piece in pieces:
                held = piece.layout[path][1]
                at: list[Any] = [slice(None)] * len(whole)
                at[piece.axis] = slice(piece.first, piece.first + held[piece.axis])
                table[tuple(at)] = _source(piece.name, path, kind, held)
            root.create_virtual_dataset(path, table)
            layout[path] = (kind, whole)
        _write_fields(root, fields)
    return layout


def layout_of(facts: Mapping[str, Any]) -> Layout | None:
    """The layout that :func:`write_vtkhdf` returned for a file; None where the facts hold none, as
    a user's own program may make such a file."""
    layout = facts.get("layout")
    if not isinstance(layout, Mapping) or "Points" not in layout:
        return None
    try:
        found = {
            str(path): (np.dtype(kind).str, tuple(map(int, shape)))
            for path, (kind, shape) in layout.items()
        }
    except (TypeError, ValueError):
        return None
    return found if len(found["Points"][1]) == 4 else None


def write_series(out: Path, steps: Sequence[Step]) -> int:
    """Write the series of frames, in the order of time, and return how many are in it.

    A series has one layout, that of the newest frame: frames with another one are left out. The
    file is replaced in one step. Raises OSError when it cannot be written.
    """
    layout = steps[-1].layout
    shown = [step for step in steps if step.layout == layout]
    # VTK's reader (9.7) cannot read the time axis of a single step: until there are two, the
    # series is a static file.
    has_times = len(shown) > 1
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with _hdf5(part, _REST) as file:
            points = layout["Points"][1]
            root = _root(file, (points[0], points[1], points[2]))
            for path, (kind, shape) in layout.items():
                virtual = h5py.VirtualLayout((len(shown), *shape) if has_times else shape, kind)
                for n, step in enumerate(shown):
                    virtual[n if has_times else ...] = _source(step.name, path, kind, shape)
                root.create_virtual_dataset(path, virtual)
            if has_times:
                times = root.create_group("Steps")
                times.attrs["NSteps"] = len(shown)
                times["Values"] = np.array([step.time for step in shown])
                times["PointOffsets"] = np.arange(len(shown))
        os.replace(part, out)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return len(shown)


@contextmanager
def _hdf5(path: Path, size: int) -> Iterator[h5py.File]:
    """A new file of about ``size`` bytes, made in memory and written at the end: on a full disk
    HDF5 can neither write nor close it, and the worker would keep it for ever. Raises OSError."""
    with h5py.File(path.name, "w", driver="core", backing_store=False, block_size=size) as file:
        yield file
        file.flush()
        image = file.id.get_file_image()
    with path.open("wb") as stream:
        stream.write(image)


def _source(name: str, path: str, kind: str, shape: tuple[int, ...]) -> h5py.VirtualSource:
    # HDF5 takes % in these names for a pattern.
    return h5py.VirtualSource(name.replace("%", "%%"), f"{_ROOT}/{path}", shape=shape, dtype=kind)


def _write_fields(root: h5py.Group, fields: Fields) -> None:
    for name, value in fields.items():
        kind: Any = np.float64
        held: list[Any] = [value]
        if isinstance(value, str):
            # VTK's reader fails at strings of UTF-8.
            kind = h5py.string_dtype("ascii")
            held = [value.encode("ascii", "backslashreplace")]
        root.create_dataset(f"FieldData/{_name(name)}", data=held, dtype=kind)


def _root(file: h5py.File, shape: Shape) -> h5py.Group:
    root = file.create_group(_ROOT)
    root.attrs["Version"] = np.array(_VERSION)
    root.attrs.create("Type", _KIND, dtype=f"S{len(_KIND)}")
    root.attrs["Dimensions"] = np.array(shape[::-1], np.int32)
    return root


def _name(name: str) -> str:
    """A name that HDF5 does not take for a path."""
    return name.replace("/", "_")
