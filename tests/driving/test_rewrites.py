"""Files that were written anew, with the workers played by the test."""

from __future__ import annotations

from dataclasses import replace

import pytest
from driver_case import Drivers

from burstlens.cluster_configs.site import choose
from burstlens.core.errors import StagingError
from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.journal import read
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.production.context import RunContext
from burstlens.workflows.production.graph import Done
from burstlens.workflows.production.order import Viewed
from burstlens.workflows.production.rewrites import TRIES, Rewrites

FULL = StagingError("no room", path="x", number=28)


class Compared:
    """A published frame whose file has another date, and its comparison."""

    def __init__(self, drivers: Drivers) -> None:
        self.drivers, self.begun, self.later = drivers, [], []
        drivers.up()
        drivers.model[drivers.attempt] = [True]
        self.frame = replace(drivers.frame(0), fingerprint=(1, 2, 1000, 10))
        self.production = drivers.production
        self.production.journal.append(ev.RunAttached(path="/x", model="command", reason="names"))
        self.context = RunContext(
            drivers.run, drivers.recipe, drivers.site, self.production.journal,
            self.production.history, self.production.snapshot, self.production.guarding.notices,
        )  # fmt: skip
        self.rewrites = Rewrites(
            self.context, drivers.block, self.production,
            BufferRef("posix", "/nowhere", "storm-1"), self._begin,
            lambda pause_s, call: self.later.append(call),
        )  # fmt: skip
        self.rewrites.take([self.frame])
        drivers.turn()
        drivers.work(("made",) * len(drivers.block.tasks), 0)
        drivers.deliver(0)
        drivers.turn(release=False)
        drivers.block.tasks.clear()
        self.rewrites.take([replace(self.frame, fingerprint=(1, 2, 1000, 99))])

    def _begin(self, evidence: str) -> int:
        self.begun.append(evidence)
        attempt = self.production.history.attempt + 1
        self.production.journal.append(ev.AttemptObserved(attempt=attempt, evidence=evidence))
        return attempt

    @property
    def tasks(self) -> list:
        return [task for task in self.drivers.block.tasks if task.kind == "compare"]

    def ends(self, *, error: Exception | None = None, crc32: int | None = None) -> None:
        """The next comparison ends."""
        task = self.tasks[0]
        self.drivers.block.tasks.remove(task)
        value = None
        if error is None:
            order = task.about.orders[0]
            sums = self.production.history.sums
            key = order.context.product, order.frame.stream, order.frame.time
            value = self.receipt(key, sums[key] if crc32 is None else crc32)
        self.rewrites.returned(Done("compare", task.about, value, error))

    def receipt(self, key, crc32: int) -> Viewed:
        from burstlens.core.model import Receipt

        made = Receipt(
            product=key[0], stream=key[1], time=key[2], attempt=1, uuid="u", incoming="x/none",
            name="n", bytes=1, crc32=crc32, clock={}, facts={}, limits=None,
        )  # fmt: skip
        return Viewed(made)


@pytest.fixture
def compared(recipe, tmp_path):
    drivers = Drivers(recipe(), choose("local"), tmp_path)
    yield Compared(drivers)
    drivers.disk.remove()


def events(compared: Compared, kind: str) -> int:
    return [event.event for event in read(compared.drivers.run.journal)].count(kind)


def test_equal_pictures_begin_no_attempt_and_the_new_date_is_known(compared):
    while compared.tasks:
        compared.ends()
    assert compared.begun == []
    assert not compared.rewrites.busy
    compared.production.journal.sync()
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
        compared.later.pop()()
    while compared.tasks:
        compared.ends()
    assert compared.begun == []


def test_a_file_that_changes_once_more_is_compared_as_it_is_then(compared):
    compared.ends(error=FULL)
    compared.rewrites.take([replace(compared.frame, fingerprint=(1, 2, 1000, 100))])
    compared.later.pop()()
    assert len(compared.tasks) == 1
    assert compared.tasks[0].about.frames[-1].fingerprint[3] == 100
