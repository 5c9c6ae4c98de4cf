"""Jobs with buffers of their own that were submitted ahead: kept over the change, or cancelled."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from launched_case import Case, kinds
from segments_case import (
    WALLTIME,
    copied,
    copies,
    judge,
    segmented,
)
from segments_case import end as end_of_attempt
from simulated_nodes import BUFFER

from burstlens.core.errors import GivenUpError, SiteError
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import replay
from burstlens.workflows.deciding.job_change import NEXT_JOB
from burstlens.workflows.deciding.next_job import NextJob
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.buffer import Home
from burstlens.workflows.placement.supervised import Ended

UNTIL = '"until done"'
GONE = "job 7: TIMEOUT"


@pytest.fixture
def case(recipe, run_dir: RunDir) -> Callable[..., Case]:
    return partial(segmented, recipe, run_dir, segments=UNTIL, batch=True, lasts=False)


def turn(run: Case) -> list[todo.Instruction]:
    run.tell(happened.Turn(), after_s=2.0)
    return judge(run, run.tell(happened.ProductsPublished()))


def next_driver(case, run: Case, **about) -> Case:
    """The next one, which gets another buffer."""
    later = case(events=run.events, **about)
    later.tell(happened.LoopBegun())
    return later


def ahead(run: Case, job_id: str = "slurm:8") -> list[todo.Instruction]:
    """Attempt 1 runs in job 7, and the job of the next one is submitted ahead."""
    run.start()
    run.tell(happened.JobSubmitted("attempt-1", "hosted:7:1"))
    (node,) = (
        one for one in run.tell(happened.JobsSeen(begun=1e9)) if isinstance(one, todo.SubmitAhead)
    )
    return run.tell(happened.JobSubmitted(node.name, job_id))


def cut(run: Case) -> todo.Destroy:
    """Attempt 1 ends with its time, all is home and the buffer goes back."""
    done = end_of_attempt(run, 1, WALLTIME, 1.0)
    assert "BringHome" in kinds(done)
    done = run.tell(happened.BroughtHome(BUFFER, Home([], [])))
    (destroy,) = (one for one in done if isinstance(one, todo.Destroy))
    return destroy


def test_the_job_that_was_submitted_ahead_is_kept_over_the_change_and_runs_the_next_attempt(case):
    run = case(keys="walltime = 60")
    assert kinds(ahead(run)) == ["ahead.submitted", "Sync"]
    assert cut(run).outcome == NEXT_JOB
    run.tell(happened.BufferFreed(BUFFER, NEXT_JOB))
    done = run.tell(happened.RunOver())
    assert not {"CancelWaiting", "ahead.ended"} & set(kinds([*run.events, *done]))
    later = next_driver(case, run, keys="walltime = 60")
    assert later.state.history.ahead.job_id == "slurm:8"
    later.tell(happened.BufferReady(BUFFER))
    assert replay(later.events).ahead is None
    later.tell(happened.StagedIn(1, 1000, 0))
    later.tell(happened.JobsDescribed())
    later.tell(happened.JobSubmitted("attempt-2", "hosted:8:2"))
    done = later.tell(happened.JobsSeen(begun=1e9))
    assert [one for one in done if isinstance(one, todo.SubmitAhead)] == [
        todo.SubmitAhead("ahead-3", 3, "hosted:8:2")
    ]


def test_a_run_that_loses_its_buffer_before_its_time_cancels_the_job_that_waits(case):
    run = case(keys="walltime = 60")
    ahead(run)
    run.tell(happened.JobEnded("attempt-1", Ended(None, None, "lost", "CANCELLED")))
    run.tell(happened.JobsSeen(began=True, buffer_end="job 7: CANCELLED"))
    assert run.end.state == "failed"
    done = run.tell(happened.RunOver())
    assert [one for one in kinds(done) if one in {"ahead.ended", "CancelWaiting"}] == [
        "ahead.ended",
        "CancelWaiting",
    ]


def test_a_lost_buffer_is_left_only_when_the_job_that_is_being_submitted_has_its_id(case):
    run = case(keys="walltime = 60")
    run.start()
    run.tell(happened.JobSubmitted("attempt-1", "hosted:7:1"))
    run.tell(happened.JobsSeen(begun=1e9))
    end_of_attempt(run, 1, WALLTIME, 1.0)
    (ask,) = copies(turn(run))
    run.tell(happened.QuestionAnswered(ask, copied(ask)))
    run.tell(happened.JobsSeen(began=True, buffer_end=GONE))
    assert run.state.end is None
    run.tell(happened.JobSubmitted("ahead-2", "slurm:8"))
    run.tell(happened.JobsSeen(began=True, buffer_end=GONE))
    assert run.end == NEXT_JOB


def test_a_refusal_is_reported_once_whatever_buffer_the_run_has_by_now(case):
    run = case(keys="walltime = 60")
    run.start()
    run.tell(happened.JobSubmitted("attempt-1", "hosted:7:1"))
    done = run.tell(happened.JobsSeen(begun=1e9))
    (node,) = (one for one in done if isinstance(one, todo.SubmitAhead))
    run.tell(happened.NodeFailed(node, SiteError("too many jobs")))
    NextJob(run.state).refused("too many jobs")
    assert [one.text for one in run.snapshot.alarms] == [
        "the next job is not submitted ahead: too many jobs"
    ]
    assert "BringHome" in kinds(end_of_attempt(run, 1, WALLTIME, 1.0))


def test_a_stop_while_the_next_buffer_is_waited_for_ends_what_was_submitted_ahead(case):
    run = case(keys="walltime = 60")
    ahead(run)
    cut(run)
    run.tell(happened.BufferFreed(BUFFER, NEXT_JOB))
    later = next_driver(case, run, keys="walltime = 60")
    later.tell(happened.StopRequested("stop"))
    later.tell(happened.NodeFailed(todo.ProvideBuffer(None), GivenUpError("job 8 is cancelled")))
    assert later.end.state == "stopped"
    done = later.tell(happened.RunOver())
    (ended,) = (one for one in done if isinstance(one, ev.AheadEnded))
    assert (ended.job, ended.outcome) == ("ahead-2", "cancelled")
