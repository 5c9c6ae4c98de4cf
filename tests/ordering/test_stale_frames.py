"""Frames that another attempt owns by now: nothing is made of them any more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from driver_case import Drivers, key
from recipe_texts import ANY as RECIPE

from burstlens.cluster_configs.site import choose
from burstlens.core.model import Frame
from burstlens.core.run import events as ev
from burstlens.core.run.journal import read
from burstlens.core.valid_time import label
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering.instructions import Release

KEEP = '[stage_out]\nkeep = ["*"]\n'


class Attempts:
    """A driver and two attempts of a model; the second goes on from a checkpoint of hour 2."""

    def __init__(self, drivers: Drivers) -> None:
        self.drivers = drivers
        self.production = drivers.up()
        self.begin(1)

    def begin(self, attempt: int, checkpoint: str | None = None) -> None:
        job, by = f"attempt-{attempt}", attempt - 1 or None
        begins = {"attempt": attempt, "checkpoint": checkpoint, "written_by": by}
        self.drivers.journal.append(ev.SimulationSubmitting(job=job, **begins))

    def frame(self, attempt: int, hour: int) -> Frame:
        paths = (f"storm-1/{attempt}/out_{hour}.nc",)
        return replace(self.drivers.frame(hour), attempt=attempt, paths=paths, record=0)

    def report(self, attempt: int, *hours: int) -> None:
        frames = tuple(self.frame(attempt, hour) for hour in hours)
        report = Report(frames, (), Cursor())
        self.drivers.after(self.production.take, report, attempt)

    def publish(self) -> None:
        """Make and publish all that is ordered."""
        drivers = self.drivers
        drivers.turn(release=False)
        while drivers.block.tasks:
            drivers.work(("made",) * 20, 0)
            drivers.deliver(0)
            drivers.turn(release=False)

    @property
    def orders(self) -> set[tuple[int, str]]:
        orders = (one for task in self.drivers.block.tasks for one in task.about.orders)
        return {(order.frame.attempt, order.frame.time) for order in orders}

    @property
    def published(self) -> dict[str, int]:
        """The attempt of which each time was published last."""
        self.drivers.journal.sync()
        lines = read(self.drivers.run.journal)
        return {one.time: one.attempt for one in lines if isinstance(one, ev.ProductPublished)}


@pytest.fixture
def run(recipe, tmp_path):
    drivers = Drivers(recipe(text=RECIPE + KEEP), choose("local"), tmp_path)
    yield Attempts(drivers)
    drivers.disk.remove()


def test_what_waits_to_be_made_after_the_checkpoint_is_dropped_when_the_next_attempt_begins(run):
    run.report(1, 1, 2, 3, 4)
    run.begin(2, key(2))
    run.publish()
    assert run.published == {key(1): 1, key(2): 1}
    assert run.production.settled
    assert run.production.backlog.unsettled() == 0


def test_what_is_under_way_then_is_not_published(run):
    run.report(1, 3)
    run.drivers.turn()
    assert run.orders == {(1, key(3))}
    run.begin(2, key(2))
    run.publish()
    assert run.published == {}
    assert list(run.drivers.run.incoming.iterdir()) == []
    assert run.production.settled


def test_the_owner_s_frames_supersede_what_was_published_of_stale_ones(run):
    run.report(1, 1, 2, 3)
    run.publish()
    run.begin(2, key(2))
    run.report(2, 3, 4)
    run.publish()
    assert run.published == {key(1): 1, key(2): 1, key(3): 2, key(4): 2}


def test_a_frame_written_again_at_the_checkpoint_s_own_time_makes_nothing(run):
    run.report(1, 1, 2)
    run.publish()
    run.begin(2, key(2))
    run.report(2, 2, 3)
    run.drivers.turn(release=False)
    assert run.orders == {(2, key(3))}


def test_a_stream_without_a_whole_frame_there_has_it_of_the_attempt_that_goes_on(run):
    run.report(1, 1)
    run.begin(2, key(2))
    run.report(2, 2, 3)
    run.publish()
    assert run.published == {key(1): 1, key(2): 2, key(3): 2}


def test_a_frame_of_the_checkpoint_s_time_that_no_attempt_has_is_reported_as_lost_once(run):
    run.report(1, 1, 2)
    run.begin(2, key(3))
    for hour in (4, 5):
        run.report(2, hour)
    run.drivers.journal.sync()
    lines = read(run.drivers.run.journal)
    lost = [(one.time, one.attempt) for one in lines if isinstance(one, ev.FrameDamaged)]
    assert lost == [(key(3), 1)]
    assert run.production.history.lost_frames() == [("output", label(key(3)))]
    (alarm,) = run.production.snapshot.alarms
    assert alarm.text.startswith(f"lost frame output {key(3)}: attempt 1 ended before")


def test_stale_frames_may_leave_the_buffer_at_once(run):
    run.report(1, 1, 3)
    run.begin(2, key(2))
    space = run.production.space
    space.releasing = True
    released = [frame.time for group in space.releasable(set(), held=False) for frame in group]
    assert released == [key(3)]
    assert [frame.time for frame in space.frames()] == [key(1)]


def test_stale_files_are_named_and_do_not_come_home_when_they_are_released(run):
    run.report(1, 1, 3)
    run.begin(2, key(2))
    assert run.production.space.stale_files() == {1: frozenset({"out_3.nc"})}
    run.production.space.releasing = True
    run.publish()
    run.production.outbox.take()
    run.production.releases.begin(held=False)
    asked = [one for one in run.production.outbox.take() if isinstance(one, Release)]
    assert {(one.frames[0].time, one.keep) for one in asked} == {(key(1), ("*",)), (key(3), ())}
