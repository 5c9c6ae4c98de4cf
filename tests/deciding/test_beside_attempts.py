"""Steps beside a simulation of several attempts, and viewing blocks between two jobs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from launched_case import Case, kinds
from segments_case import WALLTIME, WELL, described, end, launches, segmented, settle

from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.supervised import Ended

BESIDE = '[[step]]\nname = "monitor"\nbeside = "simulation"\ncommand = ["monitor"]\n'
BAD = Ended(1, None, "exited")


@pytest.fixture
def case(recipe, run_dir: RunDir) -> Callable[..., Case]:
    return partial(segmented, recipe, run_dir)


def begin_second(run: Case, how: Ended) -> list[todo.Instruction]:
    """The first attempt ends, and the next one begins."""
    end(run, 1, how, 2.0)
    return run.tell(happened.JobsDescribed())


def test_each_attempt_has_its_own_and_does_not_wait_for_that_of_the_one_before(case):
    run = case(2, BESIDE)
    assert launches(run.start()) == ["attempt-1", "step-monitor-1.1"]
    assert described(end(run, 1, WELL, 2.0)).attempt == 2
    assert launches(run.tell(happened.JobsDescribed())) == ["attempt-2", "step-monitor-2.1"]
    assert run.state.policy.jobs.holders, "it may still read frames of the first"
    for name in ("step-monitor-1.1", "step-monitor-2.1"):
        run.tell(happened.JobEnded(name, WELL))
    assert "BringHome" in kinds(end(run, 2, WELL, said_end=True))
    assert run.state.policy.jobs.outcome().state == "done"


def test_the_run_ends_when_all_of_them_have_ended(case):
    run = case(2, BESIDE)
    run.start()
    begin_second(run, WELL)
    run.tell(happened.JobEnded("step-monitor-2.1", WELL))
    assert "BringHome" not in kinds(end(run, 2, WELL, said_end=True))
    run.tell(happened.JobEnded("step-monitor-1.1", WELL))
    assert "BringHome" in kinds(settle(run))


@pytest.mark.parametrize("late", [False, True])
def test_one_that_was_cut_with_its_attempt_fails_no_run_and_holds_no_frames(case, late):
    run = case(3, BESIDE, batch=True)
    run.start()
    cut = happened.JobEnded("step-monitor-1.1", Ended(None, "SIGTERM", "walltime"))
    if not late:
        run.tell(cut)
    begin_second(run, WALLTIME)
    if late:
        done = run.tell(cut)
        (ended,) = (one for one in done if isinstance(one, ev.StepEnded))
        assert (ended.attempt, ended.outcome) == (1, "failed")
    run.tell(happened.JobEnded("step-monitor-2.1", WELL))
    assert not any("monitor" in name for name in run.state.policy.jobs.live)
    end(run, 2, WELL, said_end=True)
    assert not run.state.policy.jobs.holders
    assert run.state.policy.jobs.outcome().state == "done"


def test_one_that_failed_beside_a_stretch_that_ended_well_fails_the_run_at_its_end(case):
    run = case(2, BESIDE)
    run.start()
    run.tell(happened.JobEnded("step-monitor-1.1", BAD))
    begin_second(run, WELL)
    run.tell(happened.JobEnded("step-monitor-2.1", WELL))
    end(run, 2, WELL, said_end=True)
    assert run.state.policy.jobs.outcome().message.startswith("step-monitor-1.1 failed")


def test_a_viewing_block_that_ends_again_and_again_while_the_next_job_waits_holds_no_run(case):
    run = case(2, batch=True)
    run.start()
    begin_second(run, WALLTIME)
    for _ in range(20):
        mended = kinds(run.tell(happened.JobsSeen(waits="Priority")))
        assert "MendBlock" in mended
        run.tell(happened.BlockReplaced("its block had ended"))
        run.tell(happened.FramesFound(Report((), (), Cursor())))
    assert not any(isinstance(one, todo.Fail) for one in run.tell(happened.Tick()))
    run.tell(happened.JobSubmitted("attempt-2", "slurm:8"))
    end(run, 2, WELL, said_end=True)
    assert run.state.policy.jobs.outcome().state == "done"
