"""Orders and results of one driver, with the workers played by the test."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from driver_case import Drivers, key
from recipe_texts import ANY as RECIPE

from burstlens.cluster_configs.site import choose
from burstlens.core.outcome import Outcome
from burstlens.core.run.journal import read
from burstlens.workflows.making.order import OrderResult
from burstlens.workflows.ordering.events import RunOver, WorkReturned

SECOND = """
[[product]]
name = "q2"
kind = "map"
variable = "Q2"
limits = [0, 0.03]
"""

GUARD = """
[[guard]]
variable = "T2"
"""
VOLUME = 'kind = "vtk"\nvariables = ["T2"]'


@pytest.fixture
def driver(recipe, tmp_path):
    """A driver of the recipe with these settings."""
    made = []

    def make(*settings: str, text: str = RECIPE) -> Drivers:
        made.append(Drivers(recipe(*settings, text=text), choose("local"), tmp_path))
        return made[-1]

    yield make
    for one in made:
        one.disk.remove()


def test_a_damaged_frame_counts_as_one_of_two_also_when_it_is_found_with_the_next(driver):
    run = driver("product.t2.every=2")
    run.watch((True,))
    run.watch((False, True))
    run.turn()
    made = [order.frame.time for task in run.block.tasks for order in task.about.orders]
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


def test_one_damaged_frame_gives_one_alarm_however_many_products_lack_it(driver):
    run = driver(text=RECIPE + SECOND)
    run.watch((False,))
    for _ in range(3):
        run.turn()
        run.work(("failed",) * len(run.block.tasks), 0)
        run.deliver(0)
    events = [event.event for event in read(run.run.journal)]
    assert events.count("product.failed") == 2
    snapshot = run.production.snapshot
    assert [alarm.text for alarm in snapshot.alarms] == [
        f"damaged frame output {key(0)}: cut short"
    ]
    assert snapshot.value().products["t2"].reason is not None


def test_pictures_that_were_ordered_before_the_first_ones_member_was_known_are_drawn_again(driver):
    run = driver("product.t2.limits=[270, 310]")
    run.watch((True, True))
    run.turn()
    run.work(("made", "made"), 0)
    newest = key(1)
    for done in run.results:
        for name, result in done.results.items():
            member = 1 if result.receipt.time == newest else 0
            shown = {"t2": {"points": {"number": member}, "words": f"number {member}"}}
            receipt = replace(result.receipt, facts={"shown": shown})
            done.results[name] = replace(result, receipt=receipt)
    run.deliver(0)
    run.turn()
    (again,) = [order for task in run.block.tasks for order in task.about.orders]
    other = {newest: 0, key(0): 1}[again.frame.time]
    assert again.context.points == {"t2": {"number": other}}
    run.work(("made",), 0)
    run.deliver(0)
    run.turn()
    assert len(published(run)) == 2
    assert list(run.run.incoming.iterdir()) == []
    assert run.production.settled


def test_raw_frames_whose_release_was_put_off_are_released_before_all_counts_as_settled(driver):
    run = driver("buffer.raw=release")
    run.watch((True,))
    run.turn()
    run.work(("made",), 0)
    run.deliver(0)
    run.turn(release=False)
    production = run.up()
    production.releases._rest = math.inf  # the look before took long
    run.after(production.releases.begin, held=False)
    assert not production.settled
    run.turn()
    assert [task.kind for task in run.block.tasks] == ["released"]
    assert not production.releases.behind


def test_a_long_look_for_raw_frames_is_followed_by_a_pause_and_a_quick_one_is_not(driver):
    run = driver("buffer.raw=release")
    releases = run.up().releases
    for frames, pause_s in ((100, 0.0), (100_000, 20.0)):
        files = dict.fromkeys(range(frames), ())
        releases._space = SimpleNamespace(files=files, releasable=lambda *_, **__: iter(()))
        releases._outbox.now = now = 10.0
        releases.begin(held=False)
        assert max(releases._rest, now) == pytest.approx(now + pause_s)
        releases._rest = 0.0


def published(run) -> list[str]:
    return [one.product for one in read(run.run.journal) if one.event == "product.published"]


def two_products(driver):
    """A driver whose frames have two products each, with one batch under way."""
    run = driver("product.t2.limits=[270, 310]", text=RECIPE + SECOND)
    run.up().sending.costs.making.update({"t2": 0.01, "q2": 0.02})
    run.watch((True,))
    run.turn()
    [task] = run.block.tasks
    assert len(task.about.orders) == 2
    return run, task


def test_a_product_is_published_while_its_batch_is_under_way(driver):
    run, task = two_products(driver)
    run.workers.end(task, "lost", 2)  # it has written one result, and nobody knows yet
    run.turn()
    first = task.about.orders[0].context.product
    assert published(run) == [first]
    assert not run.production.settled


def test_of_a_batch_whose_worker_died_only_what_was_not_published_is_made_again(driver):
    run, task = two_products(driver)
    first, second = (order.context.product for order in task.about.orders)
    run.results.append(run.workers.end(task, "lost", 2))
    run.block.tasks.clear()
    run.deliver(0)
    run.turn()
    [again] = run.block.tasks
    assert [order.context.product for order in again.about.orders] == [second]
    assert again.about.orders[0].tries == 2
    run.work(("made",), 0)
    run.deliver(0)
    run.turn()
    assert published(run) == [first, second]
    assert list(run.run.incoming.iterdir()) == []


def test_orders_that_were_not_begun_count_no_try(driver):
    run, task = two_products(driver)
    run.results.append(run.workers.end(task, "lost", 1))
    run.block.tasks.clear()
    run.deliver(0)
    run.turn()
    tries = {
        order.context.product: order.tries
        for again in run.block.tasks
        for order in again.about.orders
    }
    first, second = (order.context.product for order in task.about.orders)
    assert tries == {first: 2, second: 1}


def test_a_frame_that_two_products_read_counts_once_against_the_rate_of_reading(driver):
    run = driver("product.t2.limits=[270, 310]", text=RECIPE + SECOND)
    run.watch((True,))
    frame = run.frame(0)
    assert run.production.submit(0.0) == frame.bytes


def split_one(driver):
    """A driver with one volume that is to be made in three pieces, which are ordered."""
    run = driver(text=RECIPE.replace('kind = "map"\nvariable = "T2"', VOLUME) + GUARD)
    run.watch((True,))
    run.turn()
    [task] = run.block.tasks
    run.block.tasks.clear()
    run.take(WorkReturned(task.about, {0: OrderResult(pieces=3)}))
    run.turn()
    return run


def orders(run):
    return [order for task in run.block.tasks for order in task.about.orders]


def test_a_volume_is_published_with_its_pieces_when_its_table_is_made(driver):
    run = split_one(driver)
    assert sorted(order.piece for order in orders(run)) == [(0, 3), (1, 3), (2, 3)]
    assert all(order.guards == () for order in orders(run))
    run.work(("made",) * len(run.block.tasks), 0)
    run.deliver(0)
    run.turn()
    assert published(run) == []
    [table] = orders(run)
    assert (table.piece, len(table.joins)) == (None, 3)
    run.work(("made",), 0)
    run.deliver(0)
    run.turn()
    [event] = [one for one in read(run.run.journal) if one.event == "product.published"]
    assert len(event.pieces) == 3
    assert list(run.run.incoming.iterdir()) == []
    assert run.production.settled


def test_a_volume_with_a_piece_that_cannot_be_made_fails_once_and_leaves_nothing(driver):
    run = split_one(driver)
    run.work(("failed",) * len(run.block.tasks), 0)
    run.deliver(0)
    run.turn()
    names = [event.event for event in read(run.run.journal)]
    assert names.count("product.failed") == 1
    assert list(run.run.incoming.iterdir()) == []
    assert run.production.settled


def test_a_piece_whose_worker_died_is_made_again_alone(driver):
    run = split_one(driver)
    before = len(orders(run))
    tasks, run.block.tasks[:] = list(run.block.tasks), []
    lost, *others = tasks
    run.results += [run.workers.end(lost, "lost", 1)]
    run.results += [run.workers.end(task, "made", 1) for task in others]
    run.deliver(0)
    run.turn()
    done = sum(len(task.about.orders) for task in others)
    assert len(orders(run)) == before - done
    assert all(order.piece is not None for order in orders(run))


def test_a_damaged_frame_raises_one_alarm_for_itself_and_its_products(driver):
    run = driver("product.t2.limits=[270, 310]", text=RECIPE + SECOND)
    run.watch((False,))
    run.turn()
    while run.block.tasks:
        run.work(("made",) * 20, 0)
        run.deliver(0)
        run.turn(release=False)
    assert [one.event for one in read(run.run.journal)].count("product.failed") == 2
    [alarm] = run.production.snapshot.alarms
    assert "damaged frame" in alarm.text


def test_what_comes_back_with_the_end_of_a_run_is_published_and_nothing_else_is_begun(driver):
    run = driver()
    run.watch((True, True))
    run.turn()
    run.work(("made", "made"), 0)
    run.state.finish(Outcome("stopped", 4))
    run.deliver(0)
    run.watch((True,))
    run.turn()
    assert published(run) == []
    run.loop._take(RunOver())
    assert published(run) == ["t2", "t2"]
    assert run.block.tasks == []
