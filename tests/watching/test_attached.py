"""The watch of a folder in which others started a model: the real model's traces, and reruns."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import netCDF4
import pytest
from watcher_case import MODEL, attached_watcher

from burstlens.workflows.frames import attached
from burstlens.workflows.frames.arrival import Selection
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.watch import Attachment, watch

EVERYTHING = Selection(newest=None)
PARALLEL = replace(MODEL, parallel=True, written=None)


@pytest.fixture(name="attached")
def _attached(course):
    """A course whose watcher knows no baseline, with the mtimes that the file system gives."""

    def made(name: str, **keywords):
        return course(name, coarse=True, selection=EVERYTHING, **keywords)

    return made


def found(course) -> set[tuple[str, str]]:
    return {(frame.stream, frame.time) for frame in course.frames}


def every(course, number: int):
    return lambda call: call % max(1, len(course.trace.ops) // number) == 0


def test_each_frame_is_declared_once_and_never_early(attached, name):
    course = attached(name)
    course.walk(every(course, 400))
    course.end()
    assert found(course) == course.whole()
    assert course.damaged == []


def test_a_look_that_arrives_midway_takes_each_frame_once(attached, name):
    course = attached(name)
    for _ in range(int(0.6 * len(course.trace.ops))):
        course.step()
    course.walk(every(course, 200))
    course.end()
    assert found(course) == course.whole()
    assert course.damaged == []


def test_a_look_after_the_end_takes_all_and_waits_for_no_witness(attached, name):
    course = attached(name)
    for _ in course.trace.ops:
        course.step()
    course.player.finish()
    for _ in range(4):
        course.scan(1.0)
    for _ in range(4):
        course.scan(1.0, ended=True)
    assert found(course) == course.whole()
    assert course.damaged == []


HOUR_S = 3600.0
WEEK_S = 7 * 86400.0


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "model"
    made.mkdir()
    return made


@pytest.fixture
def look(tmp_path, folder, prober):
    """Makes a watch of ``folder`` by an adapter of classic files that several processes write."""

    def made(cursor=None, attempt=1, selection=EVERYTHING, model=PARALLEL, declared=None):
        cursor = cursor or Cursor()
        return attached_watcher(
            tmp_path, "model", model, "run", attempt, cursor,
            selection=selection, stamp=tmp_path / "clock", declared=declared, prober=prober,
        )  # fmt: skip

    return made


def write(folder, name, *seconds, age_s=0.0):
    path = folder / name
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        variable = file.createVariable("time", "f8", ("time",))
        variable.units = "s"
        variable[:] = list(seconds)
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path


def scan(watch, elapsed_s=0.0, *, ended=False):
    return watch.scan(elapsed_s=elapsed_s, now=time.time(), ended=ended)


def signals(report):
    return {frame.time.lstrip("t0"): frame.signal for frame in report.frames}


def test_a_later_file_of_an_earlier_run_proves_nothing(look, folder):
    write(folder, "out_6.nc", 6.0, age_s=WEEK_S)
    write(folder, "out_7.nc", 7.0, age_s=WEEK_S)
    write(folder, "out_5.nc", 5.0)  # a rerun has begun
    watch = look()
    assert signals(scan(watch)) == {"6.000": "later"}
    assert signals(scan(watch, 3.0)) == {"7.000": "unproven"}
    write(folder, "out_6.nc", 6.0)
    assert signals(scan(watch, 0.1)) == {"5.000": "later"}


def test_without_a_witness_a_frame_waits_for_twice_the_usual_interval(look, folder):
    for number in range(4):
        write(folder, f"out_{number}.nc", float(number), age_s=40.0 * (4 - number))
    watch = look()
    assert signals(scan(watch)).keys() == {"1.000", "2.000", ".000"}
    assert signals(scan(watch, 35.0)) == {}
    assert signals(scan(watch, 10.0)) == {"3.000": "unproven"}


def test_a_file_of_another_day_is_old_at_once(look, folder):
    write(folder, "out_1.nc", 1.0, age_s=WEEK_S)
    watch = look()
    assert signals(scan(watch)) == {}
    assert signals(scan(watch, 2.5)) == {"1.000": "unproven"}


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_writer_whose_clock_is_an_hour_off_is_waited_for(look, folder, hours):
    write(folder, "out_1.nc", 1.0, age_s=hours * HOUR_S)
    watch = look()
    assert signals(scan(watch)) == {}
    write(folder, "out_1.nc", 1.5, age_s=hours * HOUR_S)  # still being written
    assert signals(scan(watch, 1.0)) == {}
    assert signals(scan(watch, 20.0)) == {}


def test_only_the_newest_are_taken_and_the_others_not_even_asked_for(look, folder, monkeypatch):
    for number in range(50):
        write(folder, f"out_{number:03d}.nc", float(number), age_s=WEEK_S - number)
    asked = []
    stats = os.stat

    def noted(path, *rest, **keywords):
        asked.append(os.fspath(path))
        return stats(path, *rest, **keywords)

    monkeypatch.setattr(os, "stat", noted)
    watch = look(selection=Selection(newest=5))
    found = signals(scan(watch)) | signals(scan(watch, 3.0))
    assert sorted(found) == ["45.000", "46.000", "47.000", "48.000", "49.000"]
    assert not [path for path in asked if "out_00" in path]


def test_of_a_growing_file_only_the_newest_records_are_taken(look, folder):
    write(folder, "out_1.nc", *map(float, range(1, 30)), age_s=WEEK_S)
    watch = look(selection=Selection(newest=3))
    found = signals(scan(watch)) | signals(scan(watch, 3.0))
    assert sorted(found) == ["27.000", "28.000", "29.000"]


def test_each_nth_frame_counts_from_the_newest(look, folder):
    write(folder, "out_1.nc", *map(float, range(1, 12)), age_s=WEEK_S)
    watch = look(selection=Selection(newest=3, every=4))
    found = signals(scan(watch)) | signals(scan(watch, 3.0))
    assert sorted(found) == ["11.000", "3.000", "7.000"]


def test_frames_of_the_latest_stretch_are_taken(look, folder):
    write(folder, "out_1.nc", *map(float, range(1, 12)), age_s=WEEK_S)
    watch = look(selection=Selection(newest=None, last_s=2.0))
    found = signals(scan(watch)) | signals(scan(watch, 3.0))
    assert sorted(found) == ["10.000", "11.000", "9.000"]


def test_a_finished_file_that_is_written_anew_in_place_is_declared_again(look, folder):
    write(folder, "out_1.nc", 1.0, age_s=100.0)
    write(folder, "out_2.nc", 2.0, age_s=50.0)
    watch = look()
    [first] = scan(watch).frames
    write(folder, "out_1.nc", 1.0)
    assert scan(watch, 0.1).frames == ()
    watch = look(watch.cursor, declared={"out_1.nc": first.fingerprint})
    report = scan(watch, 0.1)
    assert report.folder.changed == ("out_1.nc",)
    assert signals(scan(watch, 200.0))["1.000"] == "unproven"


def test_a_rerun_is_followed_from_file_to_file(look, folder):
    for number in range(1, 6):
        write(folder, f"out_{number}.nc", number, age_s=100.0 - number)
    watch = look()
    first = min(scan(watch).frames, key=lambda frame: frame.time)
    scan(watch, ended=True)
    write(folder, "out_1.nc", 1.0, age_s=3.0)
    watch = look(watch.cursor, declared={"out_1.nc": first.fingerprint})
    scan(watch, 0.1)
    write(folder, "out_2.nc", 2.0, age_s=2.0)
    assert signals(scan(watch, 0.1)) == {"1.000": "later"}
    write(folder, "out_3.nc", 3.0, age_s=1.0)
    assert signals(scan(watch, 0.1)) == {"2.000": "later"}
    assert signals(scan(watch, 0.1)) == {}
    write(folder, "out_4.nc", 4.0)
    assert signals(scan(watch, 0.1)) == {"3.000": "later"}


def test_a_finished_file_that_is_the_same_is_left_alone(look, folder):
    write(folder, "out_1.nc", 1.0, age_s=100.0)
    write(folder, "out_2.nc", 2.0, age_s=50.0)
    watch = look()
    [first] = scan(watch).frames
    watch = look(watch.cursor, declared={"out_1.nc": first.fingerprint})
    assert scan(watch, 0.1).folder.changed == ()


def test_the_newest_file_that_is_replaced_is_declared_again(look, folder):
    write(folder, "out_1.nc", 1.0, age_s=WEEK_S)
    watch = look()
    scan(watch)
    [first] = scan(watch, 3.0).frames
    os.rename(write(folder, "new", 1.0), folder / "out_1.nc")
    assert scan(watch, 0.1).frames == ()
    [second] = scan(watch, 31.0).frames
    assert second.time == first.time
    assert second.fingerprint != first.fingerprint


def test_a_log_that_begins_anew_is_reported_before_its_frames(look, folder):
    (folder / "model.log").write_text("wrote out_1.nc\n")
    write(folder, "out_1.nc", 1.0, age_s=10.0)
    watch = look(model=MODEL)
    assert signals(scan(watch)) == {"1.000": "log"}
    (folder / "model.log").write_text("")
    write(folder, "out_2.nc", 2.0)
    report = scan(watch, 0.1)
    assert "model.log" in report.folder.restarted
    assert report.frames == ()
    assert scan(watch, 0.1).folder.restarted == ""


def test_a_log_that_was_truncated_and_has_grown_beyond_its_size_began_anew(look, folder):
    write(folder, "out_1.nc", 1.0)
    log = folder / "model.log"
    log.write_text("wrote out_1.nc\n")
    watch = look(model=replace(MODEL, parallel=True))
    scan(watch)
    inode = log.stat().st_ino
    log.write_text("a new run\n" * 10)
    assert log.stat().st_ino == inode
    assert scan(watch, 0.1).folder.restarted == "model.log began anew"


def test_a_log_that_only_grows_did_not_begin_anew(look, folder):
    write(folder, "out_1.nc", 1.0)
    log = folder / "model.log"
    log.write_text("wrote out_1.nc\n")
    watch = look(model=replace(MODEL, parallel=True))
    scan(watch)
    with log.open("a") as file:
        file.write("wrote out_2.nc\n" * 10)
    assert scan(watch, 0.1).folder.restarted == ""


def test_a_log_older_than_the_file_proves_nothing(look, folder):
    write(folder, "out_1.nc", 1.0)
    log = folder / "model.log"
    log.write_text("wrote out_1.nc\n")
    then = time.time() - WEEK_S
    os.utime(log, (then, then))
    assert signals(scan(look(model=replace(MODEL, parallel=True)))) == {}


def test_a_half_written_file_of_a_dead_model_is_damaged(look, folder):
    path = write(folder, "out_1.nc", 1.0)
    data = path.read_bytes()
    path.write_bytes(data[:-4])
    then = time.time() - WEEK_S
    os.utime(path, (then, then))
    watch = look()
    assert scan(watch).damaged == ()
    [damage] = scan(watch, 5.0).damaged
    assert "nothing more comes" in damage.reason


def test_a_folder_that_is_away_is_reported_and_comes_back(look, folder, tmp_path):
    write(folder, "out_1.nc", 1.0, age_s=WEEK_S)
    watch = look()
    before = scan(watch).folder
    folder.rename(tmp_path / "away")
    lost = scan(watch, 0.1)
    assert lost.folder.lost
    assert not lost.ended
    (tmp_path / "away").rename(folder)
    back = scan(watch, 0.1).folder
    assert not back.lost
    assert back.identity == before.identity


def test_what_a_later_slice_of_the_arrival_finds_was_not_written_now(look, folder, monkeypatch):
    monkeypatch.setattr(attached, "SLICE_S", -1.0)  # one unit per scan
    write(folder, "out_1.nc", 1.0, age_s=HOUR_S - 1.0)
    write(folder, "out_2.nc", 2.0, age_s=HOUR_S)
    watch = look()
    for _ in range(3):
        report = scan(watch, 0.1)
    assert report.folder.newest == "out_1.nc"
    assert report.folder.quiet_s == pytest.approx(HOUR_S, abs=10.0)


def test_a_quiet_folder_is_not_listed_again(look, folder, monkeypatch):
    write(folder, "out_1.nc", 1.0, age_s=WEEK_S)
    watch = look()
    clock = [1000.0]
    monkeypatch.setattr(attached.time, "monotonic", lambda: clock[0])
    listed = []
    lists = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: listed.append(path) or lists(path))
    for _ in range(10):
        clock[0] += 1.0
        scan(watch, 1.0)
    assert 1 <= len(listed) <= 3
    clock[0] += 60.0
    scan(watch, 60.0)
    assert len(listed) >= 2


def test_a_file_that_its_writer_may_have_open_is_waited_for_longer(look, folder):
    watch = look(model=replace(MODEL, written=None))
    write(folder, "out_1.nc", 1.0)
    assert signals(scan(watch)) == {}
    assert signals(scan(watch, 1.0)) == {}
    assert signals(scan(watch, 1.5)) == {"1.000": "quiet"}


@pytest.mark.parametrize(("later_s", "newest"), [(30.0, True), (100.0, False)])
def test_a_log_is_the_last_word_although_servers_of_output_write_on(look, folder, later_s, newest):
    write(folder, "out_1.nc", 1.0, age_s=10.0)
    log = folder / "model.log"
    log.write_text("bye\n")
    then = time.time() - 10.0 - later_s
    os.utime(log, (then, then))
    assert scan(look(model=MODEL)).folder.log_is_newest is newest


def test_an_end_that_was_reported_is_no_news_in_the_next_call(attached):
    course = attached("netcdf4_one")
    for _ in course.trace.ops:
        course.step()
    course.player.finish()
    place = course.root, course.folder, course.model, "run", 1
    keywords = {"baseline": None, "ended": lambda: True, "interval_s": 0.02}
    over = Attachment(EVERYTHING, str(course.root / "clock"), ended=True)
    report, calls = watch(*place, Cursor(), timeout_s=5.0, attachment=over, **keywords), 1
    while not report.ended and calls < 20:
        report = watch(*place, report.cursor, timeout_s=5.0, attachment=over, **keywords)
        calls += 1
    assert report.ended
    known = replace(over, concluded=True)
    begin = time.monotonic()
    again = watch(*place, report.cursor, timeout_s=0.5, attachment=known, **keywords)
    assert again.ended
    assert again.folder.quiet_s - report.folder.quiet_s == pytest.approx(0.5, abs=0.2)
    assert time.monotonic() - begin >= 0.5
