"""The files of :mod:`.xml_file`, compressed with zlib by VTK's XML writers."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints, vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkRectilinearGrid, vtkStructuredGrid
from vtkmodules.vtkIOXML import (
    vtkXMLImageDataWriter,
    vtkXMLRectilinearGridWriter,
    vtkXMLStructuredGridWriter,
)

from burstlens.viz.kinds.vtk.facts import Fields, Place
from burstlens.viz.kinds.vtk.placed import Array, native
from burstlens.viz.kinds.vtk.xml_file import Arrays, Mesh, Rectilinear, Uniform, check_shapes
from burstlens.viz.product import whole_file

_LEVEL = 1
# vtkErrorCode, which Python does not see: below the first one the code is the system's errno.
_FIRST_VTK_ERROR, _OUT_OF_DISK_SPACE = 20000, 20007


def write_vtk_zlib(
    out: Path, mesh: Mesh, arrays: Arrays, *, fields: Fields, first: Place = (0, 0, 0)
) -> None:
    """Write what :func:`~burstlens.viz.kinds.vtk.xml_file.write_vtk` writes, compressed at level 1.

    Raises ValueError when a shape does not fit or the name of ``out`` does not end in a letter
    or digit (VTK would write elsewhere), StagingError when ``out`` cannot be written.
    """
    check_shapes(mesh, arrays)
    last = out.name[-1:]
    if not (last.isascii() and last.isalnum()):
        raise ValueError(f"VTK strips the end of the name {out.name!r}")
    data, writer = _mesh(mesh, first)
    for name, values in arrays.items():
        data.GetPointData().AddArray(_named(name, _flat(values)))
    for name, value in fields.items():
        data.GetFieldData().AddArray(_field(name, value))
    writer.SetInputData(data)
    writer.SetFileName(str(out))
    writer.SetCompressorTypeToZLib()
    writer.SetCompressionLevel(_LEVEL)
    writer.SetHeaderTypeToUInt64()
    writer.SetDataModeToAppended()
    writer.EncodeAppendedDataOff()
    with whole_file(out):
        _write(writer)


def _mesh(mesh: Mesh, first: Place) -> tuple[Any, Any]:
    """The data set, without arrays, and the writer of its kind."""
    z, y, x = zip(first, map(sum, zip(first, mesh.shape, (-1,) * 3, strict=True)), strict=True)
    if isinstance(mesh, Uniform):
        image = vtkImageData()
        image.SetExtent(*x, *y, *z)
        image.SetOrigin(mesh.origin)
        image.SetSpacing(mesh.spacing)
        return image, vtkXMLImageDataWriter()
    if isinstance(mesh, Rectilinear):
        rectilinear = vtkRectilinearGrid()
        rectilinear.SetExtent(*x, *y, *z)
        rectilinear.SetXCoordinates(_named("x", numpy_to_vtk(native(mesh.x))))
        rectilinear.SetYCoordinates(_named("y", numpy_to_vtk(native(mesh.y))))
        rectilinear.SetZCoordinates(_named("z", numpy_to_vtk(native(mesh.z))))
        return rectilinear, vtkXMLRectilinearGridWriter()
    points = vtkPoints()
    points.SetData(_flat(mesh.points))
    structured = vtkStructuredGrid()
    structured.SetExtent(*x, *y, *z)
    structured.SetPoints(points)
    return structured, vtkXMLStructuredGridWriter()


def _flat(values: Array) -> Any:
    """A field (z, y, x), or vectors (z, y, x, 3), as an array of VTK on numpy's own memory."""
    return numpy_to_vtk(native(values).reshape(-1, *values.shape[3:]))


def _field(name: str, value: float | str) -> Any:
    if not isinstance(value, str):
        return _named(name, numpy_to_vtk(np.array([value], dtype=np.float64)))
    words = vtkStringArray()
    words.InsertNextValue(value)
    return _named(name, words)


def _named(name: str, array: Any) -> Any:
    # VTK's writers put a name into the XML as it is, and its readers undo the escapes.
    array.SetName(escape(name, {'"': "&quot;"}))
    return array


def _write(writer: Any) -> None:
    """Run the writer. OSError when anything went wrong: VTK itself only prints."""
    errors: list[str] = []
    # The executive reports a full disk; the writer may return 1 all the same.
    for source in (writer, writer.GetExecutive(), writer.GetCompressor()):
        source.AddObserver("ErrorEvent", lambda _source, event: errors.append(event))
    written, code = writer.Write(), writer.GetErrorCode()
    if written and not code and not errors:
        return
    if code == _OUT_OF_DISK_SPACE:
        raise OSError(errno.ENOSPC, "VTK found the disk full")
    raise OSError(code if 0 < code < _FIRST_VTK_ERROR else errno.EIO, "VTK's writer failed")
