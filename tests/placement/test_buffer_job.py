"""The end of the job that has a run's buffer, by a Slurm whose answers a test gives."""

from __future__ import annotations

import pytest

from burstlens.cluster_configs.scheduler import BatchSite, SchedulerError
from burstlens.cluster_configs.site import choose
from burstlens.cluster_configs.slurm import Slurm
from burstlens.workflows.driver import scheduling
from burstlens.workflows.driver.scheduling import BufferJob
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.job_buffer import HostedLauncher, JobBuffer
from burstlens.workflows.viewing.graph import Graph

pytestmark = pytest.mark.integration


@pytest.fixture
def job(commands, run_dir, recipe) -> BufferJob:
    site = choose("local")
    batch = BatchLauncher(Slurm(BatchSite(query_interval_s=1.0), 0.0), site, run_dir, "r-1")
    hosted = HostedLauncher(batch)
    hosted.host = run_dir.path / "steps" / "host-1"
    hosted.host.mkdir(parents=True)
    (hosted.host / "job_id").write_text("12")
    space = JobBuffer(site, run_dir, hosted, recipe(), "folder", lambda: False)
    return BufferJob(space, Graph(site, run_dir, jobs=1))


def test_each_end_of_the_block_has_its_own_patience_for_a_job_that_leaves(
    commands, job, monkeypatch
):
    commands.job("JobState=COMPLETING Reason=None")
    with pytest.raises(SchedulerError, match="is ending"):
        job._ask()
    with monkeypatch.context() as patch:
        patch.setattr(scheduling, "LEAVES_S", 0.0)
        assert job._ask() == "job 12: COMPLETING"
        assert job.end() == ""  # there is a block again
    first = job._leaves_since
    with pytest.raises(SchedulerError, match="is ending"):
        job._ask()
    assert first is None
