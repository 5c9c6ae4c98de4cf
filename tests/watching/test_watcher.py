"""One look after the other at files of a program that writes classic netCDF."""

from __future__ import annotations

import os
from dataclasses import replace

import netCDF4
import numpy as np
import pytest

from burstlens.workflows import ready
from burstlens.workflows.cursor import Cursor, Open, Unit
from burstlens.workflows.guards.log import LogPattern
from burstlens.workflows.models.command import Command
from burstlens.workflows.models.wrf import Wrf
from burstlens.workflows.structure import has_gap
from burstlens.workflows.watcher import Report, Watcher

MODEL = Command(
    argv=["./model"],
    frames="out_*.nc",
    written=r"^wrote (?P<file>\S+)",
    trouble="^BAD",
    done="^bye$",
)


@pytest.fixture
def write(tmp_path):
    """Writes these seconds into a file of output, under an mtime of its own; returns its path."""
    clock = 1_000_000_000

    def make(name, *seconds):
        nonlocal clock
        clock += 1_000_000_000
        path = tmp_path / name
        with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            variable = file.createVariable("time", "f8", ("time",))
            variable.units = "s"
            variable[:] = list(seconds)
        os.utime(path, ns=(clock, clock))
        return path

    return make


@pytest.fixture
def watcher(tmp_path, prober):
    """A watcher of ``tmp_path``, as a call of the driver makes it."""

    def make(cursor=None, folder=".", model=MODEL, attempt=1, run="run", root=tmp_path, **keywords):
        cursor = cursor or Cursor()
        return Watcher(root, folder, model, run, attempt, cursor, prober=prober, **keywords)

    return make


def look(watcher, elapsed_s=0.0, *, ended=False, now=100.0):
    return watcher.scan(elapsed_s=elapsed_s, now=now, ended=ended)


def times(report):
    return [frame.time[-5:] for frame in report.frames]


def test_a_frame_says_where_it_lies_when_it_was_written_and_by_what_it_was_found(
    tmp_path, watcher, write
):
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


def test_a_file_is_quiet_for_as_long_as_looks_find_it_unchanged(watcher, write):
    write("out_1.nc", 1.0)
    one = watcher()
    assert times(look(one, 9.0)) == []  # what was before the first look is not known
    assert times(look(one, ready.QUIET_S / 2)) == []
    write("out_1.nc", 2.0)
    assert times(look(one, 9.0)) == []
    assert times(look(one, ready.QUIET_S / 2)) == []
    assert times(look(one, ready.QUIET_S / 2)) == ["2.000"]
    assert times(look(one, 9.0)) == []


def test_quiet_goes_on_in_the_next_call(watcher, write):
    write("out_1.nc", 1.0)
    first = look(watcher())
    second = look(watcher(first.cursor), ready.QUIET_S / 2)
    assert times(look(watcher(second.cursor), ready.QUIET_S / 2)) == ["1.000"]


def test_a_frame_in_progress_is_one_that_is_not_declared_whole(watcher, write):
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


def test_a_file_about_which_nothing_is_new_is_not_opened_again(watcher, write, monkeypatch):
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
    assert [entry.files for entry in report.cursor.open] == [(other,)]
    log.write_text(2 * LOST)
    assert [entry.paths for entry in look(one, 9.0, ended=True).damaged] == [(other,)]


def test_a_lost_frame_whose_file_was_never_there_is_damage_as_well(tmp_path, watcher):
    (tmp_path / "rsl.error.0000").write_text(LOST.replace("wrfout", "nothing") + LOST)
    [damage] = look(watcher(model=Wrf())).damaged
    assert damage.paths == (LOST.split()[4],)


def test_a_hole_in_a_record_is_no_damage_where_the_log_never_called_it_written(tmp_path, watcher):
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
def test_news_is_urgent(news):
    report = Report((), (), Cursor())
    assert not report.urgent
    assert replace(report, **{news: ("news",)}).urgent
    assert replace(report, ended=True).urgent


def test_frames_of_one_look_come_in_the_order_of_their_times(watcher, write):
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
def test_a_file_that_is_not_whole_is_no_damage_while_the_model_runs(tmp_path, watcher, content):
    (tmp_path / "out_1.nc").write_bytes(content)
    one = watcher()
    for elapsed_s in (0.0, 9.0, 9000.0):
        report = look(one, elapsed_s)
        assert (report.damaged, report.in_progress, report.ended) == ((), True, False)


def test_damage_after_the_first_record_is_that_of_the_next_one(watcher, write):
    path = write("out_1.nc", 1.0, 2.0)
    os.truncate(path, path.stat().st_size - 1)
    report = look(watcher(), ended=True)
    assert times(report) == ["1.000"]
    [damage] = look(watcher(report.cursor), ready.LOST_QUIET_S, ended=True).damaged
    assert (damage.record, damage.time) == (1, None)


def test_a_file_that_is_deleted_after_its_frames_is_done_with_and_may_come_again_as_none(
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


def test_a_log_line_is_heeded_once_its_frame_is_declared(tmp_path, watcher, write):
    write("out_1.nc", 1.0)
    (tmp_path / "model.log").write_text("wrote out_1.nc\nwrote out_2.nc\n")
    report = look(watcher())
    assert len(report.frames) == 1
    assert [line.file for line in report.cursor.speech.written] == ["out_2.nc"]
    assert report.cursor.speech.told == {"output": "t00000001.000"}


def test_a_file_that_is_deleted_before_its_frames_and_written_anew_is_looked_at(watcher, write):
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


def test_a_file_of_one_line_is_finished_when_a_later_one_is_there(watcher, write):
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


def test_a_log_that_is_no_file_is_a_notice_once_and_holds_up_no_frame(tmp_path, watcher, write):
    (tmp_path / "model.log").mkdir()
    write("out_1.nc", 1.0)
    one = watcher()
    assert look(one).notices == ("model.log cannot be read: it is no regular file",)
    report = look(one, 9.0)
    assert (report.notices, times(report)) == ((), ["1.000"])


def test_a_model_whose_log_speaks_of_frames_is_waited_for_in_files_of_several_writers(
    tmp_path, watcher, write
):
    write("out_1.nc", 1.0)
    one = watcher(model=replace(MODEL, parallel=True))
    look(one)
    (tmp_path / "model.log").write_text("wrote out_0.nc\n")
    assert times(look(one, ready.WEAK_QUIET_S)) == []
    (tmp_path / "model.log").write_text("wrote out_0.nc\nwrote out_1.nc\n")
    assert [frame.signal for frame in look(one).frames] == ["log"]


@pytest.mark.parametrize(("log", "found"), [("", []), ("bye\n", ["1.000"])])
def test_the_end_of_a_model_proves_a_file_of_several_writers_only_if_its_log_says_so(
    tmp_path, watcher, write, log, found
):
    write("out_1.nc", 1.0)
    (tmp_path / "model.log").write_text(log)
    report = look(watcher(model=replace(MODEL, parallel=True)), ended=True)
    assert times(report) == found


def test_a_finished_later_file_proves_an_earlier_one(watcher, write):
    later = Cursor().finishing(Unit("output", "out_2.nc"))
    write("out_1.nc", 1.0)
    assert [frame.signal for frame in look(watcher(later)).frames] == ["later"]


def test_a_look_that_fails_is_a_notice_until_the_folder_answers_again(tmp_path, watcher, write):
    one = watcher(folder="run")
    report = look(one, ended=True)
    assert report.notices == ("the model's folder does not answer: No such file or directory",)
    assert not report.ended
    assert look(one).notices == ()
    (tmp_path / "run").mkdir()
    report = look(one, ended=True)
    assert (report.notices, report.ended, report.cursor.scans) == ((), True, 3)


def test_a_report_has_what_the_log_said(tmp_path, watcher):
    (tmp_path / "model.log").write_text("BAD wind\nNaN\nwrote out_1.nc\n")
    report = look(watcher(patterns=(LogPattern("nan", "NaN"),)))
    assert report.trouble == ("BAD wind",)
    assert [hit.guard for hit in report.hits] == ["nan"]
    assert [line.file for line in report.written] == ["out_1.nc"]
    assert report.tail == ("BAD wind", "NaN", "wrote out_1.nc")
    assert not report.behind


def test_a_watcher_goes_on_with_a_later_cursor_of_the_same_watch(watcher, write):
    write("out_1.nc", 1.0)
    one = watcher()
    report = look(one, ended=True)
    write("out_2.nc", 2.0)
    look(one)
    other = watcher(replace(report.cursor, scans=9))
    assert one.adopt(other)
    assert one.cursor == other.cursor
    assert times(look(one, ended=True)) == ["2.000"]


def test_what_a_later_cursor_has_finished_is_not_looked_at_again(watcher, write):
    write("out_1.nc", 1.0)
    one = watcher()
    look(one)
    done = Cursor(scans=9).finishing(Unit("output", "out_1.nc"))
    assert one.adopt(watcher(done))
    report = look(one, 9.0, ended=True)
    assert (times(report), report.ended) == ([], True)


OTHERS = {
    "folder": {"folder": "sub"},
    "model": {"model": replace(MODEL, done="^end$")},
    "attempt": {"attempt": 2},
    "run": {"run": "other"},
    "baseline": {"baseline": {"out_1.nc": [1, 1]}},
    "patterns": {"patterns": (LogPattern("nan", "NaN"),)},
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_watcher_goes_on_with_no_other_watch(tmp_path, watcher, other):
    (tmp_path / "sub").mkdir()
    one = watcher()
    look(one)
    assert not one.adopt(watcher(Cursor(scans=9), **OTHERS[other]))


def test_a_watcher_goes_on_with_no_earlier_cursor_and_with_none_of_files_that_it_does_not_list(
    watcher,
):
    one = watcher()
    look(one)
    look(one)
    assert not one.adopt(watcher(Cursor(scans=1)))
    assert one.adopt(watcher(Cursor(scans=2)))
    unit = Unit("output", "out_9.nc")
    assert not one.adopt(watcher(Cursor(scans=3, open=(Open(unit, ("out_9.nc",)),))))
