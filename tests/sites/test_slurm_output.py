"""What Slurm's commands print, read so that no text of a user's or a site's is taken for Slurm's.

The long line is what Slurm 22.05.8 printed of a job with that name and comment.
"""

from __future__ import annotations

import os

import pytest
from observer_case import Commands

from burstlens.cluster_configs.scheduler import BatchSite, Phase
from burstlens.cluster_configs.slurm import Slurm, SlurmError
from burstlens.cluster_configs.slurm_output import (
    CELL_END,
    ROW_END,
    read_account,
    read_cells,
    read_job,
    read_part,
    read_parts,
    read_queue,
    submitted_job,
)

SHOWN = (
    "JobId={job} JobName={name} UserId=ada(1001) GroupId=ada(1001) MCS_label=N/A "
    "Priority=4294901759 Nice=0 Account=(null) QOS=(null) JobState=RUNNING Reason=None "
    "Dependency=(null) Requeue=1 Partition=batch AllocNode:Sid=localhost:6926 ReqNodeList=(null) "
    "ExcNodeList=(null) NodeList=dwn1 BatchHost=dwn1 NumNodes=1 NumCPUs=1 NumTasks=1 "
    "Command=(null) WorkDir=/home/ada Comment={comment}  StdErr=/home/ada/slurm-1.out Power= \n"
)


def shown(name="storm", comment="r", job=1):
    return SHOWN.format(name=name, comment=comment, job=job)


def row(*cells):
    return CELL_END.join((*cells, "")) + ROW_END + "\n"


@pytest.mark.parametrize(
    ("said", "job"),
    [
        ("12\n", "12"),
        ("12;cluster\n", "12"),
        ("Welcome to Big.\nMaintenance on 2026-12-01\n12\n", "12"),
        ("12;big\nYour project has 300 node-hours left.\n", "12"),
        ("*** 3 jobs of yours wait ***\n  12  \n\n", "12"),
        ("", None),
        ("sbatch: 3 warnings\n", None),
    ],
)
def test_the_id_of_a_job_is_the_last_line_that_is_one_whatever_a_site_prints_beside(said, job):
    assert submitted_job(said) == job


@pytest.mark.parametrize(
    "state", ["RESV_DEL_HOLD", "REQUEUE_FED", "POWER_UP_NODE", "EXPEDITING", "SOMETHING_NEW", ""]
)
def test_a_state_that_is_not_known_is_that_of_a_job_that_lives(state):
    job = read_job("12", state)
    assert job.phase is Phase.UNKNOWN
    assert (job.waiting, job.over, job.final) == (False, False, False)
    assert (job.failed, job.cut, job.hopeless, job.ending) == (None, False, False, False)
    assert job.text == f"{state} (not a known state)"


@pytest.mark.parametrize(
    ("state", "failed", "cut"),
    [("COMPLETED", False, False), ("FAILED", True, False), ("NODE_FAIL", True, True)],
)
def test_a_job_that_has_ended_is_over(state, failed, cut):
    job = read_job("12", state)
    assert (job.final, job.failed, job.cut) == (True, failed, cut)


@pytest.mark.parametrize(
    ("state", "reason", "priority", "hopeless"),
    [
        ("PENDING", "Error managing persistent burst buffers", "0", True),
        ("PENDING", "", "0", True),
        ("PENDING", "JobHeldUser", "0", True),
        ("REQUEUE_HOLD", "launch failed requeued held", "0", True),
        ("PENDING", "BadConstraints", "4294901755", True),
        ("PENDING", "BurstBufferStageIn", "4294901755", False),
        ("PENDING", "Resources", "", False),
        ("RUNNING", "", "0", False),
        ("CANCELLED", "", "0", False),
    ],
)
def test_a_job_whose_priority_is_0_will_never_begin_whatever_the_reason(
    state, reason, priority, hopeless
):
    by_queue = row("12", state, reason or "None", priority, "n", "r")
    fields = f"JobId=12 JobName=n Priority={priority} JobState={state} "
    by_job = f"{fields}Reason={reason.replace(' ', '_') or 'None'} Dependency=(null)\n"
    ((queued, _),) = read_queue(by_queue)
    shown = read_part("12", read_parts(by_job)[0])
    assert (queued.hopeless, shown.hopeless) == (hopeless, hopeless)


def test_the_reason_says_so_where_slurms_does_not():
    ((lost, _), (held, _)) = read_queue(
        row("12", "PENDING", "Error managing persistent burst buffers", "0", "n", "r")
        + row("13", "PENDING", "JobHeldUser", "0", "n", "r")
    )
    assert lost.text == "PENDING (Error managing persistent burst buffers, priority 0)"
    assert held.text == "PENDING (JobHeldUser)"


def test_a_job_is_read_by_its_fields():
    (part,) = read_parts(shown())
    job = read_part("1", part)
    assert (job.state, job.name, job.nodes, job.reason) == ("RUNNING", "storm", "dwn1", "")


@pytest.mark.parametrize(
    "text",
    ["a JobState=FAILED b", "x\nJobState=FAILED Reason=None", "x Reason=held", "x UserId=root(0)"],
)
@pytest.mark.parametrize("where", ["name", "comment"])
def test_a_text_of_a_user_that_looks_like_a_field_leaves_the_rest_unread(text, where):
    assert read_parts(shown(**{where: text})) is None


def test_parts_of_a_job_are_read_one_by_one():
    parts = read_parts(f"a banner\n{shown()}{shown(job=2)}")
    assert [part["JobId"] for part in parts] == ["1", "2"]


def test_cells_keep_what_a_user_wrote_apart():
    evil = "x JobState=FAILED\nReason=None y"
    cells = ("1", evil, "RUNNING", "None", "ada", "1001", "dwn1", "dwn1", "1", "1", "7")
    (part,) = read_cells(f"a banner\n{row(*cells)}")
    assert part["JobName"] == evil
    assert part["UserId"] == "ada(1001)"
    assert read_part("1", part).state == "RUNNING"


def test_the_queue_is_read_row_by_row_whatever_names_and_comments_hold():
    one = (2 * CELL_END, CELL_END)
    said = (
        "Welcome\n"
        + row("12", "RUNNING", "None", "0", "a\t99\tFAILED", "r")
        + row("13_[1-4]", "PENDING", "Priority", "7", "n\n14\x01", "(null)").replace(*one)
        + row("15", "RESV_DEL_HOLD", "ReservationDeleted", "0", "n", "JobState=FAILED")
        + "16\x01RUNN"  # cut off
    )
    found = [(job.job_id, job.state, job.reason, comment) for job, comment in read_queue(said)]
    assert found[0] == ("12", "RUNNING", "", "r")
    assert found[-1] == ("15", "RESV_DEL_HOLD", "ReservationDeleted", "JobState=FAILED")
    assert len(found) == 3


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("CANCELLED by 1001|a|b\n", "CANCELLED (by 1001)"),
        ("a banner\nCOMPLETED|n\n", "COMPLETED"),
        ("COMPLETED|n\nRUNNING|n\n", "RUNNING"),
        ("NEW_STATE|n\n", "NEW_STATE (not a known state)"),
    ],
)
def test_accounting_is_read_line_by_line(said, text):
    assert read_account(said, "12").text == text


def test_accounting_that_prints_nothing_does_not_know_the_job():
    assert read_account("\nSlurm accounting storage is disabled\n", "12") is None


@pytest.fixture
def commands(tmp_path, monkeypatch) -> Commands:
    folder = tmp_path / "slurm"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return Commands(folder)


@pytest.mark.integration
def test_squeue_is_asked_where_the_text_of_scontrol_is_not_clear(commands, tmp_path):
    slurm = Slurm(BatchSite(), patience_s=0.0)
    (tmp_path / "shown").write_text(shown(comment="JobState=FAILED UserId=root(0)"))
    commands.set("scontrol", f"cat {tmp_path}/shown")
    cells = ("1", "storm", "RUNNING", "None", "ada", "1001", "dwn1", "dwn1", "4", "2", "7")
    (tmp_path / "cells").write_text(row(*cells))
    commands.set("squeue", f"cat {tmp_path}/cells")
    assert slurm.look("1").state == "RUNNING"
    assert slurm.owner("1") != "root"
    assert (slurm.inside("1").cpus, slurm.inside("1").node) == (2, "dwn1")


@pytest.mark.integration
def test_a_job_whose_number_sbatch_does_not_print_may_have_been_accepted(commands):
    commands.set("sbatch", "echo Welcome to Big.")
    with pytest.raises(SlurmError, match="sbatch printed no job id: Welcome to Big") as caught:
        Slurm().submit("#!/bin/sh\n")
    assert caught.value.passing


@pytest.mark.parametrize(
    ("state", "by"),
    [("PREEMPTED", "preempted"), ("CANCELLED", "cancelled"), ("TIMEOUT", "timeout"),
     ("COMPLETED", ""), ("FAILED", ""), ("NODE_FAIL", ""), ("RUNNING", "")],
)  # fmt: skip
def test_what_slurm_did_to_end_a_job_is_known(state, by):
    assert read_job("7", state).ended_by == by
