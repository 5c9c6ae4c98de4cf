"""Times as files store them: packed, as texts, counted, or of no use."""

from __future__ import annotations

import os

import h5py
import netCDF4
import numpy as np
import pytest

from burstlens.core.valid_time import file_key, label
from burstlens.workflows.frames.contents import read_contents
from burstlens.workflows.frames.structure import probe

FORMS = ["NETCDF3_CLASSIC", "NETCDF4"]
BOTH = pytest.mark.parametrize("form", FORMS)


def create(path, form, *, unlimited=True, records=3):
    file = netCDF4.Dataset(path, "w", format=form)
    file.createDimension("time", None if unlimited else records)
    file.createDimension("x", 4)
    file.createVariable("v", "f4", ("time", "x"))[:] = np.ones((records, 4))
    return file


def times_of(path, prober, variable="time"):
    found = probe(str(path), 0, variable, prober, thorough=True)
    return found.times, found.reason


@BOTH
@pytest.mark.parametrize("unlimited", [True, False])
def test_packed_times_are_unpacked_and_so_are_the_ends_of_coordinates(
    tmp_path, prober, form, unlimited
):
    with create(tmp_path / "a.nc", form, unlimited=unlimited) as file:
        time = file.createVariable("time", "i2", ("time",), fill_value=-32767)
        time.units, time.scale_factor, time.add_offset = "hours since 1900-01-01", 6.0, 876000.0
        time[:] = [876000.0, 876006.0, 876012.0]
        x = file.createVariable("x", "i2", ("x",))
        x.scale_factor, x.add_offset, x.units = 0.5, 40.0, "degrees_north"
        x[:] = [40, 44, 48, 52]
    keys, reason = times_of(tmp_path / "a.nc", prober)
    assert (keys, reason) == (("19991208T000000", "19991208T060000", "19991208T120000"), "")
    variables = read_contents(str(tmp_path / "a.nc"), prober).variables
    assert (variables["time"].ends, variables["x"].ends) == ((876000, 876012), (40, 52))


def test_a_coordinate_that_is_not_written_has_no_ends(tmp_path, prober):
    for form in FORMS:
        with create(tmp_path / form, form) as file:
            file.createVariable("x", "f4", ("x",))[:2] = [1, 2]
        assert read_contents(str(tmp_path / form), prober).variables["x"].ends is None


def test_attributes_may_be_arrays_of_one_string(tmp_path, prober):
    with create(tmp_path / "a.nc", "NETCDF4") as file:
        time = file.createVariable("time", "f8", ("time",))
        time.setncattr_string("units", "hours since 2001-01-01")
        time.setncattr_string("calendar", "gregorian")
        time[:] = [0, 1, 2]
    keys, _ = times_of(tmp_path / "a.nc", prober)
    assert keys == ("20010101T000000", "20010101T010000", "20010101T020000")


ISO = ["2020-01-01T00:00:00", "2020-01-01T06:00:00", "2020-01-01T12:00:00"]
ISO_KEYS = ("20200101T000000", "20200101T060000", "20200101T120000")


@BOTH
def test_times_may_be_characters_in_iso_form(tmp_path, prober, form):
    with create(tmp_path / "a.nc", form) as file:
        file.createDimension("length", 19)
        time = file.createVariable("time", "S1", ("time", "length"))
        time[:] = netCDF4.stringtochar(np.array(ISO, "S19"))
    assert times_of(tmp_path / "a.nc", prober) == (ISO_KEYS, "")


def test_times_may_be_strings_in_iso_form(tmp_path, prober):
    with create(tmp_path / "a.nc", "NETCDF4") as file:
        file.createVariable("time", str, ("time",))[:] = np.array(ISO, object)
    assert times_of(tmp_path / "a.nc", prober) == (ISO_KEYS, "")


@BOTH
@pytest.mark.parametrize("unlimited", [True, False])
def test_records_along_a_dimension_without_a_variable_are_counted(
    tmp_path, prober, form, unlimited
):
    path = tmp_path / "waves_2008.nc"
    create(path, form, unlimited=unlimited).close()
    keys = tuple(f"f-waves_0000002008_record000000000{number}" for number in range(3))
    assert times_of(path, prober) == (keys, "")
    assert probe(str(path), 1, "time", prober, thorough=True).times == keys[1:]


DAYS = ["2001-02-29", "2001-02-30", "2001-03-01"]


@pytest.mark.parametrize("kind", ["characters", "classic", "strings"])
def test_texts_are_dates_of_the_calendar_of_the_file(tmp_path, prober, kind):
    with create(tmp_path / "a.nc", FORMS[kind != "classic"]) as file:
        if kind == "strings":
            time = file.createVariable("time", str, ("time",))
            time[:] = np.array(DAYS, object)
        else:
            file.createDimension("length", 10)
            time = file.createVariable("time", "S1", ("time", "length"))
            time[:] = netCDF4.stringtochar(np.array(DAYS, "S10"))
        time.calendar = "360_day"
    found = probe(str(tmp_path / "a.nc"), 0, "time", prober, thorough=True)
    assert found.times == ("20010229T000000", "20010230T000000", "20010301T000000")
    assert (found.calendar, found.reason) == ("360_day", "")


@BOTH
@pytest.mark.parametrize("where", ["XTIME", "config_calendar_type", "calendar"])
def test_texts_without_a_calendar_are_dates_of_that_of_the_numbers_beside_them_or_of_the_file(
    tmp_path, prober, form, where
):
    with create(tmp_path / "a.nc", form) as file:
        file.createDimension("length", 10)
        times = file.createVariable("Times", "S1", ("time", "length"))
        times[:] = netCDF4.stringtochar(np.array(DAYS, "S10"))
        file.createVariable("XTIME", "f4", ("time",))[:] = [0.0, 1440.0, 2880.0]
        if where == "XTIME":
            file["XTIME"].calendar = "360_day"
        else:
            setattr(file, where, "360day")
    found = probe(str(tmp_path / "a.nc"), 0, "Times", prober, thorough=True)
    assert found.times == ("20010229T000000", "20010230T000000", "20010301T000000")
    assert found.calendar == "360_day"


@BOTH
@pytest.mark.parametrize("name", ["air.ncep", "a.h5", "b.nc4.hdf"])
def test_counted_records_are_different_whatever_the_name_of_their_file_has(
    tmp_path, prober, form, name
):
    create(tmp_path / f"{name}.nc", form).close()
    assert times_of(tmp_path / f"{name}.nc", prober) == (
        tuple(file_key(f"{name}_record{number}.nc", "record") for number in range(3)), "",
    )  # fmt: skip
    assert len(set(times_of(tmp_path / f"{name}.nc", prober)[0])) == 3


@BOTH
def test_months_of_two_files_have_different_keys(tmp_path, prober, form):
    keys = []
    for year in (2001, 2002):
        with create(tmp_path / f"sst_{year}.nc", form) as file:
            time = file.createVariable("time", "f8", ("time",))
            time.units = "month"
            time[:] = [1, 2, 3]
        keys += times_of(tmp_path / f"sst_{year}.nc", prober)[0]
    assert keys == sorted(set(keys))
    assert label(keys[-1]) == "sst_2002_month3"


@BOTH
def test_times_along_two_dimensions_are_named(tmp_path, prober, form):
    with create(tmp_path / "a.nc", form) as file:
        file.createVariable("when", "f8", ("time", "x"))[:] = np.ones((3, 4))
    found = probe(str(tmp_path / "a.nc"), 0, "when", prober, thorough=True)
    assert found.undecoded
    assert found.reason == "its times are neither texts nor numbers along one dimension"


def test_times_of_another_type_are_named(tmp_path, prober):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["time"] = np.zeros(3, [("day", "i4"), ("ms", "i4")])
    assert probe(str(tmp_path / "a.h5"), 0, "time", prober).undecoded


@BOTH
@pytest.mark.parametrize("units", ["olympiads since 2000-01-01", "days since whenever", "level"])
def test_units_of_which_nothing_can_be_made_are_named(tmp_path, prober, form, units):
    with create(tmp_path / "a.nc", form) as file:
        time = file.createVariable("time", "f8", ("time",))
        time.units = units
        time[:] = [0, 1, 2]
    found = probe(str(tmp_path / "a.nc"), 0, "time", prober, thorough=True)
    assert found.undecoded
    assert units.split("since ")[-1] in found.reason


def test_text_in_latin_1_is_read(tmp_path, prober):
    units = "°C".encode("latin-1")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["t"] = np.ones(3)
        file["t"].make_scale("t")
        file["t"].attrs["units"] = np.bytes_(units)
    assert read_contents(str(tmp_path / "a.h5"), prober).variables["t"].text("units") == "°C"


@BOTH
@pytest.mark.parametrize(
    ("units", "named", "calendar"),
    [
        ("days since 2000-01-01", "THIRTY_DAY_MONTHS", "360_day"),
        ("days since 2000-01-01", None, "standard"),
        ("s", None, ""),
    ],
)
def test_the_calendar_of_the_times_is_read_with_them(
    tmp_path, prober, form, units, named, calendar
):
    with create(tmp_path / "a.nc", form) as file:
        time = file.createVariable("time", "f8", ("time",))
        time.units = units
        if named is not None:
            time.calendar = named
        time[:] = [0, 1, 2]
    assert probe(str(tmp_path / "a.nc"), 0, "time", prober).calendar == calendar


@BOTH
def test_tenths_of_a_second_in_4_bytes_stay_tenths_late_in_a_run(tmp_path, prober, form):
    with create(tmp_path / "a.nc", form) as file:
        time = file.createVariable("time", "f4", ("time",))
        time.units = "seconds since 2020-01-01"
        time[:] = 86400 + np.arange(3) * 0.1
    found = probe(str(tmp_path / "a.nc"), 0, "time", prober, thorough=True)
    assert found.times == ("20200102T000000", "20200102T000000.1", "20200102T000000.2")


@BOTH
@pytest.mark.parametrize(("kind", "about"), [("i4", {}), ("f8", {"long_name": "date"})])
def test_digits_are_of_the_calendar_of_the_file_from_any_record_on(
    tmp_path, prober, form, kind, about
):
    with create(tmp_path / "a.nc", form) as file:
        time = file.createVariable("time", kind, ("time",))
        time[:] = [20010229, 20010230, 20010301]
        time.setncatts({"calendar": "360_day", **about})
    keys = ("20010229T000000", "20010230T000000", "20010301T000000")
    for first in (0, 2):
        found = probe(str(tmp_path / "a.nc"), first, "time", prober, thorough=True)
        assert (found.times, found.calendar) == (keys[first:], "360_day")


@BOTH
@pytest.mark.parametrize("unlimited", [True, False])
def test_records_before_digits_that_are_no_date_have_their_times(tmp_path, prober, form, unlimited):
    with create(tmp_path / "a.nc", form, unlimited=unlimited) as file:
        time = file.createVariable("time", "i4", ("time",))
        time.units, time[:] = "YYYYMMDD", [20010101, 20011399, 20010103]
    assert times_of(tmp_path / "a.nc", prober)[0] == ("20010101T000000",)
    found = probe(str(tmp_path / "a.nc"), 1, "time", prober, thorough=True)
    assert (found.times, found.undecoded) == ((), True)
    assert "is no date" in found.reason
    after = probe(str(tmp_path / "a.nc"), 2, "time", prober, thorough=True)
    assert after.times == ("20010103T000000",)


@BOTH
@pytest.mark.parametrize("unlimited", [True, False])
def test_whether_numbers_are_digits_shows_in_the_first_and_the_newest(
    tmp_path, prober, form, unlimited, monkeypatch
):
    days = [20_000_101 + 10_000 * (n // 336) + 100 * (n // 28 % 12) + n % 28 for n in range(1000)]
    days[500] = 1
    with create(tmp_path / "a.nc", form, unlimited=unlimited, records=1000) as file:
        file.createVariable("time", "i4", ("time",))[:] = days
    reads, pread = [], os.pread
    monkeypatch.setattr(os, "pread", lambda *about: (reads.append(about), pread(*about))[1])
    found = probe(str(tmp_path / "a.nc"), 998, "time", prober, thorough=True)
    assert found.times == ("20021219T000000", "20021220T000000")
    assert len(reads) < 400


@BOTH
@pytest.mark.parametrize("kind", ["i4", "f8"])
@pytest.mark.parametrize("unlimited", [True, False])
def test_elapsed_seconds_of_a_long_run_are_no_dates(tmp_path, prober, form, kind, unlimited):
    values = [19180780, 19180801, 19180822]
    with create(tmp_path / "a.nc", form, unlimited=unlimited) as file:
        file.createVariable("time", kind, ("time",))[:] = [0, *values[1:]]
    for first in (0, 1):
        found = probe(str(tmp_path / "a.nc"), first, "time", prober, thorough=True)
        assert found.times[-1] == "t19180822.000"
        assert found.calendar == ""
    with create(tmp_path / "b.nc", form, unlimited=unlimited, records=1) as file:
        file.createVariable("time", kind, ("time",))[:] = [19180800]
    assert times_of(tmp_path / "b.nc", prober) == (("t19180800.000",), "")
