"""Slurm: the contract of all schedulers."""

from __future__ import annotations

import os
import time

import pytest

from burstlens.cluster_configs.scheduler import BatchSite, user_name
from burstlens.cluster_configs.scheduler_contract import SchedulerContract
from burstlens.cluster_configs.slurm import Slurm


class TestSlurm(SchedulerContract):
    @pytest.fixture
    def scheduler(self, slurm, monkeypatch):
        for name in ("SLURM_CONF", "PATH"):
            monkeypatch.setenv(name, slurm.env[name])
        yield Slurm(BatchSite(query_interval_s=1.0))
        slurm.clear()

    @pytest.fixture
    def folder(self, tmp_path):
        return tmp_path

    def test_jobs_that_wait_are_ranked_by_priority_and_have_slurms_estimate(
        self, scheduler, submit, slurm
    ):
        whole = ("#SBATCH --exclusive", "#SBATCH --nodes=3")
        runs = submit("sleep 600", "runs", *whole)
        self.wait(scheduler, runs, lambda state: state.state == "RUNNING")
        first, second = submit("true", "a", *whole), submit("true", "b", *whole)
        held = submit("true", "held", "#SBATCH --hold")
        late = submit("true", "late", "#SBATCH --begin=now+1hour")
        found = scheduler.forecast()
        assert runs not in found
        queue = slurm.daemons.ask("scontrol", "-o", "show", "jobs")
        assert {first, second, held, late} <= found.keys(), queue
        assert (found[first].by, found[first].of) == ("Slurm", found[second].of)
        assert 1 <= found[first].position < found[second].position <= found[second].of
        assert found[held].position is None
        assert found[late].start == pytest.approx(time.time() + 3600, abs=120)
        assert found[first].partition == found[second].partition != ""

    def test_what_a_comment_holds_is_not_taken_for_the_jobs_state(self, scheduler, submit, slurm):
        job = submit("sleep 600", "commented")
        self.wait(scheduler, job, lambda state: not state.waiting)
        comment = "Comment=x JobState=FAILED UserId=nobody(65534) NodeList=nowhere"
        slurm.daemons.ask("scontrol", "update", f"JobId={job}", comment)
        assert "JobState=FAILED" in slurm.daemons.ask("scontrol", "-o", "show", "job", job)
        state = scheduler.look(job)
        assert (state.state, state.nodes[:3]) == ("RUNNING", "dwn")
        assert scheduler.owner(job) == user_name(os.getuid())
        assert scheduler.inside(job).node == state.nodes
