"""Stopping a batch job that somebody submitted: only an own one, by its id."""

from __future__ import annotations

import os
import time

import pytest
from observer_case import AWAY, client, observe, wait_for

from burstlens.cluster_configs.scheduler import JOB_IDS, OpenScheduler
from burstlens.core.errors import BurstlensError, RunError
from burstlens.workflows.look.observer import observed_job
from burstlens.workflows.look.observer.observer import Observer

pytestmark = pytest.mark.integration


def test_an_own_job_is_cancelled_by_its_id(commands):
    commands.set("scancel", "exit 0")
    observer = observe("123_4", allow_stop=True)
    assert observer.stop(now=False) == "Slurm: job 123_4 was cancelled (scancel 123_4)"
    assert "scancel 123_4" in commands.calls
    assert "; it was cancelled" in observer.look(0.0, None).evidence


def test_somebody_elses_job_is_observed_and_not_stopped(commands):
    commands.job("JobState=RUNNING Reason=None", user="ada(4711)")
    assert observe().look(0.0, None).state == "running"
    with pytest.raises(RunError, match="job 123 is 4711's: it can be observed, not stopped"):
        observe(allow_stop=True)
    assert not any(call.startswith("scancel") for call in commands.calls)


def test_whose_job_it_is_is_asked_before_it_is_cancelled(commands, monkeypatch):
    monkeypatch.setattr(observed_job, "FIRST_S", 3.0)
    commands.set("scontrol", f"{AWAY}; exit 1")
    observer = observe(allow_stop=True)
    with pytest.raises(RunError, match=r"scancel 123 failed: scontrol: .*Unable to contact"):
        observer.stop(now=True)
    commands.job("JobState=RUNNING Reason=None", user="ada(4711)")
    with pytest.raises(RunError, match="4711's: it can be observed, not stopped"):
        observer.stop(now=True)
    assert not any(call.startswith("scancel") for call in commands.calls)


def test_a_cancellation_that_fails_is_said(commands):
    commands.set("scancel", "echo 'scancel: error: Access/permission denied' >&2; exit 1")
    observer = observe(allow_stop=True)
    with pytest.raises(RunError, match=r"scancel 123 failed: .*Access/permission denied"):
        observer.stop(now=True)
    assert "scancel 123 failed" in observer.look(0.0, None).evidence


def test_a_cancellation_that_hangs_holds_nobody_up(commands, monkeypatch):
    monkeypatch.setattr(observed_job, "FIRST_S", 0.7)
    observer = observe(allow_stop=True)
    commands.set("scancel", "echo $$ > $0.pid; exec sleep 60")
    begin = time.monotonic()
    assert observer.stop(now=True) == "scancel 123 was called; Slurm has not answered it yet"
    assert time.monotonic() - begin < 50.0
    os.kill(int(wait_for((commands.folder / "scancel.pid").read_text)), 9)
    wait_for(lambda: "scancel 123 failed" in observer.look(0.0, None).evidence)


def test_a_scheduler_that_does_not_know_owners_observes_and_does_not_stop(commands):
    class Plain:
        """Hides what is optional of Slurm."""

        def __init__(self):
            self._slurm = client()

        def __getattr__(self, name):
            if name == "owner":
                raise AttributeError(name)
            return JOB_IDS if name == "job_ids" else getattr(self._slurm, name)

    scheduler = Plain()
    assert not isinstance(scheduler, OpenScheduler)
    observer = Observer(job="123[4].server", scheduler=scheduler)
    assert observer.look(0.0, None).state == "running"
    with pytest.raises(BurstlensError, match="cannot be asked whose job 123 is"):
        Observer(job="123", scheduler=scheduler, allow_stop=True)
    with pytest.raises(BurstlensError, match="is not the id of a job"):
        Observer(job="123 4", scheduler=scheduler)
