"""Jobs that wait for an attempt, of a Slurm whose answers a test gives."""

from __future__ import annotations

import json
import os

import pytest

from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.site import choose
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core.durable import read_json, write_json
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.go import GO, RESTARTED
from burstlens.workflows.placement.supervised import JobFailedError, describe, run_job

pytestmark = pytest.mark.integration
BATCH = {"batch": {"nodes": 1, "tasks_per_node": 1, "buffer_lines": []}, "walltime_s": 60.0}


@pytest.fixture
def run(tmp_path):
    made = RunDir(tmp_path / "run")
    made.create()
    return made


@pytest.fixture
def launcher(run):
    site = choose("local")
    return BatchLauncher(Slurm(BatchSite(query_interval_s=1.0), 0.0), site, run, "r-1")


@pytest.fixture
def says(commands):
    """Lets Slurm say this of jobs; 14 is the next that is submitted."""
    commands.set("sbatch", f"cat > {commands.folder}/script; echo 14")
    commands.set("scancel", "exit 0")

    def set_states(**states):
        user = f"UserId=me({os.getuid()})"
        for name, said in {"j14": "PENDING", **states}.items():
            state, priority = ("PENDING", 0) if said == "HELD" else (said, 10)
            name = name.replace("_", ".")
            line = f"JobId={name[1:3]} JobName=r {user} JobState={state} Reason=None"
            line += f" Priority={priority}\n"
            (commands.folder / name).write_text(line)
        file = f"{commands.folder}/j$4"
        commands.set("scontrol", f"cat {file}; test ! -e {file}.next || mv {file}.next {file}")
        commands.set("squeue", "exit 0")

    return set_states


@pytest.fixture
def job(run):
    """The folder of a job that is described, with its number and further files."""

    def make(name, number="", **files):
        folder = run.job(name)
        describe(folder, {"name": name, **BATCH})
        if number:
            (folder / "job_id").write_text(number)
        for name, text in files.items():
            (folder / name.replace("_", ".")).write_text(text)
        return folder

    return make


def test_an_attempt_is_given_to_the_job_that_was_submitted_ahead(launcher, says, job, commands):
    says(j12="COMPLETED", j13="RUNNING")
    job("attempt-1", "12", ended_json="{}")
    job("ahead-2", "13")
    second = job("attempt-2")
    assert launcher.submit(second) == "slurm:13"
    assert read_json(second / GO) == {"job_id": "13"}
    assert launcher.find(second) == "slurm:13"
    assert not any(call.startswith("sbatch") for call in commands.calls)
    # It has its attempt: the next one has a job of its own.
    (second / "ended.json").write_text("{}")
    says(j12="COMPLETED", j13="COMPLETED")
    assert launcher.submit(job("attempt-3")) == "slurm:14"


@pytest.mark.parametrize("state", ["CANCELLED", "TIMEOUT"])
def test_one_that_has_ended_is_given_nothing(launcher, says, job, state):
    says(j12="COMPLETED", j13=state)
    job("attempt-1", "12", ended_json="{}")
    job("ahead-2", "13")
    assert launcher.submit(job("attempt-2")) == "slurm:14"


@pytest.mark.parametrize("first", ["HELD", "COMPLETED"])
def test_a_job_that_is_held_is_given_nothing_and_is_cancelled(launcher, says, job, commands, first):
    says(j12=first, j13="HELD", j15="PENDING")
    job("attempt-1", "12", ended_json="{}")
    job("ahead-2", "13")
    job("ahead-3", "15")
    assert launcher.submit(job("attempt-2")) == "slurm:15"
    held = ["scancel 12", "scancel 13"] if first == "HELD" else ["scancel 13"]
    assert [call for call in commands.calls if call.startswith("scancel")] == held


def test_one_that_has_said_that_it_ends_is_given_nothing(launcher, says, job):
    says(j12="COMPLETED", j13="RUNNING")
    job("attempt-1", "12", ended_json="{}")
    job("ahead-2", "13", ended_json="{}")
    assert launcher.submit(job("attempt-2")) == "slurm:14"


@pytest.mark.parametrize(("state", "mark"), [("PENDING", False), ("RUNNING", True)])
def test_a_requeued_job_runs_the_next_attempt_before_the_one_that_was_submitted_ahead(
    launcher, says, job, state, mark
):
    says(j12=state, j13="PENDING")
    first = job("attempt-1", "12", ended_json="{}")
    job("ahead-2", "13")
    if mark:
        (first / RESTARTED).touch()
    assert launcher.submit(job("attempt-2")) == "slurm:12"
    (launcher.run.job("attempt-2") / "ended.json").write_text("{}")
    says(j12="COMPLETED", j13="RUNNING")
    assert launcher.submit(job("attempt-3")) == "slurm:13"


def test_a_job_that_still_brings_its_logs_home_is_not_taken_for_a_requeued_one(launcher, says, job):
    says(j12="RUNNING")
    job("attempt-1", "12", ended_json="{}")
    assert launcher.submit(job("attempt-2")) == "slurm:14"


def test_of_two_drivers_the_first_one_gives(launcher, says, job):
    says(j12="COMPLETED", j13="RUNNING")
    job("attempt-1", "12", ended_json="{}")
    job("ahead-2", "13")
    second = job("attempt-2")
    write_json(second / GO, {"job_id": "11"})
    assert launcher.submit(second) == "slurm:11"


def test_what_was_given_to_a_job_that_ended_without_it_is_taken_back(launcher, says, job):
    says(j12="COMPLETED", j13="RUNNING")
    job("attempt-1", "12", ended_json="{}")
    job("ahead-2", "13")
    second = job("attempt-2")
    launcher.submit(second)
    (second / "claim").touch()
    assert not launcher.take_back(second), "it has begun"
    (second / "claim").unlink()
    assert launcher.take_back(second)
    assert launcher.find(second) is None
    assert not launcher.take_back(second)


def test_an_attempt_whose_job_ends_without_it_gets_one_of_its_own(launcher, says, job, monkeypatch):
    monkeypatch.setattr("burstlens.workflows.placement.batch.SETTLES_S", 0.0)
    says(j12="COMPLETED", j13="RUNNING")
    job("attempt-1", "12", ended_json="{}")
    job("ahead-2", "13")
    second, ids = job("attempt-2"), []

    def submitted(job_id):
        ids.append(job_id)
        if job_id == "slurm:13":
            says(j12="COMPLETED", j13="COMPLETED")
        else:
            end = {"reason": "exited", "exit_code": 0}
            (second / "ended.json").write_text(json.dumps(end))

    assert run_job(launcher, second, submitted).well
    assert ids == ["slurm:13", "slurm:14"]


def test_a_job_is_submitted_ahead_with_a_dependency_and_found_again(launcher, says, job, commands):
    says(j12="RUNNING")
    folder = job("ahead-2")
    assert launcher.submit_ahead(folder, "slurm:12") == "slurm:14"
    script = (commands.folder / "script").read_text()
    assert "#SBATCH --dependency=afterany:12\n" in script
    assert "--job-name=r-1-ahead-2\n" in script
    assert launcher.find(folder) == "slurm:14"


def test_those_that_wait_are_cancelled_by_their_ids_and_no_other(launcher, says, job, commands):
    says(j12="PENDING", j13="RUNNING")
    job("attempt-1", "12", ended_json="{}")
    job("ahead-2", "13")
    launcher.cancel_waiting()
    assert "scancel 12 13" in commands.calls
    launcher.submit(job("attempt-2"))  # to 12
    launcher.cancel_waiting()
    assert commands.calls[-1] == "scancel 13"


def test_an_attempt_whose_job_is_requeued_ends_so_and_its_job_is_not_cancelled(
    launcher, says, job, commands
):
    says(j12="PENDING")
    end = {"reason": "terminated by SIGTERM", "exit_code": None, "signal": "SIGTERM"}
    first = job("attempt-1", "12", claim="n1 1 1 12", ended_json=json.dumps(end))
    with pytest.raises(Exception, match="put back into the scheduler's queue") as failed:
        run_job(launcher, first, lambda _: None)
    assert failed.value.ended.reason == "requeued"
    assert not any(call.startswith("scancel") for call in commands.calls)


def test_a_step_whose_job_is_requeued_is_cancelled_as_it_would_be_doubled(
    launcher, says, job, commands
):
    says(j12="PENDING")
    end = {"reason": "terminated by SIGTERM", "exit_code": None, "signal": "SIGTERM"}
    step = job("step-real-1", "12", claim="n1 1 1 12", ended_json=json.dumps(end))
    with pytest.raises(Exception, match="REQUEUE"):
        run_job(launcher, step, lambda _: None)
    assert "scancel 12" in commands.calls


STOPPED = {"reason": "stop_by", "exit_code": 0}
"""The end of a model that has stopped as it was asked to."""


def ended(launcher, job, end):
    """How an attempt has ended, by what its supervisor reports."""
    first = job("attempt-1", "12", claim="n1 1 1 12", ended_json=json.dumps(end))
    with pytest.raises(JobFailedError) as failed:
        run_job(launcher, first, lambda _: None)
    return failed.value.ended.reason


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("CANCELLED", "cancelled"), ("PREEMPTED", "preempted"),
        ("PENDING", "requeued"), ("COMPLETED", "stop_by"),
    ],
)  # fmt: skip
def test_what_the_scheduler_did_is_waited_for_where_it_has_ended_the_job_early(
    launcher, says, job, commands, state, reason
):
    says(j12="COMPLETING", j12_next=state)
    assert ended(launcher, job, STOPPED | {"grace_s": 30.0}) == reason
    assert not any(call.startswith("scancel") for call in commands.calls)


def test_an_end_at_the_end_of_the_job_s_time_waits_for_no_scheduler(launcher, says, job):
    says(j12="COMPLETING", j12_next="CANCELLED")
    assert ended(launcher, job, STOPPED) == "stop_by"


def test_a_job_that_is_requeued_after_its_model_has_stopped_runs_the_next_attempt(
    launcher, says, job, commands
):
    says(j12="PENDING")
    assert ended(launcher, job, STOPPED) == "requeued"
    assert launcher.submit(job("attempt-2")) == "slurm:12"
    assert not any(call.startswith("scancel") for call in commands.calls)
