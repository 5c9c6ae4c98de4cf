"""Checkpoints whose bytes prove nothing: the log calls them whole, or their names do."""

from __future__ import annotations

import pytest
from checkpoint_case import CLASSIC, NAMED, NETCDF4, RestartingWrf, Scans, begin, key, write

from burstlens.workflows.models.base import LogLine
from burstlens.workflows.models.continuation import Proof

BY_LOG = RestartingWrf(proof=Proof.LOG)
NESTED = RestartingWrf(proof=Proof.LOG, domains=("d01", "d02"))


@pytest.fixture
def scans(tmp_path):
    return lambda model=BY_LOG: Scans(tmp_path, model, None)


def test_a_file_of_several_writers_is_whole_by_its_log_line_alone(scans):
    run = scans()
    write(run.path(2), 2, CLASSIC)
    write(run.path(3), 3, CLASSIC)
    for _ in range(4):
        run.scan(60.0)
    run.step(2)
    run.scan(60.0)
    assert run.whole == []
    run.step(2, "d01")
    [whole] = run.scan().checkpoints
    assert (whole.time, whole.signal, whole.took_s) == (key(2), "log", 0.5)
    run.scan(60.0)
    assert run.whole == [key(2)]


def test_a_line_proves_only_its_own_part(scans):
    run = scans(NESTED)
    for part in NESTED.domains:
        write(run.path(2, part), 2, CLASSIC)
    run.step(2, "d01")
    run.scan()
    run.scan(60.0)
    assert run.whole == []
    run.step(2, "d02")
    run.scan()
    assert run.whole == [key(2)]


def test_a_line_counts_until_its_checkpoint_is_whole_although_later_ones_are(scans):
    run = scans(NESTED)
    for minute in (2, 3):
        run.step(minute, "d01", "d02")
        write(run.path(minute), minute, CLASSIC)
    write(run.path(3, "d02"), 3, CLASSIC)
    run.scan()
    assert run.whole == [key(3)]
    write(run.path(2, "d02"), 2, CLASSIC)
    run.scan()
    assert run.whole == [key(3), key(2)]


def test_its_line_does_not_prove_a_file_that_is_too_short(scans):
    """On a full disk the model goes on."""
    run = scans()
    raw = write(run.path(2), 2, CLASSIC)
    for data in (b"", raw[: len(raw) // 2]):
        run.path(2).write_bytes(data)
        run.step(2, "d01")
        run.scan()
        run.scan(60.0)
    assert run.whole == []


def test_a_line_that_comes_before_the_data_needs_a_later_checkpoint(scans):
    run = scans()
    run.log("Quilting with   1 groups of   2 I/O tasks.\n")
    write(run.path(2), 2, CLASSIC)
    run.step(2, "d01")
    run.scan()
    run.scan(60.0)
    assert run.whole == []
    run.path(3).touch()
    [whole] = run.scan().checkpoints
    assert (whole.time, whole.signal) == (key(2), "log")


def test_an_hdf5_file_of_several_writers_is_not_whole_at_its_line_but_when_it_is_closed(scans):
    """A model that writes netCDF-4 in parallel calls it written before it closes the file."""
    run = scans()
    file = begin(run.path(2), 2, NETCDF4)
    run.step(2, "d01")
    run.scan()
    assert run.whole == []
    file["V"][0] = 7.0
    file.close()
    run.scan()
    assert run.whole == [], "it has just been written"
    [whole] = run.scan(60.0).checkpoints
    assert (whole.time, whole.signal) == (key(2), "log")


@pytest.mark.parametrize("ended", [False, True])
def test_one_that_is_cut_short_is_never_whole_whatever_its_line_says(scans, ended):
    run = scans()
    raw = write(run.path(2), 2, NETCDF4)
    run.path(2).write_bytes(raw[:-100])
    run.step(2, "d01")
    for _ in range(3):
        run.scan(60.0, ended=ended)
    assert run.whole == []


def test_a_file_that_gets_its_name_when_it_is_whole_is_whole_at_once(scans, tmp_path):
    run = scans(NAMED)
    (tmp_path / ".state_0002.bin.part").write_bytes(b"half")
    run.scan()
    (tmp_path / ".state_0002.bin.part").rename(tmp_path / "state_0002.bin")
    report = run.scan()
    [whole] = report.checkpoints
    assert (whole.time, whole.files) == ("t00000002.000", ("state_0002.bin",))
    assert (whole.bytes, whole.signal, whole.took_s) == (4, "name", None)
    assert report.cursor.open == ()


def test_one_line_may_be_about_all_parts(scans):
    class OneLine(RestartingWrf):
        def read_line(self, line):
            return LogLine("checkpoint", line, time=key(2), took_s=float(line))

    run = scans(OneLine(proof=Proof.LOG, domains=("d01", "d02")))
    for part in NESTED.domains:
        write(run.path(2, part), 2, CLASSIC)
    run.log("2.5\n")
    [whole] = run.scan().checkpoints
    assert whole.took_s == 2.5
