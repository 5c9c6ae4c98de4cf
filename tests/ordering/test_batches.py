from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstlens.core.model import Frame, Receipt
from burstlens.viz.product import Context
from burstlens.workflows.making.order import Order
from burstlens.workflows.ordering.batches import BATCH_S, LONGEST_S, MOST, Costs, batches

CONTEXT = Context("storm-1", "Any", "", "", "", Path("files"))


def order_of(product: str, number: int = 0, **more: Any) -> Order:
    about = "output", f"t{number:08d}.000", (f"storm-1/1/out_{number}.nc",), 0
    frame = Frame("storm-1", 1, *about, 1000, 1.0, 1.1, "header")
    order = Order("map", None, replace(CONTEXT, product=product), frame, "products", tries=1)
    return replace(order, **more)


def names(found) -> list[str]:
    return [" ".join(one.context.product for one in batch) for batch in found]


def times(found) -> list[list[int]]:
    return [[int(one.frame.time[1:9]) for one in batch] for batch in found]


def test_the_products_of_a_frame_go_together_the_quickest_first():
    costs = Costs({"volume": 0.5, "map": 0.06, "wind": 0.07})
    orders = [order_of(name) for name in ("volume", "map", "wind")]
    assert names(batches(orders, 1, costs)) == ["map wind volume"]


def test_a_dear_product_has_an_idle_worker_of_its_own():
    costs = Costs({"volume": 0.5, "map": 0.06, "wind": 0.07, "rain": 0.06})
    orders = [order_of(name) for name in ("volume", "map", "wind", "rain")]
    assert sorted(names(batches(orders, 2, costs))) == ["map rain wind", "volume"]


def test_quick_products_are_not_worth_a_second_worker():
    costs = Costs({"map": 0.06, "wind": 0.07})
    assert names(batches([order_of("map"), order_of("wind")], 8, costs)) == ["map wind"]


def test_a_frame_that_takes_longer_to_read_than_to_draw_is_read_once():
    costs = Costs({"map": 0.2, "wind": 0.2}, reading={"map": 3.0})
    assert names(batches([order_of("map"), order_of("wind")], 2, costs)) == ["map wind"]


def test_products_that_were_never_made_are_spread_over_the_idle_workers():
    orders = [order_of(name) for name in "abcd"]
    assert sorted(names(batches(orders, 2, Costs()))) == ["a c", "b d"]
    assert names(batches(orders, 1, Costs())) == ["a b c d"]


def test_small_products_of_several_frames_share_a_batch():
    costs = Costs({"mean": BATCH_S / 10})
    found = batches([order_of("mean", n) for n in range(25)], 1, costs)
    assert [len(batch) for batch in found] == [10, 10, 5]


def test_frames_share_no_batch_while_there_is_an_idle_worker_for_each():
    costs = Costs({"mean": BATCH_S / 10})
    assert times(batches([order_of("mean", 2), order_of("mean", 1)], 2, costs)) == [[2], [1]]


@pytest.mark.parametrize("idle", [0, 1, 2])
def test_a_frame_is_cut_into_batches_that_do_not_hold_up_what_is_more_urgent(idle):
    costs = Costs(dict.fromkeys("abcdef", LONGEST_S / 2))
    found = batches([order_of(name) for name in "abcdef"], idle, costs)
    assert [len(batch) for batch in found] == [2, 2, 2]


def test_a_product_that_failed_before_goes_alone():
    costs = Costs(dict.fromkeys("abc", 0.001))
    orders = [order_of("a", 1), order_of("b", 1, tries=2), order_of("c", 0)]
    assert names(batches(orders, 0, costs)) == ["a", "b", "c"]


def test_what_is_made_again_waits_apart_from_what_is_new():
    costs = Costs(dict.fromkeys("ab", 0.001))
    orders = [order_of("a", 1), order_of("b", 1, remakes=True), order_of("a", remakes=True)]
    assert names(batches(orders, 0, costs)) == ["a", "b a"]


def test_the_order_with_which_guards_look_at_the_frame_goes_first():
    costs = Costs({"map": 0.06, "scene": 0.5})
    orders = [order_of("map"), order_of("scene", inspects=True)]
    assert names(batches(orders, 1, costs)) == ["scene map"]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5), st.integers(1, 2)), max_size=200),
    st.integers(0, 9),
    st.dictionaries(st.sampled_from("abc"), st.floats(0, 3)),
)
def test_each_work_is_in_one_batch_of_a_moderate_size(drawn, idle, making):
    orders = [order_of(name, number, tries=tries) for name, number, tries in drawn]
    found = batches(orders, idle, Costs(making))
    assert sorted(id(one) for batch in found for one in batch) == sorted(map(id, orders))
    assert all(0 < len(batch) <= MOST for batch in found)


def receipt(started: float, read: float, staged: float, reading_s: float) -> Receipt:
    clock = {"started": started, "read": read, "staged": staged, "reading_s": reading_s}
    return Receipt("map", "output", "t", 1, "u", "i", "n", 1, 1, clock=clock)


def test_what_a_product_costs_is_measured_without_what_it_read():
    costs = Costs()
    costs.note(order_of("map"), receipt(0.0, 0.25, 2.0, 0.5), first=True)
    assert (costs.making["map"], costs.reading["map"]) == (1.25, 0.75)
    costs.note(order_of("map"), receipt(0.0, 0.0, 0.25, 0.0), first=False)
    assert costs.making["map"] == pytest.approx(0.7 * 1.25 + 0.3 * 0.25)
    assert costs.reading["map"] == 0.75


def test_a_piece_costs_something_else_than_a_whole_product():
    costs = Costs({"volume": 8.0})
    costs.note(order_of("volume", piece=(0, 4)), receipt(0.0, 0.0, 2.0, 0.0), first=False)
    assert costs.of(order_of("volume")) == 8.0
    assert costs.of(order_of("volume", piece=(0, 4))) == 2.0


def test_a_receipt_without_a_clock_says_nothing_about_costs():
    costs = Costs()
    costs.note(order_of("map"), replace(receipt(0, 0, 0, 0), clock={"started": 1.0}), first=True)
    assert costs == Costs()
