"""A full disk: one alarm with the place and what is needed, and an exit code of its own."""

from __future__ import annotations

import errno
import os

import pytest

from burstlens.core.errors import NoSpaceError, RunError, StagingError
from burstlens.core.run.history import History
from burstlens.workflows.driver.target import PATIENCE_S, Target
from burstlens.workflows.publishing.full_disk import FullDisk
from burstlens.workflows.publishing.snapshot import Snapshot


@pytest.fixture
def alarms():
    return []


@pytest.fixture
def disk(run_dir, alarms):
    return FullDisk(run_dir.path, alarms.append)


def full(path, number=errno.ENOSPC):
    return OSError(number, os.strerror(number), str(path))


def test_many_refused_writes_are_one_alarm_until_there_is_room(disk, alarms, run_dir):
    for name in ("journal.jsonl", "status.json", "products/index.jsonl"):
        assert disk.take(full(run_dir.path / name))
    (text,) = alarms
    assert text.startswith(f"no room for the run directory {run_dir.path} (No space left on")
    assert " free); the run goes on when there is room" in text
    disk.room()
    assert disk.take(full(run_dir.path / "status.json", errno.EDQUOT))
    assert "Disk quota exceeded" in alarms[1]


def test_products_that_wait_are_counted_with_what_they_need(disk, alarms, run_dir):
    error = StagingError("cannot stage x to", path=str(run_dir.incoming / "x"), number=errno.ENOSPC)
    assert disk.take(error, waiting=3, bytes_each=1 << 20)
    assert "and 3 products that wait, which need about 3" in alarms[0]


def test_the_buffer_is_a_place_of_its_own(disk, alarms, run_dir):
    assert disk.take(full(run_dir.journal))
    assert disk.take(StagingError("no room", path="/bb/r/out/x", number=errno.ENOSPC))
    assert "no room for /bb/r/out/x (No space left on device)" in alarms[1]


def test_another_error_is_none_of_a_full_disk(disk, alarms, run_dir):
    assert not disk.take(full(run_dir.journal, errno.EIO))
    assert alarms == []


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, 6), (errno.ESTALE, 1)])
def test_a_run_that_is_over_does_not_wait_for_a_disk_for_ever(run_dir, recipe, number, code):
    snapshot = Snapshot(run_dir, recipe(), History(), 1)
    target = Target(run_dir.path, snapshot)
    target.written(0.0)
    error = full(run_dir.journal, number)
    target.wait(error, 10 * PATIENCE_S, over=False)  # a model still runs: it goes on
    target.wait(error, PATIENCE_S - 1, over=True)
    with pytest.raises(RunError, match=r"burstlens resume") as raised:
        target.wait(error, PATIENCE_S + 1, over=True)
    assert raised.value.exit_code == code
    assert isinstance(raised.value, NoSpaceError) == (code == 6)
    assert len(snapshot.alarms) == 1


def test_a_target_with_nothing_to_write_is_probed(run_dir):
    target = Target(run_dir.path, Snapshot(run_dir, None, History(), 1))
    target.probe()
    (run_dir.path / ".room.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device"):
        target.probe()
    assert not list(run_dir.path.glob(".room*"))


def test_only_a_full_disk_is_want_of_space(run_dir):
    target = Target(run_dir.path, Snapshot(run_dir, None, History(), 1))
    target.refuse("3 products cannot be staged (Stale file handle)")
    with pytest.raises(NoSpaceError, match=f"burstlens resume {run_dir.id}$"):
        target.refuse("3 products cannot be staged (No space left on device)")
