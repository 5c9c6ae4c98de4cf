"""Copies of checkpoints in the run directory: whole, or not there."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import time
import zlib
from pathlib import Path

import pytest

from burstlens.core.errors import StagingError
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement import model_folder
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.checkpoint_home import (
    bring_checkpoint,
    copies_at_home,
    remove_copy,
)

TIME = "t00000001.000"
FILES = {"rst_d01": b"outer" * 100, "restarts/rst_d02": b"nest" * 100}


@pytest.fixture
def buffer(tmp_path: Path) -> BufferRef:
    for name, data in FILES.items():
        path = tmp_path / "buffer" / "storm" / "1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return BufferRef("posix", str(tmp_path / "buffer"), "storm")


def content(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_the_files_come_with_their_sums_and_are_found_there_again(buffer, run_dir: RunDir):
    copy = bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    assert copy.files == [(name, len(data), zlib.crc32(data)) for name, data in FILES.items()]
    assert copy.bytes == 900
    assert content(run_dir.checkpoint(1, TIME)) == FILES
    (found,) = copies_at_home(run_dir)
    assert (found.attempt, found.time, found.files, found.ahead) == (1, TIME, copy.files, False)
    assert [path.name for path in run_dir.checkpoint(1, TIME).parent.iterdir()] == [TIME]


def test_a_checkpoint_that_was_written_anew_takes_the_place_of_the_older_copy(buffer, run_dir):
    bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    (buffer.root() / "storm" / "1" / "rst_d01").write_bytes(b"new")
    bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    assert content(run_dir.checkpoint(1, TIME))["rst_d01"] == b"new"
    assert [path.name for path in run_dir.checkpoint(1, TIME).parent.iterdir()] == [TIME]


def test_where_the_source_is_gone_nothing_is_left_at_home(buffer, run_dir):
    (buffer.root() / "storm" / "1" / "restarts" / "rst_d02").unlink()
    with pytest.raises(StagingError, match="rst_d02"):
        bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    assert list((run_dir.checkpoints / "1").iterdir()) == []
    assert list(copies_at_home(run_dir)) == []


def test_a_run_directory_that_is_away_is_not_made_again(buffer, run_dir, tmp_path):
    os.rename(run_dir.path, tmp_path / "away")
    with pytest.raises(StagingError):
        bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    assert not run_dir.path.exists()


@pytest.mark.integration
def test_where_the_target_is_full_an_older_copy_stays(buffer, run_dir):
    bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    (buffer.root() / "storm" / "1" / "rst_d01").write_bytes(bytes(1 << 20))
    limits, ignored = resource.getrlimit(resource.RLIMIT_FSIZE), signal.SIG_IGN
    before = signal.signal(signal.SIGXFSZ, ignored)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
    try:
        with pytest.raises(StagingError) as full:
            bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert full.value.errno
    assert content(run_dir.checkpoint(1, TIME)) == FILES
    assert [path.name for path in run_dir.checkpoint(1, TIME).parent.iterdir()] == [TIME]


@pytest.mark.integration
def test_a_copy_whose_process_was_killed_is_done_again(buffer, run_dir):
    (buffer.root() / "storm" / "1" / "rst_d01").write_bytes(bytes(64 << 20))
    about = buffer, run_dir, 1, TIME, tuple(FILES)
    child = multiprocessing.get_context("spawn").Process(target=bring_checkpoint, args=about)
    child.start()
    parts = run_dir.checkpoints / "1"
    while not (parts.is_dir() and list(parts.iterdir())) and child.is_alive():
        time.sleep(0.001)
    child.kill()
    child.join()
    assert [path.name for path in parts.iterdir()] != [TIME], "it was done before it was killed"
    assert list(copies_at_home(run_dir)) == []
    bring_checkpoint(*about)
    assert [path.name for path in parts.iterdir()] == [TIME]
    (found,) = copies_at_home(run_dir)
    assert found.bytes == (64 << 20) + 400


def test_what_a_killed_copy_has_left_is_swept(buffer, run_dir):
    bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    (run_dir.checkpoints / "1" / ".t00000002.000.abc.part").mkdir()
    run_dir.sweep()
    assert [path.name for path in (run_dir.checkpoints / "1").iterdir()] == [TIME]
    assert content(run_dir.checkpoint(1, TIME)) == FILES


def test_a_copy_that_lacks_bytes_or_a_file_does_not_count(buffer, run_dir):
    bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    (run_dir.checkpoint(1, TIME) / "rst_d01").write_bytes(b"cut")
    assert list(copies_at_home(run_dir)) == []
    (run_dir.checkpoint(1, TIME) / "rst_d01").unlink()
    assert list(copies_at_home(run_dir)) == []


def test_a_copy_is_deleted_with_all_of_it_and_one_that_is_gone_is_no_error(buffer, run_dir):
    bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    for _ in range(2):
        remove_copy(run_dir.checkpoint(1, TIME))
    assert list((run_dir.checkpoints / "1").iterdir()) == []


def test_the_next_attempt_gets_copies_of_the_files_at_home(buffer, run_dir, tmp_path):
    copy = bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    home = run_dir.checkpoint(1, TIME)
    listed = [[str(home / name), name, *sums] for name, *sums in copy.files]
    cut = tmp_path / "other" / "2" / ".rst_d01.part"  # by a supervisor that was killed
    cut.parent.mkdir(parents=True)
    cut.write_bytes(b"out" * 999)
    folder = model_folder.make(tmp_path, {"folder": "other/2", "home": listed})
    assert content(folder) == FILES
    assert not cut.exists()
    with (folder / "rst_d01").open("r+b") as file:
        file.write(b"x")
    assert content(home) == FILES


@pytest.mark.parametrize("damage", ["gone", "damaged"])
def test_a_file_at_home_that_is_not_what_came_is_refused(buffer, run_dir, tmp_path, damage):
    copy = bring_checkpoint(buffer, run_dir, 1, TIME, tuple(FILES))
    home = run_dir.checkpoint(1, TIME)
    (home / "rst_d01").unlink()
    if damage == "damaged":
        (home / "rst_d01").write_bytes(b"outeR" * 100)
    listed = [[str(home / name), name, *sums] for name, *sums in copy.files]
    with pytest.raises(ValueError, match=f"checkpoint's file {home}/rst_d01 is {damage}"):
        model_folder.make(tmp_path, {"folder": "other/2", "home": listed})
    assert not (tmp_path / "other" / "2" / "rst_d01").exists()
