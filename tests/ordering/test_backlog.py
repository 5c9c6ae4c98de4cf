from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from events_case import event
from events_case import events as as_events

from burstlens.core.model import Damage
from burstlens.core.run.history import replay
from burstlens.viz.product import Context
from burstlens.workflows.ordering.backlog import Backlog

FIXED = "product.t2.limits=[270, 310]"


def key(number: int) -> str:
    return f"t{number:08d}.000"


@pytest.fixture
def backlog(recipe):
    """A backlog of the recipe with these settings, after these events."""

    def make(*settings, events=(), first_stream="output"):
        made = recipe(*settings)
        context = Context("storm-1", made.title, "", "", "", Path("files"))
        return Backlog(made.products, replay(as_events(events)), context, first_stream, "products")

    return make


def sort_of(order):
    return "placeholder" if order.damage else "remake" if order.remakes else "produce"


def taken(backlog, slots=100, now=0.0):
    return [(sort_of(order), order.frame.time) for order in backlog.take(now, slots)]


def test_the_newest_frame_comes_first(backlog, frame):
    waiting = backlog(FIXED)
    for number in (1, 3, 2):
        waiting.add(frame(key(number)))
    assert taken(waiting) == [("produce", key(number)) for number in (3, 2, 1)]


def test_no_more_is_under_way_than_there_are_slots(backlog, frame):
    waiting = backlog(FIXED)
    for number in range(4):
        waiting.add(frame(key(number)))
    assert len(taken(waiting, slots=2)) == 2
    assert taken(waiting, slots=2) == []
    waiting.returned()
    assert taken(waiting, slots=2) == [("produce", key(1))]
    assert (waiting.size, waiting.empty) == (3, False)


def test_a_frame_of_another_stream_wants_nothing(backlog, frame):
    waiting = backlog(FIXED, "product.t2.stream=other")
    assert waiting.add(frame(stream="output")) == ()
    assert waiting.add(frame(stream="other")) == ("t2",)


def test_what_is_settled_is_not_ordered_again(backlog, frame):
    published = {"event": "product.published", "product": "t2", "stream": "output", "t": 1.0}
    waiting = backlog(FIXED, events=[published | {"time": key(1), "attempt": 1}])
    assert waiting.add(frame(key(1))) == ()
    assert waiting.add(frame(key(1), attempt=2)) == ("t2",)  # the model was started again


def named(product, name, **common):
    """The same product under another name, with these common keys."""
    return replace(product, common=replace(product.common, name=name, **common))


def test_an_entered_product_is_made_of_the_frames_that_are_added_for_it_and_of_later_ones(
    backlog, frame
):
    waiting = backlog(FIXED)
    waiting.add(frame(key(1)))
    waiting.enter([named(waiting.products[0], "w")])
    assert waiting.add(frame(key(1)), {"w"}) == ("w",)
    assert waiting.add(frame(key(2))) == ("t2", "w")
    orders = [(order.context.product, order.frame.time) for order in waiting.take(0.0, 9)]
    assert orders == [("t2", key(2)), ("w", key(2)), ("t2", key(1)), ("w", key(1))]


def test_an_added_product_is_not_made_of_frames_that_it_passes_over(backlog, frame):
    events = [
        {"event": "frame.ready", "stream": "output", "time": key(1), "attempt": 1},
        {"event": "product.added", "product": "t2", "table": {}},
    ]
    waiting = backlog(FIXED, events=events)
    assert waiting.add(frame(key(1))) == ()
    assert waiting.add(frame(key(1), attempt=2)) == ("t2",)
    assert waiting.add(frame(key(2))) == ("t2",)


def test_without_a_first_stream_a_product_is_made_of_every_stream_unless_it_names_one(
    backlog, frame
):
    waiting = backlog(FIXED, first_stream=None)
    waiting.enter([named(waiting.products[0], "w", stream="d02")])
    assert waiting.add(frame(stream="d01")) == ("t2",)
    assert waiting.add(frame(stream="d02")) == ("t2", "w")
    assert [list(waiting.times_of(product)) for product in waiting.products] == [[], [key(1)]]


def test_the_times_of_a_product_are_each_nth_of_its_stream_in_order(backlog, frame):
    waiting = backlog(FIXED, "product.t2.every=2")
    waiting.enter([named(waiting.products[0], "w", stream="d02")])
    for number in (3, 1, 2, 5, 4, 3):
        waiting.add(frame(key(number)))
    every_other, none_yet = (list(waiting.times_of(product)) for product in waiting.products)
    assert every_other == [key(1), key(3), key(5)]
    assert none_yet == []


def test_an_order_names_its_frame_and_the_size_of_the_pictures_before_it(backlog, frame, staged):
    waiting = backlog(FIXED)
    receipt = replace(staged(), facts={"size": [800, 600]})
    for odd in ([800], "large", None):
        waiting.note_size(replace(receipt, facts={"size": odd}))
    waiting.add(frame(key(1)))
    waiting.note_size(receipt)
    waiting.add(frame(key(2), attempt=2))
    late, early = (order.context for order in waiting.take(0.0, 9))
    about = late.product, late.stream, late.time, late.attempt, late.size
    assert about == ("t2", "output", key(2), 2, (800, 600))
    assert early.size is None


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]])
def test_each_third_frame_is_counted_from_the_first_one(backlog, frame, order):
    seen = [{"event": "frame.ready", "stream": "output", "time": key(n), "attempt": 1}
            for n in range(6)]  # fmt: skip
    waiting = backlog(FIXED, "product.t2.every=3", events=seen)
    wanted = [number for number in order if waiting.add(frame(key(number)))]
    assert sorted(wanted) == [0, 3]


def test_each_third_frame_stays_the_same_when_the_model_restarts_midway(backlog, frame):
    waiting = backlog(FIXED, "product.t2.every=3")
    first = [number for number in range(5) if waiting.add(frame(key(number)))]
    second = [number for number in range(2, 8) if waiting.add(frame(key(number), attempt=2))]
    assert (first, second) == ([0, 3], [3, 6])


def test_each_second_frame_stays_the_same_when_a_driver_resumes_after_a_damaged_one(backlog, frame):
    about = {"stream": "output", "attempt": 1}
    seen = [{"event": "frame.ready", "time": key(0)}, {"event": "frame.damaged", "time": key(1)}]
    waiting = backlog(FIXED, "product.t2.every=2", events=[about | event for event in seen])
    assert [number for number in (2, 3, 4) if waiting.add(frame(key(number)))] == [2, 4]


def test_work_that_failed_is_tried_after_a_pause_that_grows(backlog, frame):
    waiting = backlog(FIXED)
    waiting.add(frame())
    now, pauses = 0.0, []
    for _ in range(7):
        [order] = waiting.take(now, 1)
        waiting.returned()
        waiting.again(order, now)
        begin = now
        while not taken(waiting, slots=0, now=now) and not waiting.waiting:
            now += 0.5
        pauses.append(now - begin)
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_orders_that_failed_at_once_are_tried_again_in_their_order(backlog, frame):
    waiting = backlog(FIXED)
    for attempt in (1, 2):
        waiting.add(frame(key(1), attempt=attempt))
    orders = list(waiting.take(0.0, 9))
    for order in orders:
        waiting.returned()
        waiting.again(order, 0.0)
    assert (waiting.size, waiting.empty) == (2, False)
    assert list(waiting.take(0.0, 9)) == []
    assert [order.about for order in waiting.take(60.0, 9)] == [order.about for order in orders]


def limits_of(low, high):
    return {"event": "product.limits", "product": "t2", "limits": [low, high]}


def drawn(number, limits, attempt=1, **facts):
    return {
        "event": "product.published", "product": "t2", "stream": "output", "time": key(number),
        "attempt": attempt, "t": 1.0, "limits": limits, "facts": facts,
    }  # fmt: skip


def test_the_first_picture_waits_for_no_limits(backlog, frame):
    waiting = backlog()
    waiting.add(frame())
    [order] = waiting.take(0.0, 1)
    assert order.context.limits is None


def test_a_picture_has_the_limits_that_hold_when_it_is_sent(backlog, frame):
    waiting = backlog(events=[limits_of(270, 290)])
    waiting.add(frame())
    waiting.history.apply(event(limits_of(270, 300)))
    [order] = waiting.take(0.0, 1)
    assert order.context.limits == (270.0, 300.0)


def test_outgrown_pictures_are_made_again_once_after_all_that_do_not_stand(backlog, frame):
    events = [drawn(1, None), drawn(2, [270, 290]), drawn(3, [270, 300]), limits_of(270, 300)]
    waiting = backlog(events=events)
    for number in (1, 2, 3, 4):
        assert (waiting.add(frame(key(number))) == ("t2",)) == (number == 4)
        waiting.refresh(frame(key(number)))
        waiting.refresh(frame(key(number)))
    orders = list(waiting.take(0.0, 100))
    found = [(sort_of(order), order.frame.time) for order in orders]
    assert found == [("produce", key(4)), ("remake", key(2)), ("remake", key(1))]
    assert {order.context.limits for order in orders} == {(270.0, 300.0)}
    assert waiting.remakes(frame(key(2)))
    assert not waiting.remakes(frame(key(3)))
    waiting.remade("t2", "output", key(2), 1)
    assert not waiting.remakes(frame(key(2)))


def test_a_picture_that_is_made_again_goes_after_an_older_frame_s_first(backlog, frame):
    waiting = backlog(events=[drawn(2, [270, 290]), limits_of(270, 300)])
    waiting.refresh(frame(key(2)))
    waiting.add(frame(key(1)))
    waiting.enter([named(waiting.products[0], "w")])
    assert waiting.remakes(frame(key(2)))
    assert taken(waiting) == [("produce", key(1)), ("remake", key(2))]


def test_a_picture_of_a_later_attempt_is_not_made_again_of_an_earlier_one_s_frame(backlog, frame):
    waiting = backlog(events=[drawn(1, [270, 290], attempt=2), limits_of(270, 300)])
    waiting.refresh(frame(key(1)))
    assert waiting.empty
    waiting.refresh(frame(key(1), attempt=2))
    assert taken(waiting) == [("remake", key(1))]


def test_a_placeholder_is_not_made_again(backlog, frame):
    waiting = backlog(events=[drawn(1, None, placeholder=True), limits_of(270, 300)])
    waiting.refresh(frame(key(1)))
    assert waiting.empty


def test_a_picture_that_cannot_be_made_again_is_left_as_it_is(backlog, frame):
    waiting = backlog(events=[drawn(1, [270, 290]), limits_of(270, 300)])
    waiting.refresh(frame(key(1)))
    [order] = waiting.take(0.0, 1)
    waiting.returned()
    waiting.keep(order)
    waiting.refresh(frame(key(1)))
    assert waiting.empty
    assert not waiting.remakes(frame(key(1)))


def test_limits_follow_the_frames_unless_the_recipe_gives_them(backlog):
    assert backlog().widens("t2")
    fixed = backlog(FIXED)
    assert not fixed.widens("t2")
    fixed.enter([named(backlog().products[0], "w")])
    assert (fixed.widens("t2"), fixed.widens("w"), fixed.widens("gone")) == (False, True, False)


def test_a_damaged_frame_gets_a_placeholder_in_each_series(backlog):
    waiting = backlog(FIXED)
    waiting.add_damage(Damage("storm-1", 1, "output", key(1), ("x",), 0, "cut short"))
    [order] = waiting.take(0.0, 1)
    assert (order.damage, order.frame.time) == ("cut short", key(1))


def test_a_damaged_frame_whose_time_nothing_shows_gets_none(backlog):
    waiting = backlog(FIXED)
    waiting.add_damage(Damage("storm-1", 1, "output", None, ("x",), 0, "cut short"))
    assert waiting.empty
