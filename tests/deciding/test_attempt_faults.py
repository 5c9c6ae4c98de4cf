"""What befalls an attempt from outside: jobs that are cancelled or lost, checkpoints half deleted,
disks that fill, attempts that come no further."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from launched_case import Case, kinds
from segments_case import (
    WALLTIME,
    WELL,
    checkpoint,
    described,
    end,
    judge,
    key,
    launches,
    segmented,
)
from simulated_nodes import BUFFER

from burstlens.core.exit_codes import NO_SPACE
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo
from burstlens.workflows.placement.supervised import Ended

CANCELLED = Ended(None, "SIGTERM", "terminated by SIGTERM")
"""By an administrator: nobody asked Burstlens for it, and the job had time left."""
LOST = Ended(None, None, "lost", "Slurm says of job 7: NODE_FAIL")
FULL = Ended(1, None, "exited", "cannot write checkpoint_0000200.awm: No space left on device")


@pytest.fixture
def case(recipe, run_dir: RunDir) -> Callable[..., Case]:
    return partial(segmented, recipe, run_dir)


@pytest.mark.parametrize("how", [CANCELLED, LOST, FULL])
def test_an_end_that_nobody_asked_for_is_a_failure_that_retries_cover(case, how):
    run = case(segments=3, batch=True, keys="retries = 1")
    run.start()
    done = end(run, 1, how, 1.0)
    assert described(done).continuation.time == key(1)
    (alarm,) = (one for one in done if isinstance(one, ev.Alarm))
    lost = "nothing is lost after its checkpoint of t = 1 s"
    assert alarm.text == f"attempt 1 {how.text()}; {lost}; the next one resumes from t = 1 s"


@pytest.mark.parametrize("how", [CANCELLED, LOST, FULL])
def test_without_retries_it_ends_the_run_with_the_reason_and_nothing_is_lost(case, how):
    run = case(segments=3, batch=True)
    run.start()
    assert "BringHome" in kinds(end(run, 1, how, 1.0))
    outcome = run.state.policy.jobs.outcome()
    assert outcome.state == "failed"
    assert outcome.message == f"the model {how.text()}"
    assert outcome.exit_code == (NO_SPACE if how is FULL else 1)
    assert [one.time for one in run.state.history.checkpoints.records] == [key(1)]


def test_a_disk_that_is_full_at_each_checkpoint_ends_the_run_after_two_attempts(case):
    run = case(segments=3, batch=True, keys="retries = 9")
    run.start()
    end(run, 1, FULL, 1.0)
    run.tell(happened.JobsDescribed())
    assert described(end(run, 2, FULL)).attempt == 3
    run.tell(happened.JobsDescribed())
    assert "BringHome" in kinds(end(run, 3, FULL))
    assert run.state.policy.jobs.outcome().message == "attempts 2 and 3 have come no further"


def test_a_walltime_that_is_too_short_for_one_checkpoint_ends_the_run_at_once(case):
    run = case(segments='"until done"', batch=True, keys="retries = 9")
    run.start()
    assert "BringHome" in kinds(end(run, 1, WALLTIME))
    message = run.state.policy.jobs.outcome().message
    assert message.startswith("attempt 1 wrote no checkpoint, so none can follow it: use a longer")


def test_a_driver_killed_while_a_checkpoint_is_deleted_is_followed_by_one_that_deletes_it(case):
    keep = "[checkpoint]\nkeep = 1\n"
    run = case(4, keep)
    run.start()
    found = (checkpoint(0.2), checkpoint(0.4))
    run.tell(happened.FramesFound(Report((), (), Cursor(), checkpoints=found)))
    assert removals(run) == [(1, key(0.2))]  # the driver is killed before it hears of the end
    later = case(4, keep, events=run.events)
    later.tell(happened.LoopBegun())
    later.tell(happened.BufferReady(BUFFER, adopted=True))
    later.tell(happened.JobsDescribed())
    later.tell(happened.FramesFound(Report((), (), Cursor(), checkpoints=found)))
    assert removals(later) == [(1, key(0.2))]
    assert [one.event for one in later.events].count("checkpoint.whole") == 2


def removals(run: Case) -> list[tuple[int, str]]:
    """The checkpoints that are to be deleted when all are judged."""
    run.tell(happened.Turn())
    done = judge(run, run.tell(happened.ProductsPublished()))
    return [one.about for one in done if isinstance(one, todo.Ask) and one.kind == "checkpoint"]


def test_a_driver_killed_after_it_numbered_the_next_attempt_is_followed_by_one_that_starts_it(case):
    run = case(segments=4)
    run.start()
    assert described(end(run, 1, WELL, 1.0)).attempt == 2
    later = case(segments=4, events=run.events)
    later.tell(happened.LoopBegun())
    assert described(later.tell(happened.BufferReady(BUFFER, adopted=True))).attempt == 2
    assert launches(later.tell(happened.JobsDescribed())) == ["attempt-2"]
    submitting = [one for one in later.events if isinstance(one, ev.SimulationSubmitting)]
    assert {(one.attempt, one.checkpoint) for one in submitting} == {(1, None), (2, key(1))}
