"""A checkpoint for which there is no room: the run goes on, or ends as it was to end."""

from __future__ import annotations

import os
import resource
import signal
import stat

import netCDF4
import pytest

from burstlens.core.errors import SimulationError
from burstlens.workflows.awm.adapter import Awm
from burstlens.workflows.awm.checkpoint_files import GLOB, step_of

MOST = 1 << 20
"""Bytes per file: more than any frame of the small run, less than its checkpoint."""


def steps_of(folder):
    return [step_of(path.name) for path in sorted(folder.glob(GLOB))]


@pytest.fixture(autouse=True)
def limits():
    """The process's limits of file sizes, which are as before after the test."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield before
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def at_step(run, step, act):
    advance = run.solver.advance

    def advanced():
        advance()
        if run.solver.steps == step:
            act()

    run.solver.advance = advanced
    return run


def limited_at(run, step, count, *numbers):
    """From that step on no file may be larger than ``count``, so that a write beyond it fails as
    one to a full disk does; then come these signals."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]

    def act():
        resource.setrlimit(resource.RLIMIT_FSIZE, (count, hard))
        for number in numbers:
            os.kill(os.getpid(), number)

    return at_step(run, step, act)


def test_the_run_goes_on_without_a_checkpoint_and_says_so(run, values, tmp_path, capsys):
    run("whole", checkpoint={"every": 0}).go()
    capsys.readouterr()
    assert limited_at(run("one"), 15, MOST).go() == 0
    folder = tmp_path / "one"
    assert steps_of(folder) == [10]
    assert not list(folder.glob(".*"))
    lines = [Awm().read_line(line) for line in capsys.readouterr().out.splitlines()]
    troubles = [line.text for line in lines if line and line.kind == "trouble"]
    assert [text.partition(":")[0] for text in troubles] == [
        f"cannot write checkpoint_{step:07d}.awm" for step in range(20, 61, 10)
    ]
    assert lines[-1].kind == "end"
    assert values(folder) == values(tmp_path / "whole")


def test_the_run_goes_on_after_a_request_that_failed(run, tmp_path, capsys):
    one = limited_at(run("one", checkpoint={"every": 0}), 3, MOST, signal.SIGUSR1)
    assert one.go() == 0
    assert steps_of(tmp_path / "one") == []
    assert "awm: cannot write checkpoint_0000003.awm: " in capsys.readouterr().out


def test_a_later_one_is_written_when_there_is_room_again(run, limits, tmp_path):
    one = limited_at(run("one"), 15, MOST)
    at_step(one, 25, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits))
    assert one.go() == 0
    assert steps_of(tmp_path / "one") == [10, 30, 40, 50, 60]
    assert run("two", tmp_path / "one" / "checkpoint_0000030.awm").go() == 0


@pytest.mark.parametrize("number", [None, signal.SIGUSR2])
def test_a_run_that_was_to_stop_with_it_fails(run, tmp_path, number):
    one = run("one", until_s=None if number else 0.024)
    with pytest.raises(SimulationError, match=r"^cannot write checkpoint_0000003\.awm: "):
        limited_at(one, 3, MOST, *([number] if number else [])).go()
    assert steps_of(tmp_path / "one") == []
    with netCDF4.Dataset(tmp_path / "one" / "stations.nc") as nc:
        assert nc["time"].size == 3


def test_a_signal_ends_it_with_its_code(run, tmp_path, capsys):
    one = limited_at(run("one"), 3, MOST, signal.SIGTERM)
    assert one.go() == 128 + signal.SIGTERM
    assert steps_of(tmp_path / "one") == []
    *_, why, _, last = capsys.readouterr().out.splitlines()
    assert why.startswith("awm: cannot write checkpoint_0000003.awm: ")
    assert last == "awm: stopped by SIGTERM at step 3"


def test_a_signal_ends_it_with_its_code_where_nothing_can_be_written(run, tmp_path, capsys):
    one = limited_at(run("one"), 3, 1, signal.SIGTERM)
    assert one.go() == 128 + signal.SIGTERM
    assert steps_of(tmp_path / "one") == []
    lines = capsys.readouterr().out.splitlines()
    assert "awm: stopped by SIGTERM at step 3" in lines
    assert any(line.startswith("awm: cannot write stations.nc: ") for line in lines)


def test_a_full_disk_names_itself(run, tmp_path, monkeypatch, capsys):
    one, write = run("one", time={"steps": 20}), os.write

    def full(handle, piece):
        if one.solver.steps == 20:
            raise OSError(28, "No space left on device")
        return write(handle, piece)

    monkeypatch.setattr(os, "write", full)
    assert one.go() == 0
    lines = capsys.readouterr().out.splitlines()
    assert "awm: cannot write checkpoint_0000020.awm: No space left on device" in lines
    assert steps_of(tmp_path / "one") == [10]


def test_a_disk_that_is_full_only_when_it_is_flushed_leaves_no_part(run, tmp_path, monkeypatch):
    one, flush = run("one", time={"steps": 20}), os.fsync

    def full(handle):
        if one.solver.steps == 20 and stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(122, "Disk quota exceeded")
        flush(handle)

    monkeypatch.setattr(os, "fsync", full)
    assert one.go() == 0
    assert steps_of(tmp_path / "one") == [10]
    assert not list((tmp_path / "one").glob(".*"))
