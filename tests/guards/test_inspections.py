"""Which work runs the guards: once per frame, before all else, even while products are paused."""

from __future__ import annotations

from pathlib import Path

import pytest
from events_case import event

from burstlens.core.run.history import History, replay
from burstlens.viz.product import Context
from burstlens.workflows.ordering.backlog import Backlog
from burstlens.workflows.ordering.space import Space

PRODUCTS = """
[[product]]
name = "t2"
kind = "map"
variable = "T2"
limits = [270, 310]
[[product]]
name = "w"
kind = "map"
variable = "W"
limits = [-1, 1]
"""
GUARDS = """
[[guard]]
name = "w"
variable = "W"
[[guard]]
name = "cold"
expression = "min(T2) < 200"
[[guard]]
name = "nest"
stream = "d02"
variable = "W"
[[guard]]
log = "NaN"
"""


@pytest.fixture
def backlog(recipe, recipe_file):
    """A backlog of these products and guards, with this history."""

    def make(products=PRODUCTS, guards=GUARDS, history=None):
        text = (
            'title = "Any"\n[simulation]\nmodel = "command"\ncommand = ["./model.sh"]\n'
            'frames = { d01 = "a_*.nc", d02 = "b_*.nc" }\ninputs = "inputs"\n'
        )
        made = recipe(text=text + products + guards)
        context = Context("storm-1", made.title, "", "", "", Path("files"))
        found = history or History()
        return Backlog(made.products, found, context, "d01", "products", made.guards)

    return make


def names(order):
    return [guard.called for guard in order.guards]


def test_the_first_product_of_a_frame_carries_every_guard_of_its_stream(backlog, frame):
    waiting = backlog()
    waiting.add(frame(stream="d01"))
    first, second = waiting.take(0.0, 10)
    assert (first.context.product, first.inspects) == ("t2", True)
    assert names(first) == ["w", "cold"]
    # The map of W has the guard evaluated only for its own ring: the frame counts as inspected.
    assert (second.context.product, second.inspects) == ("w", False)
    assert names(second) == ["w"]


def test_guards_are_told_the_units_of_the_maps(backlog, frame):
    shown = 'kind = "map"\nvariable = "T2"\n'
    waiting = backlog(PRODUCTS.replace(shown, shown + 'units = "degC"\n'))
    waiting.add(frame(stream="d01"))
    first, second = waiting.take(0.0, 10)
    assert (first.shown_units, second.shown_units) == ({"T2": "degC"}, {})


def test_a_frame_without_products_is_inspected_on_its_own(backlog, frame):
    waiting = backlog()
    assert waiting.add(frame(stream="d02", attempt=2)) == ()
    (order,) = waiting.take(0.0, 10)
    assert (order.kind, names(order), order.inspects) == ("", ["nest"], True)
    context = order.context
    assert (context.stream, context.time, context.attempt) == ("d02", "t00000001.000", 2)
    waiting.returned()
    assert waiting.empty


def test_work_with_guards_goes_before_newer_frames_that_are_inspected(backlog, frame):
    waiting = backlog()
    for second in (1, 2):
        waiting.add(frame(f"t0000000{second}.000", stream="d01"))
    order = [(w.frame.time[8], w.inspects) for w in waiting.take(0.0, 10)]
    assert order == [("2", True), ("1", True), ("2", False), ("1", False)]


def test_at_most_as_many_frames_as_slots_are_inspected_at_a_time(backlog, frame):
    waiting = backlog()
    for second in (1, 2, 3):
        waiting.add(frame(f"t0000000{second}.000", stream="d02"))
    assert len(list(waiting.take(0.0, 2))) == 2
    assert waiting.size == 3
    waiting.returned()
    assert [order.kind for order in waiting.take(0.0, 2)] == [""]


def test_while_products_are_paused_guards_still_inspect(backlog, frame):
    waiting = backlog()
    waiting.add(frame("t00000001.000", stream="d01"))
    waiting.history.paused = True
    waiting.add(frame("t00000002.000", stream="d01"))
    orders = list(waiting.take(0.0, 10))
    assert [order.kind for order in orders] == ["", ""]
    assert {order.frame.time for order in orders} == {"t00000001.000", "t00000002.000"}
    assert list(waiting.take(0.0, 10)) == []
    waiting.history.paused = False
    after = list(waiting.take(0.0, 10))
    assert [order.kind for order in after] == ["map"] * 4
    assert not any(order.inspects for order in after)
    assert {tuple(names(order)) for order in after if order.context.product == "t2"} == {()}


def test_a_frame_that_was_inspected_is_not_inspected_again(backlog, frame):
    seen = {"event": "frame.inspected", "stream": "d01", "time": "t00000001.000", "attempt": 1}
    waiting = backlog(history=replay([event(seen)]))
    waiting.add(frame("t00000001.000", stream="d01"))
    assert not any(order.inspects for order in waiting.take(0.0, 10))
    waiting.add(frame("t00000001.000", stream="d01", attempt=2))
    assert sum(order.inspects for order in waiting.take(0.0, 10)) == 1


def test_a_frame_that_a_product_is_added_for_is_not_inspected_twice(backlog, frame):
    waiting = backlog()
    for names in (None, {"w"}):
        waiting.add(frame(stream="d01"), names)
    assert sum(order.inspects for order in waiting.take(0.0, 10)) == 1


def test_a_recipe_without_guards_has_no_inspections(backlog, frame):
    waiting = backlog(guards="")
    waiting.add(frame(stream="d01"))
    assert [(w.guards, w.inspects) for w in waiting.take(0.0, 9)] == [((), False)] * 2


def test_a_frame_is_not_released_before_guards_have_read_it(backlog, recipe, frame):
    waiting = backlog()
    space = Space(
        recipe(raw="release"), waiting.history, None, guarded=lambda f: bool(waiting.watching(f))
    )
    one = frame(stream="d02")
    space.add(one, ())
    assert list(space.releasable(set(), held=False)) == []
    waiting.history.inspected.add((one.stream, one.time, one.attempt))
    assert list(space.releasable(set(), held=False)) == [[one]]
