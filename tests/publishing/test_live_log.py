"""The model's log in the run directory while it grows."""

from __future__ import annotations

import os

import pytest

from burstlens.workflows.publishing import live_log
from burstlens.workflows.publishing.live_log import HELD_LINES, LiveLog, log_names


@pytest.fixture
def log(run_dir) -> LiveLog:
    return LiveLog(run_dir, 2)


def test_new_lines_are_appended_under_a_line_for_each_attempt(log, run_dir):
    log.add(1, ["one", "two"])
    log.add(1, ["three"])
    log.add(2, ["one"])
    assert run_dir.model_log.read_text().splitlines() == [
        "--- attempt 1, as driver 2 reads it ---", "one", "two", "three",
        "--- attempt 2, as driver 2 reads it ---", "one",
    ]  # fmt: skip


def test_lines_that_the_report_could_not_hold_are_counted_where_they_are_missing(log, run_dir):
    log.add(1, ["one"])
    log.add(1, ["nine"], missed=7)
    assert run_dir.model_log.read_text().splitlines()[2:] == [
        "--- 7 lines left out here: they came too fast ---", "nine",
    ]  # fmt: skip


def test_nothing_is_written_before_the_model_has_said_anything(log, run_dir):
    log.add(1, [])
    assert not run_dir.model_log.exists()


def test_control_characters_do_not_reach_a_terminal(log, run_dir):
    log.add(1, ["\x1b[2Jcleared\ud800", "é"])
    assert run_dir.model_log.read_text().splitlines()[1:] == ["[2Jcleared", "é"]


def test_lines_are_held_while_the_run_directory_is_away_and_the_surplus_is_counted(log, run_dir):
    run_dir.logs.rename(run_dir.path / "away")
    log.add(1, ["first"])
    log.add(1, [f"line {n}" for n in range(HELD_LINES)])
    (run_dir.path / "away").rename(run_dir.logs)
    log.write()
    lines = run_dir.model_log.read_text().splitlines()
    assert lines[:2] == ["--- 2 lines left out here ---", "line 0"]
    assert len(lines) == HELD_LINES + 1
    log.add(1, ["last"])
    assert run_dir.model_log.read_text().endswith("3999\nlast\n")


def test_a_disk_that_takes_half_gets_the_piece_once(log, run_dir, monkeypatch):
    log.add(1, ["before"])
    whole = os.write
    monkeypatch.setattr(live_log.os, "write", lambda handle, data: whole(handle, data[:3]))
    log.add(1, ["after"])
    monkeypatch.setattr(live_log.os, "write", whole)
    log.write()
    assert run_dir.model_log.read_text().splitlines()[1:] == ["before", "after"]


def test_a_log_that_is_too_large_begins_anew(log, run_dir, monkeypatch):
    monkeypatch.setattr(live_log, "LIMIT_BYTES", 60)
    log.add(1, ["a" * 40])
    log.add(1, ["b"])
    assert run_dir.model_log.read_text() == "b\n"
    assert run_dir.model_log.with_name("model.log.1").read_text().endswith("a\n")


def test_lines_stand_once_where_a_long_log_cannot_be_renamed(log, run_dir, monkeypatch):
    monkeypatch.setattr(live_log, "LIMIT_BYTES", 10)
    (run_dir.logs / "model.log.1").mkdir()
    log.add(1, ["a" * 40])
    log.write()
    assert run_dir.model_log.read_text().count("a" * 40) == 1


def test_a_link_in_its_place_is_not_written_through(log, run_dir, tmp_path):
    target = tmp_path / "precious"
    target.write_text("")
    run_dir.model_log.symlink_to(target)
    log.add(1, ["one"])
    assert target.read_text() == ""


def test_logs_with_text_are_named_the_live_one_first(log, run_dir):
    home = run_dir.logs / "attempt-1"
    home.mkdir()
    for n in range(30):
        (home / f"rsl.error.{n:04d}").write_text("x")
    (home / "empty").touch()
    (run_dir.logs / "guards").mkdir()
    (run_dir.logs / "guards" / "mine.log").write_text("x")
    assert log_names(run_dir)[0] == "attempt-1/rsl.error.0000"
    log.add(1, ["one"])
    names = log_names(run_dir)
    assert names[:2] == ["model.log", "attempt-1/rsl.error.0000"]
    assert len(names) == 12
    assert not any("guards" in name for name in names)


def test_a_run_whose_logs_are_away_has_none(run_dir):
    run_dir.logs.rmdir()
    assert log_names(run_dir) == []
