"""VTK files, read back by VTK's own readers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.vtk.kind import VtkKind
from burstlens.viz.kinds.vtk.options import VtkOptions, WindVector
from burstlens.viz.kinds.vtk.pvd import pvd_entry, pvd_text
from burstlens.viz.product import Context, Made


def read_back(out: Path) -> Any:
    """The data set as VTK's own reader gives it."""
    from vtkmodules.vtkIOXML import vtkXMLGenericDataObjectReader

    reader = vtkXMLGenericDataObjectReader()
    reader.SetFileName(str(out))
    reader.Update()
    assert reader.GetErrorCode() == 0
    return reader.GetOutput()


def make(
    options: VtkOptions, path: Path | list[Path], context: Context, record: int = 0
) -> tuple[Any, Made]:
    """The product as read back, and its facts."""
    out = context.files.parent / "product"
    paths = path if isinstance(path, list) else [path]
    with open_frame(paths, record, stream=context.stream) as frame:
        made = VtkKind().make(options, frame, out, context)
    return read_back(out), made


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


def test_longitude_and_latitude_are_those_of_the_file(katrina: Path, context: Context):
    options = VtkOptions(("QVAPOR",), coordinates="lonlat")
    data, _ = make(options, katrina, context, record=2)
    here = points(data)
    for level in (0, 13):
        assert np.array_equal(here[level, ..., 0], raw(katrina, "XLONG", 2))
        assert np.array_equal(here[level, ..., 1], raw(katrina, "XLAT", 2))


def mercator(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """x and y of a file's points by Snyder 1987, eq. 7-1 and 7-2, times the scale at TRUELAT1."""
    lon, lat = (np.radians(raw(path, name).astype("f8")) for name in ("XLONG", "XLAT"))
    with open_frame([path]) as frame:
        true, centre = (np.radians(frame.attributes[name]) for name in ("TRUELAT1", "STAND_LON"))
    scale = 6370e3 * np.cos(true)
    return scale * (lon - centre), scale * np.log(np.tan(np.pi / 4 + lat / 2))


def true_heights(path: Path) -> np.ndarray:
    """Metres above the sea at mass points, in float64: (PH + PHB) / 9.81 between the faces."""
    z = (raw(path, "PH").astype("f8") + raw(path, "PHB")) / 9.81
    return (z[1:] + z[:-1]) / 2


def test_a_real_case_lies_on_the_models_own_plane_at_its_true_heights(
    cyclone: Path, context: Context
):
    data, made = make(VtkOptions(("QVAPOR",)), cyclone, context)
    here, (x, y) = points(data), mercator(cyclone)
    # The file's float32 degrees are a metre apart, its float32 geopotentials a centimetre.
    assert np.abs(here[..., 0] - x).max() < 5
    assert np.abs(here[..., 1] - y).max() < 5
    assert np.abs(here[..., 2] - true_heights(cyclone)).max() < 0.01
    assert made.facts["projection"].startswith("+proj=merc")
    assert field_value(data, "Projection") == made.facts["projection"]


def test_a_volume_that_follows_a_storm_lies_where_the_storm_is(cyclone: Path, context: Context):
    crop = Crop(follow="min:PSFC", half_width_km=100)
    data, _ = make(VtkOptions(("QVAPOR",), crop), cyclone, context)
    pressure, (x, y) = raw(cyclone, "PSFC"), mercator(cyclone)
    row, column = np.unravel_index(int(pressure.argmin()), pressure.shape)
    here = points(data)
    nearest = np.hypot(here[0, ..., 0] - x[row, column], here[0, ..., 1] - y[row, column])
    found = np.unravel_index(int(nearest.argmin()), nearest.shape)
    assert nearest.min() < 5
    assert max(shape(data)[1:]) == 21
    column_heights = true_heights(cyclone)[:, row, column]
    assert np.abs(here[:, found[0], found[1], 2] - column_heights).max() < 0.01
    vapour = raw(cyclone, "QVAPOR")[:, row, column]
    assert np.array_equal(array(data, "QVAPOR")[:, found[0], found[1]], vapour)


def test_heights_are_exaggerated_and_the_file_says_so(cyclone: Path, context: Context):
    options = VtkOptions(("QVAPOR",), exaggeration=20)
    data, made = make(options, cyclone, context)
    assert np.abs(points(data)[..., 2] / 20 - true_heights(cyclone)).max() < 0.01
    assert field_value(data, "Exaggeration") == made.facts["exaggeration"] == 20


def test_on_the_sphere_points_are_as_far_from_the_centre_as_they_are_high(
    cyclone: Path, context: Context
):
    options = VtkOptions(("QVAPOR",), coordinates="sphere", exaggeration=3)
    data, _ = make(options, cyclone, context)
    here = points(data)
    radius = np.linalg.norm(here, axis=-1)
    assert np.abs((radius - 6370e3) / 3 - true_heights(cyclone)).max() < 0.01
    assert np.allclose(np.degrees(np.arcsin(here[..., 2] / radius)), raw(cyclone, "XLAT"))
    lon = np.degrees(np.arctan2(here[..., 1], here[..., 0]))
    assert np.allclose(lon, raw(cyclone, "XLONG"))


def test_the_surface_lies_on_the_terrain(
    cyclone: Path, context: Context, add_variables: Callable[..., Path]
):
    hills = 1000 * np.random.default_rng(4).random(raw(cyclone, "PSFC").shape).astype("f4")
    path = add_variables(cyclone, HGT=hills)
    with open_frame([path]) as frame:
        has_units = bool(frame.variable("HGT").units)
    if not has_units:
        set_units(path, "HGT", "m")
    data, _ = make(VtkOptions(("PSFC", "HGT"), surface="HGT"), path, context)
    assert shape(data) == (1, *hills.shape)
    assert np.array_equal(points(data)[0, ..., 2], hills)
    assert np.array_equal(array(data, "PSFC")[0], raw(path, "PSFC"))


def set_units(path: Path, name: str, units: str) -> None:
    import h5py

    with h5py.File(path, "a", locking=False) as file:
        file[name].attrs["units"] = units


def centred_wind(path: Path) -> np.ndarray:
    u, v, w = (raw(path, name).astype("f8") for name in "UVW")
    u, v, w = u[..., 1:] + u[..., :-1], v[:, 1:] + v[:, :-1], w[1:] + w[:-1]
    return np.stack([u, v, w], axis=-1) / 2


def test_the_wind_is_one_array_of_vectors_along_the_grid(supercell: Path, context: Context):
    data, made = make(VtkOptions(wind=WindVector()), supercell, context)
    wind = vector(data, "wind")
    assert wind.dtype == np.float32
    assert np.allclose(wind, centred_wind(supercell), atol=1e-5)
    assert made.facts["variables"]["wind"]["max"] == pytest.approx(
        np.linalg.norm(centred_wind(supercell), axis=-1).max(), rel=1e-5
    )
    assert field_value(data, "wind units") == "m s-1"


def vector(data: Any, name: str) -> np.ndarray:
    from vtkmodules.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(data.GetPointData().GetArray(name)).reshape(*shape(data), 3)


def turned_frame(path: Path, add_variables: Callable[..., Path], degrees: float) -> Path:
    """The same frame, whose grid is said to be turned against north."""
    size = raw(path, "PSFC").shape
    angle = np.radians(np.full(size, degrees))
    return add_variables(
        path, COSALPHA=np.cos(angle).astype("f4"), SINALPHA=np.sin(angle).astype("f4")
    )


def windy(supercell: Path, tmp_path: Path, add: Callable[..., Path], degrees: float) -> Path:
    """The supercell's winds somewhere on the earth, on a grid turned against north."""
    path = turned_frame(supercell, add, degrees)
    import h5py

    with h5py.File(path, "a", locking=False) as file:
        file.attrs["MAP_PROJ"] = np.int32(1)
        ny, nx = file["XLAT"].shape[1:]
        lon, lat = np.meshgrid(np.linspace(20, 28, nx), np.linspace(40, 46, ny))
        file["XLONG"][0], file["XLAT"][0] = lon, lat
        for name, units in (("XLONG", "degree_east"), ("XLAT", "degree_north")):
            file[name].attrs["units"] = units
    return path


def test_winds_are_turned_east_and_north_for_degrees_and_back(
    supercell: Path, tmp_path: Path, context: Context, add_variables: Callable[..., Path]
):
    path = windy(supercell, tmp_path, add_variables, 90)
    data, _ = make(VtkOptions(wind=WindVector(), coordinates="lonlat"), path, context)
    u, v, w = np.moveaxis(centred_wind(supercell), -1, 0)
    # A grid whose x points north: its u is the northward wind, its -v the eastward one.
    assert np.allclose(vector(data, "wind"), np.stack([-v, u, w], axis=-1), atol=1e-4)
    options = VtkOptions(wind=WindVector(relative_to="earth"), coordinates="lonlat")
    data, _ = make(options, path, context)
    assert np.allclose(vector(data, "wind"), centred_wind(supercell), atol=1e-4)


def test_winds_on_the_sphere_keep_their_speed_and_their_upward_part(
    supercell: Path, tmp_path: Path, context: Context, add_variables: Callable[..., Path]
):
    path = windy(supercell, tmp_path, add_variables, 30)
    data, _ = make(VtkOptions(wind=WindVector(), coordinates="sphere"), path, context)
    wind, here, plain = vector(data, "wind"), points(data), centred_wind(supercell)
    up = here / np.linalg.norm(here, axis=-1, keepdims=True)
    assert np.allclose((wind * up).sum(axis=-1), plain[..., 2], atol=1e-3)
    assert np.allclose(np.linalg.norm(wind, axis=-1), np.linalg.norm(plain, axis=-1), atol=1e-3)
    # Of a wind on a sphere the part along the axis is the northward one times cos(latitude).
    angle = np.radians(30)
    north = plain[..., 1] * np.cos(angle) + plain[..., 0] * np.sin(angle)
    lat = np.radians(raw(path, "XLAT").astype("f8"))
    along = north * np.cos(lat) + plain[..., 2] * np.sin(lat)
    assert np.allclose(wind[..., 2], along, atol=1e-3)


@pytest.mark.parametrize("coordinates", ["lonlat", "sphere"])
def test_an_idealized_case_has_no_degrees(supercell: Path, context: Context, coordinates: Any):
    with pytest.raises(FrameError, match=f"{coordinates} needs longitude and latitude"):
        make(VtkOptions(("T",), coordinates=coordinates), supercell, context)


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


def test_the_file_holds_its_time_and_units(supercell: Path, context: Context):
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


def test_files_without_a_time_lie_in_a_series_by_their_numbers():
    entries = [pvd_entry(key, "a.vts") for key in ("n0000000120", "f-run_x0000000008", "f-a")]
    sets = ET.fromstring(pvd_text(entries)).findall("./Collection/DataSet")
    assert [float(one.get("timestep")) for one in sets] == [120.0, 8.0, 0.0]


def test_an_empty_series_is_still_a_collection():
    assert len(ET.fromstring(pvd_text([])).findall("./Collection")) == 1


def test_options_name_each_variable_once():
    with pytest.raises(ValueError, match="at least one"):
        VtkOptions(())
    with pytest.raises(ValueError, match="twice"):
        VtkOptions(("U", "U"))
    with pytest.raises(ValueError, match="name of the vectors"):
        VtkOptions(("wind",), wind=WindVector())
    with pytest.raises(ValueError, match="above zero"):
        VtkOptions(("U",), exaggeration=0)


def test_levels_of_the_soil_are_their_own(supercell: Path, context: Context):
    data, _ = make(VtkOptions(("TSLB",)), supercell, context)
    with open_frame([supercell]) as frame:
        assert np.array_equal(array(data, "TSLB"), frame.read("TSLB"))
