"""Files that were written anew, with the workers played by the test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from driver_case import Drivers

from burstlens.cluster_configs.site import choose
from burstlens.core.errors import StagingError
from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.journal import read
from burstlens.workflows.frames.report import ClosedFile, FolderReport
from burstlens.workflows.look.driving.rewrites import TRIES, Rewrites
from burstlens.workflows.making.order import OrderResult
from burstlens.workflows.ordering.instructions import Ask
from burstlens.workflows.placement.buffer import BufferRef

FULL = StagingError("no room", path="x", number=28)


class Carried:
    """A part of a state: what it wants done is carried out after each call."""

    def __init__(self, part: Rewrites, carry: Callable[[], None]) -> None:
        self._part, self._carry = part, carry

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._part, name)
        if not callable(value):
            return value

        def call(*args: Any) -> Any:
            given = value(*args)
            self._carry()
            return given

        return call


class Compared:
    """A file with records that have products, which gets another date, and its comparison.

    ``published`` of the ``records`` have their products already when the date changes.
    """

    def __init__(self, drivers: Drivers, records: int = 1, published: int = 1) -> None:
        self.drivers, self.begun, self.asks, self.later = drivers, [], [], []
        drivers.up()
        drivers.model[drivers.attempt] = [True] * records
        self.frames = [
            replace(drivers.frame(number), paths=drivers.frame(0).paths, record=number,
                    fingerprint=(1, 2, 1000, 10 + number))
            for number in range(records)
        ]  # fmt: skip
        self.frame = self.frames[-1]
        self.production = drivers.production
        drivers.journal.append(ev.RunAttached(path="/x", model="command", reason="names"))
        self.context = drivers.context
        self.rewrites = Carried(
            Rewrites(
                self.context, drivers.state.outbox, self.production,
                BufferRef("posix", "/nowhere", "storm-1"), self._begin,
                lambda pause_s, ask: self.later.append(ask),
            ),
            self._carry,
        )  # fmt: skip
        self.rewrites.take(self.frames[:published])
        if published:
            self.publish()
        self.rewrites.take(self.frames[published:])
        self.rewrites.take([replace(one, fingerprint=(1, 2, 1000, 99)) for one in self.frames])

    def publish(self) -> None:
        """Make and publish the products of all frames that are taken."""
        drivers = self.drivers
        drivers.turn()
        while drivers.block.tasks and drivers.block.tasks[0].kind == "work":
            drivers.work(("made",) * 20, 0)
            drivers.deliver(0)
            drivers.turn(release=False)

    def _carry(self) -> None:
        """Do what the comparison wants done; a question waits for the test."""
        for instruction in self.drivers.state.outbox.take():
            if isinstance(instruction, Ask):
                self.asks.append(instruction)
            else:
                self.drivers.loop._carry_out(instruction)

    def _begin(self, evidence: str) -> int:
        self.begun.append(evidence)
        attempt = self.production.history.attempt + 1
        self.drivers.state.outbox.append(ev.AttemptObserved(attempt=attempt, evidence=evidence))
        return attempt

    @property
    def tasks(self) -> list:
        return self.asks

    def grows(self, *numbers: int) -> list:
        """The file gets records with the times of these numbers, after those that it has."""
        return [
            replace(self.frames[0], time=self.drivers.frame(number).time, record=record,
                    fingerprint=(1, 2, 2000, 100 + record))
            for record, number in enumerate(numbers, len(self.frames))
        ]  # fmt: skip

    def goes_on(self) -> None:
        """What was put off is due."""
        ask = self.later.pop()
        if self.rewrites.wants(ask.about):
            self.asks.append(ask)

    def ends(self, *, error: Exception | None = None, crc32: int | None = None) -> None:
        """The next comparison ends."""
        task = self.tasks[0]
        self.asks.remove(task)
        value = None
        if error is None:
            order = task.about.orders[0]
            sums = self.production.history.sums
            key = order.context.product, order.frame.stream, order.frame.time
            value = self.receipt(key, sums[key] if crc32 is None else crc32)
        if error is None:
            self.rewrites.returned(task.about, value)
        else:
            self.rewrites.failed(task.about, error)

    def receipt(self, key, crc32: int) -> OrderResult:
        from burstlens.core.model import Receipt

        made = Receipt(
            product=key[0], stream=key[1], time=key[2], attempt=1, uuid="u", incoming="x/none",
            name="n", bytes=1, crc32=crc32, clock={}, facts={}, limits=None,
        )  # fmt: skip
        return OrderResult(made)


@pytest.fixture
def make(recipe, tmp_path):
    drivers = Drivers(recipe(), choose("local"), tmp_path)
    yield lambda **about: Compared(drivers, **about)
    drivers.disk.remove()


@pytest.fixture
def compared(make):
    return make()


def events(compared: Compared, kind: str) -> int:
    return [event.event for event in read(compared.drivers.run.journal)].count(kind)


def test_equal_pictures_begin_no_attempt_and_the_new_date_is_known(compared):
    while compared.tasks:
        compared.ends()
    assert compared.begun == []
    assert not compared.rewrites.busy
    compared.drivers.journal.sync()
    history = replay(read(compared.drivers.run.journal))
    frame = compared.frame
    assert tuple(history.fingerprints[frame.stream, frame.time][3]) == (1, 2, 1000, 99)


def test_another_picture_begins_an_attempt(compared):
    compared.ends(crc32=1)
    [evidence] = compared.begun
    assert "was written anew" in evidence
    assert not compared.rewrites.busy


def test_a_worker_that_dies_is_replaced_and_then_the_file_counts_as_another(compared):
    for turn in range(TRIES):
        assert compared.begun == []
        assert len(compared.tasks) == 1, turn
        compared.ends(error=RuntimeError("the worker was killed"))
    assert compared.tasks == []
    assert len(compared.begun) == 1


def test_a_full_disk_says_nothing_about_the_file_and_it_is_compared_later(compared):
    for _ in range(TRIES + 2):
        compared.ends(error=FULL)
        assert compared.tasks == []
        assert compared.rewrites.busy
        compared.goes_on()
    while compared.tasks:
        compared.ends()
    assert compared.begun == []


def test_a_file_that_changes_once_more_is_compared_as_it_is_then(compared):
    compared.ends(error=FULL)
    compared.rewrites.take([replace(compared.frame, fingerprint=(1, 2, 1000, 100))])
    compared.goes_on()
    assert len(compared.tasks) == 1
    assert compared.tasks[0].about.frames[-1].fingerprint[3] == 100


def ready(compared: Compared) -> list[tuple[str, int]]:
    lines = read(compared.drivers.run.journal)
    return [(line.time, line.attempt) for line in lines if isinstance(line, ev.FrameReady)]


@pytest.mark.parametrize("records", [1, 3])
def test_a_file_that_is_closed_before_any_picture_is_published_begins_no_attempt(make, records):
    compared = make(records=records, published=0)
    assert compared.begun == []
    assert compared.rewrites.busy
    compared.publish()
    compared.rewrites.look()
    while compared.tasks:
        compared.ends()
        compared.rewrites.look()
    assert compared.begun == []
    assert not compared.rewrites.busy
    assert len(ready(compared)) == len(set(ready(compared))) == records


def test_a_file_is_compared_by_its_newest_record_with_a_published_product(make):
    compared = make(records=3, published=2)
    assert compared.tasks[0].about.orders[0].frame.record == 1
    compared.ends(crc32=1)
    assert len(compared.begun) == 1


def test_what_was_rewritten_before_any_picture_is_published_is_noticed(make):
    compared = make(records=3, published=0)
    compared.publish()
    compared.rewrites.look()
    compared.ends(crc32=1)
    assert len(compared.begun) == 1


def test_each_record_is_ready_once_in_an_attempt_whatever_its_files_date(compared):
    for number in range(3):
        while compared.tasks:
            compared.ends()
        again = replace(compared.frame, fingerprint=(1, 2, 1000, 100 + number))
        compared.rewrites.take([again])
    assert ready(compared) == [(compared.frame.time, 1)]


def test_a_writer_that_closes_its_file_changes_the_known_date_alone(make):
    compared = make(records=3, published=0)
    closed = ClosedFile("output", "out_00000000.nc", (1, 2, 1010, 50))
    compared.rewrites.close(FolderReport(closed=(closed,)))
    history = compared.production.history
    assert history.fingerprints["output", compared.frame.time][3] == (1, 2, 1010, 50)
    assert len(ready(compared)) == 3


@pytest.mark.parametrize("numbers", [(2,), (1, 2, 3)])
def test_a_time_that_comes_again_in_a_growing_file_belongs_to_its_attempt(make, numbers):
    compared = make(records=3, published=3)
    while compared.tasks:
        compared.ends()
    compared.rewrites.take(compared.grows(*numbers))
    assert compared.begun == []
    assert compared.tasks == []
    compared.drivers.journal.sync()
    found = [
        (event.time, event.record, event.attempt, event.repeated)
        for event in read(compared.drivers.run.journal)
        if isinstance(event, ev.FrameReady)
    ][3:]
    times = [compared.drivers.frame(number).time for number in numbers]
    again = [number < 3 for number in numbers]
    assert found == list(zip(times, (3, 4, 5), (1, 1, 1), again, strict=False))
