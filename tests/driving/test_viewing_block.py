"""What the journal says of the viewing block of a run on this machine."""

from __future__ import annotations

import os
import time

import pytest

from burstlens.cluster_configs.site import choose
from burstlens.core.run.directory import RunDir
from burstlens.workflows.production.early import EarlyWorker
from burstlens.workflows.production.graph import Graph


def test_the_first_answer_of_the_block_is_journalled_once_and_before_its_products(standing):
    standing.done()
    events = standing.events("done")
    assert events.count("viewing.started") == 1
    first = [events.index(name) for name in ("viewing.queued", "viewing.started")]
    assert first == sorted(first)
    assert events.index("viewing.started") < events.index("product.published")
    assert events.index("buffer.requested") < events.index("buffer.created")


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
        until = time.monotonic() + 20.0
        while graph.block_state() != "gone":
            assert time.monotonic() < until
            blocks._next_look = 0.0
            time.sleep(0.1)


def ended(graph, count):
    """The kinds of the next nodes to end, and the processes that ran them."""
    found = []
    until = time.monotonic() + 60.0
    while len(found) < count and time.monotonic() < until:
        found += [(done.kind, done.value) for done in graph.events(0.5)]
    return found


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
            graph.view(kind, None, os.getpid)
        [(first, process)] = ended(graph, 1)
        for kind in ("watch", "work"):  # the driver asks for the next look before it submits
            graph.view(kind, None, os.getpid)
        [(second, same)] = ended(graph, 1)
        assert (first, second, same) == ("watch", "work", process)
        assert graph._blocks is None
        graph.launch_late()  # the first picture is published: now the folder is looked at again
        (third, same), (fourth, worker) = ended(graph, 2)
        assert (third, same) == ("watch", process)
        assert fourth == "warm"
        assert worker != process
        assert not graph.is_early
        graph.view("watch", None, os.getpid)
        [(last, other)] = ended(graph, 1)
        assert last == "watch"
        assert other != process
