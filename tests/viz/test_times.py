"""When a model began, in which calendar it counts, and how long ago that was."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import cftime
import numpy as np
import pytest

from burstlens.core.errors import FrameError
from burstlens.core.valid_time import between
from burstlens.viz.diagnostics.derived import open_frame
from burstlens.viz.frames import times
from burstlens.viz.frames.reader import FrameReader, netCDF4
from burstlens.viz.kinds.netcdf.kind import NetcdfKind
from burstlens.viz.kinds.netcdf.options import NetcdfOptions
from burstlens.viz.product import Context


@pytest.fixture
def cf_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a CF file of one record with a field (y, x) and a time in any calendar."""

    def write(units: str, calendar: str | None, **scalars: tuple[float, dict[str, str]]) -> Path:
        path = tmp_path / "cf.nc"
        with netCDF4.Dataset(os.fspath(path), "w") as data:
            data.createDimension("time", None)
            for name in ("y", "x"):
                data.createDimension(name, 3)
                data.createVariable(name, "f4", (name,))[:] = [0, 1, 2]
            time = data.createVariable("time", "f8", ("time",))
            time.units = units
            if calendar is not None:
                time.calendar = calendar
            time[0] = 0.0
            data.createVariable("tas", "f4", ("time", "y", "x"))[0] = np.eye(3)
            for name, (value, attributes) in scalars.items():
                variable = data.createVariable(name, "f8", ())
                variable.setncatts(attributes)
                variable[...] = value
        return path

    return write


def lead(path: Path, context: Context, time: str, start: str | None = None) -> str:
    with open_frame([path]) as frame:
        return times.lead(frame, dataclasses.replace(context, time=time, start=start))


def test_a_restart_keeps_the_first_start(katrina: Path, tmp_path: Path, context: Context):
    path = tmp_path / "restarted"
    path.write_bytes(katrina.read_bytes())
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data.START_DATE = "2005-08-28_06:00:00"
    text = lead(path, context, "20050828T120000")
    assert text == "init 2005-08-28 00:00:00 UTC  ·  +12 h"


def test_without_the_attributes_xtime_gives_the_start(cyclone: Path, tmp_path: Path):
    path = tmp_path / "subset.nc"
    with (
        netCDF4.Dataset(os.fspath(cyclone)) as old,
        netCDF4.Dataset(os.fspath(path), "w") as data,
    ):
        data.createDimension("Time", None)
        data.createDimension("x", 2)
        data.createVariable("XTIME", "f4", ("Time",)).units = "minutes since 2005-08-28 00:00:00"
        data["XTIME"][0] = 1260.0
        data.createVariable("T2", "f4", ("Time", "x"))[0] = old["T2"][0, 0, :2]
    with open_frame([path], time="20050828T210000") as frame:
        assert times.start(frame) == "20050828T000000"
    with open_frame([path], time="t00000001.000") as frame:
        assert times.start(frame) is None


def test_a_forecast_reference_time_is_the_start(cf_file: Any, context: Context):
    about = {"standard_name": "forecast_reference_time", "units": "hours since 2005-08-27 00:00"}
    path = cf_file("hours since 2005-08-28", "standard", issued=(12.0, about))
    assert lead(path, context, "20050828T000000") == "init 2005-08-27 12:00:00 UTC  ·  +12 h"


@pytest.mark.parametrize("broken", ["furlongs since 1900", "hours since the flood", ""])
def test_a_reference_time_that_cannot_be_read_is_none(cf_file: Any, broken: str):
    about = {"standard_name": "forecast_reference_time", "units": broken}
    with open_frame([cf_file("s", None, issued=(1.0, about))]) as frame:
        assert times.start(frame) is None


@pytest.mark.parametrize(
    ("calendar", "hours"),
    [("standard", 48), ("noleap", 24), ("365_day", 24), ("all_leap", 48), ("360_day", 72)],
)
def test_the_lead_time_counts_the_days_that_the_calendar_has(
    cf_file: Any, context: Context, calendar: str, hours: int
):
    path = cf_file("days since 2004-02-28", calendar)
    text = lead(path, context, "20040301T000000", "20040228T000000")
    assert text == f"init 2004-02-28 00:00:00 UTC  ·  +{hours} h"


def test_a_day_that_only_the_calendar_has_counts(cf_file: Any, context: Context):
    path = cf_file("days since 2004-02-30", "360_day")
    assert lead(path, context, "20040301T000000", "20040230T120000").endswith("+12 h")
    # No other calendar has 30 February 2004: no lead time is better than a wrong one.
    assert lead(cf_file("s", "noleap"), context, "20040301T000000", "20040230T000000") == ""


def test_the_year_1_counts_as_wrf_does(supercell: Path, context: Context):
    assert lead(supercell, context, "00010101T000800") == "8 min after the start"
    assert lead(supercell, context, "00010101T000000") == "at the start"
    assert between("00010101T000000", "00020101T000000", "noleap") == 365 * 86400


def test_no_lead_time_before_the_start_or_without_a_calendar(cf_file: Any, context: Context):
    path = cf_file("s", None)
    assert lead(path, context, "20040101T000000", "20040102T000000") == ""
    assert lead(path, context, "t00000001.000", "20040102T000000") == ""


def test_a_crop_keeps_the_calendar(cf_file: Any, context: Context):
    path = cf_file("days since 2004-02-30", "360_day")
    out = context.files.parent / "crop.nc"
    at_time = dataclasses.replace(context, time="20040230T060000", start="20040228T000000")
    with open_frame([path]) as frame:
        NetcdfKind().make(NetcdfOptions(("tas",)), frame, out, at_time)
    with netCDF4.Dataset(os.fspath(out)) as data:
        time = data["time"]
        assert time.calendar == "360_day"
        found = cftime.num2date(time[0], time.units, time.calendar)
    assert found.isoformat() == "2004-02-30T06:00:00"


def test_seconds_and_lead_are_of_the_calendar_of_the_call_else_of_that_fms_names(
    cf_file: Callable[..., Path], context: Context
):
    path = cf_file("days since 2001-01-01", None)
    with netCDF4.Dataset(os.fspath(path), "a") as data:
        data["time"].calendar_type = "THIRTY_DAY_MONTHS"
    asked = dataclasses.replace(context, time="20010301T000000", start="20010201T000000")
    with open_frame([path]) as frame:
        for calendar, days in (("", 30), ("noleap", 28)):
            told = dataclasses.replace(asked, calendar=calendar)
            assert times.elapsed_s(frame, told) == days * 86400
            assert times.lead(frame, told).endswith(f"+{days * 24} h")


def test_the_characters_of_the_only_time_are_one_time(tmp_path: Path):
    with netCDF4.Dataset(os.fspath(tmp_path / "one.nc"), "w") as data:
        data.createDimension("DateStrLen", 19)
        data.createDimension("x", 2)
        data.createVariable("Times", "S1", ("DateStrLen",))[:] = [*"2005-08-28_00:00:00"]
        data.createVariable("T2", "f4", ("x",))[:] = [1, 2]
    with open_frame([tmp_path / "one.nc"], time="20050828T000000") as frame:
        assert times.valid(frame) == "20050828T000000"
        assert np.array_equal(frame.read("T2"), [1, 2])


@pytest.mark.parametrize("where", ["time", "XTIME", "config_calendar_type"])
def test_texts_are_of_the_calendar_that_numbers_beside_them_or_the_file_name(
    tmp_path: Path, where: str
):
    path = tmp_path / "days.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        for name, size in (("Time", 1), ("length", 26), ("x", 2)):
            data.createDimension(name, size)
        text = [*"2001-02-30T00:00:00.000000"]
        data.createVariable("Times", "S1", ("Time", "length"))[0] = text
        data.createVariable("T2", "f4", ("Time", "x"))[:] = 300
        if where == "config_calendar_type":
            data.setncattr(where, "360_day")
        else:
            data.createVariable(where, "f8", ("Time",)).calendar = "360_day"
    with open_frame([path], time="20010230T000000") as frame:
        assert frame.read("T2").tolist() == [300, 300]
    with open_frame([path]) as frame:
        assert times.valid(frame) == "20010230T000000"
    with pytest.raises(FrameError, match="2001-02-30"):
        open_frame([path], time="20010301T000000").__enter__()


def test_whether_a_file_has_the_time_of_its_frame_is_asked_in_the_same_digits_of_dates(
    tmp_path: Path,
):
    for name, values in (
        ("dates", [20010228, 20010229, 20010230]),
        ("seconds", [0, 20010227, 20010228]),
    ):
        with netCDF4.Dataset(os.fspath(tmp_path / f"{name}.nc"), "w") as data:
            data.createDimension("time", 3)
            data.createDimension("x", 2)
            data.createVariable("time", "i4", ("time",))[:] = values
            data["time"].calendar = "360_day"
            data.createVariable("T2", "f4", ("time", "x"))[:] = 300
    for name, time in (("dates", "20010230T000000"), ("seconds", "t20010228.000")):
        with closing(FrameReader([tmp_path / f"{name}.nc"], 2, "d01", time)) as frame:
            assert frame.has_own_time


def test_one_of_many_digits_that_is_no_date_does_not_make_the_newest_one_seconds(tmp_path: Path):
    path = tmp_path / "long.nc"
    with netCDF4.Dataset(os.fspath(path), "w") as data:
        data.createDimension("time", 300)
        data.createDimension("x", 2)
        made = data.createVariable("time", "i4", ("time",))
        made[:] = [(2000 + n // 12) * 10000 + (n % 12 + 1) * 100 + 1 for n in range(300)]
        made[150] = 1
        data.createVariable("T2", "f4", ("time", "x"))[:] = 300
    with closing(FrameReader([path], 299, "d01", "20241201T000000")) as frame:
        assert frame.has_own_time
