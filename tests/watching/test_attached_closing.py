"""A growing file that its writer closes is the same file; a log that a restart opens is not."""

from __future__ import annotations

import os
import time

import netCDF4
import pytest
from watcher_case import MODEL, attached_watcher

from burstlens.workflows.frames.arrival import Selection
from burstlens.workflows.frames.cursor import Cursor, FileStat

EVERYTHING = Selection(newest=None)
LINE = "taskid: 0 hostname: node7\n"


@pytest.mark.parametrize("name", ["netcdf4_growing"])
def test_a_file_that_its_writer_closes_is_not_declared_again(course, name):
    look = course(name, coarse=True, selection=EVERYTHING)
    whole, closed = look.whole(), []
    while {(frame.stream, frame.time) for frame in look.frames} != whole:
        look.step()
        look.scan()
    left = len(look.trace.ops) - look.player.at
    assert any(op["op"] == "close" for op in look.trace.ops[-left:])
    look.scan(1.0)
    for _ in range(left):
        look.step()
        look.scan(0.01)
    for _ in range(4):
        closed += look.scan(0.4).folder.closed
    last = max(look.frames, key=lambda frame: frame.record)
    [path] = (look.root / path for path in last.paths)
    [found] = closed
    assert found.fingerprint == FileStat.of(path.stat()).fingerprint != last.fingerprint
    look.watcher = look.watch(declared={found.file: found.fingerprint})
    assert look.scan(0.4).folder.changed == ()
    assert len(look.frames) == len(whole)


@pytest.mark.parametrize("name", ["netcdf4_growing"])
def test_a_file_that_is_written_anew_within_a_second_is_not_taken_for_closed(course, name):
    look = course(name, coarse=True, selection=EVERYTHING)
    whole = look.whole()
    while {(frame.stream, frame.time) for frame in look.frames} != whole:
        look.step()
        look.scan()
    [path] = {look.root / frame.paths[0] for frame in look.frames}
    look.player.finish()
    data = bytearray(path.read_bytes())
    data[-5000:-4000] = bytes(1000)  # other values in its last record
    path.write_bytes(data)
    again = set()
    for _ in range(20):
        report = look.watcher.scan(elapsed_s=2.0, now=0.0, ended=False)
        assert report.folder.closed == ()
        again |= {(frame.stream, frame.time) for frame in report.frames}
    assert again == whole


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "model"
    made.mkdir()
    for number in range(1, 4):
        path = made / f"out_{number}.nc"
        with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            file.createVariable("time", "f8", ("time",)).units = "s"
            file["time"][:] = [number]
    (made / "model.log").write_text(LINE)
    age(made, 300.0)
    return made


@pytest.fixture
def scan(tmp_path, folder, prober):
    watch = attached_watcher(
        tmp_path, "model", MODEL, "run", 1, Cursor(),
        selection=EVERYTHING, stamp=tmp_path / "clock", prober=prober,
    )  # fmt: skip
    watch.scan(elapsed_s=0.0, now=0.0, ended=False)
    assert watch.cursor.attached.mtimes

    def scanned():
        return watch.scan(elapsed_s=0.1, now=0.0, ended=False).folder

    return scanned


def age(folder, age_s):
    then = time.time() - age_s
    for path in folder.iterdir():
        os.utime(path, (then, then))


def test_a_restart_whose_log_is_still_in_its_buffer_is_another_attempt(folder, scan):
    (folder / "model.log").write_text(LINE)  # all that is not in the buffer, as before
    assert scan().restarted == "model.log was opened anew"
    assert scan().restarted == ""


def test_a_restart_whose_log_is_empty_as_it_was_is_another_attempt(folder, scan):
    (folder / "model.log").write_text("")
    age(folder, 200.0)
    scan()
    (folder / "model.log").write_text("")
    assert scan().restarted == "model.log was opened anew"


def test_a_folder_that_is_touched_is_no_restart(folder, scan):
    age(folder, 0.0)
    assert scan().restarted == ""


def test_a_restart_whose_log_begins_as_before_is_told_by_what_differs_above(folder, scan):
    lines = "the same words in each job's log\n" * 60
    with (folder / "model.log").open("a") as file:
        file.write("input read in 0.14723 s\n" + lines)
    scan()
    (folder / "model.log").write_text(LINE + "input read in 0.15111 s\n" + lines * 2)
    assert scan().restarted == "model.log began anew"


def test_a_status_that_is_written_again_and_again_is_no_log_of_restarts(folder, scan):
    begun = []
    for age_s in (200.0, 150.0, 100.0):
        (folder / "model.log").write_text(LINE)
        then = time.time() - age_s
        os.utime(folder / "model.log", (then, then))
        begun.append(scan().restarted)
    assert begun == ["model.log was opened anew", "", ""]
