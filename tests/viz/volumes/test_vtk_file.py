"""VTK XML files, raw and compressed: the same content, whole or not at all."""

from __future__ import annotations

import errno
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burstlens.core.errors import StagingError
from burstlens.viz.kinds.vtk.xml_file import Curvilinear, Mesh, Rectilinear, Uniform, write_vtk
from burstlens.viz.kinds.vtk.zlib_file import write_vtk_zlib

Write = Callable[..., None]


def read_back(out: Path) -> Any:
    """The data set as VTK's own reader gives it."""
    from vtkmodules.vtkIOXML import vtkXMLGenericDataObjectReader

    reader = vtkXMLGenericDataObjectReader()
    reader.SetFileName(str(out))
    reader.Update()
    assert reader.GetErrorCode() == 0
    return reader.GetOutput()


MESHES = [
    Uniform((3, 4, 5), (-98.12345678901234, 1 / 3, 0.1), (1 / 3e4, 2 / 3, 1e-5 / 7)),
    Rectilinear(
        np.linspace(0, 1 / 3, 5), np.array([1, 2, 4, 8], dtype=">f4"), np.array([5, 6, 9.0])
    ),
    Curvilinear(np.random.default_rng(5).normal(size=(3, 4, 5, 3)).astype("f4")),
]
TYPES = ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">f4", ">i2"]


def everything(data: Any) -> dict[str, Any]:
    """All that a data set holds: its kind, extent, coordinates, arrays and field data."""
    from vtkmodules.util.numpy_support import vtk_to_numpy

    held: dict[str, Any] = {"kind": data.GetClassName(), "extent": data.GetExtent()}
    coordinates = []
    if held["kind"] == "vtkImageData":
        held |= {"origin": data.GetOrigin(), "spacing": data.GetSpacing()}
    elif held["kind"] == "vtkRectilinearGrid":
        coordinates = [data.GetXCoordinates(), data.GetYCoordinates(), data.GetZCoordinates()]
    else:
        coordinates = [data.GetPoints().GetData()]
    point_data = data.GetPointData()
    for part in (*coordinates, *map(point_data.GetArray, range(point_data.GetNumberOfArrays()))):
        values = vtk_to_numpy(part)
        held[part.GetName()] = (values.dtype, values.shape, values.tobytes())
    field_data = data.GetFieldData()
    for n in range(field_data.GetNumberOfArrays()):
        part = field_data.GetAbstractArray(n)
        values = [part.GetValue(k) for k in range(part.GetNumberOfValues())]
        held[part.GetName()] = (part.GetClassName(), values)
    return held


@pytest.mark.parametrize("mesh", MESHES, ids=lambda mesh: mesh.extension)
def test_compressed_and_raw_files_hold_the_same(mesh: Mesh, tmp_path: Path):
    generator = np.random.default_rng(3)
    arrays = {kind: (generator.random((3, 4, 5)) * 100).astype(kind) for kind in TYPES}
    arrays["flipped"] = np.flip(arrays["f4"], (0, 2))
    arrays["not finite"] = np.where(arrays["f4"] < 50, np.float32("nan"), np.float32("inf"))
    arrays['a & "b" <c>'] = arrays["f8"] / 3
    arrays["wind"] = generator.normal(size=(3, 4, 5, 3))
    fields = {"TimeValue": 1 / 3, "ValidTime": "t00000012.500", "Größe & <units>": 'm "s"'}
    read = {}
    for write in (write_vtk, write_vtk_zlib):
        write(tmp_path / write.__name__, mesh, arrays, fields=fields)
        read[write] = everything(read_back(tmp_path / write.__name__))
    assert read[write_vtk_zlib] == read[write_vtk]
    assert {*arrays, *fields} <= {*read[write_vtk]}
    assert read[write_vtk]['a & "b" <c>'][2] == arrays['a & "b" <c>'].tobytes()


def test_compressed_files_are_zlib_in_raw_appended_data(tmp_path: Path):
    write_vtk_zlib(tmp_path / "v", MESHES[0], {"v": np.zeros((3, 4, 5))}, fields={})
    content = (tmp_path / "v").read_bytes()
    assert b'header_type="UInt64" compressor="vtkZLibDataCompressor"' in content
    assert b'<AppendedData encoding="raw">' in content


@pytest.mark.parametrize("write", [write_vtk, write_vtk_zlib])
def test_a_full_disk_is_an_error_and_leaves_no_file(
    write: Write, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    out = tmp_path / "v"
    out.symlink_to("/dev/full")
    with pytest.raises(StagingError) as raised:
        write(out, MESHES[0], {"v": np.zeros((3, 4, 5))}, fields={})
    assert (raised.value.errno, raised.value.path) == (errno.ENOSPC, str(out))
    assert not out.is_symlink()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("write", [write_vtk, write_vtk_zlib])
@pytest.mark.parametrize("part", [0.0, 0.0005, 0.5, 0.999999])
def test_a_file_that_ends_early_is_an_error_and_is_taken_away(
    write: Write, part: float, tmp_path: Path
):
    out = tmp_path / "v"
    values = np.random.default_rng(1).random((50, 50, 50))
    mesh = Uniform(values.shape, (0, 0, 0), (1, 1, 1))
    write(out, mesh, {"v": values}, fields={})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(part * out.stat().st_size), hard))
    try:
        with pytest.raises(StagingError) as raised:
            write(out, mesh, {"v": values}, fields={})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    # VTK calls it a full disk when it notices by itself, whatever the system said.
    assert raised.value.errno in (errno.EFBIG, errno.ENOSPC)
    assert not out.exists()


@pytest.mark.parametrize("write", [write_vtk, write_vtk_zlib])
def test_a_folder_that_is_missing_is_an_error(write: Write, tmp_path: Path):
    with pytest.raises(StagingError) as raised:
        write(tmp_path / "none" / "v", MESHES[0], {}, fields={})
    assert raised.value.errno == errno.ENOENT


@pytest.mark.parametrize("write", [write_vtk, write_vtk_zlib])
def test_arrays_that_do_not_fit_the_mesh_are_refused(write: Write, tmp_path: Path):
    with pytest.raises(ValueError, match=r"v has shape \(5, 4, 3\), the mesh \(3, 4, 5\)"):
        write(tmp_path / "v", MESHES[0], {"v": np.zeros((5, 4, 3))}, fields={})


def test_a_name_that_vtk_would_shorten_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="strips"):
        write_vtk_zlib(tmp_path / "v_", MESHES[0], {}, fields={})
    assert not list(tmp_path.iterdir())
