"""Jobs that a look enters: which ones, and what a step of theirs may do wrong."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.scheduler import SchedulerError
from burstlens.cluster_configs.site import LookSite, choose
from burstlens.core.errors import RunError, SiteError
from burstlens.workflows.look import job_node
from burstlens.workflows.look.job_node import call_inside, entered

pytestmark = pytest.mark.integration
RUNS = "JobId=125 JobState=RUNNING Reason=None NumNodes=2 NumCPUs=64 BatchHost=nid00012"
STEP = "while case $1 in --*) true;; *) false;; esac; do shift; done\n"
"""A srun that runs the program on this machine."""


@pytest.fixture
def cluster(tmp_path):
    """A site of Slurm whose jobs may be entered."""
    path = tmp_path / "ours.toml"
    path.write_text(
        'scheduler = "slurm"\n[look]\nenter_jobs = true\n[viewing]\nplacement = "separate"\n'
    )
    return choose(str(path))


def test_a_job_of_ones_own_that_runs_is_entered_on_its_first_node(commands, cluster):
    commands.job(RUNS)
    assert entered("123_4", cluster) == Inside("125", cpus=32, node="nid00012")


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ("JobState=PENDING Reason=Priority", r"PENDING \(Priority\): it has not begun. Repeat"),
        ("JobState=COMPLETED Reason=None", "COMPLETED: what lay on the disks .* is gone with it"),
        ("JobState=COMPLETING Reason=None", "COMPLETING: what lay on the disks .* or about to go"),
        ("JobState=TIMEOUT Reason=TimeLimit", r"TIMEOUT \(TimeLimit\): what lay"),
    ],
)
def test_a_job_that_does_not_run_is_not_entered_and_the_message_says_what_to_do(
    commands, cluster, shown, said
):
    commands.job(shown)
    with pytest.raises(RunError, match=f"^Slurm: job 123 {said}"):
        entered("123", cluster)


def test_the_job_of_another_user_is_not_entered(commands, cluster):
    commands.job(RUNS, user=f"another({os.getuid() + 65533})")
    with pytest.raises(RunError, match=r"job 123 is .*'s: look enters jobs of your own only"):
        entered("123", cluster)


def test_a_job_that_slurm_does_not_know_is_not_entered(commands, cluster):
    commands.set("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    with pytest.raises(RunError, match="Slurm does not know job 123, or does not show it"):
        entered("123", cluster)


def test_what_is_not_an_id_reaches_no_command(commands, cluster):
    with pytest.raises(RunError, match="is not the id of a job of Slurm"):
        entered("12;ls", cluster)
    assert commands.calls == []


def test_where_the_site_does_not_allow_it_slurm_is_not_asked(commands, cluster):
    closed = replace(cluster, look=LookSite())
    with pytest.raises(SiteError, match=r"site ours does not .* start look in the job's script"):
        entered("123", closed)
    assert commands.calls == []


def test_a_site_without_a_scheduler_cannot(commands):
    with pytest.raises(SiteError, match=r"site local has no scheduler .* --site names the job's"):
        entered("123", choose("local"))


def test_a_machine_without_slurm_is_reported(monkeypatch, tmp_path, cluster):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SiteError, match="sbatch is not on PATH"):
        entered("123", cluster)


def test_a_step_gets_the_program_as_it_is(commands, cluster):
    commands.set("srun", f'{STEP}exec "$@"')
    odd = "it's $(a) \n run"
    assert call_inside(Inside("5"), cluster, ["printf", "%s", odd], 5.0) == odd


def test_a_step_that_fails_is_reported_with_its_last_lines(commands, cluster):
    commands.set("srun", "echo 'srun: error: first\nsrun: error: Invalid job id' >&2; exit 1")
    with pytest.raises(SchedulerError, match=r"a step of job 5 failed: .*Invalid job id$"):
        call_inside(Inside("5"), cluster, ["true"], 5.0)


def test_a_step_that_does_not_begin_is_given_up_and_ended(commands, cluster, monkeypatch, tmp_path):
    monkeypatch.setattr(job_node, "BEGINS_S", 0.5)
    commands.set("srun", f"echo $$ > {tmp_path}/pid; exec sleep 60")
    begin = time.monotonic()
    with pytest.raises(SchedulerError, match="did not answer within 0 s"):
        call_inside(Inside("5"), cluster, ["true"], 0.0)
    assert time.monotonic() - begin < 50.0
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_machine_without_srun_is_reported(monkeypatch, tmp_path, cluster):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SchedulerError, match="srun cannot be started: No such file"):
        call_inside(Inside("5"), cluster, ["true"], 1.0)
