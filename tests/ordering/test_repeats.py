"""Times that come twice in one stream of one attempt, with the workers played by the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from driver_case import Drivers, key
from recipe_texts import ANY as RECIPE

from burstlens.cluster_configs.site import choose
from burstlens.core.model import Frame
from burstlens.core.run import events as ev
from burstlens.core.run.journal import read
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.report import Report
from burstlens.workflows.making.order import OrderResult
from burstlens.workflows.ordering.events import WorkReturned

GUARD = """
[[guard]]
variable = "T2"
"""
VOLUME = 'kind = "vtk"\nvariables = ["T2"]'
BACK = (0, 1, 2, 3, 1, 2, 3, 4)
"""The hours of a file's records: its model went back to hour 1 and on again."""


class Repeating:
    """A driver, and a model that writes hours into one file."""

    def __init__(self, drivers: Drivers) -> None:
        self.drivers = drivers
        drivers.up()

    def frame(self, record: int, hour: int, file: str = "out.nc") -> Frame:
        attempt = self.drivers.attempt
        paths = (f"storm-1/{attempt}/{file}",)
        return replace(self.drivers.frame(hour), paths=paths, record=record)

    def report(self, frames: Sequence[Frame]) -> None:
        production = self.drivers.up()
        report = Report(tuple(frames), (), Cursor())
        self.drivers.after(production.take, report, self.drivers.attempt)

    def hours(self, *hours: int, first: int = 0) -> list[Frame]:
        return [self.frame(record, hour) for record, hour in enumerate(hours, first)]

    def publish(self, *outcomes: str) -> None:
        """Make and publish all that is ordered."""
        drivers = self.drivers
        drivers.turn(release=False)
        while drivers.block.tasks:
            drivers.work(outcomes or ("made",) * 20, 0)
            drivers.deliver(0)
            drivers.turn(release=False)

    @property
    def orders(self) -> dict[str, list[int]]:
        """The records that workers are asked for, by time."""
        found: dict[str, list[int]] = {}
        for task in self.drivers.block.tasks:
            for order in task.about.orders:
                found.setdefault(order.frame.time, []).append(order.frame.record)
        return found

    @property
    def records(self) -> dict[str, int | None]:
        """The record of each time, by the journal."""
        return {event.time: event.record for event in self.of(ev.FrameReady)}

    def of(self, *kinds: type[ev.Event]) -> list:
        self.drivers.journal.sync()
        return [event for event in read(self.drivers.run.journal) if isinstance(event, kinds)]

    @property
    def alarms(self) -> list[str]:
        return [one.text for one in self.drivers.production.snapshot.alarms]


@pytest.fixture
def run(recipe, tmp_path):
    made = []

    def make(*settings: str, text: str = RECIPE) -> Repeating:
        made.append(Drivers(recipe(*settings, text=text), choose("local"), tmp_path))
        return Repeating(made[-1])

    yield make
    for one in made:
        one.disk.remove()


def test_of_records_that_arrive_together_the_later_one_counts(run):
    model = run()
    model.report(model.hours(0, 1, 2, 2, 3))
    assert model.records == {key(0): 0, key(1): 1, key(2): 3, key(3): 4}
    assert len(model.of(ev.FrameReady)) == 4
    model.drivers.turn()
    assert model.orders == {time: [record] for time, record in model.records.items()}
    assert ["come twice" in text for text in model.alarms] == [True]


def test_a_later_record_supersedes_what_was_published_of_the_earlier_one(run):
    model = run()
    model.report(model.hours(*BACK[:4]))
    model.publish()
    model.report(model.hours(*BACK[4:], first=4))
    model.drivers.turn(release=False)
    assert model.orders == {key(1): [4], key(2): [5], key(3): [6], key(4): [7]}
    model.publish()
    assert [event.time for event in model.of(ev.ProductSuperseded)] == [key(3), key(2), key(1)]
    assert model.records == {key(0): 0, key(1): 4, key(2): 5, key(3): 6, key(4): 7}
    assert len(model.alarms) == 1
    model.drivers.check_history()


def test_what_is_under_way_of_the_earlier_record_is_not_published(run):
    model = run()
    model.report(model.hours(0, 1))
    model.drivers.turn()
    model.report(model.hours(1, first=2))
    model.publish()
    assert [event.time for event in model.of(ev.ProductPublished)].count(key(1)) == 1
    assert model.of(ev.ProductSuperseded) == []
    assert list(model.drivers.run.incoming.iterdir()) == []
    assert model.drivers.production.settled


def test_what_waits_to_be_published_of_the_earlier_record_is_not(run):
    model = run()
    model.report(model.hours(0))
    model.drivers.turn()
    model.drivers.work(("made",), 0)
    model.drivers.deliver(0)
    model.report(model.hours(0, first=1))
    model.publish()
    assert len(model.of(ev.ProductPublished)) == 1
    assert list(model.drivers.run.incoming.iterdir()) == []


@pytest.mark.parametrize("made", [True, False])
def test_the_next_driver_makes_each_time_once_and_of_the_later_record(run, made):
    model = run()
    model.report(model.hours(*BACK[:4]))
    if made:
        model.publish()
    model.report(model.hours(*BACK[4:], first=4))
    if made:
        model.publish()
    model.drivers.stop()
    model.drivers.up()
    frames = model.hours(*BACK)
    model.report(frames[:5])  # a watcher may report them in any portions
    model.report(frames[5:])
    model.drivers.turn()
    expected = {key(0): [0], key(1): [4], key(2): [5], key(3): [6], key(4): [7]}
    assert model.orders.items() <= expected.items()
    assert bool(model.orders) is not made
    assert len(model.of(ev.FrameReady)) == 8
    assert model.alarms == []


def test_a_later_record_of_which_nothing_can_be_made_is_failed(run):
    model = run()
    model.report(model.hours(0))
    model.publish()
    model.report(model.hours(0, first=1))
    model.publish("failed")
    assert [event.time for event in model.of(ev.ProductFailed)] == [key(0)]
    assert model.drivers.production.settled


def test_a_time_in_the_next_file_counts_too_and_both_files_are_released(run):
    model = run()
    first, second = model.frame(0, 1, "out_1.nc"), model.frame(0, 1, "out_2.nc")
    model.report([first])
    model.publish()
    model.report([second])
    model.publish()
    assert [event.file for event in model.of(ev.FrameReady)] == ["out_1.nc", "out_2.nc"]
    space = model.drivers.production.space
    assert space.frames() == [space.sharing(second)]
    space.releasing = True
    gone = [one.paths for group in space.releasable(set(), held=False) for one in group]
    assert sorted(gone) == [first.paths, second.paths]


def test_guards_look_at_the_later_record_as_well(run):
    model = run(text=RECIPE + GUARD)
    model.report(model.hours(0))
    model.publish()
    model.report(model.hours(0, first=1))
    model.drivers.turn()
    assert [w.inspects for task in model.drivers.block.tasks for w in task.about.orders] == [True]


def test_after_a_resume_the_record_that_lost_its_time_does_not_count(run):
    model = run()
    first, second = model.frame(1, 1, "out_1.nc"), model.frame(0, 1, "out_2.nc")
    for frame in (first, second):
        model.report([frame])
        model.publish()
    model.drivers.stop()
    for frame in (first, second):  # a watcher may report them one by one
        model.report([frame])
    space = model.drivers.production.space
    assert space.frames() == [second]
    assert space.newest("output", model.frame(1, 2)) == second


def test_the_release_of_a_record_that_lost_its_time_is_not_that_of_the_one_that_has_it(run):
    model = run()
    first, second = model.frame(0, 1, "out_1.nc"), model.frame(0, 1, "out_2.nc")
    for frame in (first, second):
        model.report([frame])
        model.publish()
    production = model.drivers.production
    production.space.releasing = True
    production.releases.open_files = {"out_2.nc"}
    model.drivers.after(production.releases.begin, held=False)
    assert [task.about for task in model.drivers.block.tasks] == [[first]]
    assert model.of(ev.FrameReleased) == []
    model.drivers.stop()
    model.report([second])
    space = model.drivers.production.space
    space.releasing = True
    assert list(space.releasable(set(), held=False)) == [[second]]


def test_a_record_of_a_time_that_was_released_is_made_again_after_a_resume(run):
    model = run()
    model.report([model.frame(0, 1, "out_1.nc")])
    model.publish()
    production = model.drivers.production
    production.space.releasing = True
    model.drivers.after(production.releases.begin, held=False)
    model.drivers.block.tasks.clear()
    model.report([model.frame(0, 1, "out_2.nc")])
    model.publish("failed")
    assert [event.time for event in model.of(ev.ProductFailed)] == [key(1)]
    model.drivers.journal.append(ev.RunEnded(outcome="failed"))
    model.drivers.stop()
    assert ("t2", "output", key(1)) in model.drivers.up().history.retried


def test_the_pieces_of_a_volume_of_the_earlier_record_are_deleted(run):
    model = run(text=RECIPE.replace('kind = "map"\nvariable = "T2"', VOLUME))
    model.report(model.hours(0))
    drivers = model.drivers
    drivers.turn()
    [task] = drivers.block.tasks
    drivers.block.tasks.clear()
    drivers.take(WorkReturned(task.about, {0: OrderResult(pieces=3)}))
    drivers.turn()
    drivers.work(("refused",) * len(drivers.block.tasks), 0)  # of one piece
    drivers.deliver(0)
    assert list(drivers.run.incoming.iterdir()) != []
    model.report(model.hours(0, first=1))
    model.publish()
    assert len(model.of(ev.ProductPublished)) == 1
    assert list(drivers.run.incoming.iterdir()) == []
    assert drivers.production.settled
