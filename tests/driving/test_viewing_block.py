"""What the journal says of the viewing block of a run on this machine."""

from __future__ import annotations

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
