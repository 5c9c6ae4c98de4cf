"""Times and records that recognition finds are those that are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import netCDF4
import pytest
from attach_case import known, patterns, remarks, touch

from burstlens.core.errors import AttachError
from burstlens.workflows.frames.hdf5 import shared_prober
from burstlens.workflows.frames.structure import probe
from burstlens.workflows.look.folder.streams import adapter

HDF5 = pytest.param("NETCDF4", marks=pytest.mark.integration)
DAY = "wrfout_d01_2005-08-28_{hour}"


def frame_times(folder: Path) -> list[str]:
    """The keys of all frames in a folder, as the watcher would read them."""
    found = known(folder)
    model = adapter(folder, found)
    keys: list[str] = []
    for path in sorted(folder.iterdir()):
        output = model.identify(path.name)
        assert output is not None, path.name
        whole = probe(
            str(path), 0, model.time_variable, shared_prober(), thorough=True, time=output.time
        )
        assert whole.reason == ""
        keys += whole.times
    return keys


def subset(path: Path, minutes: float | None) -> None:
    """What ncks leaves of a file of WRF: no Times."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as data:
        data.TITLE = "OUTPUT FROM WRF V4.3.3 MODEL"
        for name, size in (("Time", None), ("south_north", 3), ("west_east", 4)):
            data.createDimension(name, size)
        data.createVariable("T2", "f4", ("Time", "south_north", "west_east"))[0] = 280.0
        if minutes is not None:
            time = data.createVariable("XTIME", "f4", ("Time",))
            time.units = "minutes since 2005-08-28 00:00:00"
            time[0] = minutes


@pytest.mark.parametrize("minutes", [None, 60.0])
@pytest.mark.parametrize("clock", ["{}:00:00", "{}-00-00", "{}_00_00.nc", "{}%3A00%3A00"])
def test_subsets_of_wrfs_files_have_the_time_of_xtime_or_of_their_names(
    tmp_path: Path, clock: str, minutes: float | None
):
    for hour in (12, 15):
        name = DAY.format(hour=clock.format(hour))
        subset(tmp_path / name, minutes and minutes * hour)
    assert set(patterns(known(tmp_path))) == {"d01"}
    assert frame_times(tmp_path) == ["20050828T120000", "20050828T150000"]


def test_names_that_a_browser_saved_are_one_stream(tmp_path: Path):
    touch(tmp_path, *(DAY.format(hour=f"{hour}%3A30%3A00") for hour in (12, 18)))
    assert patterns(known(tmp_path)) == {"d01": ("wrfout_d01_*", 2)}


def waves(path: Path, records: int, form: Any = "NETCDF3_CLASSIC") -> None:
    """A file of UMWM: a dimension time, and no variable of that name."""
    with netCDF4.Dataset(path, "w", format=form) as data:
        for name, size in (("time", None), ("y", 3), ("x", 4)):
            data.createDimension(name, size)
        data.createVariable("swh", "f4", ("time", "y", "x"))[:records] = 1.0


@pytest.mark.parametrize("form", ["NETCDF3_CLASSIC", HDF5])
def test_records_without_times_are_counted(tmp_path: Path, form: Any):
    waves(tmp_path / "all.nc", 3, form)
    found = known(tmp_path)
    assert found.reason.endswith("records counted along time, which has no times")
    assert frame_times(tmp_path) == [f"f-all_record000000000{number}" for number in range(3)]
    named = known(tmp_path, streams={"waves": "all*.nc"})
    assert named.settings["time_variable"] == "time"


def test_a_record_without_a_time_in_each_file_has_that_of_its_name(tmp_path: Path):
    for hour in (0, 6):
        waves(tmp_path / f"umwmout_2008-09-02_{hour:02d}:00:00.nc", 1)
    assert frame_times(tmp_path) == ["20080902T000000", "20080902T060000"]


def test_how_to_count_the_records_beside_a_stream_with_times_is_said(tmp_path: Path, regular: Any):
    regular("out_1.nc", {"tas": (("time", "lat", "lon"), {"units": "K"})})
    waves(tmp_path / "waves.nc", 3)
    assert "waves.nc: without a time (--time-variable time counts its" in remarks(known(tmp_path))


def test_a_dimension_can_be_named_to_count_along(tmp_path: Path):
    waves(tmp_path / "all.nc", 3)
    assert known(tmp_path, time_variable="time").settings["time_variable"] == "time"
    with pytest.raises(AttachError, match="no file here has a variable 'step'"):
        known(tmp_path, time_variable="step")
