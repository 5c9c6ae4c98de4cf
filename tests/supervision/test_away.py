"""A run directory that is away for a while: what is missing then did not fail to happen."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from burstlens.core.durable import read_json
from burstlens.core.errors import RunError
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.making.watching import watch_buffer
from burstlens.workflows.models.command import Command
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_folder import lacks, names_if_made, names_in
from burstlens.workflows.placement.launch import LocalLauncher
from burstlens.workflows.placement.supervised import JobFailedError, describe, run_job

AWAY_S = 1.5


@pytest.fixture
def away(run_dir):
    """Renames the run directory away, and back."""
    hidden = run_dir.path.with_name("hidden")

    class Away:
        def go(self):
            run_dir.path.rename(hidden)

        def back(self):
            assert not run_dir.path.exists(), f"made anew: {list(run_dir.path.rglob('*'))}"
            hidden.rename(run_dir.path)

        def folder(self, folder):
            return hidden / folder.relative_to(run_dir.path)

    return Away()


@pytest.fixture
def awaited():
    """Awaits a job on a thread, as the driver does; ``outcome()`` is how it ended."""
    threads = []

    class Awaited:
        def __init__(self, folder):
            self.leaving = threading.Event()
            self.submitted, self.result, self.error = [], None, None
            self.thread = threading.Thread(target=self._run, args=(folder,), daemon=True)
            self.thread.start()
            threads.append(self)

        def _run(self, folder):
            try:
                self.result = run_job(
                    LocalLauncher(), folder, self.submitted.append, [], leaving=self.leaving
                )
            except BaseException as error:
                self.error = error

        def outcome(self):
            self.thread.join(60)
            assert not self.thread.is_alive()
            if isinstance(self.error, JobFailedError):
                return self.error.ended
            if self.error is not None:
                raise self.error
            return self.result

    yield Awaited
    for one in threads:
        one.leaving.set()


def _begun(folder):
    return (folder / "started.json").exists()


def test_an_end_that_was_written_before_the_directory_went_away_is_found(
    job, supervise, wait_for, away, awaited
):
    folder = job("true")
    supervise(folder).wait()
    away.go()
    one = awaited(folder)
    time.sleep(AWAY_S)
    assert one.thread.is_alive()
    away.back()
    assert one.outcome().well


@pytest.mark.integration
@pytest.mark.parametrize("when", ["before it is submitted", "as it is submitted", "as it runs"])
def test_a_job_is_started_once_and_its_end_awaited_whenever_the_directory_was_away(
    job, wait_for, away, awaited, tmp_path, when
):
    folder = job("echo x >> begun; sleep 1")
    if when == "before it is submitted":
        away.go()
    one = awaited(folder)
    if when == "as it is submitted":
        wait_for(lambda: one.submitted)
        away.go()
    elif when == "as it runs":
        wait_for(lambda: _begun(folder))
        away.go()
    time.sleep(AWAY_S)
    away.back()
    assert one.outcome().well
    assert (tmp_path / "buffer" / "storm-1" / "1" / "begun").read_text() == "x\n"
    assert len(one.submitted) == 1


@pytest.mark.integration
def test_a_supervisor_that_is_killed_meanwhile_is_lost_once_that_can_be_seen(
    job, wait_for, away, awaited
):
    folder = job("sleep 300")
    one = awaited(folder)
    started = wait_for(lambda: read_json(folder / "started.json"))
    away.go()
    os.kill(started["supervisor"], signal.SIGKILL)
    time.sleep(AWAY_S)
    assert one.thread.is_alive()
    away.back()
    assert one.outcome().reason == "lost"


def test_a_directory_that_does_not_come_back_is_waited_for_until_the_driver_leaves(
    job, away, awaited
):
    folder = job("true")
    away.go()
    one = awaited(folder)
    time.sleep(AWAY_S)
    assert one.thread.is_alive()
    one.leaving.set()
    with pytest.raises(RunError, match="leaves the job to itself"):
        one.outcome()
    away.back()
    assert not (folder / "ended.json").exists()


def test_logs_that_cannot_come_home_do_not_make_the_directory_anew(
    job, supervise, wait_for, away, run_dir
):
    folder = job("sleep 1", keep_logs=["model.log", "sub/*.log"])
    child = supervise(folder)
    wait_for(lambda: _begun(folder))
    away.go()
    time.sleep(AWAY_S)
    assert child.poll() is None
    away.back()
    child.wait(120)
    assert read_json(folder / "ended.json")["exit_code"] == 0


def test_the_watcher_of_a_job_whose_folder_is_away_sees_no_end(job, supervise, away, tmp_path):
    folder = job("true")
    supervise(folder).wait()
    buffer = BufferRef("posix", str(tmp_path / "buffer"), "storm-1", by="posix")
    model = Command(argv=["x"], frames="*.nc")

    def look():
        return watch_buffer(buffer, model, "r", 1, Cursor(), str(folder), 0.2, 0.05).report.ended

    away.go()
    assert not look()
    away.back()
    assert look()
    (folder / "baseline.json").unlink()
    assert not look()  # it began, so there is output that the watcher has not seen
    (folder / "started.json").unlink()
    assert look()  # it never began: there is nothing to see
    away.go()
    folder.mkdir(parents=True)  # an empty mount point, say
    (folder / "ended.json").touch()
    assert not look()


def test_what_a_folder_lacks_is_known_only_while_it_is_seen(run_dir, job, away):
    folder = job("true")
    assert lacks(folder, "ended.json")
    assert names_if_made(run_dir.path / "steps" / "never", run_dir.path) == frozenset()
    away.go()
    assert not lacks(folder, "ended.json")
    for look in (
        lambda: names_in(folder),
        lambda: names_if_made(folder, run_dir.path),
        lambda: describe(folder, {}),
    ):
        with pytest.raises(FileNotFoundError):
            look()
    away.back()
