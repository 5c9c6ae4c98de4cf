"""How old a file is by its own server's time, and where that is not known."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from watcher_case import MODEL, attached_watcher

from burstlens.workflows.frames.arrival import Selection
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.server_clock import ServerClock

HOUR_NS = 3600 * 10**9
NEVER = Path("/proc/none/stamp")
"""A file that cannot be written: the run directory is full or away."""


@pytest.fixture
def own() -> Path:
    """A folder of a file system of this machine's own, other than the run directory's."""
    return Path("/dev/shm")


def device(path: Path) -> int:
    return os.stat(path).st_dev


def test_the_run_directorys_server_dates_files_beside_it(tmp_path):
    clock = ServerClock(tmp_path / "clock", tmp_path)
    age_s = clock.age_s(time.time_ns() - HOUR_NS, device(tmp_path))
    assert age_s == pytest.approx(3600.0, abs=60.0)


def test_files_of_another_file_system_of_this_machine_are_dated_by_its_clock(tmp_path, own):
    if device(own) == device(tmp_path):
        pytest.skip("/dev/shm is the temporary folder's file system")
    clock = ServerClock(tmp_path / "clock", own)
    assert clock.age_s(time.time_ns() - HOUR_NS, device(own)) == pytest.approx(3600.0, abs=60.0)


def test_a_run_directory_that_cannot_be_written_changes_no_age(tmp_path, own):
    clock = ServerClock(NEVER, own)
    assert clock.age_s(time.time_ns() - HOUR_NS, device(own)) == pytest.approx(3600.0, abs=60.0)
    stamp = tmp_path / "run" / "clock"
    stamp.parent.mkdir()
    clock = ServerClock(stamp, Path("/proc"))
    before = clock.age_s(time.time_ns() - HOUR_NS, device(tmp_path))
    stamp.unlink()
    stamp.parent.rmdir()
    time.sleep(0.6)
    after = clock.age_s(time.time_ns() - HOUR_NS, device(tmp_path))
    assert after == pytest.approx(before, abs=60.0)


def test_the_age_of_a_file_on_another_server_is_not_known(tmp_path):
    clock = ServerClock(tmp_path / "clock", Path("/proc"))
    assert clock.age_s(time.time_ns() - HOUR_NS, device(Path("/proc"))) is None


def test_what_is_a_day_old_is_old_by_any_clock(tmp_path):
    clock = ServerClock(tmp_path / "clock", Path("/proc"))
    age_s = clock.age_s(time.time_ns() - 48 * HOUR_NS, device(Path("/proc")))
    assert age_s == pytest.approx(48 * 3600.0, abs=60.0)


def test_a_file_that_is_written_while_it_is_watched_shows_its_servers_time(tmp_path):
    clock = ServerClock(tmp_path / "clock", Path("/proc"))
    behind_ns = time.time_ns() - 2 * HOUR_NS  # that server's clock is two hours behind
    clock.note(behind_ns, device(Path("/proc")))
    age_s = clock.age_s(behind_ns - HOUR_NS, device(Path("/proc")))
    assert age_s == pytest.approx(3600.0, abs=60.0)


def test_old_output_on_another_file_system_is_old_on_arrival(tmp_path, own, prober):
    folder = own / f"burstlens-{os.getpid()}"
    folder.mkdir()
    try:
        (folder / "model.log").write_text("step 1\n")
        then = time.time() - 7200.0
        os.utime(folder / "model.log", (then, then))
        watch = attached_watcher(
            own, folder.name, MODEL, "run", 1, Cursor(),
            selection=Selection(newest=None), stamp=tmp_path / "clock", prober=prober,
        )  # fmt: skip
        found = watch.scan(elapsed_s=0.0, now=0.0, ended=False).folder
        assert found.quiet_s == pytest.approx(7200.0, abs=60.0)
        assert found.dated
    finally:
        (folder / "model.log").unlink()
        folder.rmdir()
