"""Files without any time: each is one frame, named by its file; and times without a dimension."""

from __future__ import annotations

import os

import netCDF4
import numpy as np
import pytest
from watcher_case import look

from burstlens.workflows.frames.structure import probe
from burstlens.workflows.models.command import Command

FORMS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4"]
MODEL = Command(argv=["./model"], frames="out_*.nc", time_variable="", written=r"^(?P<file>\S+)$")


def create(path, form="NETCDF4"):
    """An open file with one field that is not written yet."""
    file = netCDF4.Dataset(path, "w", format=form)
    file.createDimension("x", 1000)
    file.createVariable("v", "f8", ("x",))
    return file


def whole(path, form="NETCDF4"):
    with create(path, form) as file:
        file["v"][:] = 1.0
    return path


@pytest.mark.parametrize("form", FORMS)
def test_a_file_without_a_time_is_one_record_named_by_its_file(tmp_path, prober, form):
    path = whole(tmp_path / "out_000120.nc", form)
    found = probe(str(path), 0, "", prober)
    assert (found.times, found.begun, found.reason) == (("n0000000120",), 1, "")
    assert (found.frame_bytes, found.held) == (path.stat().st_size, False)
    assert found.conclusive == (form == "NETCDF4")
    assert probe(str(path), 0, "", prober, time="t1").times == ("t1",)
    after = probe(str(path), 1, "", prober)
    assert (after.times, after.begun, after.reason) == ((), 1, "")


@pytest.mark.parametrize("form", FORMS)
def test_a_file_without_a_time_that_is_short_is_not_whole(tmp_path, prober, form):
    path = whole(tmp_path / "out_1.nc", form)
    os.truncate(path, path.stat().st_size - 1)
    found = probe(str(path), 0, "", prober)
    assert found.times == ()
    assert f"{path.stat().st_size + 1} bytes" in found.reason


@pytest.mark.parametrize("form", FORMS)
def test_a_file_without_variables_is_not_a_frame(tmp_path, prober, form):
    netCDF4.Dataset(tmp_path / "out_1.nc", "w", format=form).close()
    found = probe(str(tmp_path / "out_1.nc"), 0, "", prober)
    assert (found.times, found.reason) == ((), "it has no variable yet")


@pytest.mark.parametrize("form", FORMS[:2])
def test_the_records_of_another_dimension_belong_to_the_file(tmp_path, prober, form):
    path = tmp_path / "out_1.nc"
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("station", None)
        file.createVariable("v", "f8", ("station",))[:] = np.arange(5.0)
    assert probe(str(path), 0, "", prober).times == ("n0000000001",)
    os.truncate(path, path.stat().st_size - 8)
    assert probe(str(path), 0, "", prober).times == ()


def test_an_open_netcdf4_file_is_never_ready_by_quiet_and_is_ready_when_it_is_closed(
    tmp_path, watcher
):
    model = Command(argv=["./model"], frames="out_*.nc", time_variable="")
    one = watcher(model=model)
    file = create(tmp_path / "out_1.nc")
    for data in (None, 1.0):
        # The end of file in the superblock equals the size after each of these.
        if data is not None:
            file["v"][:500] = data
        file.sync()
        for _ in range(4):
            assert look(one, 20.0).frames == ()
    file["v"][500:] = 2.0
    file.close()
    (frame,) = look(one, 0.1).frames
    assert (frame.time, frame.record, frame.signal) == ("n0000000001", 0, "closed")


def test_a_file_whose_writer_was_killed_is_damaged_by_its_key(tmp_path, watcher):
    one = watcher(model=Command(argv=["./model"], frames="out_*.nc", time_variable=""))
    file = create(tmp_path / "out_20200101.nc")
    file.sync()
    (tmp_path / "killed").write_bytes((tmp_path / "out_20200101.nc").read_bytes())
    file.close()
    os.replace(tmp_path / "killed", tmp_path / "out_20200101.nc")
    reports = [look(one, 3.0, ended=True) for _ in range(3)]
    assert [frame for report in reports for frame in report.frames] == []
    (damage,) = [damage for report in reports for damage in report.damaged]
    assert (damage.time, damage.record) == ("20200101T000000", 0)
    assert reports[-1].ended


@pytest.mark.parametrize(("form", "signal"), [("NETCDF4", "quiet"), ("NETCDF3_CLASSIC", "weak")])
def test_a_single_file_without_a_time_is_ready_by_quiet(tmp_path, watcher, form, signal):
    one = watcher(model=Command(argv=["./model"], frames="field.nc", time_variable=""))
    whole(tmp_path / "field.nc", form)
    seen = []
    for _ in range(130):
        seen += look(one, 0.25).frames
    assert [(frame.time, frame.signal) for frame in seen] == [("f-field", signal)]


@pytest.mark.parametrize("form", FORMS)
def test_frames_without_a_time_come_once_each_and_in_the_order_of_their_names(
    tmp_path, watcher, form
):
    one, seen = watcher(model=MODEL), []
    for number in (8, 9, 10, 11):
        whole(tmp_path / f"out_{number}.nc", form)
        seen += look(one, 0.1).frames
    (tmp_path / "model.log").write_text("out_11.nc\n")
    for _ in range(3):
        seen += look(one, 0.3).frames
    assert [frame.time for frame in seen] == [f"n{number:010d}" for number in (8, 9, 10, 11)]
    assert seen[-1].signal == "log"
    # A later call goes on from the cursor alone, and declares nothing again.
    assert look(watcher(one.cursor, model=MODEL), 0.3).frames == ()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "key"), [("f8", "t00000002.500"), ("S1", "20050828T120000")])
def test_a_time_without_a_dimension_is_one_frame_at_that_time(tmp_path, prober, form, kind, key):
    path = tmp_path / "out.nc"
    with create(path, form) as file:
        if kind == "f8":
            time = file.createVariable("time", kind, ())
            time.units, time[...] = "s", 2.5
        else:
            file.createDimension("length", 19)
            time = file.createVariable("time", kind, ("length",))
            time[:] = np.array([*"2005-08-28_12:00:00"], "S1")
    found = probe(str(path), 0, "time", prober)
    assert (found.times, found.begun, found.reason) == ((key,), 1, "")
    assert probe(str(path), 1, "time", prober).times == ()
