"""Ends of attempts at awkward moments: preempted at once, killed at once, nothing left, the driver
dead before it could decide."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from launched_case import Case, kinds
from segments_case import (
    AFTER,
    FAILED,
    WALLTIME,
    WELL,
    checkpoint,
    described,
    end,
    key,
    launches,
    segmented,
    settle,
)
from simulated_nodes import BUFFER

from burstlens.cluster_configs.scheduler import PREEMPTED
from burstlens.core.model import Frame
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.attempts import REQUEUED
from burstlens.core.run.directory import RunDir
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.models.continuation import NothingLeftError
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.supervised import Ended

BEFORE = '[[step]]\nname = "grid"\nbefore = "simulation"\ncommand = ["grid"]\n'
TAKEN = Ended(None, "SIGTERM", PREEMPTED)
GONE = Ended(None, None, "not started", "the checkpoint's file rst is gone")
KILLED = Ended(None, "SIGKILL", "exited")


@pytest.fixture
def case(recipe, run_dir: RunDir) -> Callable[..., Case]:
    return partial(segmented, recipe, run_dir, '"until done"')


def resumed(case, run: Case, **about) -> Case:
    """The next driver, on the buffer as it is."""
    later = case(events=run.events, **about)
    later.tell(happened.LoopBegun())
    return later


def test_an_attempt_that_is_preempted_before_its_first_checkpoint_is_followed(case):
    run = case(batch=True)
    run.start()
    end(run, 1, WALLTIME, 1.0)
    run.tell(happened.JobsDescribed())
    again = described(end(run, 2, TAKEN))
    assert (again.attempt, again.continuation.time) == (3, key(1))
    run.tell(happened.JobsDescribed())
    assert "BringHome" in kinds(end(run, 3, TAKEN))
    assert run.state.policy.jobs.outcome().message.startswith(
        "attempts 2 and 3 have come no further"
    )


def test_a_kill_at_the_begin_of_an_attempt_condemns_no_checkpoint(case):
    run = case(batch=True, keys="retries = 1")
    run.start()
    end(run, 1, WALLTIME, 1.0, 2.0)
    run.tell(happened.JobsDescribed())
    for how in (KILLED, Ended(137, None, "exited")):
        assert run.state.policy.jobs.segments.follows(how)
    assert described(end(run, 2, KILLED)).continuation.time == key(2)
    assert not any(one.suspect for one in run.state.history.checkpoints.records)


def test_a_driver_killed_before_it_could_call_a_checkpoint_suspect_is_followed_by_one_that_does(
    case,
):
    run = case(batch=True)
    run.start()
    end(run, 1, WALLTIME, 1.0, 2.0)
    run.tell(happened.JobsDescribed())
    run.tell(happened.JobEnded("attempt-2", GONE))
    later = resumed(case, run, batch=True)
    later.tell(happened.BufferReady(BUFFER, adopted=True))
    later.tell(happened.JobsDescribed())
    node = described(end(later, 2, GONE))
    assert (node.attempt, node.continuation.time) == (3, key(1))


@pytest.mark.parametrize("how", [FAILED, Ended(None, "SIGTERM", "stopped")])
def test_a_run_that_had_ended_continues_from_its_newest_checkpoint(case, how):
    run = case()
    run.start()
    end(run, 1, how, 1.0)
    run.events.append(ev.RunEnded(outcome="failed", exit_code=1))
    later = resumed(case, run)
    node = described(later.tell(happened.BufferReady(BUFFER, adopted=True)))
    assert (node.attempt, node.continuation.time) == (2, key(1))


def test_steps_before_run_again_on_a_buffer_that_another_driver_has_made(case):
    run = case(more=BEFORE)
    run.start()
    run.tell(happened.JobEnded("step-grid-1", WELL))
    run.events.append(ev.BufferReleased())
    second = resumed(case, run, more=BEFORE)
    second.tell(happened.BufferReady(BUFFER))  # and is killed
    assert "BufferCreated" in [type(one).__name__ for one in second.events]
    third = resumed(case, second, more=BEFORE)
    done = third.tell(happened.BufferReady(BUFFER, adopted=True))
    node = described([*done, *third.tell(happened.StagedIn(1, 1000, 0))])
    assert (node.fresh, node.steps) == (True, (("step-grid-2", "grid"),))


def test_the_steps_after_a_simulation_run_where_an_attempt_has_nothing_left_to_compute(case):
    run = case(batch=True, more=AFTER)
    run.start()
    run.tell(happened.JobEnded("step-peak-1.1", None))
    node = described(end(run, 1, WALLTIME, 4.0))
    done = run.tell(happened.NodeFailed(node, NothingLeftError.at(key(4))))
    again = described(done)
    assert (again.attempt, again.simulation, again.steps) == (
        1, None, (("step-peak-2.1", "peak"),)
    )  # fmt: skip
    done = run.tell(happened.JobsDescribed())
    assert launches(done) == ["step-peak-2.1"]
    assert "Watch" not in kinds(done)
    assert "BringHome" not in kinds(settle(run))
    run.tell(happened.JobEnded("step-peak-2.1", WELL))
    assert "BringHome" in kinds(settle(run))
    assert run.state.policy.jobs.outcome() == Outcome("done", 0)


def test_an_attempt_requeued_before_its_program_began_is_followed(case):
    run = case(batch=True)
    run.start()
    run.tell(happened.JobEnded("attempt-1", Ended(None, None, REQUEUED)))
    run.tell(happened.JobsSeen(began=False))
    assert run.state.end is None
    assert described(settle(run)).attempt == 2


def test_frames_that_went_with_a_buffer_are_not_waited_for_by_guards(case):
    guard = '[[guard]]\nname = "stable"\nvariable = "vz"\nmax = 9.0\nthen = "stop"\n'
    run = case(batch=True, lasts=False, more=guard)
    run.start()
    frame = Frame("storm-1", 1, "surface", key(0.5), ("storm-1/1/a.nc",), 0, 9, 1.0, 1.1, "header")
    found = (checkpoint(1.0),)
    run.tell(happened.FramesFound(Report((frame,), (), Cursor(), checkpoints=found)))
    production = run.state.policy.production
    assert production.oldest_unread() == key(0.5)
    run.state.history.first_on_buffer = 2
    assert production.oldest_unread() is None


def test_only_the_job_of_a_simulation_that_has_ended_is_left_out(case):
    run = case(more=BEFORE + AFTER)
    run.start()
    steps = run.state.policy.jobs.steps
    steps.jobs = {"grid": "step-grid-1", "peak": "step-peak-1.1"}
    phases = ("before", "after")
    assert steps.launches("attempt-1", phases) == [
        todo.Launch("step-grid-1"),
        todo.Launch("attempt-1", ("step-grid-1",)),
        todo.Launch("step-peak-1.1", ("attempt-1",)),
    ]
    steps.jobs = {"peak": "step-peak-1.1"}
    assert steps.launches(None, phases) == [todo.Launch("step-peak-1.1")]
