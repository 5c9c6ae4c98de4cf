"""Attempts in jobs whose buffers end with them: how one is left, and how the next one begins."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import pytest
from launched_case import Case, kinds
from segments_case import (
    FAILED,
    WALLTIME,
    WELL,
    checkpoint,
    copied,
    copies,
    described,
    judge,
    key,
    segmented,
)
from simulated_nodes import BUFFER

from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import LEFT
from burstlens.workflows.deciding.job_change import NEXT_JOB, STEPS
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.buffer import Home
from burstlens.workflows.placement.supervised import Ended, describe, end_programs

UNTIL = '"until done"'
GONE = "job 7: TIMEOUT"


@pytest.fixture
def case(recipe, run_dir: RunDir) -> Callable[..., Case]:
    return partial(segmented, recipe, run_dir, segments=UNTIL, batch=True, lasts=False)


def turn(run: Case) -> list[todo.Instruction]:
    run.tell(happened.Turn(), after_s=2.0)
    return judge(run, run.tell(happened.ProductsPublished()))


def end(run: Case, how: Ended, *checkpoints: float) -> list[todo.Instruction]:
    """Attempt 1 ends so, and the last of these checkpoints is at home."""
    run.start()
    for second in checkpoints:
        run.tell(happened.FramesFound(Report((), (), Cursor(), checkpoints=(checkpoint(second),))))
        (ask,) = copies(turn(run))
        run.tell(happened.QuestionAnswered(ask, copied(ask)))
    run.tell(happened.JobEnded("attempt-1", how))
    run.tell(happened.FramesFound(Report((), (), Cursor(), ended=True)))
    return turn(run)


def next_driver(case, run: Case, **about) -> Case:
    """The next one, which gets another buffer."""
    later = case(events=run.events, **about)
    later.tell(happened.LoopBegun())
    return later


def test_the_job_is_left_when_all_is_home_and_another_one_is_asked_for(case):
    run = case()
    (home,) = (one for one in end(run, WALLTIME, 1.0) if isinstance(one, todo.BringHome))
    assert home.attempts == (1,)
    done = run.tell(happened.BroughtHome(BUFFER, Home([("surface.nc", 9)], ["it never came"])))
    assert kinds(done) == ["stageout.done", "CloseBlock", "Destroy"]
    destroy = done[-1]
    assert isinstance(destroy, todo.Destroy)
    assert (destroy.outcome, destroy.gives_back) == (NEXT_JOB, True)
    assert "ended early" not in str(run.snapshot.alarms)
    run.tell(happened.BufferFreed(BUFFER, NEXT_JOB))
    assert run.end == NEXT_JOB
    later = next_driver(case, run)
    done = later.tell(happened.BufferReady(BUFFER))
    node = described([*done, *later.tell(happened.StagedIn(1, 1000, 0))])
    assert (node.attempt, node.written_by, node.fresh) == (2, 1, True)
    assert (node.continuation.time, node.continuation.files) == (
        key(1.0), ("checkpoint_0000100.awm",),
    )  # fmt: skip
    assert [one.text for one in later.snapshot.alarms] == []


def test_a_step_beside_the_attempt_is_ended_before_the_job_is_left(case):
    run = case(more='[[step]]\nname = "monitor"\nbeside = "simulation"\ncommand = ["monitor"]\n')
    done = end(run, WALLTIME, 1.0)
    (ask,) = (one for one in done if isinstance(one, todo.Ask) and one.kind == STEPS)
    folder = run.run.job("step-monitor-1.1")
    assert (ask.function, ask.args) == (end_programs, ([folder],))
    describe(folder, {})
    end_programs([folder])
    reported = json.loads((folder / "ended.json").read_text())
    assert kinds(run.tell(happened.QuestionAnswered(ask, None))) == []
    assert "BringHome" not in kinds(turn(run))
    stopped = Ended(None, None, reported["reason"], reported["message"])
    (ended,) = (
        one
        for one in run.tell(happened.JobEnded("step-monitor-1.1", stopped))
        if isinstance(one, ev.StepEnded)
    )
    assert (ended.attempt, ended.outcome) == (1, "stopped")
    assert "BringHome" in kinds(turn(run))


def test_an_attempt_that_failed_is_tried_again_in_its_own_job(case):
    run = case(keys="retries = 1")
    node = described(end(run, FAILED, 1.0))
    assert (node.attempt, node.fresh, node.continuation.time) == (2, False, key(1.0))


def test_without_a_checkpoint_at_home_none_follows_and_it_is_said(case):
    run = case()
    assert "BringHome" in kinds(end(run, WALLTIME))
    run.tell(happened.BroughtHome(BUFFER, Home([], [])))
    run.tell(happened.BufferFreed(BUFFER, run.state.policy.jobs.outcome()))
    assert "attempt 1 brought no checkpoint home, so none can follow it" in str(
        run.state.policy.jobs.outcome().message
    )


def test_a_run_that_is_done_asks_for_no_other_job(case):
    run = case()
    done = end(run, WELL, 1.0)
    assert "BringHome" in kinds(done)
    done = run.tell(happened.BroughtHome(BUFFER, Home([], [])))
    (destroy,) = (one for one in done if isinstance(one, todo.Destroy))
    assert destroy.outcome != NEXT_JOB


def test_a_job_that_is_gone_after_its_time_is_followed_from_what_is_home(case):
    run = case()
    end(run, WALLTIME, 1.0)
    run.tell(happened.JobsSeen(began=True, buffer_end=GONE))
    assert run.end == NEXT_JOB
    later = next_driver(case, run)
    done = later.tell(happened.BufferReady(BUFFER))
    assert described([*done, *later.tell(happened.StagedIn(1, 1000, 0))]).attempt == 2


def test_a_job_that_is_gone_for_another_reason_ends_the_run_and_says_from_where_it_continues(case):
    run = case()
    end(run, Ended(None, None, "lost", "CANCELLED"), 1.0)
    run.tell(happened.JobsSeen(began=True, buffer_end="job 7: CANCELLED"))
    assert run.end.state == "failed"
    assert "to simulate again from t = 1 s on: burstlens resume storm-1" in str(run.end.message)


LOST = Ended(None, None, "lost", "Slurm says of job 7: NODE_FAIL")


@pytest.mark.parametrize("how", [LOST, FAILED, Ended(None, "SIGTERM", "terminated by SIGTERM")])
def test_a_failed_attempt_whose_job_is_gone_is_tried_again_in_another_one(case, how):
    keys = 'retries = 1\non_failure = { set = { "time.step_s" = 0.005 } }'
    run = case(keys=keys)
    run.start()
    found = Report((), (), Cursor(), checkpoints=(checkpoint(1.0),))
    run.tell(happened.FramesFound(found))
    (ask,) = copies(turn(run))
    run.tell(happened.QuestionAnswered(ask, copied(ask)))
    run.tell(happened.JobEnded("attempt-1", how))
    run.tell(happened.JobsSeen(began=True, buffer_end="job 7: NODE_FAIL"))
    assert run.end == NEXT_JOB
    for _ in range(2):  # also where the first driver in the other job dies
        later = next_driver(case, run, keys=keys)
        done = later.tell(happened.BufferReady(BUFFER))
        node = described([*done, *later.tell(happened.StagedIn(1, 1000, 0))])
        assert (node.attempt, node.continuation.time) == (2, key(1.0))
        assert node.continuation.settings == {"time.step_s": "0.005"}


def test_a_person_who_names_a_checkpoint_names_the_settings_as_well(case):
    keys = 'retries = 1\non_failure = { set = { "time.step_s" = 0.005 } }'
    run = case(keys=keys)
    end(run, LOST, 1.0)
    run.events += [ev.RunResumed(checkpoint=key(1.0), written_by=1, settings={"time.steps": "9"})]
    later = next_driver(case, run, keys=keys)
    done = later.tell(happened.BufferReady(BUFFER))
    node = described([*done, *later.tell(happened.StagedIn(1, 1000, 0))])
    assert node.continuation.settings == {"time.steps": "9"}


def test_an_attempt_that_may_have_ended_with_its_job_is_not_tried_again_in_that(case):
    run = case(keys="retries = 2")
    assert "BringHome" in kinds(end(run, LOST, 1.0))
    assert [one.attempt for one in run.events if isinstance(one, ev.SimulationSubmitting)] == [1]


def test_a_job_that_is_gone_is_not_followed_more_often_than_retries_say(case):
    run = case()
    end(run, LOST, 1.0)
    run.tell(happened.JobsSeen(began=True, buffer_end="job 7: NODE_FAIL"))
    assert run.end.state == "failed"


AGAIN = "burstlens resume storm-1 --from latest --walltime 02:00:00"


def test_after_the_last_of_its_jobs_a_run_continues_from_what_is_home(case):
    run = case(segments=1)
    assert "BringHome" in kinds(end(run, WALLTIME, 1.0))
    run.tell(happened.BroughtHome(BUFFER, Home([], [])))
    assert AGAIN in run.state.policy.jobs.outcome().advice


def test_after_the_last_of_its_jobs_a_lost_buffer_does_not_rule_that_out(case):
    run = case(segments=1)
    end(run, WALLTIME, 1.0)
    run.tell(happened.JobsSeen(began=True, buffer_end=GONE))
    assert AGAIN in str(run.end.advice)


def test_after_the_last_of_its_jobs_without_a_checkpoint_at_home_a_longer_one_is_needed(case):
    run = case(segments=1)
    end(run, WALLTIME)
    run.tell(happened.JobsSeen(began=True, buffer_end=GONE))
    assert run.end.advice == "start a new run with a longer simulation.walltime"


def frames(run: Case) -> None:
    run.events.append(
        ev.FrameReady(attempt=1, stream="surface", time=key(0.5), record=0, bytes=1, file="a")
    )


def test_a_buffer_that_is_gone_is_reported_with_the_time_from_which_the_run_continues(case):
    run = case()
    end(run, Ended(None, None, "lost", "CANCELLED"), 1.0)
    frames(run)
    later = next_driver(case, run)
    done = later.tell(happened.BufferReady(BUFFER))
    assert described([*done, *later.tell(happened.StagedIn(1, 1000, 0))]).continuation.time == key(
        1
    )
    (alarm,) = (one.text for one in later.snapshot.alarms)
    assert alarm == (
        "the buffer of attempt 1 is gone with its raw frames: the simulation continues from "
        "t = 1 s, as attempt 2"
    )


def brought_by_host(case) -> Case:
    """A run whose driver died after t = 1 s; the job's host has brought the checkpoint of 3 s."""
    run = case()
    end(run, Ended(None, None, "lost", "CANCELLED"), 1.0)
    frames(run)
    files = ["checkpoint_0000300.awm"]
    copy = [(files[0], 500, 7)]
    run.events += [
        ev.CheckpointWhole(attempt=1, time=key(3.0), files=files, bytes=500),
        ev.CheckpointHome(attempt=1, time=key(3.0), files=copy, bytes=500, ahead=True),
    ]
    return run


def begin_again(case, run: Case) -> tuple[Case, str | None]:
    """The next driver, and the time from which its attempt continues."""
    later = next_driver(case, run)
    done = later.tell(happened.BufferReady(BUFFER))
    return later, described([*done, *later.tell(happened.StagedIn(1, 1000, 0))]).continuation.time


def test_a_checkpoint_before_which_frames_are_lost_is_not_taken_and_that_is_said(case):
    later, time = begin_again(case, brought_by_host(case))
    assert time == key(1.0)
    assert later.snapshot.alarms[-1].text == (
        "the checkpoint of t = 3 s that the job's host has brought home is not used: frames before "
        "it were not published"
    )


def test_a_checkpoint_before_which_frames_are_lost_is_taken_by_name(case):
    run = brought_by_host(case)
    run.events += [ev.RunResumed(checkpoint=key(3.0), written_by=1)]
    later, time = begin_again(case, run)
    assert time == key(3.0)
    assert "is not used" not in str(later.snapshot.alarms)


def test_a_checkpoint_that_was_named_and_went_with_its_buffer_ends_the_run_which_then_resumes(case):
    run = case()
    end(run, Ended(None, None, "lost", "CANCELLED"), 1.0)
    run.events += [
        ev.CheckpointWhole(attempt=1, time=key(3.0), files=["rst"], bytes=500),
        ev.RunEnded(outcome="failed", exit_code=1),
        ev.RunResumed(checkpoint=key(3.0), written_by=1),
    ]
    later = next_driver(case, run)
    done = later.tell(happened.BufferReady(BUFFER))
    (destroy,) = (one for one in done if isinstance(one, todo.Destroy))
    assert destroy.outcome.message == (
        "the checkpoint of t = 3 s is gone with its buffer: "
        "burstlens resume storm-1 continues from that of t = 1 s, which is at home"
    )
    later.events += [ev.RunEnded(outcome="failed", exit_code=1), ev.RunResumed()]
    _, time = begin_again(case, later)
    assert time == key(1.0)


def test_a_run_that_was_done_is_not_simulated_again_when_its_host_has_brought_all_home_too(case):
    run = case()
    end(run, WELL, 1.0)
    files = [("surface.nc", 9)]
    left = ev.StageOutDone(outcome=LEFT, files=files)
    run.events += [ev.StageOutDone(outcome="done", files=files), ev.RunResumed(), left]
    later = case(events=run.events)
    done = kinds(later.tell(happened.LoopBegun()))
    assert done == ["CancelWaiting", "ClearRequests", "CloseBlock", "Destroy"]
