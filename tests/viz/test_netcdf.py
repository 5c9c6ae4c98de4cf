"""Crops as CF netCDF files."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames.reader import netCDF4
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.kinds.netcdf.kind import NetcdfKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.product import Context


def make(options: NetcdfOptions, path: Path, context: Context, record: int = 0) -> netCDF4.Dataset:
    out = context.files.parent / "crop.nc"
    with open_frame([path], record) as frame:
        NetcdfKind().make(options, frame, out, context)
    return netCDF4.Dataset(str(out))


@pytest.mark.parametrize("form", ["netcdf4", "classic"])
def test_the_crop_holds_the_values_of_the_file(supercell: Path, context: Context, form: str):
    crop = Crop(index={"west_east": (5, 25), "bottom_top": (0, 10)}, stride={"south_north": 3})
    options = NetcdfOptions(("T", "U", "W"), crop, format=form)
    with make(options, supercell, context) as data, open_frame([supercell]) as frame:
        assert np.array_equal(data["T"][0], frame.read("T")[:10, ::3, 5:25])
        assert np.array_equal(data["U"][0], frame.read("U")[:10, ::3, 5:26])
        assert np.array_equal(data["W"][0], frame.read("W")[:11, ::3, 5:25])
        assert data.data_model == {"netcdf4": "NETCDF4", "classic": "NETCDF3_64BIT_OFFSET"}[form]


def test_a_classic_file_ends_with_its_data(supercell: Path, context: Context):
    crop = Crop(index={"west_east": (5, 25), "bottom_top": (0, 10)}, stride={"south_north": 3})
    with make(NetcdfOptions(("T",), crop, format="classic"), supercell, context) as data:
        size = sum(variable[:].nbytes for variable in data.variables.values())
    assert (context.files.parent / "crop.nc").stat().st_size < size + 8192  # of the header


def test_coordinates_of_an_idealized_case_are_metres_and_heights(supercell: Path, context: Context):
    crop = Crop(index={"west_east": (5, 8)})
    with make(NetcdfOptions(("T",), crop), supercell, context) as data:
        assert np.array_equal(data["west_east"][:], [11000, 13000, 15000])
        assert data["west_east"].units == "m"
        assert data["T"].coordinates == "altitude"
        assert data["altitude"].positive == "up"
        assert data["altitude"].shape == (40, 41, 3)
        assert data["T"].dimensions == ("time", "bottom_top", "south_north", "west_east")


def test_coordinates_of_a_real_case_are_longitude_and_latitude(katrina: Path, context: Context):
    later = dataclasses.replace(context, time="20050828T150000")
    with make(NetcdfOptions(("T2", "U")), katrina, later, 1) as data, open_frame([katrina], 1) as f:
        assert data["T2"].coordinates.split() == ["longitude", "latitude"]
        assert np.array_equal(data["longitude"][:], f.read("XLONG"))
        assert np.array_equal(data["longitude_U"][:], f.read("XLONG_U"))
        assert data["latitude"].standard_name == "latitude"
        assert netCDF4.num2date(data["time"][0], data["time"].units).isoformat() == (
            "2005-08-28T15:00:00"
        )
        assert data["time"][0] == 54000


def test_coordinate_variables_of_other_models_come_along(
    cf_volume: Callable[..., Path], context: Context
):
    elapsed = dataclasses.replace(context, time="t00000001.500")
    with make(NetcdfOptions(("vx",), Crop(stride=2)), cf_volume(), elapsed) as data:
        assert np.array_equal(data["x"][:], [0, 100, 200, 300])
        assert np.array_equal(data["z"][:], [0, 50, 100])
        assert data["time"].units == "s"
        assert data["time"][0] == 1.5


@pytest.mark.filterwarnings("ignore::cftime._cftime.CFWarning")
@pytest.mark.parametrize(
    ("time", "calendar"),
    [("15000229T000000", "standard"), ("00000301T000000", "standard_with_year_0"),
     ("19910230T000000", "360_day"), ("15000301T000000", "")],
)  # fmt: skip
def test_the_time_is_the_frames_in_its_calendar(
    cf_volume: Callable[..., Path], context: Context, time: str, calendar: str
):
    start = time[:4] + "0101T000000"
    dated = dataclasses.replace(context, time=time, calendar=calendar, start=start)
    with make(NetcdfOptions(("vx",), Crop(stride=2)), cf_volume(), dated) as data:
        stored = data["time"]
        found = netCDF4.num2date(stored[0], stored.units, stored.calendar)
        assert found.strftime("%Y%m%dT%H%M%S").rjust(15, "0") == time


def test_a_frame_without_a_time_gets_none(cf_volume: Callable[..., Path], context: Context):
    named = dataclasses.replace(context, time="topo")
    with make(NetcdfOptions(("vz",)), cf_volume(), named) as data:
        assert data["vz"].shape == (1, 6, 7)
        assert "time" not in data.variables
        assert "valid_time" not in data.ncattrs()


def test_the_file_says_where_it_is_from(katrina: Path, context: Context):
    crop = Crop(range={"lat": (24, 25)})
    with make(NetcdfOptions(("T2",), crop), katrina, context, record=2) as data:
        assert data.Conventions == "CF-1.8"
        assert data.run == "20261121-supercell-7f3a"
        assert data.software == f"Burstlens {context.version}"
        assert json.loads(data.crop) == {"range": {"lat": [24, 25]}}


def test_missing_values_stay_missing(
    supercell: Path, tmp_path: Path, copy_with: Callable[..., None], context: Context
):
    with open_frame([supercell]) as frame:
        w = frame.read("W")[None].copy()
    w[0, 3, :5] = np.nan
    path = tmp_path / "holes.nc"
    copy_with(supercell, path, ["Times", "W"], W=w)
    with make(NetcdfOptions(("W",)), path, context) as data:
        assert np.ma.getmaskarray(data["W"][0]).sum() == 5 * 41


def test_text_is_refused(katrina: Path, context: Context):
    out = context.files.parent / "text.nc"
    with open_frame([katrina]) as frame, pytest.raises(FrameError, match="Times holds text"):
        NetcdfKind().make(NetcdfOptions(("T2", "Times")), frame, out, context)
    assert not out.exists()
