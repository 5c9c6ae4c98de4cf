"""Attempts that fail, or cannot begin with their checkpoint: what follows them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from launched_case import Case, kinds
from segments_case import FAILED, WALLTIME, described, end, key, segmented, settle

from burstlens.core.errors import RecipeError
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.placement.supervised import Ended


@pytest.fixture
def case(recipe, run_dir: RunDir) -> Callable[..., Case]:
    return partial(segmented, recipe, run_dir)


def test_a_failed_attempt_is_retried_from_the_newest_good_checkpoint_as_often_as_is_wanted(case):
    run = case(segments=1, keys="retries = 2")
    run.start()
    for attempt, second in ((1, 1.0), (2, 2.0)):
        node = described(end(run, attempt, FAILED, second))
        assert (node.attempt, node.continuation.time) == (attempt + 1, key(second))
        run.tell(happened.JobsDescribed())
    assert "BringHome" in kinds(end(run, 3, FAILED, 3.0))
    assert run.state.policy.jobs.outcome().message == "the model ended with exit code 1"


def test_a_retry_changes_the_settings_that_the_recipe_names_and_the_next_driver_keeps_them(case):
    keys = 'retries = 1\non_failure = { set = { "time.step_s" = 0.005, quick = true } }'
    run = case(segments=1, keys=keys)
    run.start()
    done = end(run, 1, FAILED, 1.0)
    changes = {"time.step_s": "0.005", "quick": "true"}
    assert described(done).continuation.settings == changes
    (submitting,) = (one for one in done if isinstance(one, ev.SimulationSubmitting))
    assert submitting.settings == changes
    assert run.state.history.settings == changes


def test_an_attempt_that_failed_before_its_first_checkpoint_is_retried_afresh(case):
    run = case(segments=1, keys="retries = 3")
    run.start()
    assert described(end(run, 1, FAILED)).continuation == Continuation()
    run.tell(happened.JobsDescribed())
    assert "BringHome" in kinds(end(run, 2, FAILED))
    message = run.state.policy.jobs.outcome().message
    assert message == "attempts 1 and 2 have come no further"


def test_of_a_checkpoint_that_cannot_be_used_the_one_before_is_taken_and_it_is_said(case):
    run = case(segments=4, batch=True)
    run.start()
    end(run, 1, WALLTIME, 1.0, 2.0)
    run.tell(happened.JobsDescribed())
    gone = Ended(None, None, "not started", "the checkpoint's file x is gone")
    done = end(run, 2, gone)
    (suspect,) = (one for one in done if isinstance(one, ev.CheckpointSuspect))
    assert (suspect.attempt, suspect.time) == (1, key(2))
    assert "attempt 2 could not continue from it: could not be started: the checkpoint's file" in (
        suspect.reason
    )
    assert described(done).continuation.time == key(1)
    (alarm,) = (one for one in done if isinstance(one, ev.Alarm))
    assert "the next one resumes from t = 1 s" in alarm.text


def test_where_there_is_no_earlier_one_the_run_ends_with_the_reason(case):
    run = case(segments=4, batch=True)
    run.start()
    end(run, 1, WALLTIME, 1.0)
    run.tell(happened.JobsDescribed())
    done = end(run, 2, Ended(2, None, "exited", "awm: error: damaged"))
    assert "BringHome" in kinds(done)
    assert "damaged" in run.state.policy.jobs.outcome().message


def test_an_attempt_that_the_model_refuses_to_begin_so_ends_the_run_with_the_reason(case):
    run = case(segments=4, batch=True, keys="retries = 2")
    run.start()
    node = described(end(run, 1, WALLTIME, 1.0, 2.0))
    refusal = RecipeError("the checkpoint has a file of each of 4 ranks, and the simulation has 2")
    run.tell(happened.NodeFailed(node, refusal))
    done = settle(run)
    assert "BringHome" in kinds(done)
    assert "DescribeJobs" not in kinds(done)
    outcome = run.state.policy.jobs.outcome()
    assert outcome.message == f"attempt 2 cannot be started: {refusal}"
    assert run.state.history.jobs["attempt-2"].outcome == "failed"


def test_a_disk_that_takes_no_description_ends_the_driver_alone(case):
    run = case(segments=4, batch=True)
    run.start()
    node = described(end(run, 1, WALLTIME, 1.0))
    for _ in range(20):
        done = run.tell(happened.NodeFailed(node, OSError(28, "No space left on device")))
        if "Fail" in kinds(done):
            break
    assert "Fail" in kinds(done)
    assert run.state.history.jobs["attempt-2"].outcome is None
