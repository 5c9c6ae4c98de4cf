"""The name of a run belongs to a whole run directory or to none."""

from __future__ import annotations

import errno
import os
import shutil

import pytest

from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir, all_runs
from burstlens.core.run.making import OLD_S, made_aside
from burstlens.core.run.places import all_folders


@pytest.fixture
def run(tmp_path):
    return RunDir(tmp_path / "runs" / "storm")


def names(run):
    return sorted(os.listdir(run.path.parent))


def test_it_has_its_name_when_it_is_whole_and_not_before(run):
    with made_aside(run) as made:
        assert made.id == "storm"
        assert not run.path.exists()
        made.facts.write_text("{}")
    assert run.facts.read_text() == "{}"
    assert run.control.is_dir()
    assert names(run) == ["storm"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
def test_an_interrupt_or_a_full_disk_leaves_nothing(run, error):
    def fill() -> None:
        with made_aside(run) as made:
            made.facts.write_text("{}")
            raise error

    with pytest.raises(type(error)):
        fill()
    assert names(run) == []


def test_a_name_that_is_taken_is_kept(run):
    run.path.mkdir(parents=True)
    with pytest.raises(RunError, match="exists already; --name"), made_aside(run):
        pass
    run.path.rmdir()
    with pytest.raises(RunError, match="exists already; --name"), made_aside(run):
        run.create()  # somebody else's, at the same moment
    assert run.control.is_dir()
    assert names(run) == ["storm"]


def test_a_rename_that_happened_and_is_reported_as_failed_has_happened(run, monkeypatch):
    rename = os.rename

    def late(source, target):
        rename(source, target)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "rename", late)
    with made_aside(run):
        pass
    assert names(run) == ["storm"]


def test_what_a_killed_command_left_goes_after_a_day(run):
    old, new = (run.path.parent / f".making-{word}" for word in ("old", "new"))
    for folder in (old, new):
        folder.mkdir(parents=True)
    before = old.stat().st_mtime - OLD_S - 60
    os.utime(old, (before, before))
    with made_aside(run):
        pass
    assert names(run) == [".making-new", "storm"]
    shutil.rmtree(new)


def test_its_folder_is_remembered_and_not_the_one_beside_it(run, monkeypatch, tmp_path):
    monkeypatch.delenv("BURSTLENS_RUNS")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path.parent)
    with made_aside(run) as made:
        made.facts.write_text("{}")
    assert all_folders()[2:] == (run.path.parent,)
    assert [one.path for one in all_runs()] == [run.path]
