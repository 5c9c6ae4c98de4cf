"""What a job's description holds of its end, and of how the model is asked to stop ahead of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burstlens.cluster_configs.batch_script import batch_script, warned_s
from burstlens.cluster_configs.scheduler import BatchJob
from burstlens.cluster_configs.site import SITES, choose, read
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core.errors import RecipeError
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import replay
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_file import JobFile
from burstlens.workflows.placement.provision import Folder

SLURM = read(SITES / "slurm.toml")
COMMAND = """\
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
walltime = "{walltime}"
[checkpoint]
{keys}
"""


def whole(took_s: float) -> ev.CheckpointWhole:
    return ev.CheckpointWhole(
        attempt=1, time="t00000001.000", files=["x"], bytes=1, signal="name", took_s=took_s
    )


@pytest.fixture
def described(recipe, tmp_path):
    """The job file of a program with these keys of ``[checkpoint]``, on a site."""

    def make(keys, *, site=SLURM, walltime="02:00:00", events=()):
        made = recipe(text=COMMAND.format(keys=keys, walltime=walltime))
        space = Folder(site, "storm-1", 10)
        jobs = JobFile(RunDir(tmp_path / "storm-1"), made, site, replay(events), space)
        jobs.plan(BufferRef("posix", "/scratch", "storm-1"), 1, [])
        return jobs.simulation("attempt-1")

    return make


def test_slurm_says_by_a_variable_or_by_squeue_when_the_job_ends(described):
    job = described('stop_by = "SIGUSR1"')
    assert job["job_end"]["variable"] == "SLURM_JOB_END_TIME"
    assert list(job["job_end"]["command"]) == ["squeue", "-h", "-j", "{job_id}", "-o", "%e"]
    assert job["stop_by"] == {"signal": "SIGUSR1"}
    assert job["preempt_grace_s"] == 30.0


def test_on_this_machine_nobody_is_asked(described):
    job = described('stop_by = "SIGUSR1"', site=choose("local"))
    assert not {"job_end", "preempt_grace_s"} & job.keys()


def test_a_file_that_asks_is_not_linked_from_the_inputs(described):
    job = described('stop_by = { file = "run/STOP" }')
    assert job["stop_by"] == {"file": "run/STOP"}
    assert "run/STOP" in job["unlinked"]


def test_the_site_says_how_long_a_preempted_job_has(described):
    site = replace(SLURM, batch=replace(SLURM.batch, preempt_grace_s=600.0))
    assert described("keep = 2", site=site)["preempt_grace_s"] == 600.0


def test_the_lead_follows_from_the_longest_checkpoint_of_a_model_that_can_be_asked(described):
    events = [whole(100.0), whole(30.0)]
    assert described('stop_by = "SIGUSR1"', events=events)["lead_s"] == 240.0
    assert described('stop_by = "SIGUSR1"')["lead_s"] == 60.0
    assert described("keep = 2", events=events)["lead_s"] == 60.0
    assert described('stop_by = "SIGUSR1"\nlead = "5 min"', events=events)["lead_s"] == 300.0


def test_a_walltime_below_the_lead_is_refused(described):
    with pytest.raises(RecipeError, match=r"checkpoint\.lead: it is 300 s"):
        described('lead = "5 min"', walltime="00:05:00")


@pytest.mark.parametrize(("lead_s", "said"), [(None, 15), (50.0, 50), (0.4, 0)])
def test_the_batch_script_has_the_same_lead(tmp_path, lead_s, said):
    job = BatchJob(
        name="x", comment="x", argv=("true",), output=tmp_path / "o", walltime_s=60.0, lead_s=lead_s
    )
    assert warned_s(job) == said
    assert f"#SBATCH --signal=B:TERM@{said}\n" in batch_script(job, Slurm())
