"""A series of scans of files of a program that writes classic netCDF."""

from __future__ import annotations

import os
from dataclasses import replace

import netCDF4
import numpy as np
import pytest
from watcher_case import MODEL, look, times

from burstlens.workflows.frames import ready
from burstlens.workflows.frames.cursor import Cursor, Unit
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.writers import has_gap
from burstlens.workflows.models.wrf import Wrf


def test_a_frame_has_its_paths_its_times_and_its_signal(tmp_path, watcher, write):
    path = write("out_1.nc", 1.0)
    (tmp_path / "model.log").write_text("wrote out_1.nc\n")
    one = watcher(root=tmp_path.parent, folder=tmp_path.name, attempt=3, run="storm")
    [frame] = look(one).frames
    assert (frame.run, frame.attempt, frame.stream, frame.time) == (
        "storm", 3, "output", "t00000001.000",
    )  # fmt: skip
    assert frame.paths == (f"{tmp_path.name}/out_1.nc",)
    assert (frame.record, frame.bytes) == (0, path.stat().st_size)
    assert (frame.written, frame.detected, frame.signal) == (2.0, 100.0, "log")


def test_a_file_is_quiet_for_as_long_as_scans_find_it_unchanged(watcher, write):
    write("out_1.nc", 1.0)
    one = watcher()
    assert times(look(one, 9.0)) == []  # the time before the first scan does not count
    assert times(look(one, ready.QUIET_S / 2)) == []
    write("out_1.nc", 2.0)
    assert times(look(one, 9.0)) == []
    assert times(look(one, ready.QUIET_S / 2)) == []
    assert times(look(one, ready.QUIET_S / 2)) == ["2.000"]
    assert times(look(one, 9.0)) == []


def test_quiet_time_continues_in_the_next_call(watcher, write):
    write("out_1.nc", 1.0)
    first = look(watcher())
    second = look(watcher(first.cursor), ready.QUIET_S / 2)
    assert times(look(watcher(second.cursor), ready.QUIET_S / 2)) == ["1.000"]


def test_a_frame_is_in_progress_until_it_is_declared_whole(watcher, write):
    write("out_1.nc", 1.0)
    one = watcher()
    assert look(one).in_progress
    assert not look(one, 9.0).in_progress


def test_one_stream_in_progress_is_enough(watcher, write):
    write("a_1.nc", 1.0)
    one = watcher(model=replace(MODEL, frames={"a": "a_*.nc", "b": "b_*.nc"}))
    look(one)
    assert not look(one, 9.0).in_progress
    write("b_1.nc", 1.0)
    assert look(one).in_progress


def test_an_unchanged_file_is_not_opened_again(watcher, write, monkeypatch):
    path = str(write("out_1.nc", 1.0))
    opened = []
    opens = os.open

    def noted(file, *rest, **keywords):
        opened.append(str(file))
        return opens(file, *rest, **keywords)

    one = watcher()
    look(one)
    monkeypatch.setattr(os, "open", noted)
    look(one)
    assert path not in opened
    look(one, ready.QUIET_S)
    assert path in opened


def test_an_hdf5_file_is_whole_when_its_writer_has_closed_it(tmp_path, watcher):
    file = netCDF4.Dataset(tmp_path / "out_1.nc", "w")
    file.createDimension("time", None)
    file.createVariable("time", "f8", ("time",))[0] = 1.0
    file.sync()
    one = watcher()
    assert look(one).frames == ()
    file.close()
    assert [frame.signal for frame in look(one).frames] == ["closed"]


LOST = "open_hist_w : error opening wrfout_d01_0001-01-01_00:01:00 for writing. ***\n"


def test_a_frame_that_the_log_calls_lost_is_damage_at_once_and_once(tmp_path, watcher):
    log, name = tmp_path / "rsl.error.0000", LOST.split()[4]
    other = name.replace("00:01:00", "00:00:00")
    for file in (name, other):
        (tmp_path / file).touch()
    one = watcher(model=Wrf())
    look(one)
    log.write_text(LOST)
    report = look(one)
    [damage] = report.damaged
    assert (damage.time, damage.paths, damage.stream) == ("00010101T000100", (name,), "d01")
    assert report.trouble == (LOST.strip(),)
    assert report.alarms == ()  # the damage says it
    assert [entry.files for entry in report.cursor.open] == [(other,)]
    log.write_text(2 * LOST)
    assert [entry.paths for entry in look(one, 9.0, ended=True).damaged] == [(other,)]


def test_a_lost_frame_whose_file_never_existed_is_also_damage(tmp_path, watcher):
    (tmp_path / "rsl.error.0000").write_text(LOST.replace("wrfout", "nothing") + LOST)
    report = look(watcher(model=Wrf()))
    [damage] = report.damaged
    assert damage.paths == (LOST.split()[4],)
    assert report.alarms == (LOST.replace("wrfout", "nothing").strip(),)


def test_a_hole_in_a_record_is_not_damage_if_the_log_never_called_it_written(tmp_path, watcher):
    path = tmp_path / "out_1.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("x", 32768)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "s"
        time[:] = [1.0, 2.0]
        file.createVariable("v", "f8", ("time", "x"))[:] = 1.0
    data = path.read_bytes()
    record = 8 * 32769
    path.write_bytes(data[:4] + b"\0\0\0\1" + data[8:-record])
    one = watcher()
    look(one)
    assert times(look(one, 9.0)) == ["1.000"]
    with path.open("r+b") as file:
        file.seek(len(data) - record)
        file.write(data[-record : -record + 8])
        file.truncate(len(data))
        file.seek(4)
        file.write(b"\0\0\0\2")
    assert has_gap(str(path), 1)
    look(one)
    assert times(look(one, 9.0)) == ["2.000"]


@pytest.mark.parametrize("news", ["frames", "damaged", "trouble", "notices"])
def test_reports_with_news_are_urgent(news):
    nothing = {"frames": (), "damaged": (), "cursor": Cursor()}
    assert not Report(**nothing).urgent
    assert Report(**(nothing | {news: ("news",)})).urgent
    assert Report(**nothing, ended=True).urgent


def test_frames_of_one_scan_are_in_time_order(watcher, write):
    for number, second in ((1, 5.0), (2, 3.0), (3, 4.0)):
        write(f"out_{number}.nc", second)
    assert times(look(watcher(), ended=True)) == ["3.000", "4.000", "5.000"]


def test_an_empty_file_is_damage_when_the_model_has_ended_and_it_stays_so(tmp_path, watcher):
    (tmp_path / "out_1.nc").touch()
    one = watcher()
    assert look(one).cursor.open[0].reason == "it has 0 bytes"
    assert not look(one, ready.LOST_QUIET_S / 2, ended=True).damaged
    report = look(one, ready.LOST_QUIET_S / 2, ended=True)
    [damage] = report.damaged
    assert damage.reason == "the model has ended and it has 0 bytes"
    assert (damage.paths, damage.time, damage.record) == (("out_1.nc",), None, 0)
    assert report.ended
    assert not look(one, 9.0, ended=True).damaged


@pytest.mark.parametrize("content", [b"", b"CDF", b"no netCDF"])
def test_a_file_that_is_not_whole_is_not_damage_while_the_model_runs(tmp_path, watcher, content):
    (tmp_path / "out_1.nc").write_bytes(content)
    one = watcher()
    for elapsed_s in (0.0, 9.0, 9000.0):
        report = look(one, elapsed_s)
        assert (report.damaged, report.in_progress, report.ended) == ((), True, False)


def test_damage_after_the_first_record_is_of_the_next_record(watcher, write):
    path = write("out_1.nc", 1.0, 2.0)
    os.truncate(path, path.stat().st_size - 1)
    report = look(watcher(), ended=True)
    assert times(report) == ["1.000"]
    [damage] = look(watcher(report.cursor), ready.LOST_QUIET_S, ended=True).damaged
    assert (damage.record, damage.time) == (1, None)


def test_a_file_that_is_deleted_after_its_frames_is_finished_and_ignored_if_it_comes_again(
    watcher, write
):
    path = write("out_1.nc", 1.0)
    one = watcher()
    look(one)
    assert times(look(one, 9.0)) == ["1.000"]
    path.unlink()
    assert not look(one).cursor.open
    write("out_1.nc", 1.0)
    look(one)
    assert times(look(one, 9.0)) == []


def test_bytes_of_a_record_that_was_never_finished_are_damage_at_the_end(watcher, write):
    with write("out_1.nc", 1.0).open("ab") as file:
        file.write(b"begun")
    one = watcher()
    assert times(look(one, ended=True)) == ["1.000"]
    report = look(one, ready.LOST_QUIET_S, ended=True)
    [damage] = report.damaged
    assert (damage.record, report.ended) == (1, True)
    assert damage.reason.endswith("it has 5 bytes of an unfinished record")


def test_damage_after_the_record_that_a_file_is_named_by_has_no_time(tmp_path, watcher):
    path = tmp_path / "wrfout_d01_0001-01-01_00:00:00"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("Time", None)
        file.createDimension("DateStrLen", 19)
        text = file.createVariable("Times", "S1", ("Time", "DateStrLen"))
        text[0] = netCDF4.stringtochar(np.array(["0001-01-01_00:00:00"], "S19"))[0]
    with path.open("ab") as more:
        more.write(b"begun")
    one = watcher(model=Wrf())
    (tmp_path / "namelist.input").write_text("&time_control io_form_history = 2 /\n")
    (tmp_path / "rsl.error.0000").write_text("d01 wrf: SUCCESS COMPLETE WRF\n")
    assert [frame.time for frame in look(one, ended=True).frames] == ["00010101T000000"]
    [damage] = look(one, ready.LOST_QUIET_S, ended=True).damaged
    assert (damage.record, damage.time) == (1, None)


def test_a_log_line_stops_waiting_once_its_frame_is_declared(tmp_path, watcher, write):
    write("out_1.nc", 1.0)
    (tmp_path / "model.log").write_text("wrote out_1.nc\nwrote out_2.nc\n")
    report = look(watcher())
    assert len(report.frames) == 1
    assert [line.file for line in report.cursor.speech.written] == ["out_2.nc"]
    assert report.cursor.speech.declared == {"output": "t00000001.000"}


def test_a_file_that_is_deleted_before_its_frames_and_written_again_is_read(watcher, write):
    path = write("out_1.nc", 1.0)
    one = watcher()
    look(one)
    path.unlink()
    look(one)
    write("out_1.nc", 2.0)
    look(one)
    assert times(look(one, 9.0)) == ["2.000"]


def test_a_file_that_is_deleted_before_its_frames_is_forgotten(watcher, write):
    path = write("out_1.nc", 1.0)
    one = watcher()
    look(one)
    path.unlink()
    report = look(one, ended=True)
    assert (report.damaged, report.cursor.open, report.ended) == ((), (), True)


def test_a_file_that_holds_less_than_was_handed_on_is_a_notice_once(watcher, write):
    write("out_1.nc", 1.0, 2.0)
    one = watcher()
    assert times(look(one)) + times(look(one, 9.0)) == ["1.000", "2.000"]
    write("out_1.nc", 1.0)
    notices = [look(one, step).notices for step in (0.0, 9.0)]
    assert notices == [("out_1.nc was rewritten after its frames were handed on",), ()]


def test_a_file_that_does_not_answer_is_a_notice_and_kept(tmp_path, watcher, write):
    (tmp_path / "out_1.nc").symlink_to("out_1.nc")
    write("out_2.nc", 2.0)
    report = look(watcher(), ended=True)
    assert report.notices == ("out_1.nc does not answer: Too many levels of symbolic links",)
    assert times(report) == ["2.000"]
    assert [entry.unit.name for entry in report.cursor.open] == ["out_1.nc"]
    assert not report.ended


def test_a_file_of_one_line_is_finished_when_a_later_one_exists(watcher, write):
    write("out_1.nc", 1.0)
    one = watcher()
    look(one)
    assert [entry.unit.name for entry in look(one, 9.0).cursor.open] == ["out_1.nc"]
    write("out_2.nc", 2.0)
    report = look(one)
    assert [entry.unit.name for entry in report.cursor.open] == ["out_2.nc"]
    assert report.cursor.is_done(Unit("output", "out_1.nc"))


def test_a_later_file_proves_an_unchanged_earlier_one_at_once(watcher, write):
    write("out_1.nc", 1.0)
    one = watcher()
    look(one)
    write("out_2.nc", 2.0)
    assert [(frame.signal, frame.time[-5:]) for frame in look(one).frames] == [("later", "1.000")]
