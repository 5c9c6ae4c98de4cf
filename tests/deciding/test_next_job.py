"""The job of the next attempt: submitted ahead, waited for, cancelled; jobs that are requeued."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from launched_case import Case, kinds
from segments_case import FAILED, WALLTIME, WELL, described, end, key, launches, segmented
from simulated_nodes import BUFFER

from burstlens.core.errors import SiteError
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.supervised import Ended

REQUEUED = Ended(None, "SIGTERM", "requeued", "job 12: REQUEUE (NodeFail)")
T = 1e9
"""The case's clock at its start."""


@pytest.fixture
def case(recipe, run_dir: RunDir):
    return partial(segmented, recipe, run_dir, batch=True)


@pytest.fixture
def running(case):
    """The first attempt of a run whose jobs have two hours; its job is 12."""

    def start(segments: object = 3, keys: str = 'walltime = "02:00:00"', **more) -> Case:
        run = case(segments, keys=keys, **more)
        run.start()
        run.tell(happened.JobSubmitted("attempt-1", "slurm:12"))
        return run

    return start


def ahead(done) -> list[todo.SubmitAhead]:
    return [one for one in done if isinstance(one, todo.SubmitAhead)]


def cancelled(done) -> int:
    return sum(isinstance(one, todo.CancelWaiting) for one in done)


def submitted(run: Case, attempt: int = 2, job_id: str = "slurm:13"):
    run.tell(happened.JobsSeen(begun=T))
    return run.tell(happened.JobSubmitted(f"ahead-{attempt}", job_id))


def test_it_is_submitted_once_when_the_current_job_has_less_than_an_hour_left(running):
    run = running()
    (see,) = (one for one in run.tell(happened.Tick()) if isinstance(one, todo.SeeJobs))
    assert see.begun
    assert not ahead(run.tell(happened.JobsSeen(begun=None)))
    assert not ahead(run.tell(happened.JobsSeen(begun=T), 3599.0))
    assert ahead(run.tell(happened.JobsSeen(begun=T), 2.0)) == [
        todo.SubmitAhead("ahead-2", 2, "slurm:12")
    ]
    assert not ahead(run.tell(happened.JobsSeen(begun=T), 2.0))


def test_with_a_short_walltime_it_is_submitted_as_soon_as_the_current_one_runs(running):
    assert ahead(running(keys='walltime = "00:30:00"').tell(happened.JobsSeen(begun=T)))


def test_its_id_is_journalled_and_on_disk_at_once(running):
    run = running(keys="walltime = 60")
    done = submitted(run)
    assert kinds(done) == ["ahead.submitted", "Sync"]
    assert (done[0].job, done[0].attempt, done[0].job_id) == ("ahead-2", 2, "slurm:13")
    (see,) = (one for one in run.tell(happened.Tick()) if isinstance(one, todo.SeeJobs))
    assert (see.begun, see.ahead) == (False, "ahead-2")


@pytest.mark.parametrize(
    ("segments", "keys", "batch"), [(1, "", True), (1, "retries = 2", True), (3, "", False)]
)
def test_none_is_submitted_for_a_run_of_one_job_or_without_a_scheduler(
    recipe, run_dir, segments, keys, batch
):
    run = segmented(recipe, run_dir, segments, keys=keys, batch=batch)
    run.start()
    run.tell(happened.JobSubmitted("attempt-1", "slurm:12"))
    assert not ahead(run.tell(happened.JobsSeen(begun=T)))


def test_none_is_submitted_after_the_last_of_the_jobs(running):
    run = running(2, keys="walltime = 60")
    submitted(run)
    end(run, 1, WALLTIME, 1.0)
    run.tell(happened.JobsDescribed())
    run.tell(happened.JobSubmitted("attempt-2", "slurm:13"))
    assert run.state.history.ahead is None
    assert not ahead(run.tell(happened.JobsSeen(begun=T)))


def test_the_attempt_that_it_runs_is_followed_by_another_one(running):
    run = running(keys="walltime = 60")
    submitted(run)
    end(run, 1, WALLTIME, 1.0)
    assert launches(run.tell(happened.JobsDescribed())) == ["attempt-2"]
    run.tell(happened.JobSubmitted("attempt-2", "slurm:13"))
    assert ahead(run.tell(happened.JobsSeen(begun=T))) == [
        todo.SubmitAhead("ahead-3", 3, "slurm:13")
    ]


def test_no_attempt_begins_while_it_is_being_submitted(running):
    run = running(keys="walltime = 60")
    run.tell(happened.JobsSeen(begun=T))
    done = end(run, 1, WALLTIME, 1.0)
    assert not {"DescribeJobs", "BringHome"} & set(kinds(done))
    run.tell(happened.JobSubmitted("ahead-2", "slurm:13"))
    run.tell(happened.Turn())
    assert described(run.tell(happened.ProductsPublished())).attempt == 2


def test_one_that_cannot_be_submitted_is_reported_once_and_left_for_later(running):
    run = running(keys="walltime = 60")
    (node,) = ahead(run.tell(happened.JobsSeen(begun=T)))
    run.tell(happened.NodeFailed(node, SiteError("too many jobs")))
    assert not ahead(run.tell(happened.JobsSeen(begun=T)))
    assert [one.text for one in run.snapshot.alarms] == [
        "the next job is not submitted ahead: too many jobs"
    ]
    assert described(end(run, 1, WALLTIME, 1.0)).attempt == 2
    run.tell(happened.JobsDescribed())
    run.tell(happened.JobSubmitted("attempt-2", "slurm:14"))
    (node,) = ahead(run.tell(happened.JobsSeen(begun=T)))
    run.tell(happened.NodeFailed(node, SiteError("too many jobs")))
    assert len(run.snapshot.alarms) == 1


def test_a_stop_cancels_it(running):
    run = running(keys="walltime = 60")
    submitted(run)
    done = run.tell(happened.StopRequested("stop"))
    assert "ahead.ended" in kinds(done)
    assert cancelled(done) == 1
    assert not cancelled(run.tell(happened.StopRequested("stop-now")))
    assert not ahead(run.tell(happened.JobsSeen(begun=T)))


def test_one_that_is_submitted_while_the_run_stops_is_cancelled_when_its_id_is_known(running):
    run = running(keys="walltime = 60")
    run.tell(happened.JobsSeen(begun=T))
    run.tell(happened.StopRequested("stop"))
    done = run.tell(happened.JobSubmitted("ahead-2", "slurm:13"))
    assert kinds(done) == ["ahead.submitted", "Sync", "ahead.ended", "CancelWaiting"]


@pytest.mark.parametrize(("how", "said_end"), [(WELL, True), (FAILED, False)])
def test_the_end_of_the_run_cancels_it(running, how, said_end):
    run = running(keys="walltime = 60")
    submitted(run)
    done = end(run, 1, how, 1.0, said_end=said_end)
    assert "BringHome" in kinds(done)
    (ended,) = (one for one in done if isinstance(one, ev.AheadEnded))
    assert (ended.job, ended.outcome, cancelled(done)) == ("ahead-2", "cancelled", 1)


def test_the_next_driver_knows_it_and_submits_none(running, case):
    run = running(keys="walltime = 60")
    submitted(run)
    later = case(3, keys="walltime = 60", events=run.events)
    later.tell(happened.LoopBegun())
    later.tell(happened.BufferReady(BUFFER, adopted=True))
    later.tell(happened.JobsDescribed())
    assert not ahead(later.tell(happened.JobsSeen(begun=T)))
    assert later.state.history.ahead.job_id == "slurm:13"


def test_what_it_has_waited_in_vain_is_journalled_as_lost(running):
    run = running(keys="walltime = 60")
    submitted(run)
    done = run.tell(happened.JobsSeen(idle_s=600.0))
    (ended,) = (one for one in done if isinstance(one, ev.AheadEnded))
    assert (ended.outcome, ended.idle_s, ended.lost_core_hours) == ("idle", 600.0, 0.1667)
    assert run.snapshot.value().lost_core_hours == 0.1667


def test_none_takes_the_folder_of_one_that_has_waited_in_vain(running, case):
    run = running(keys="walltime = 60")
    submitted(run)
    run.tell(happened.JobsSeen(idle_s=600.0))
    assert not ahead(run.tell(happened.JobsSeen(begun=T)))
    later = case(3, keys="walltime = 60", events=run.events)
    later.tell(happened.LoopBegun())
    later.tell(happened.BufferReady(BUFFER, adopted=True))
    later.tell(happened.JobsDescribed())
    assert not ahead(later.tell(happened.JobsSeen(begun=T)))
    end(later, 1, WALLTIME, 1.0)
    later.tell(happened.JobsDescribed())
    later.tell(happened.JobSubmitted("attempt-2", "slurm:14"))
    assert ahead(later.tell(happened.JobsSeen(begun=T))) == [
        todo.SubmitAhead("ahead-3", 3, "slurm:14")
    ]


def test_what_an_attempt_s_job_has_waited_for_it_is_lost_core_hours_of_its_segment(running):
    run = running()
    submitted(run)
    done = run.tell(happened.JobEnded("attempt-1", replace(WALLTIME, idle_s=360.0)))
    (ended,) = (one for one in done if isinstance(one, ev.SimulationEnded))
    assert (ended.idle_s, ended.lost_core_hours) == (360.0, 0.1)
    assert run.state.history.jobs["attempt-1"].lost_core_hours == 0.1


def test_an_attempt_whose_job_is_requeued_is_followed_from_its_newest_checkpoint(running):
    run = running(2)
    done = end(run, 1, REQUEUED, 0.5, 1.5)
    (ended,) = (one for one in run.events if isinstance(one, ev.SimulationEnded))
    assert ended.outcome == "requeued"
    assert (described(done).attempt, described(done).continuation.time) == (2, key(1.5))
    assert not cancelled(done)
    (alarm,) = (one.text for one in run.snapshot.alarms)
    assert alarm.startswith("attempt 1 was put back into the scheduler's queue")
    # It is no further job of those that the recipe allows.
    run.tell(happened.JobsDescribed())
    assert described(end(run, 2, WALLTIME, 2.5)).attempt == 3


@pytest.mark.parametrize("segments", [1, 3])
def test_without_a_checkpoint_it_is_followed_by_one_that_starts_afresh(running, segments):
    run = running(segments)
    node = described(end(run, 1, REQUEUED))
    assert (node.attempt, node.continuation.time, node.written_by) == (2, None, 0)


def test_one_that_was_submitted_ahead_stays_for_the_attempt_after_a_requeue(running):
    run = running(keys="walltime = 60")
    submitted(run)
    end(run, 1, REQUEUED, 1.0)
    run.tell(happened.JobsDescribed())
    run.tell(happened.JobSubmitted("attempt-2", "slurm:12"))
    assert not ahead(run.tell(happened.JobsSeen(begun=T)))
    assert run.state.history.ahead.job_id == "slurm:13"


def test_a_requeued_job_of_a_run_that_stops_is_cancelled(running):
    run = running(1)
    run.tell(happened.JobEnded("attempt-1", REQUEUED))
    assert cancelled(run.tell(happened.StopRequested("stop")))


def test_a_driver_that_died_after_a_requeue_is_followed_by_one_that_goes_on(running, case):
    run = running(1)
    run.tell(happened.JobEnded("attempt-1", REQUEUED))
    later = case(1, events=run.events)
    later.tell(happened.LoopBegun())
    assert described(later.tell(happened.BufferReady(BUFFER, adopted=True))).attempt == 1
    later.tell(happened.JobsDescribed())
    assert described(end(later, 1, REQUEUED, 1.0)).attempt == 2
