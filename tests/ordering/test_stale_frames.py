"""Frames that another attempt owns by now: nothing is made of them any more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from attempts_case import Attempts
from driver_case import Drivers, key
from recipe_texts import ANY as RECIPE

from burstlens.cluster_configs.site import choose
from burstlens.core.run import events as ev
from burstlens.core.run.journal import read
from burstlens.core.valid_time import label
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.ordering.instructions import Release

KEEP = '[stage_out]\nkeep = ["*"]\n'


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


def test_a_file_with_frames_that_count_and_stale_ones_is_released_once(run):
    """Two releases of it would delete it while it comes home."""
    growing(run, 1, 1, 3)
    run.begin(2, key(2))
    run.production.space.releasing = True
    run.publish()
    run.production.outbox.take()
    run.production.releases.begin(held=False)
    (asked,) = [one for one in run.production.outbox.take() if isinstance(one, Release)]
    assert (asked.keep, [one.time for one in asked.frames]) == (("*",), [key(1), key(3)])


def test_a_product_that_waits_to_be_published_is_not_when_its_frame_is_stale_by_then(run):
    run.report(1, 1, 3)
    run.drivers.turn()
    run.drivers.work(("made",) * 2, 0)
    for done in run.drivers.results:
        run.production.returned(done)
    run.begin(2, key(2))
    run.drivers.after(run.production.begin_attempt)
    run.publish()
    assert run.published == {key(1): 1}
    assert list(run.drivers.run.incoming.iterdir()) == []
    assert run.production.settled


def growing(run, attempt, *hours):
    """Frames of one file."""
    frames = [run.frame(attempt, hour) for hour in hours]
    paths = (f"storm-1/{attempt}/out.nc",)
    found = tuple(replace(one, paths=paths, record=n) for n, one in enumerate(frames))
    run.drivers.after(run.production.take, Report(found, (), Cursor()), attempt)


@pytest.mark.parametrize("hours", [(3, 4), (2,)])
def test_files_of_one_name_that_hold_frames_of_several_attempts_are_known(run, hours):
    growing(run, 1, 1, 2, 3)
    run.begin(2, key(2))
    growing(run, 2, *hours)
    space = run.production.space
    # Of the second attempt's file a frame of the checkpoint's own time alone does not count.
    assert space.shared(space.files) == ({"out.nc": (1, 2)} if 3 in hours else {})
    space.releasing = True
    run.publish()
    run.production.outbox.take()
    run.production.releases.begin(held=False)
    asked = [one for one in run.production.outbox.take() if isinstance(one, Release) and one.keep]
    assert {tuple(one.shared.items()) for one in asked} == {
        (("out.nc", (1, 2)),) if 3 in hours else ()
    }
