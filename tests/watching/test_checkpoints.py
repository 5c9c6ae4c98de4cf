"""When a checkpoint is whole by its files' bytes; its parts, and the order of checkpoints."""

from __future__ import annotations

import os

import h5py
import netCDF4
import pytest
from checkpoint_case import (
    CLASSIC,
    NAMED,
    RestartingWrf,
    Scans,
    begin,
    finish,
    key,
    write,
)

from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import WholeCheckpoint
from burstlens.workflows.frames.watch import watch

NESTED = RestartingWrf(domains=("d01", "d02"))


@pytest.fixture
def scans(tmp_path, prober):
    return lambda model=RestartingWrf(), **about: Scans(tmp_path, model, prober, **about)  # noqa: B008


# HDF5: the file says whether a program has it open.


def test_a_netcdf4_file_is_whole_once_its_writer_has_closed_it_and_not_at_the_logs_line(scans):
    run = scans()
    file = begin(run.path(2), 2)
    run.scan()
    run.step(2, "d01")
    run.scan(60.0)
    file["V"][0] = 1.0
    file.sync()  # its end of file equals its size
    run.scan()
    run.scan(60.0)
    assert run.whole == []
    file.close()
    [whole] = run.scan().checkpoints
    assert whole.signal == "closed"


def test_a_whole_checkpoint_has_its_files_their_size_their_time_and_the_models_seconds(scans):
    run = scans(NESTED)
    for part in NESTED.domains:
        write(run.path(2, part), 2)
    os.utime(run.path(2), ns=(0, 1_000_000_000_000_000_000))
    os.utime(run.path(2, "d02"), ns=(0, 1_000_000_005_500_000_000))
    run.step(2, "d01", "d02", took_s=0.75)
    run.scan()
    names = tuple(run.path(2, part).name for part in NESTED.domains)
    sizes = tuple(run.path(2, part).stat().st_size for part in NESTED.domains)
    assert run.scan(0.5).checkpoints == (
        WholeCheckpoint(key(2), names, sum(sizes), 1_000_000_005.5, "quiet", 1.5, sizes),
    )


def test_a_netcdf4_file_that_was_never_seen_open_must_be_quiet(scans):
    run = scans()
    write(run.path(2), 2)
    run.step(2, "d01")
    run.scan()
    run.scan(0.4)
    os.utime(run.path(2), ns=(0, 10**18))
    run.scan(0.4)
    run.scan(0.4)
    assert run.whole == []
    run.scan(0.2)
    assert run.whole == [key(2)]


def test_without_its_log_line_a_file_is_whole_too_and_its_seconds_are_unknown(scans):
    run = scans()
    write(run.path(2), 2)
    run.scan()
    [whole] = run.scan(0.5).checkpoints
    assert whole.took_s is None


def test_an_hdf5_file_that_is_longer_or_shorter_than_it_says_is_not_whole(scans):
    run = scans()
    raw = write(run.path(2), 2)
    for data in (raw + b"x", raw[:-1]):
        run.path(2).write_bytes(data)
        run.scan()
        run.scan(60.0)
    assert run.whole == []


def test_a_file_of_another_time_than_its_name_says_is_not_whole(scans):
    run = scans()
    write(run.path(2), 3)
    run.scan()
    run.scan(60.0)
    assert run.whole == []


def test_a_file_without_the_variable_of_frames_times_has_the_time_of_its_name(scans):
    run = scans()
    with h5py.File(run.path(2), "w", libver="v110") as file:
        file["state"] = [1.0, 2.0]
    run.scan()
    run.scan(0.5)
    assert run.whole == [key(2)]


# Classic files: the number of records is written last.


def test_a_classic_file_is_whole_when_its_record_is_counted_and_its_bytes_are_there(scans):
    run = scans()
    raw = write(run.path(2), 2, CLASSIC)
    assert raw[4:8] == b"\0\0\0\1"
    for data in (raw[:8], raw[:300], raw[:4] + b"\0\0\0\0" + raw[8:-2000], raw[:-1], raw + b"x"):
        run.path(2).write_bytes(data)
        run.scan()
        run.scan(60.0)
    run.path(2).write_bytes(raw[:4] + b"\0\0\0\0" + raw[8:])
    run.step(2, "d01")
    run.scan()
    run.scan(60.0)
    assert run.whole == []
    run.path(2).write_bytes(raw)
    [whole] = run.scan().checkpoints
    assert whole.signal == "log"


def test_a_classic_file_without_its_log_line_must_be_quiet(scans):
    run = scans()
    write(run.path(2), 2, CLASSIC)
    run.step(1, "d01")
    run.scan()
    run.scan(0.4)
    assert run.whole == []
    [whole] = run.scan(0.1).checkpoints
    assert whole.signal == "quiet"


def test_lines_that_come_before_the_data_do_not_prove_a_classic_file(scans):
    run = scans()
    run.log("Quilting with   1 groups of   2 I/O tasks.\n")
    run.step(2, "d01")
    write(run.path(2), 2, CLASSIC)
    run.scan()
    assert run.whole == []
    [whole] = run.scan(0.5).checkpoints
    assert whole.signal == "quiet"


def test_a_classic_file_without_records_needs_its_line_or_a_later_checkpoint(scans):
    """Its size may be final from the beginning."""
    run = scans()
    for minute in (1, 2, 3):
        with netCDF4.Dataset(run.path(minute), "w", format=CLASSIC) as file:
            file.createDimension("x", 10)
            file.createVariable("U", "f4", ("x",))[:] = 1.0
    run.path(3).rename(run.folder / "aside")
    run.path(1).rename(run.folder / "early")
    run.scan()
    run.scan(60.0)
    assert run.whole == []
    run.step(2, "d01")
    assert [whole.signal for whole in run.scan().checkpoints] == ["log"]
    (run.folder / "early").rename(run.path(1))
    assert [whole.signal for whole in run.scan().checkpoints] == ["later"]
    (run.folder / "aside").rename(run.path(3))
    run.scan(60.0)
    assert run.whole == [key(2), key(1)]


# Parts, and the order of checkpoints.


def test_without_one_of_its_parts_a_checkpoint_is_not_whole(scans):
    run = scans(NESTED)
    write(run.path(2), 2)
    run.step(2, "d01")
    run.scan()
    run.scan(60.0)
    file = begin(run.path(2, "d02"), 2)
    run.scan(60.0)
    assert run.whole == []
    finish(file)
    [whole] = run.scan().checkpoints
    assert whole.files == (run.path(2).name, run.path(2, "d02").name)
    assert whole.signal == "quiet, closed"
    assert whole.took_s is None  # of the nest it is not known


def test_a_part_that_is_written_on_is_proven_anew(scans):
    run = scans(NESTED)
    raw = write(run.path(2), 2)
    run.scan()
    run.scan(0.5)
    run.path(2).write_bytes(raw + b"more")
    write(run.path(2, "d02"), 2)
    for _ in range(3):
        run.scan(0.5)
    assert run.whole == []
    run.path(2).write_bytes(raw)
    run.scan()
    run.scan(0.5)
    assert run.whole == [key(2)]


def test_a_file_of_no_part_of_the_checkpoint_is_not_among_its_files(scans):
    run = scans()
    write(run.path(2), 2)
    write(run.path(2, "d02"), 2)
    run.scan()
    [whole] = run.scan(0.5).checkpoints
    assert whole.files == (run.path(2).name,)


def test_several_checkpoints_are_reported_in_order_of_time_and_each_once(scans):
    run = scans()
    for minute in (3, 1, 2):
        write(run.path(minute), minute)
    run.scan()
    run.scan(0.5)
    assert run.whole == [key(1), key(2), key(3)]
    for _ in range(3):
        run.scan(60.0)
    assert run.whole == [key(1), key(2), key(3)]


def test_more_checkpoints_than_are_remembered_by_name_are_reported_once_each(scans):
    run = scans(NESTED)
    write(run.path(1), 1)
    for minute in range(2, 45):
        for part in NESTED.domains:
            write(run.path(minute, part), minute, CLASSIC)
        run.step(minute, *NESTED.domains)
        run.scan()
    assert run.whole == [key(minute) for minute in range(2, 45)]
    assert [part.time for part in run.cursor.checkpoints.open] == [key(1)]
    assert run.cursor.speech.checkpoints == ()
    write(run.path(1, "d02"), 1)
    run.scan()
    run.scan(0.5)
    assert run.whole[-1] == key(1)


def test_a_file_that_the_model_deletes_is_forgotten(scans):
    run = scans(NESTED)
    write(run.path(2), 2)
    run.scan()
    run.path(2).unlink()
    run.scan()
    assert run.cursor.checkpoints.open == ()


def test_checkpoints_are_no_frames_and_frames_do_not_wait_for_them(scans, tmp_path):
    run = scans(NAMED)
    (tmp_path / "state_0001_0000.bin").write_bytes(b"a tile of it")
    write(tmp_path / "out.bin", 1)
    run.scan()
    frames = [frame.paths for frame in run.scan(0.5).frames]
    assert frames == [("out.bin",)]


def test_a_call_of_the_watcher_returns_with_a_checkpoint_at_once(tmp_path):
    run = Scans(tmp_path, RestartingWrf(), None)
    write(run.path(2), 2, CLASSIC)
    report = watch(
        tmp_path, ".", RestartingWrf(), "run", 1, Cursor(), baseline={}, ended=lambda: False,
        timeout_s=60.0, interval_s=0.05,
    )  # fmt: skip
    assert [whole.time for whole in report.checkpoints] == [key(2)]


def test_the_same_watcher_goes_on_as_a_new_one_would(scans):
    run = scans(NESTED)
    watcher = run.watcher()
    write(run.path(2), 2)
    looks = [watcher.scan(elapsed_s=0.5, now=1.0, ended=False) for _ in range(2)]
    write(run.path(2, "d02"), 2)
    looks += [watcher.scan(elapsed_s=0.5, now=1.0, ended=False) for _ in range(6)]
    found = [[whole.time for whole in look.checkpoints] for look in looks]
    assert found == [[], [], [], [key(2)], [], [], [], []]


def test_a_watcher_adopts_what_a_later_one_knows_of_checkpoints(scans):
    run = scans(NESTED)
    write(run.path(2), 2)
    old = run.watcher()
    run.cursor = old.scan(elapsed_s=0.5, now=1.0, ended=False).cursor
    write(run.path(2, "d02"), 2)
    run.scan()
    assert not old.adopt(run.watcher())  # it has not seen the nest's file
    run.scan(0.5)
    assert run.whole == [key(2)]
    assert old.adopt(run.watcher())
    for _ in range(3):
        assert old.scan(elapsed_s=0.5, now=1.0, ended=False).checkpoints == ()
    assert old.cursor.checkpoints.open == ()
