"""Records along a time of fixed length: a fill value there is a record that is not written."""

from __future__ import annotations

import os

import h5py
import netCDF4
import numpy as np
import pytest
from numeric_times import numeric_keys
from watcher_case import look

from burstlens.workflows.frames.structure import probe
from burstlens.workflows.models.command import Command

FORMS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4"]
KEYS = ("t00000001.000", "t00000002.000", "t00000003.000")


def create(path, form, kind="f8", units="s", **options):
    file = netCDF4.Dataset(path, "w", format=form)
    file.createDimension("time", 3)
    file.createDimension("x", 1000)
    file.createVariable("time", kind, ("time",), **options).units = units
    file.createVariable("v", "f8", ("time", "x"))
    return file


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("kind", "units", "options"),
    [
        ("f8", "s", {}),
        ("f4", "s", {}),
        ("f8", "s", {"fill_value": np.nan}),
        ("f8", "s", {"fill_value": -999.0}),
        ("f4", "days since 2000-01-01", {"fill_value": 1e20}),
        ("i4", "s", {}),
        ("i4", "seconds since 2000-01-01", {}),  # the default fill is a date in 1931
        ("i2", "hours since 2000-01-01", {}),
        ("i4", "days since 2000-01-01", {"fill_value": -1}),
    ],
)
def test_a_record_with_a_fill_value_for_its_time_is_not_written(
    tmp_path, prober, form, kind, units, options
):
    path = tmp_path / "out.nc"
    counts = []
    for count in (0, 1, 2, 3):
        with create(path, form, kind, units, **options) as file:
            file["time"][:count] = np.arange(1, count + 1)
        found = probe(str(path), 0, "time", prober, thorough=True)
        counts.append(len(found.times))
        assert found.begun == count
        assert (found.reason == "") == (count == 3)
        for first in (1, 2):
            rest = probe(str(path), first, "time", prober, thorough=True).times
            assert rest == found.times[first:]
    assert counts == [0, 1, 2, 3]


def test_64_bit_fill_values_are_not_times(tmp_path, prober):
    for form in FORMS[1:]:
        path = tmp_path / form
        with create(path, form, "i8", "ms") as file:
            file["time"][0] = 1000
        assert probe(str(path), 0, "time", prober).times == KEYS[:1]


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([0, 0, 0], 1),
        ([0, 5, 0], 2),
        ([5, 0, 0], 1),
        ([0, 5, 10], 3),
        ([-10, -5, 0], 3),  # hours before the event
        ([5, 0, 10], 3),  # unusual, and written
        ([], 0),
    ],
)
def test_zeros_at_the_end_of_times_of_fixed_length_are_not_written_yet(values, written):
    keys = numeric_keys(values, is_fixed=True)
    assert [key is not None for key in keys] == [True] * written + [False] * (len(keys) - written)
    assert None not in numeric_keys(values)


def test_zeros_of_a_file_that_is_not_filled_beforehand_are_not_times(tmp_path, prober):
    path = tmp_path / "out.h5"
    with h5py.File(path, "w") as file:
        time = file.create_dataset("time", 3, "f8")
        time[:2] = [1.0, 2.0]
    assert probe(str(path), 0, "time", prober).times == KEYS[:2]
    assert probe(str(path), 1, "time", prober).times == KEYS[1:2]
    assert probe(str(path), 2, "time", prober).times == ()


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_file_with_all_its_times_gives_all_its_records(tmp_path, watcher, form):
    model = Command(argv=["./model"], frames="out.nc")
    one = watcher(model=model)
    with create(tmp_path / "out.nc", form) as file:
        file["time"][:], file["v"][:] = [1.0, 2.0, 3.0], 1.0
    seen = [frame for _ in range(4) for frame in look(one, 0.25).frames]
    seen += look(one, 0.25, ended=True).frames
    assert [(frame.record, frame.time) for frame in seen] == [*enumerate(KEYS)]
    assert {frame.signal for frame in seen} == {"quiet" if form == "NETCDF4" else "ended"}


@pytest.mark.parametrize("kind", ["netCDF4", "h5py", "latest h5py"])
def test_an_open_hdf5_file_with_all_times_up_front_is_not_ready_before_it_is_closed(
    tmp_path, watcher, kind
):
    one = watcher(model=Command(argv=["./model"], frames="out.nc"))
    path = tmp_path / "out.nc"
    if kind == "netCDF4":
        file = create(path, "NETCDF4")
        file["time"][:] = [1.0, 2.0, 3.0]
        write = file.sync
    else:
        file = h5py.File(path, "w", libver="latest" if kind == "latest h5py" else None)
        file["time"] = [1.0, 2.0, 3.0]
        file.create_dataset("v", (3, 1000), "f8")
        write = file.flush
    for index in (None, 0, 1, 2):
        if index is not None:
            file["v"][index] = 1.0
        write()
        assert path.stat().st_size == int.from_bytes(_end_of_file(path), "little")
        assert [look(one, elapsed).frames for elapsed in (0.1, 1.0, 60.0)] == [()] * 3
    file.close()
    report = look(one, 0.1)
    assert [(frame.time, frame.signal) for frame in report.frames] == [
        (key, "closed") for key in KEYS
    ]


def _end_of_file(path):
    """The end-of-file address of a superblock with 8-byte addresses."""
    block = path.read_bytes()[:64]
    return block[40:48] if block[8] == 0 else block[28:36]


def test_a_log_line_makes_the_written_records_of_a_fixed_classic_file_ready_at_once(
    tmp_path, watcher
):
    model = Command(argv=["./model"], frames="out.nc", written=r"^wrote (?P<file>\S+)")
    one = watcher(model=model)
    with create(tmp_path / "out.nc", "NETCDF3_CLASSIC") as file:
        file["time"][0] = 1.0
    (tmp_path / "model.log").write_text("wrote out.nc\n")
    report = look(one)
    assert [(frame.time, frame.signal) for frame in report.frames] == [(KEYS[0], "log")]
    assert os.path.getsize(tmp_path / "out.nc") > 24_000


@pytest.mark.parametrize("form", FORMS)
def test_of_times_that_are_written_one_by_one_a_later_one_makes_a_record_ready(
    tmp_path, watcher, form
):
    one, seen = watcher(model=Command(argv=["./model"], frames="out.nc")), []
    file = create(tmp_path / "out.nc", form)
    for index in range(3):
        file["v"][index] = index + 1.0
        file["time"][index] = index + 1.0
        file.sync()
        os.utime(tmp_path / "out.nc", (index, index))
        for elapsed in (0.1, 0.3, 0.3, 10.0):
            seen += [(frame.record, frame.signal, index) for frame in look(one, elapsed).frames]
    file.close()
    seen += [(frame.record, frame.signal, 3) for frame in look(one, 0.1, ended=True).frames]
    signal = "closed" if form == "NETCDF4" else "ended"
    assert seen == [(0, "later", 1), (1, signal, 3), (2, signal, 3)]
