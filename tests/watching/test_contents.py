"""What a file holds without its fields: the same for classic files and for HDF5."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from many_files import many_files  # noqa: F401

from burstlens.core.errors import FrameError, UnreadError
from burstlens.workflows.frames.contents import (
    CLASSIC,
    EMPTY,
    HDF5,
    NEITHER,
    Contents,
    file_format,
    read_contents,
)
from burstlens.workflows.frames.hdf5 import Prober

pytestmark = pytest.mark.integration

DATA = Path(__file__).parents[1] / "data"
WRF = DATA / "wrf" / "wrfout_d01_0001-01-01_00_08_00"


@pytest.fixture(scope="module")
def prober() -> Iterator[Prober]:
    prober = Prober()
    yield prober
    prober.close()


def written(path: Path, format_: Any) -> Path:
    import netCDF4
    import numpy as np

    with netCDF4.Dataset(path, "w", format=format_) as data:
        data.source = "a model"
        data.createDimension("time", None)
        data.createDimension("y", 3)
        data.createDimension("x", 4)
        data.createDimension("only", 2)  # a dimension without a variable
        time = data.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = [1, 2, 3]
        x = data.createVariable("x", "f4", ("x",))
        x[:] = [10, 20, 30, 40]
        lat = data.createVariable("lat", "f8", ("y", "x"))
        lat.units = "degrees_north"
        t = data.createVariable("t", "i2", ("time", "y", "x"))
        t.setncatts({"scale_factor": 0.5, "units": "K", "flags": np.arange(3, dtype="i4")})
        data.createVariable("name", "S1", ("only",))
        data.createVariable("scalar", "f8", ())
    return path


@pytest.mark.parametrize(
    ("format_", "version"),
    [("NETCDF3_CLASSIC", 1), ("NETCDF3_64BIT_OFFSET", 2), ("NETCDF3_64BIT_DATA", 5),
     ("NETCDF4", 0), ("NETCDF4_CLASSIC", 0)],
)  # fmt: skip
def test_every_format_says_the_same(tmp_path: Path, prober: Prober, format_: str, version: int):
    path = written(tmp_path / "a.nc", format_)
    found = read_contents(str(path), prober)
    assert found.version == version
    assert found.sizes == {"time": 3, "y": 3, "x": 4, "only": 2}
    assert found.attributes["source"] == "a model"
    assert {name: one.dimensions for name, one in found.variables.items()} == {
        "time": ("time",), "x": ("x",), "lat": ("y", "x"), "t": ("time", "y", "x"),
        "name": ("only",), "scalar": (),
    }  # fmt: skip
    assert found.variables["t"].shape == (3, 3, 4)
    assert found.variables["t"].attributes == {
        "scale_factor": 0.5, "units": "K", "flags": [0, 1, 2],
    }  # fmt: skip
    assert [found.variables[name].kind for name in ("time", "t", "name")] == ["f", "i", "c"]
    assert found.variables["time"].ends == (1.0, 3.0)
    assert found.variables["x"].ends == (10.0, 40.0)
    assert found.variables["lat"].ends is None


def test_a_coordinate_of_two_dimensions_with_the_name_of_one_is_read(
    tmp_path: Path, prober: Prober
):
    import netCDF4

    with netCDF4.Dataset(tmp_path / "a.nc", "w") as data:
        data.createDimension("z", 2)
        data.createDimension("x", 3)
        data.createVariable("z", "f4", ("z", "x"))
        data.createVariable("t", "f4", ("z", "x"))
    found = read_contents(str(tmp_path / "a.nc"), prober)
    assert found.variables["z"].dimensions == ("z", "x")
    assert found.variables["t"].dimensions == ("z", "x")


def test_a_real_frame_has_all_of_its_variables(prober: Prober):
    found = read_contents(str(WRF), prober)
    assert found.variables["W"].dimensions == (
        "Time", "bottom_top_stag", "south_north", "west_east",
    )  # fmt: skip
    assert found.variables["Times"].kind == "c"
    assert found.attributes["MAP_PROJ"] == 0


def test_hdf5_without_named_dimensions_is_not_taken_for_netcdf(tmp_path: Path, prober: Prober):
    import h5py

    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["plain"] = [[1.0, 2.0]]
        file["group/inner"] = [1.0]
        file.attrs["empty"] = h5py.Empty("f")
    found = read_contents(str(tmp_path / "a.h5"), prober)
    assert found == Contents({}, {}, {}, ("plain",), ("group",))


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"", EMPTY), (b"CDF\x01rest", CLASSIC), (b"CDF\x09rest", NEITHER), (b"GRIB", NEITHER)],
)
def test_the_first_bytes_say_the_format(tmp_path: Path, content: bytes, kind: str):
    path = tmp_path / "a"
    path.write_bytes(content)
    assert file_format(str(path)) == kind
    assert file_format(str(WRF)) == HDF5


def test_a_half_written_file_is_an_error_and_no_crash(tmp_path: Path, prober: Prober):
    whole = WRF.read_bytes()
    path = tmp_path / "a.nc"
    for size in (0, 20, 48, 600, 4096, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(FrameError):
            read_contents(str(path), prober)
    classic = written(tmp_path / "b.nc", "NETCDF3_CLASSIC").read_bytes()
    for size in range(0, 400, 7):
        path.write_bytes(classic[:size])
        with pytest.raises(FrameError):
            read_contents(str(path), prober)


@pytest.mark.usefixtures("many_files")
def test_a_process_with_many_open_files_is_answered(tmp_path: Path):
    prober = Prober()
    assert read_contents(str(written(tmp_path / "a.nc", "NETCDF4")), prober).attributes
    prober.close()


def test_a_child_that_hangs_or_dies_is_an_error(tmp_path: Path):
    path = written(tmp_path / "a.nc", "NETCDF4")
    for code, error in (("import time; time.sleep(60)", UnreadError), ("exit(3)", FrameError)):
        command = (sys.executable, "-c", f"print('ready', flush=True); input(); {code}")
        prober = Prober(limit_s=0.2, command=command)
        with pytest.raises(error):
            read_contents(str(path), prober)
        prober.close()
