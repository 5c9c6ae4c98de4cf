"""Supervised jobs of a Slurm whose answers a test gives."""

from __future__ import annotations

import errno
import os

import pytest
from observer_case import wait_for

from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.site import choose
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core.errors import NeverBeganError
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.job_buffer import HostedLauncher

pytestmark = pytest.mark.integration


@pytest.fixture
def launcher(commands, tmp_path):
    """With one job, 12, that a former driver has submitted; nothing shows that it has begun."""
    run = RunDir(tmp_path / "run")
    run.create()
    folder = run.job("attempt-1")
    folder.mkdir(parents=True)
    (folder / "job_id").write_text("12")
    made = BatchLauncher(Slurm(BatchSite(query_interval_s=1.0), 0.0), choose("local"), run, "r-1")
    assert made.find(folder) == "slurm:12"
    return made


def says(commands, state, reason="None", priority=100):
    row = rf"12\1{state}\1{reason}\001{priority}\1r-1-attempt-1\1r\1\2\n"
    commands.set("squeue", f"printf '{row}'")
    commands.job(f"JobState={state} Reason={reason} Priority={priority}")


def test_a_job_in_a_state_that_is_not_known_is_alive_and_its_state_is_shown(commands, launcher):
    says(commands, "RESV_DEL_HOLD")
    assert launcher.alive("slurm:12")
    assert launcher.waits == {"12": "RESV_DEL_HOLD (not a known state)"}
    says(commands, "RUNNING")
    wait_for(lambda: launcher.alive("slurm:12") and launcher.waits == {})


def test_a_request_to_stop_cancels_it_unless_it_has_begun(commands, launcher):
    commands.set("scancel", "exit 0")
    says(commands, "REQUEUE_FED")
    assert launcher.alive("slurm:12")
    launcher.run.request("stop")
    with pytest.raises(NeverBeganError):
        launcher.alive("slurm:12")
    assert "scancel 12" in commands.calls


@pytest.mark.parametrize(
    ("reason", "priority", "shown"),
    [
        ("Error_managing_persistent_burst_buffers", 0,
         "Error_managing_persistent_burst_buffers, priority 0"),
        ("JobHeldAdmin", 0, "JobHeldAdmin"),
        ("BadConstraints", 100, "BadConstraints"),
    ],
)  # fmt: skip
def test_one_that_will_never_begin_is_cancelled_with_the_reason(
    commands, launcher, reason, priority, shown
):
    commands.set("scancel", "exit 0")
    says(commands, "PENDING", reason, priority)
    with pytest.raises(NeverBeganError, match=f"job 12 cannot start, says Slurm: {shown}$"):
        wait_for(lambda: not launcher.alive("slurm:12"))
    assert "scancel 12" in commands.calls


def test_one_that_has_begun_is_left_to_its_supervisor(commands, launcher):
    commands.set("scancel", "exit 0")
    says(commands, "SIGNALING_NEW")
    (launcher.run.job("attempt-1") / "claim").touch()
    launcher.run.request("stop")
    assert launcher.alive("slurm:12")
    assert not any(call.startswith("scancel") for call in commands.calls)


@pytest.fixture
def stale(monkeypatch):
    """Lets a look at these names fail, once or for ever; returns those that did."""
    real, failed = os.stat, []

    def begin(*names, for_ever=False):
        def look(path, **named):
            name = os.path.basename(path) if isinstance(path, str | os.PathLike) else ""
            if name in names and (for_ever or name not in failed):
                failed.append(name)
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)
            return real(path, **named)

        monkeypatch.setattr(os, "stat", look)
        return failed

    return begin


def test_one_whose_begin_cannot_be_seen_is_left_to_its_supervisor(commands, launcher, stale):
    commands.set("scancel", "exit 0")
    says(commands, "SIGNALING_NEW")
    (launcher.run.job("attempt-1") / "claim").touch()
    launcher.run.request("stop")
    failed = stale("claim", for_ever=True)
    assert launcher.alive("slurm:12")
    assert launcher.waits
    assert failed
    assert not any(call.startswith("scancel") for call in commands.calls)


def test_one_in_the_queue_of_a_host_is_never_said_to_be_missing(launcher, stale):
    hosted = HostedLauncher(launcher)
    hosted.host = launcher.run.job("attempt-1")
    (hosted.host / "queue").mkdir()
    asked = launcher.run.job("attempt-2")
    for name in (asked.name, f"{asked.name}.over"):
        (hosted.host / "queue" / name).touch()
    stale(asked.name, f"{asked.name}.over")
    for call in (lambda: hosted.find(asked), lambda: hosted.fate(None, asked)):
        with pytest.raises(OSError, match="Stale"):  # who waits for a job asks again
            call()
    assert hosted.find(asked) == f"hosted:12:{asked.name}"
    assert "its supervisor was killed" in hosted.fate(None, asked)


def test_one_whose_end_the_host_cannot_show_is_alive_as_long_as_the_host(commands, launcher, stale):
    says(commands, "RUNNING")
    hosted = HostedLauncher(launcher)
    hosted.host = launcher.run.job("attempt-1")
    (hosted.host / "queue").mkdir()
    (hosted.host / "queue" / "2.over").touch()
    stale("2.over")
    assert hosted.alive("hosted:12:2")
    assert not hosted.alive("hosted:12:2")
