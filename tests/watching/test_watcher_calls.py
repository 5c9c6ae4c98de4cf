"""What a scan reports about logs and folders, and how one call continues another."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from watcher_case import MODEL, look, times

from burstlens.workflows.frames import ready
from burstlens.workflows.frames.cursor import Cursor, Open, Unit
from burstlens.workflows.frames.log_search import LogPattern


def test_a_log_that_is_not_a_regular_file_is_a_notice_once_and_blocks_no_frame(
    tmp_path, watcher, write
):
    (tmp_path / "model.log").mkdir()
    write("out_1.nc", 1.0)
    one = watcher()
    assert look(one).notices == ("model.log cannot be read: it is not a regular file",)
    report = look(one, 9.0)
    assert (report.notices, times(report)) == ((), ["1.000"])


def test_in_files_of_several_writers_the_log_decides_if_it_names_frames(tmp_path, watcher, write):
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


def test_a_scan_that_fails_is_a_notice_until_the_folder_answers_again(tmp_path, watcher, write):
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


def test_a_watcher_adopts_a_later_cursor_of_the_same_watch(watcher, write):
    write("out_1.nc", 1.0)
    one = watcher()
    report = look(one, ended=True)
    write("out_2.nc", 2.0)
    look(one)
    other = watcher(structs.replace(report.cursor, scans=9))
    assert one.adopt(other)
    assert one.cursor == other.cursor
    assert times(look(one, ended=True)) == ["2.000"]


def test_files_that_a_later_cursor_has_finished_are_not_read_again(watcher, write):
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
def test_a_watcher_does_not_adopt_the_cursor_of_another_watch(tmp_path, watcher, other):
    (tmp_path / "sub").mkdir()
    one = watcher()
    look(one)
    assert not one.adopt(watcher(Cursor(scans=9), **OTHERS[other]))


def test_a_watcher_does_not_adopt_an_earlier_cursor_or_one_of_files_that_it_does_not_list(
    watcher,
):
    one = watcher()
    look(one)
    look(one)
    assert not one.adopt(watcher(Cursor(scans=1)))
    assert one.adopt(watcher(Cursor(scans=2)))
    unit = Unit("output", "out_9.nc")
    assert not one.adopt(watcher(Cursor(scans=3, open=(Open(unit, ("out_9.nc",)),))))
