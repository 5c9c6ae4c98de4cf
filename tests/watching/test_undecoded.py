"""Files that are whole and whose times cannot be decoded: neither damaged nor still to come."""

from __future__ import annotations

import netCDF4
import pytest
from numeric_times import numeric_keys
from watcher_case import attached_watcher, launched_watcher

from burstlens.core.errors import TimesError
from burstlens.core.time_axis import text_keys
from burstlens.workflows.frames.arrival import Selection
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.structure import probe
from burstlens.workflows.models.command import Command


def write(path, *, units="hours since 2005-08-28", calendar="standard", form="NETCDF4", text=None):
    with netCDF4.Dataset(path, "w", format=form) as data:
        data.createDimension("time", None)
        data.createDimension("x", 4)
        if text is None:
            time = data.createVariable("time", "f8", ("time",))
            time.units, time.calendar = units, calendar
            time[:] = [0.0, 1.0]
        else:
            data.createDimension("length", 19)
            time = data.createVariable("time", "S1", ("time", "length"))
            for number, row in enumerate(text):
                time[number] = [character.encode() for character in row.ljust(19, "\0")]
        field = data.createVariable("T2", "f4", ("time", "x"))
        field[:] = 280.0
    return str(path)


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"units": "olympiads since 2000-01-01"}, "'olympiads since 2000-01-01'"),
        ({"units": "hours since the flood"}, "'since the flood', calendar 'standard'"),
        ({"calendar": "martian"}, "'since 2005-08-28', calendar 'martian'"),
        ({"text": ["the 28th at noon"]}, "its time is not known: 'the 28th at noon"),
    ],
)
def test_a_file_with_unknown_times_is_undecoded_and_names_them(tmp_path, prober, form, how, why):
    found = probe(write(tmp_path / "a.nc", form=form, **how), 0, "time", prober, thorough=True)
    assert (found.times, found.undecoded) == ((), True)
    assert why in found.reason


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_a_file_without_its_time_variable_is_undecoded(tmp_path, prober, form):
    found = probe(write(tmp_path / "a.nc", form=form), 0, "Times", prober, thorough=True)
    assert found.undecoded
    assert found.reason == "it has no variable 'Times' (near: time)"


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_records_before_an_unknown_time_are_whole(tmp_path, prober, form):
    rows = ["2005-08-28_12:00:00", "no date"]
    path = write(tmp_path / "a.nc", form=form, text=rows)
    found = probe(path, 0, "time", prober, thorough=True)
    assert (found.times, found.undecoded) == (("20050828T120000",), False)
    assert probe(path, 1, "time", prober, thorough=True).undecoded


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_a_time_that_is_not_written_yet_is_awaited(tmp_path, prober, form):
    path = write(tmp_path / "a.nc", form=form, text=["", ""])
    found = probe(path, 0, "time", prober, thorough=True)
    assert (found.undecoded, found.reason) == (False, "record 0 has no time yet")


def test_a_file_that_is_cut_is_not_undecoded(tmp_path, prober):
    path = write(tmp_path / "a.nc", form="NETCDF3_CLASSIC", units="olympiads since 2000")
    with open(path, "r+b") as stream:
        stream.truncate(stream.seek(0, 2) - 40)
    assert not probe(path, 0, "Times", prober, thorough=True).undecoded


def test_values_that_are_no_times_are_not_written_yet():
    assert numeric_keys([float("nan"), 9.97e36], "hours since 2000-01-01") == [None, None]
    assert text_keys(b"2005-08-2\0\0\0\0\0\0\0\0\0\0" + b" " * 19, 19) == [None, None]
    with pytest.raises(TimesError, match="its time is not known: 'noon'"):
        text_keys(b"noon".ljust(19), 19)


def test_a_stream_with_unknown_times_is_reported_once_and_holds_up_no_other(tmp_path, prober):
    model = Command(argv=["./model"], frames={"bad": "bad_*.nc", "good": "good_*.nc"})
    watcher = launched_watcher(tmp_path, ".", model, "run", 1, Cursor(), prober=prober)
    bad = {"units": "olympiads since 2000-01-01", "form": "NETCDF3_CLASSIC"}
    for number in range(3):
        write(tmp_path / f"bad_{number}.nc", **bad)
        write(tmp_path / f"good_{number}.nc", form="NETCDF3_CLASSIC")
    first = watcher.scan(elapsed_s=0.0, now=0.0, ended=False)
    (one,) = first.undecoded
    assert one.sentence == (
        "frames of stream bad have no usable time: bad_0.nc: the units of its times are not known: "
        "'olympiads since 2000-01-01'"
    )
    assert {frame.stream for frame in first.frames} == {"good"}
    reports = [watcher.scan(elapsed_s=3.0, now=0.0, ended=True) for _ in range(3)]
    assert [report.undecoded for report in reports] == [(), (), ()]
    assert [damage for report in (first, *reports) for damage in report.damaged] == []
    assert not first.in_progress or len(first.cursor.open) > 1
    assert reports[-1].ended
    again = launched_watcher(tmp_path, ".", model, "run", 1, reports[-1].cursor, prober=prober)
    assert again.scan(elapsed_s=0.0, now=0.0, ended=True).undecoded == ()


def test_a_file_with_unknown_times_in_a_folder_of_others_is_not_damaged_either(tmp_path, prober):
    folder = tmp_path / "folder"
    folder.mkdir()
    write(folder / "bad.nc", units="olympiads since 2000-01-01")
    model = Command(argv=["./model"], frames={"bad": "bad.nc"})
    watcher = attached_watcher(
        folder, ".", model, "run", 1, Cursor(),
        selection=Selection(), stamp=tmp_path / "stamp", prober=prober,
    )  # fmt: skip
    reports = [watcher.scan(elapsed_s=9.0, now=0.0, ended=ended) for ended in (False, False, True)]
    assert [len(report.undecoded) for report in reports] in ([1, 0, 0], [0, 1, 0])
    assert not reports[1].in_progress
    assert [report.damaged for report in reports] == [(), (), ()]
    assert reports[-1].ended
