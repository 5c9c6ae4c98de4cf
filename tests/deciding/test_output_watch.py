"""Which attempts a driver looks at that begins another one."""

from __future__ import annotations

import pytest
from segments_case import key, segmented
from simulated_nodes import BUFFER

from burstlens.core.run import events as ev
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering import events as happened
from burstlens.workflows.ordering import instructions as todo

FROM = ev.RunResumed(checkpoint=key(1.0), written_by=1)


def before(*, released: bool = True) -> list[ev.Event]:
    """The journal of an attempt with a frame and a checkpoint, whose driver has died."""
    of = {"attempt": 1, "stream": "surface", "time": key(0.5)}
    events: list[ev.Event] = [
        ev.RunStarted(),
        ev.BufferCreated(kind="posix", path="/buffer", folder="storm", owned=True),
        ev.SimulationSubmitting(job="attempt-1", attempt=1),
        ev.SimulationSubmitted(job="attempt-1", attempt=1, job_id="local:1:1"),
        ev.FrameReady(**of, file="surface_1.nc", bytes=100),
        ev.CheckpointWhole(attempt=1, time=key(1.0), files=["a"], bytes=10),
    ]
    return [*events, ev.FrameReleased(**of)] if released else events


def watched(recipe, run_dir, events) -> list[int]:
    """The attempts that are looked at, one after the other, by a driver that begins with that
    journal."""
    run = segmented(recipe, run_dir, events=events)
    run.tell(happened.LoopBegun())
    run.tell(happened.BufferReady(BUFFER, adopted=True))
    run.tell(happened.StagedIn(1, 1, 0))
    done, attempts = run.tell(happened.JobsDescribed()), []
    while watches := [one for one in done if isinstance(one, todo.Watch)]:
        attempts += [one.attempt for one in watches]
        done = run.tell(happened.FramesFound(Report((), (), Cursor(), ended=True)))
    return attempts


@pytest.mark.parametrize("released", [True, False])
def test_an_attempt_is_looked_at_to_its_end_before_the_one_that_a_person_wants(
    recipe, run_dir, released
):
    assert watched(recipe, run_dir, [*before(released=released), FROM]) == [1, 2]


def test_so_is_one_whose_end_the_former_driver_has_journalled_before_it_died(recipe, run_dir):
    end = ev.SimulationEnded(job="attempt-1", attempt=1, outcome="failed")
    assert watched(recipe, run_dir, [*before(), end, FROM]) == [1, 2]


def test_one_of_which_all_is_released_is_not_looked_at_again_after_the_run_s_end(recipe, run_dir):
    end = ev.SimulationEnded(job="attempt-1", attempt=1, outcome="failed")
    over = ev.RunEnded(outcome="failed", exit_code=1)
    assert watched(recipe, run_dir, [*before(), end, over, FROM]) == [2]
