"""A full disk: one alarm with the place and what is needed, and an exit code of its own."""

from __future__ import annotations

import errno
import os

import pytest
from loop_case import LoopCase
from workers_case import Block

from burstlens.cluster_configs.site import choose
from burstlens.core.errors import NoSpaceError, StagingError
from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal
from burstlens.workflows.deciding.state import Policy, RunState
from burstlens.workflows.deciding.target import PATIENCE_S, Target
from burstlens.workflows.driver.dispatch import Dispatch
from burstlens.workflows.making.order import OrderResult
from burstlens.workflows.ordering.batches import Batch
from burstlens.workflows.ordering.events import (
    NodeFailed,
    ProductsPublished,
    ResultsRead,
    WorkReturned,
)
from burstlens.workflows.ordering.instructions import Ask, Instruction, Publish
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.full_disk import FullDisk


@pytest.fixture
def alarms():
    return []


@pytest.fixture
def disk(run_dir, alarms):
    return FullDisk(run_dir.path, alarms.append)


@pytest.fixture
def state(run_dir, recipe):
    journal = Journal(run_dir.journal, 1)
    yield RunState(RunContext.of(run_dir, recipe(), choose("local"), journal, History()), Policy)
    journal.close()


def full(path, number=errno.ENOSPC):
    return OSError(number, os.strerror(number), str(path))


def test_many_refused_writes_are_one_alarm_until_there_is_room(disk, alarms, run_dir):
    disk.measure()
    for name in ("journal.jsonl", "status.json", "products/index.jsonl"):
        assert disk.take(full(run_dir.path / name))
    (text,) = alarms
    assert text.startswith(f"no room for the run directory {run_dir.path} (No space left on")
    assert " free); the run goes on when there is room" in text
    disk.room()
    assert disk.take(full(run_dir.path / "status.json", errno.EDQUOT))
    assert "Disk quota exceeded" in alarms[1]


def test_products_that_wait_are_counted_with_what_they_need(disk, alarms, run_dir):
    error = StagingError("cannot stage x to", path=str(run_dir.incoming / "x"), number=errno.ENOSPC)
    assert disk.take(error, waiting=3, bytes_each=1 << 20)
    assert "and 3 products that wait, which need about 3" in alarms[0]


def test_the_buffer_is_a_place_of_its_own(disk, alarms, run_dir):
    assert disk.take(full(run_dir.journal))
    assert disk.take(StagingError("no room", path="/bb/r/out/x", number=errno.ENOSPC))
    assert "no room for /bb/r/out/x (No space left on device)" in alarms[1]


def test_another_error_is_none_of_a_full_disk(disk, alarms, run_dir):
    assert not disk.take(full(run_dir.journal, errno.EIO))
    assert alarms == []


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, 6), (errno.ESTALE, 1)])
def test_a_run_that_is_over_does_not_wait_for_a_disk_for_ever(state, run_dir, number, code):
    error = full(run_dir.journal, number)
    target = Target(state)

    def refused(now: float, *, over: bool) -> list[Instruction]:
        state.outbox.now = now
        target.refused(error, over=over)
        return state.outbox.take()

    assert not refused(0.0, over=True)
    assert not refused(10 * PATIENCE_S, over=False)  # a model still runs: it goes on
    target.written()
    assert not refused(11 * PATIENCE_S, over=True)
    assert not refused(12 * PATIENCE_S - 1, over=True)
    (failed,) = refused(12 * PATIENCE_S + 1, over=True)
    assert "burstlens resume" in str(failed.error)
    assert failed.error.exit_code == code
    assert isinstance(failed.error, NoSpaceError) == (code == 6)
    assert len(state.snapshot.alarms) == 2


def test_a_target_with_nothing_to_write_is_probed(state, run_dir):
    dispatch = Dispatch(state.context, Block(state.site, run_dir, 1))
    assert dispatch.publish(Publish((), probe=True), 0.0).error is None
    (run_dir.path / ".room.part").symlink_to("/dev/full")
    assert dispatch.publish(Publish(()), 0.0).error is None
    refused = dispatch.publish(Publish((), probe=True), 0.0)
    assert refused.error.errno == errno.ENOSPC
    assert not list(run_dir.path.glob(".room*"))


def test_only_a_full_disk_is_want_of_space(state, run_dir):
    target = Target(state)
    target.refuse("3 products cannot be staged (Stale file handle)")
    assert not state.outbox.take()
    target.refuse("3 products cannot be staged (No space left on device)")
    (failed,) = state.outbox.take()
    assert isinstance(failed.error, NoSpaceError)
    assert str(failed.error).endswith(f"burstlens resume {run_dir.id}")


class FullRun(Policy):
    """A kind of run that reports a full disk, whichever event has its error."""

    def refused(self, event: NodeFailed) -> None:
        """Of a node."""
        self.state.snapshot.full_disk.take(event.error)

    def published(self, event: ProductsPublished) -> None:
        """Of the publication."""
        self.state.snapshot.full_disk.take(event.error)

    def results_read(self, event: ResultsRead) -> None:
        """Of a worker."""
        self.state.snapshot.full_disk.take(event.results[0].error)

    work_returned = results_read


@pytest.mark.parametrize("kind", ["node", "publication", "results", "work"])
def test_the_loop_measures_what_is_free_ahead_of_each_event_with_such_an_error(
    run_dir, recipe, kind
):
    run_dir.facts.write_text("{}")
    journal = Journal(run_dir.journal, 1)
    context = RunContext.of(run_dir, recipe(), choose("local"), journal, History())
    error = StagingError("cannot stage", path=str(run_dir.incoming / "x"), number=errno.ENOSPC)
    results = {0: OrderResult(error=error)}
    event = {
        "node": NodeFailed(Ask("question", print), error),
        "publication": ProductsPublished(full(run_dir.journal)),
        "results": ResultsRead(Batch(()), results),
        "work": WorkReturned(Batch(()), results),
    }[kind]
    LoopCase(context, FullRun).take(event)
    (alarm,) = context.snapshot.alarms
    assert "No space left on device, " in alarm.text
    assert " free); the run goes on when there is room" in alarm.text
    journal.close()
