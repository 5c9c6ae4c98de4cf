"""What the journal says of the viewing block of a run on this machine."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import signal
import sys
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

import pytest

from burstlens.cluster_configs.site import choose
from burstlens.core.allowance import allowance
from burstlens.core.durable import write_json
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import RunFacts, write_facts
from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal, read
from burstlens.core.run.record import stamp
from burstlens.workflows.deciding.state import Policy, RunState
from burstlens.workflows.driver.dispatch import Dispatch
from burstlens.workflows.driver.inbox import Inbox
from burstlens.workflows.driver.loop import Loop
from burstlens.workflows.making.early import EarlyWorker
from burstlens.workflows.ordering.events import BlockSeen, JobSubmitted
from burstlens.workflows.ordering.instructions import (
    LAST,
    NEXT,
    URGENT,
    Ask,
    Launch,
    LaunchBlock,
    MendBlock,
    OpenBlock,
)
from burstlens.workflows.placement.supervised import describe
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.viewing.graph import Graph


def test_the_first_answer_of_the_block_is_journalled_once_at_most(standing):
    standing.done()
    events = standing.events("done")
    assert events.count("viewing.queued") == 1
    assert events.count("viewing.started") <= 1  # a short run may be over before
    assert "viewing.started" not in events[: events.index("viewing.queued")]
    assert events.index("buffer.requested") < events.index("buffer.created")


def test_viewing_is_not_said_to_be_queued_while_an_early_worker_makes_the_products(run_dir, recipe):
    history = History()
    with contextlib.closing(Journal(run_dir.journal, 1, history.apply)) as journal:
        context = RunContext.of(run_dir, recipe(), choose("local"), journal, history)
        state = RunState(context, Policy)
        state.handle(BlockSeen("queued", early=True))
        state.show()
        assert context.snapshot.block == "running"
        state.handle(BlockSeen("queued"))  # as for a site whose workers need a block
        state.show()
        assert context.snapshot.block == "queued"
    assert list(read(run_dir.journal)) == []  # no block has begun


@pytest.mark.integration
def test_a_block_that_is_held_back_for_an_early_worker_has_not_ended(tmp_path):
    run = RunDir(tmp_path / "run")
    run.create()
    early = EarlyWorker(lowest=True)
    with Graph(choose("local"), run, jobs=1, early=early) as graph:
        graph.open_block()
        assert graph.block_state() == "queued"
        assert graph._blocks is None  # nor is Parsl loaded
        graph.launch_late()
        blocks = graph._blocks
        assert graph.mend_block() is None
        assert len(blocks._block.jobs()) == 1
        blocks._block.cancel_jobs()
        blocks._next_look = 0.0
        until = time.monotonic() + 120.0
        while graph.block_state() != "gone":
            assert time.monotonic() < until
            blocks._next_look = 0.0
            time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.integration
def test_a_block_that_finds_no_room_for_its_files_is_opened_when_there_is_room(tmp_path):
    run = RunDir(tmp_path / "run")
    run.create()
    early = EarlyWorker(lowest=False)
    with Graph(choose("local"), run, jobs=1, early=early) as graph:
        graph.open_block()
        for kind in ("warm", "watch"):
            graph.view(Ask(kind, os.getpid, about=None), os.getpid)
        (run.parsl / ".room.part").symlink_to("/dev/full")
        with pytest.raises(OSError, match="No space left on device") as full:
            graph.launch_late()
        assert full.value.errno == errno.ENOSPC
        assert graph.block_state() == "queued"
        graph.view(Ask("work", os.getpid, about=None), os.getpid)  # the early worker goes on
        assert {kind for kind, _ in ended(graph, 2)} == {"watch", "work"}
        graph.launch_late()
        assert ended(graph, 1)[0][0] == "warm"
        assert list(run.parsl.glob(".*")) == []


def ended(graph, count):
    """The kinds of the next nodes to end, and the processes that ran them."""
    return [(done.node.kind, done.value) for done in awaited(graph, count)]


@pytest.mark.slow
@pytest.mark.integration
def test_an_early_worker_looks_and_draws_before_parsl_is_loaded_and_until_the_block_answers(
    tmp_path,
):
    run = RunDir(tmp_path / "run")
    run.create()
    early = EarlyWorker(lowest=False)
    with Graph(choose("local"), run, jobs=1, early=early) as graph:
        graph.open_block()
        for kind in ("warm", "watch"):
            graph.view(Ask(kind, os.getpid, about=None), os.getpid)
        [(first, process)] = ended(graph, 1)
        for kind in ("watch", "work"):  # the driver asks for the next look before it submits
            graph.view(Ask(kind, os.getpid, about=None), os.getpid)
        [(second, same)] = ended(graph, 1)
        assert (first, second, same) == ("watch", "work", process)
        assert graph._blocks is None
        graph.launch_late()  # the first picture is published: now the folder is looked at again
        (third, same), (fourth, worker) = ended(graph, 2)
        assert (third, same) == ("watch", process)
        assert fourth == "warm"
        assert worker != process
        assert not graph.is_early
        graph.view(Ask("watch", os.getpid, about=None), os.getpid)
        [(last, other)] = ended(graph, 1)
        assert last == "watch"
        assert other != process


def silent_site():
    """A site whose viewing block never answers, as one that gets no CPU time for long."""
    site = choose("local")
    return replace(site, viewing=replace(site.viewing, worker_init="sleep 600\n"))


@pytest.mark.integration
def test_an_early_worker_makes_one_product_after_the_other_while_the_block_does_not_answer(
    tmp_path,
):
    run = RunDir(tmp_path / "run")
    run.create()
    early = EarlyWorker(lowest=False)
    with Graph(silent_site(), run, jobs=1, early=early) as graph:
        graph.open_block()
        graph.launch_late()
        for name, priority in (("first", NEXT), ("last", LAST), ("second", URGENT)):
            graph.view(Ask("work", os.getpid, about=name), os.getpid, priority=priority)
        found = awaited(graph, 3)
        assert [about(done) for done in found] == ["first", "second", "last"]
        assert len({done.value for done in found}) == 1


@pytest.mark.slow
def test_a_block_that_answers_gets_what_waits_for_the_early_worker(tmp_path):
    run = RunDir(tmp_path / "run")
    run.create()
    early = EarlyWorker(lowest=False)
    with Graph(choose("local"), run, jobs=1, early=early) as graph:
        graph.open_block()
        graph.launch_late()
        graph.view(Ask("work", os.getpid, about="long"), time.sleep, 600.0)
        graph.view(Ask("work", os.getpid, about="other"), os.getpid)
        graph.view(Ask("warm", os.getpid, about=None), os.getpid)
        found = awaited(graph, 2)
        assert [about(done) for done in found] == [None, "other"]
        early.end()


@pytest.mark.slow
@pytest.mark.integration
def test_a_block_whose_idle_workers_are_killed_ends_and_is_replaced(tmp_path):
    """One of them holds the lock of the queue of tasks."""
    run = RunDir(tmp_path / "run")
    run.create()
    with Graph(choose("local"), run, jobs=1) as graph:
        graph.open_block()
        workers = set()
        while len(workers) < graph.workers:
            for _ in range(graph.workers):
                graph.view(Ask("work", os.getpid, about=None), os.getpid)
            workers |= {done.value for done in awaited(graph, graph.workers)}
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        graph.view(Ask("work", os.getpid, about="after"), os.getpid)
        until, found, mended = time.monotonic() + 120.0, [], None
        while not (found and mended) and time.monotonic() < until:
            found += graph.events(0.5)
            mended = mended or graph.mend_block()
        assert mended == "its block had ended: a new one was asked for"
        assert [about(done) for done in found] == ["after"]
        graph.view(Ask("work", os.getpid, about="again"), os.getpid)
        (again,) = awaited(graph, 1)
        assert again.error is None


@pytest.mark.fault  # tests/fault/test_kill.py kills one in `make test-slow`
def test_the_death_of_the_interchange_fails_nothing_that_others_run(tmp_path):
    run, leave = RunDir(tmp_path / "run"), threading.Event()
    run.create()
    early = EarlyWorker(lowest=False)
    with Graph(silent_site(), run, jobs=1, early=early) as graph:
        graph.open_block()
        graph.launch_late()
        graph.view(Ask("warm", os.getpid, about=None), os.getpid)
        graph.view(Ask("work", os.getpid, about=None), time.sleep, 1.0)
        graph.login(Ask("buffer", leave.wait), leave.wait)
        graph._blocks._block.interchange_proc.kill()
        graph._blocks._block.interchange_proc.wait()
        graph.mend_block()
        leave.set()
        found = {done.node.kind: done.error for done in awaited(graph, 3)}
        assert str(found.pop("warm")) == "the interchange has died"
        assert found == {"work": None, "buffer": None}


@pytest.mark.fault  # blocks that are replaced are above; this race has no other test
def test_a_block_in_the_place_of_one_that_never_answered_is_asked_anew(run_dir, recipe):
    early, site, history = EarlyWorker(lowest=False), choose("local"), History()
    write_facts(run_dir, RunFacts(run=run_dir.id, buffer_folder="f", **stamp()))
    with (
        Graph(site, run_dir, jobs=1, early=early) as graph,
        contextlib.closing(Journal(run_dir.journal, 1, history.apply)) as journal,
    ):
        context = RunContext.of(run_dir, recipe(), site, journal, history)
        state = RunState(context, Policy)
        dispatch, inbox = Dispatch(context, graph), Inbox(context)
        loop = Loop(context, graph, dispatch, inbox, state, lambda snapshot: None)
        loop._carry_out(OpenBlock(("map",)))
        loop._carry_out(LaunchBlock())
        graph._blocks._block.interchange_proc.kill()
        graph._blocks._block.interchange_proc.wait()
        loop._carry_out(MendBlock(("map",)))
        loop._carry_out(LaunchBlock())
        until = time.monotonic() + 120.0
        while graph.is_early and time.monotonic() < until:
            list(graph.events(0.5))
        assert not graph.is_early


@pytest.mark.integration
def test_an_early_worker_has_the_usual_priority_until_it_has_drawn():
    usual = os.nice(0)
    with EarlyWorker(lowest=True) as early:
        kinds = ("watch", "watch", "choose", "work", "watch", "work")
        found = [early.submit(kind, os.nice, 0).result(120.0) for kind in kinds]
        assert found == 4 * [usual] + 2 * [19]


class Job:
    """A launcher of jobs that end at once, with these exit codes."""

    def __init__(self, **codes):
        self.codes, self.begun = codes, []

    def find(self, folder):
        return None

    def submit(self, folder):
        self.begun.append(folder.name)
        write_json(
            folder / "ended.json", {"reason": "exited", "exit_code": self.codes[folder.name]}
        )
        return "local:0:0"

    def remark(self, job_id, *, well, grace_s):
        return ""

    def ended_by(self, job_id):
        return ""


@pytest.mark.integration
@pytest.mark.parametrize(("code", "begun"), [(0, ["one", "other"]), (1, ["one"])])
def test_a_job_begins_before_parsl_is_loaded_unless_it_waits_for_another(tmp_path, code, begun):
    run = RunDir(tmp_path / "run")
    run.create()
    jobs, early = Job(one=code, other=0), EarlyWorker(lowest=False, stages_in=True)
    for name in jobs.codes:
        describe(run.job(name), {})
    with Graph(choose("local"), run, jobs=2, early=early) as graph:
        graph.open_block()
        after = []
        for name in jobs.codes:
            after = [graph.job(Launch(name), jobs, run.job(name), after)]
        found = awaited(graph, 2)
        assert found[0] == JobSubmitted("one", "local:0:0")
        assert found[1].node == Launch("one")
        assert graph._blocks is None
        graph.launch_late()
        found = awaited(graph, len(begun))
        assert found[-1].node == Launch("other")
        assert (found[-1].error is None) == (code == 0)
        assert jobs.begun == begun


@pytest.mark.integration
def test_an_early_worker_stages_in_before_it_imports_what_products_need(tmp_path):
    early = EarlyWorker(lowest=False, stages_in=True)
    try:
        first = early.submit("stagein", modules)
        second = early.submit("watch", modules)
        assert "netCDF4" not in first.result(120.0)
        assert "netCDF4" in second.result(120.0)
    finally:
        early.end()


@pytest.mark.slow
@pytest.mark.integration
def test_what_an_early_worker_did_when_it_was_killed_the_block_does(tmp_path):
    run = RunDir(tmp_path / "run")
    run.create()
    early = EarlyWorker(lowest=False, stages_in=True)
    with Graph(choose("local"), run, jobs=1, early=early) as graph:
        graph.open_block()
        graph.view(Ask("stagein", os.getpid, about=None), time.sleep, 600.0)
        (process,) = early._processes
        process.kill()
        [lost] = awaited(graph, 1)
        assert (lost.node.kind, type(lost.error)) == ("stagein", BrokenProcessPool)
        graph.view(Ask("stagein", os.getpid, about=None), os.getpid)
        assert graph._blocks is None
        graph.launch_late()
        [done] = awaited(graph, 1)
        assert (done.node.kind, done.error) == ("stagein", None)


def modules():
    return set(sys.modules)


def about(done):
    """What a test has asked about; None for other nodes."""
    return done.node.about if isinstance(done.node, Ask) else None


def awaited(graph, count):
    found = []
    until = time.monotonic() + 120.0
    while len(found) < count and time.monotonic() < until:
        found += graph.events(0.5)
    return found


@pytest.mark.integration
@pytest.mark.parametrize("closed_before", [False, True])
def test_an_early_worker_that_has_ended_leaves_no_thread_that_the_exit_could_meet(closed_before):
    before = set(threading.enumerate())
    early = EarlyWorker(lowest=False, stages_in=True)
    early.submit("stagein", time.sleep, 600.0)
    if closed_before:
        early.close()
    early.end()
    assert set(threading.enumerate()) <= before


def test_an_early_worker_takes_no_more_memory_than_those_of_the_block():
    with EarlyWorker(lowest=False) as early:
        early.allow(2 * 10**9)
        asked = early.submit("work", allowance)
        assert asked is not None
        assert asked.result(60).memory == 2 * 10**9


def faults_of_freed_memory() -> int:
    """Pages that the kernel gives anew for memory that this process has freed."""
    bytes(bytearray(20 << 20))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        bytes(bytearray(20 << 20))
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_an_early_worker_uses_freed_memory_again_as_those_of_the_block():
    with EarlyWorker(lowest=False) as early:
        asked = early.submit("work", faults_of_freed_memory)
        assert asked is not None
        assert asked.result(60) < 20 * (20 << 20) / resource.getpagesize() / 10
