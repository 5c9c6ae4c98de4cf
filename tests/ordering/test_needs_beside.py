"""Products that look at another stream: what waits for its frames, and which are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from events_case import event
from needs_case import key, made, needed, settle, taken

from burstlens.core.run.history import replay
from burstlens.viz.product import Context
from burstlens.workflows.ordering.backlog import Backlog
from burstlens.workflows.ordering.needs import AHEAD


def test_what_shows_a_nest_waits_until_the_nest_is_as_far(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)))
    waiting.add(frame(key(1)))
    assert taken(waiting) == []
    assert (waiting.size, waiting.empty) == (1, False)
    nest = frame(key(1), stream="d02")
    waiting.add(nest)
    [order] = waiting.take(0.0, 100)
    assert needed(waiting, order, [nest]).beside == {"d02": nest}


def test_a_nest_that_starts_late_holds_up_no_frame_for_long(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)))
    waiting.add(frame(key(1)))
    waiting.needs.look()
    assert taken(waiting) == []
    for number in (2, 3):
        waiting.add(frame(key(number)))
    waiting.needs.look()
    assert taken(waiting) == [("nested", key(2)), ("nested", key(1))]
    waiting.needs.ended = True
    [order] = waiting.take(0.0, 100)
    assert (order.frame.time, needed(waiting, order).beside) == (key(3), {})


def test_a_look_that_meets_the_parents_next_frame_first_leaves_the_nest_out_of_no_map(
    backlog, frame
):
    waiting = backlog(made("nested", beside=("d02",)))
    for number in (1, 2):
        waiting.add(frame(key(number)))
    assert taken(waiting) == []
    waiting.needs.look()
    nests = [frame(key(number), stream="d02") for number in (1, 2)]
    for nest in nests:
        waiting.add(nest)
    orders = {order.frame.time: order for order in waiting.take(0.0, 100)}
    found = [needed(waiting, orders[nest.time], nests).beside for nest in nests]
    assert found == [{"d02": nest} for nest in nests]


def test_nothing_waits_for_a_stream_that_the_model_will_not_write(frame):
    context = Context("storm-1", "Any", "", "", "", Path("files"))
    products = [made("nested", beside=("d02", "d03"))]
    waiting = Backlog(
        products, replay([]), context, "output", "products", streams=("output", "d02")
    )
    waiting.add(frame(key(1)))
    assert taken(waiting) == []
    waiting.add(frame(key(1), stream="d02"))
    assert taken(waiting) == [("nested", key(1))]


def test_a_stream_that_came_is_waited_for_whatever_the_settings_say(frame):
    context = Context("storm-1", "Any", "", "", "", Path("files"))
    products = [made("nested", beside=("d02",))]
    waiting = Backlog(products, replay([]), context, "output", "products", streams=("output",))
    waiting.add(frame(key(1)))
    assert taken(waiting) == [("nested", key(1))]
    for stream in ("d02", "output"):
        waiting.add(frame(key(2 if stream == "output" else 1), stream=stream))
    assert taken(waiting) == []


def test_the_nests_frame_is_kept_until_what_shows_it_is_made(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)))
    old, new, other = (
        frame(key(number), stream=stream) for number, stream in ((1, "d02"), (2, "d02"), (1, "d03"))
    )
    for each in (old, new, other, frame(key(1)), frame(key(2))):
        waiting.add(each)
    kept = [(each.stream, each.time) for each in (old, new, other) if waiting.needs.keeps(each)]
    assert kept == [("d02", key(1)), ("d02", key(2))]
    assert len(taken(waiting)) == 2
    settle(waiting, "nested", 1)
    assert [waiting.needs.keeps(each) for each in (old, new)] == [False, True]
    settle(waiting, "nested", 2)
    assert waiting.needs.keeps(new)  # the next frame may still want it
    waiting.needs.ended = True
    assert not waiting.needs.keeps(new)


def test_a_resumed_driver_knows_how_far_the_nest_was(backlog, frame):
    seen = {"event": "frame.ready", "stream": "d02", "time": key(1), "attempt": 1}
    waiting = backlog(made("nested", beside=("d02",)), events=[event(seen)])
    waiting.add(frame(key(1)))
    assert taken(waiting) == [("nested", key(1))]


def test_a_restarted_model_is_waited_for_anew(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)))
    for number in (1, 2, 3):
        waiting.add(frame(key(number)))
        waiting.add(frame(key(number), stream="d02"))
    assert len(taken(waiting)) == 3
    for number in (1, 2, 3):
        settle(waiting, "nested", number)
    waiting.add(frame(key(2), attempt=2))
    assert taken(waiting) == []  # the nest's frame of the first start is none of the second
    again = frame(key(2), stream="d02", attempt=2)
    waiting.add(again)
    assert waiting.needs.keeps(again)
    assert taken(waiting) == [("nested", key(2))]


def test_a_nest_that_is_ahead_is_kept_for_the_parents_next_frame(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)))
    nests = [frame(key(number), stream="d02") for number in range(4)]
    waiting.add(nests[0])
    assert waiting.needs.keeps(nests[0])  # the parent has no frame yet
    waiting.add(frame(key(0)))
    assert taken(waiting) == [("nested", key(0))]
    settle(waiting, "nested", 0)
    for nest in nests[1:]:
        waiting.add(nest)
    assert all(waiting.needs.keeps(nest) for nest in nests)
    waiting.add(frame(key(2)))
    assert [waiting.needs.keeps(nest) for nest in nests] == [False, False, True, True]


def test_a_nest_that_is_far_ahead_does_not_fill_the_buffer(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)))
    nests = [frame(key(number), stream="d02") for number in range(AHEAD + 5)]
    for nest in nests:
        waiting.add(nest)
    assert sum(waiting.needs.keeps(nest) for nest in nests) == AHEAD


def test_a_nest_that_is_seen_again_or_out_of_order_counts_once(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)))
    nests = [frame(key(number), stream="d02") for number in range(AHEAD + 5)]
    for nest in (*reversed(nests), *nests):
        waiting.add(nest)
    assert [waiting.needs.keeps(nest) for nest in nests] == [False] * 5 + [True] * AHEAD


def test_a_nest_is_kept_for_a_map_that_is_to_be_made_however_far_it_is_ahead(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)))
    nests = [frame(key(number), stream="d02") for number in range(AHEAD + 5)]
    waiting.add(frame(key(0)))
    for nest in nests:
        waiting.add(nest)
    waiting.needs.ended = True
    assert waiting.needs.keeps(nests[0])
    settle(waiting, "nested", 0)
    assert not waiting.needs.keeps(nests[0])


def test_a_product_without_needs_keeps_no_frame_of_another_stream(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)), made("plain"))
    nests = [frame(key(number), stream="d02") for number in (1, 2)]
    for each in (*nests, frame(key(1)), frame(key(2))):
        waiting.add(each)
    for number in (1, 2):
        settle(waiting, "nested", number)
    assert [waiting.needs.keeps(nest) for nest in nests] == [False, True]


def test_a_map_of_another_nest_keeps_no_frame_of_this_one(backlog, frame):
    waiting = backlog(made("one", beside=("d02",)), made("other", beside=("d03",)))
    nests = [frame(key(number), stream="d02") for number in (1, 2)]
    for each in (*nests, frame(key(1)), frame(key(2))):
        waiting.add(each)
    for number in (1, 2):
        settle(waiting, "one", number)
    assert [waiting.needs.keeps(nest) for nest in nests] == [False, True]


def test_a_nest_is_kept_for_a_map_of_a_stream_that_is_not_the_first(backlog, frame):
    waiting = backlog(made("nested", stream="d01", beside=("d02",)))
    nests = [frame(key(number), stream="d02") for number in (1, 2)]
    for each in (*nests, frame(key(1), stream="d01"), frame(key(2), stream="d01")):
        waiting.add(each)
    assert all(waiting.needs.keeps(nest) for nest in nests)
    waiting.needs.settled("nested", "d01", key(1), 1)
    assert [waiting.needs.keeps(nest) for nest in nests] == [False, True]


def test_frames_of_a_former_attempt_are_neither_waited_for_nor_kept(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)))
    old = frame(key(1), stream="d02")
    waiting.add(old)
    waiting.add(frame(key(3)))
    assert taken(waiting) == []
    waiting.add(frame(key(2), attempt=2))
    waiting.add(frame(key(2), stream="d02", attempt=2))
    waiting.add(frame(key(4)))  # of the former attempt, whose nest writes no more
    assert sorted(taken(waiting)) == [("nested", key(number)) for number in (2, 3, 4)]
    assert waiting.needs.keeps(old)
    for number in (3, 4):
        settle(waiting, "nested", number)
    assert not waiting.needs.keeps(old)


@pytest.mark.parametrize(("there", "whole"), [((1, 2), True), ((1,), False), ((), False)])
def test_a_picture_is_made_again_only_with_the_frame_beside_that_it_showed(
    backlog, frame, there, whole
):
    waiting = backlog(made("map", beside=("d02",)))
    for number in (1, 2, 3):
        waiting.add(frame(key(number), stream="d02"))
    frames = [frame(key(number), stream="d02") for number in there]
    order = replace(waiting._order(waiting.products[0], frame(key(2))), remakes=True)
    assert waiting.needs.is_whole(order, needed(waiting, order, frames)) == whole


def test_a_picture_is_made_again_without_a_frame_beside_where_there_never_was_one(backlog, frame):
    waiting = backlog(made("map", beside=("d02",)))
    order = replace(waiting._order(waiting.products[0], frame(key(2))), remakes=True)
    assert waiting.needs.is_whole(order, needed(waiting, order))
