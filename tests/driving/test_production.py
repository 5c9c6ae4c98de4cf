"""Orders and results of one driver, with the workers played by the test."""

from __future__ import annotations

import pytest
from driver_case import Drivers, key

from burstlens.cluster_configs.site import choose
from burstlens.core.run.journal import read


@pytest.fixture
def driver(recipe, tmp_path):
    """A driver of the recipe with these settings."""
    made = []

    def make(*settings: str) -> Drivers:
        made.append(Drivers(recipe(*settings), choose("local"), tmp_path))
        return made[-1]

    yield make
    for one in made:
        one.disk.remove()


def test_a_damaged_frame_counts_as_one_of_two_also_when_it_is_found_with_the_next(driver):
    run = driver("product.t2.every=2")
    run.watch((True,))
    run.watch((False, True))
    run.turn()
    made = [work.order.frame.time for task in run.block.tasks for work in task.about.works]
    assert sorted(made) == [key(0), key(2)]


def test_a_product_that_stands_does_not_fail_by_a_second_order_of_its_frame(driver):
    run = driver()
    run.watch((True,))
    run.watch((), again=0)
    run.turn()
    run.work(("made", "failed"), 0)
    run.deliver(0)
    run.turn()
    events = [event.event for event in read(run.run.journal)]
    assert events.count("product.published") == 1
    assert "product.failed" not in events
    assert list(run.run.incoming.iterdir()) == []
    assert run.production.settled
