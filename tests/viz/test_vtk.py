"""VTK files, read back by VTK's own readers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from burstlens.errors import FrameError
from burstlens.viz.crop import Crop
from burstlens.viz.frame import open_frame
from burstlens.viz.product import Context, Made
from burstlens.viz.pvd import pvd_entry, pvd_text
from burstlens.viz.vtk import VtkKind, VtkOptions


def make(
    options: VtkOptions, path: Path | list[Path], context: Context, record: int = 0
) -> tuple[Any, Made]:
    """The product as VTK's reader gives it: the data set and what the kind said."""
    from vtkmodules.vtkIOXML import (
        vtkXMLImageDataReader,
        vtkXMLRectilinearGridReader,
        vtkXMLStructuredGridReader,
    )

    out = context.files.parent / "product"
    paths = path if isinstance(path, list) else [path]
    with open_frame(paths, record, stream=context.stream) as frame:
        made = VtkKind().make(options, frame, out, context)
    readers = {
        "vti": vtkXMLImageDataReader,
        "vtr": vtkXMLRectilinearGridReader,
        "vts": vtkXMLStructuredGridReader,
    }
    reader = readers[made.extension]()
    reader.SetFileName(str(out))
    reader.Update()
    assert reader.GetErrorCode() == 0
    return reader.GetOutput(), made


def shape(data: Any) -> tuple[int, int, int]:
    x0, x1, y0, y1, z0, z1 = data.GetExtent()
    return z1 - z0 + 1, y1 - y0 + 1, x1 - x0 + 1


def array(data: Any, name: str) -> np.ndarray:
    """A point array as (z, y, x)."""
    from vtkmodules.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(data.GetPointData().GetArray(name)).reshape(shape(data))


def points(data: Any) -> np.ndarray:
    from vtkmodules.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(data.GetPoints().GetData()).reshape(*shape(data), 3)


def field_value(data: Any, name: str) -> Any:
    stored = data.GetFieldData().GetAbstractArray(name)
    return stored.GetValue(0)


def raw(path: Path, name: str, record: int = 0) -> np.ndarray:
    with open_frame([path], record) as frame:
        return frame.read(name)


def test_unstaggered_values_are_those_of_the_file_bit_for_bit(supercell: Path, context: Context):
    data, made = make(VtkOptions(("T", "QVAPOR")), supercell, context)
    assert made.extension == "vts"
    for name in ("T", "QVAPOR"):
        read = array(data, name)
        assert read.dtype == np.float32
        assert np.array_equal(read, raw(supercell, name))


def test_staggered_values_are_averaged_to_the_cell_centres(supercell: Path, context: Context):
    data, _ = make(VtkOptions(("U", "V", "W")), supercell, context)
    u, v, w = (raw(supercell, name) for name in "UVW")
    half = np.float32(0.5)
    assert np.array_equal(array(data, "U"), half * (u[:, :, 1:] + u[:, :, :-1]))
    assert np.array_equal(array(data, "V"), half * (v[:, 1:] + v[:, :-1]))
    assert np.array_equal(array(data, "W"), half * (w[1:] + w[:-1]))


def test_coordinates_of_an_idealized_case_are_metres_and_geopotential_heights(
    supercell: Path, context: Context
):
    data, made = make(VtkOptions(("T",)), supercell, context)
    z = (raw(supercell, "PH") + raw(supercell, "PHB")) / np.float32(9.81)
    here = points(data)
    assert np.array_equal(here[..., 2], np.float32(0.5) * (z[1:] + z[:-1]))
    assert np.array_equal(here[3, 5, :, 0], np.arange(1000, 82000, 2000, dtype="f4"))
    assert np.array_equal(here[3, :, 5, 1], np.arange(1000, 82000, 2000, dtype="f4"))
    assert made.facts["coordinates"] == "x, y (m), z height (m)"


def test_coordinates_of_a_real_case_are_longitude_and_latitude(katrina: Path, context: Context):
    data, _ = make(VtkOptions(("QVAPOR",)), katrina, context, record=2)
    here = points(data)
    for level in (0, 13):
        assert np.array_equal(here[level, ..., 0], raw(katrina, "XLONG", 2))
        assert np.array_equal(here[level, ..., 1], raw(katrina, "XLAT", 2))


def test_the_model_plane_is_in_metres_with_longitude_and_latitude_beside(
    katrina: Path, context: Context
):
    data, _ = make(VtkOptions(("QVAPOR",), horizontal="model"), katrina, context)
    assert np.array_equal(points(data)[0, 0, :3, 0], np.array([1055e3, 1065e3, 1075e3], "f4"))
    assert np.array_equal(array(data, "longitude")[4], raw(katrina, "XLONG"))
    assert np.array_equal(array(data, "latitude")[4], raw(katrina, "XLAT"))


def test_a_crop_with_a_stride_keeps_the_averages_of_the_right_faces(
    supercell: Path, context: Context
):
    crop = Crop(index={"west_east": (4, 30), "bottom_top": (2, 20)}, stride={"west_east": 5})
    data, made = make(VtkOptions(("U", "W"), crop), supercell, context)
    u, w = raw(supercell, "U"), raw(supercell, "W")
    half = np.float32(0.5)
    assert made.facts["shape"] == [18, 41, 6]
    assert np.array_equal(array(data, "U"), (half * (u[..., 1:] + u[..., :-1]))[2:20, :, 4:30:5])
    assert np.array_equal(array(data, "W"), (half * (w[1:] + w[:-1]))[2:20, :, 4:30:5])
    assert np.array_equal(points(data)[0, 0, :, 0], 1000 + 2000 * np.arange(4, 30, 5, dtype="f4"))


def test_joined_tiles_give_what_one_file_would(tiles: list[Path], context: Context):
    data, _ = make(VtkOptions(("V", "T")), tiles, context)
    south, north = (raw(path, "V") for path in tiles)
    whole = np.concatenate([south, north], axis=1)
    assert whole.shape == (40, 42, 41)
    assert np.array_equal(array(data, "V"), np.float32(0.5) * (whole[:, 1:] + whole[:, :-1]))


@pytest.mark.parametrize("compress", [False, True])
def test_equally_spaced_points_become_image_data(
    cf_volume: Callable[..., Path], context: Context, compress: bool
):
    path = cf_volume()
    data, made = make(VtkOptions(("vx", "vy"), compress=compress), path, context)
    assert made.extension == "vti"
    assert data.GetOrigin() == (0.0, 0.0, 0.0)
    assert data.GetSpacing() == (50.0, 50.0, 25.0)
    assert np.array_equal(array(data, "vx"), raw(path, "vx"))
    assert np.array_equal(array(data, "vy"), raw(path, "vy"))


@pytest.mark.parametrize("blocks", [1, 2.5, 3])
def test_compressed_arrays_of_several_blocks_are_read_back(
    blocks: float, tmp_path: Path, context: Context
):
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    from burstlens.viz.vtk_file import Uniform, write_vtk

    values = np.arange(int(blocks * (1 << 18)), dtype="f4").reshape(1, 1, -1)
    mesh = Uniform(values.shape, (0, 0, 0), (1, 1, 1))
    write_vtk(tmp_path / "v.vti", mesh, {"v": values}, fields={}, compress=True)
    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(tmp_path / "v.vti"))
    reader.Update()
    assert np.array_equal(array(reader.GetOutput(), "v"), values)


def test_depths_stand_upright_as_negative_heights(cf_volume: Callable[..., Path], context: Context):
    path = cf_volume(depth=True)
    data, _ = make(VtkOptions(("vx",)), path, context)
    assert data.GetOrigin()[2] == -100.0
    assert np.array_equal(array(data, "vx"), raw(path, "vx")[::-1])


def test_unequal_spacing_becomes_a_rectilinear_grid(
    cf_volume: Callable[..., Path], context: Context
):
    from vtkmodules.util.numpy_support import vtk_to_numpy

    z = np.array([0, 10, 30, 70, 150], dtype="f4")
    path = cf_volume(z=z)
    data, made = make(VtkOptions(("vx",)), path, context)
    assert made.extension == "vtr"
    assert np.array_equal(vtk_to_numpy(data.GetZCoordinates()), z)
    assert np.array_equal(array(data, "vx"), raw(path, "vx"))


def test_a_surface_field_is_a_flat_grid(cf_volume: Callable[..., Path], context: Context):
    path = cf_volume()
    data, _ = make(VtkOptions(("vz",)), path, context)
    assert shape(data) == (1, 6, 7)
    assert np.array_equal(array(data, "vz")[0], raw(path, "vz"))


def test_variables_on_different_grids_are_refused(cf_volume: Callable[..., Path], context: Context):
    with pytest.raises(FrameError, match=r"vz and vx are not on the same grid: \(y, x\)"):
        make(VtkOptions(("vx", "vz")), cf_volume(), context)


def test_the_file_tells_its_time_and_units(supercell: Path, context: Context):
    data, _ = make(VtkOptions(("T",)), supercell, context)
    assert field_value(data, "TimeValue") == 480.0
    assert field_value(data, "ValidTime") == "00010101T000800"
    assert field_value(data, "T units") == "K"
    later = dataclasses.replace(context, time="t00000012.500", stream="volume")
    data, _ = make(VtkOptions(("T",)), supercell, later)
    assert field_value(data, "TimeValue") == 12.5


def test_a_series_lists_its_files_with_times_and_escaped_names():
    entries = [
        pvd_entry("20050828T120000", "core/a & b.vts", start="20050828T000000"),
        pvd_entry("20050828T150000", 'core/"c".vts', start="20050828T000000"),
    ]
    sets = ET.fromstring(pvd_text(entries)).findall("./Collection/DataSet")
    assert [(float(s.get("timestep")), s.get("file")) for s in sets] == [
        (43200.0, "core/a & b.vts"),
        (54000.0, 'core/"c".vts'),
    ]


def test_an_empty_series_is_still_a_collection():
    assert len(ET.fromstring(pvd_text([])).findall("./Collection")) == 1


def test_options_name_each_variable_once():
    with pytest.raises(ValueError, match="at least one"):
        VtkOptions(())
    with pytest.raises(ValueError, match="twice"):
        VtkOptions(("U", "U"))
