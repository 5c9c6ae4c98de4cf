from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from needs_case import key, made, needed, settle, state, taken

from burstlens.core.model import Damage, Needed
from burstlens.core.run.history import replay
from burstlens.viz.product import Context
from burstlens.workflows.ordering.backlog import Backlog


def test_a_chain_goes_from_the_oldest_frame_on_one_at_a_time(backlog, frame):
    waiting = backlog(made("track", chained=True))
    for number in (3, 1, 2):
        waiting.add(frame(key(number)))
    for number in (1, 2, 3):
        assert taken(waiting) == [("track", key(number))]
        assert taken(waiting) == []
        settle(waiting, "track", number)
    assert taken(waiting) == []
    assert waiting.empty


def test_a_chain_is_given_the_state_of_the_frame_before(backlog, frame):
    waiting = backlog(made("track", chained=True))
    given = []
    for number in (1, 2):
        waiting.add(frame(key(number)))
        [order] = waiting.take(0.0, 100)
        given.append(needed(waiting, order).previous)
        settle(waiting, "track", number)
    assert given == [(), (".states/1-1",)]


def test_a_restarted_model_continues_from_the_state_before_its_first_frame(backlog, frame):
    events = [state(number) for number in (1, 2, 3)]
    waiting = backlog(made("track", chained=True), events=events)
    given = []
    for number in (2, 3, 4):
        waiting.add(frame(key(number), attempt=2))
        [order] = waiting.take(0.0, 100)
        given.append(needed(waiting, order).previous)
        settle(waiting, "track", number, attempt=2)
    assert [newest for newest, *_ in given] == [".states/1-1", ".states/2-2", ".states/3-2"]


def test_a_frame_that_failed_leaves_the_chain_at_the_state_before_it(backlog, frame):
    waiting = backlog(made("track", chained=True), events=[state(1)])
    for number in (2, 3):
        waiting.add(frame(key(number)))
    assert taken(waiting) == [("track", key(2))]
    waiting.returned()
    waiting.needs.settled("track", "output", key(2), 1)
    [order] = waiting.take(0.0, 100)
    assert (order.frame.time, needed(waiting, order).previous) == (key(3), (".states/1-1",))


def test_work_that_is_tried_again_holds_its_chain(backlog, frame):
    waiting = backlog(made("track", chained=True))
    for number in (1, 2):
        waiting.add(frame(key(number)))
    [order] = waiting.take(0.0, 100)
    waiting.returned()
    waiting.again(order, 0.0)
    assert taken(waiting) == []
    assert [again.frame.time for again in waiting.take(60.0, 100)] == [key(1)]


def test_a_damaged_frame_does_not_hold_the_chain(backlog, frame):
    waiting = backlog(made("track", chained=True))
    waiting.add_damage(Damage("storm-1", 1, "output", key(1), ("x",), 0, "cut short"))
    waiting.add(frame(key(2)))
    assert taken(waiting) == [("track", key(2)), ("track", key(1))]


def test_a_placeholder_that_is_settled_meanwhile_starts_no_second_frame_of_the_chain(
    backlog, frame
):
    waiting = backlog(made("track", chained=True))
    waiting.add_damage(Damage("storm-1", 1, "output", key(0), ("x",), 0, "cut short"))
    for number in (1, 2):
        waiting.add(frame(key(number)))
    assert taken(waiting) == [("track", key(1)), ("track", key(0))]
    settle(waiting, "track", 0)
    assert taken(waiting) == []
    settle(waiting, "track", 1)
    assert taken(waiting) == [("track", key(2))]


def test_a_frame_that_two_attempts_wrote_is_open_until_both_are_settled(backlog, frame):
    waiting = backlog(made("track", chained=True), made("moving", follows=("track",)))
    for attempt in (1, 2):
        waiting.add(frame(key(1), attempt=attempt))

    def goes():
        orders = waiting.take(0.0, 100)
        return [(w.context.product, w.frame.attempt) for w in orders]

    assert goes() == [("track", 1)]
    assert goes() == []
    settle(waiting, "track", 1, attempt=1)
    assert goes() == [("track", 2)]
    settle(waiting, "track", 1, attempt=2)
    assert sorted(goes()) == [("moving", 1), ("moving", 2)]


def test_a_picture_that_is_made_again_does_not_free_the_chain(backlog, frame):
    waiting = backlog(made("track", chained=True))
    waiting.add(frame(key(0)))
    assert taken(waiting) == [("track", key(0))]
    settle(waiting, "track", 0)
    for attempt in (1, 2):
        waiting.add(frame(key(1), attempt=attempt))
    assert len(taken(waiting)) == 1
    waiting.needs.settled("track", "output", key(0), 1)
    assert taken(waiting) == []


def test_a_later_record_of_a_time_takes_the_place_of_the_earlier_one_in_a_chain(backlog, frame):
    waiting = backlog(made("track", chained=True))
    later = frame(key(1), record=1)
    waiting.add(frame(key(1)))
    assert len(taken(waiting)) == 1
    waiting.repeat(later)
    waiting.add(later)
    assert [order.frame for order in waiting.take(0.0, 100)] == [later]


def test_what_is_settled_twice_or_was_never_open_holds_nothing(backlog, frame):
    waiting = backlog(made("track", chained=True), made("plain"))
    waiting.add(frame(key(1)))
    assert len(taken(waiting)) == 2
    for product in ("plain", "track", "track"):
        waiting.needs.settled(product, "output", key(1), 1)
    waiting.add(frame(key(2)))
    assert sorted(taken(waiting)) == [("plain", key(2)), ("track", key(2))]


def test_a_product_without_needs_is_given_nothing_and_is_always_whole(backlog, frame):
    waiting = backlog(made("plain"), events=[state(1, "plain")])
    order = replace(waiting._order(waiting.products[0], frame(key(2))), remakes=True)
    assert needed(waiting, order) == Needed()
    assert waiting.needs.is_whole(order, Needed())


@pytest.mark.parametrize("order", [("track", "moving"), ("moving", "track")])
def test_what_follows_a_chain_waits_for_the_same_frame_of_it(backlog, frame, order):
    products = {
        "track": made("track", chained=True),
        "moving": made("moving", follows=("track",)),
    }
    waiting = backlog(*(products[name] for name in order))
    for number in (1, 2):
        waiting.add(frame(key(number)))
    assert taken(waiting) == [("track", key(1))]
    settle(waiting, "track", 1)
    first, second = list(waiting.take(0.0, 100))
    assert {first.frame.time, second.frame.time} == {key(1), key(2)}
    moving = first if first.context.product == "moving" else second
    assert moving.frame.time == key(1)
    assert needed(waiting, moving).followed == {"track": ".states/1-1"}


def test_what_follows_a_chain_that_failed_gets_the_state_before(backlog, frame):
    products = made("track", chained=True), made("moving", follows=("track",))
    waiting = backlog(*products, events=[state(1), state(1, "moving")])
    waiting.add(frame(key(2)))
    assert taken(waiting) == [("track", key(2))]
    waiting.returned()
    waiting.needs.settled("track", "output", key(2), 1)
    [order] = waiting.take(0.0, 100)
    assert needed(waiting, order).followed == {"track": ".states/1-1"}


def test_what_follows_a_chain_that_stands_already_goes_at_once(backlog, frame):
    products = made("track", chained=True), made("moving", follows=("track",))
    waiting = backlog(*products, events=[state(1)])
    waiting.add(frame(key(1)))
    [order] = waiting.take(0.0, 100)
    assert order.context.product == "moving"
    assert needed(waiting, order).followed == {"track": ".states/1-1"}


def test_what_follows_a_chain_without_a_state_goes_without(backlog, frame):
    waiting = backlog(made("track", chained=True), made("moving", follows=("track",)))
    waiting.add(frame(key(1)))
    assert taken(waiting) == [("track", key(1))]
    waiting.returned()
    waiting.needs.settled("track", "output", key(1), 1)
    [order] = waiting.take(0.0, 100)
    assert needed(waiting, order).followed == {}


def test_what_follows_a_chain_of_every_other_frame_waits_for_the_one_before(backlog, frame):
    track = made("track", chained=True)
    sparse = replace(track, common=replace(track.common, every=2))
    waiting = backlog(sparse, made("moving", follows=("track",)))
    for number in (0, 1):
        waiting.add(frame(key(number)))
    assert taken(waiting) == [("track", key(0))]
    settle(waiting, "track", 0)
    assert sorted(taken(waiting)) == [("moving", key(0)), ("moving", key(1))]


def test_what_follows_two_chains_waits_for_both(backlog, frame):
    tracks = made("eye", chained=True), made("vortex", chained=True)
    waiting = backlog(*tracks, made("moving", follows=("eye", "vortex")))
    waiting.add(frame(key(1)))
    assert sorted(taken(waiting)) == [("eye", key(1)), ("vortex", key(1))]
    settle(waiting, "eye", 1)
    assert taken(waiting) == []
    settle(waiting, "vortex", 1)
    assert taken(waiting) == [("moving", key(1))]


def test_a_chain_that_is_entered_goes_one_frame_at_a_time(backlog, frame):
    waiting = backlog(made("plain"))
    waiting.enter([made("track", chained=True)])
    for number in (1, 2):
        waiting.add(frame(key(number)))
    assert taken(waiting) == [("plain", key(2)), ("plain", key(1)), ("track", key(1))]


def test_guards_do_not_ride_on_what_waits(recipe, frame):
    text = """\
title = "Any program"
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
[[guard]]
name = "hot"
variable = "T2"
max = 320
then = "alarm"
"""
    context = Context("storm-1", "Any", "", "", "", Path("files"))
    products = [made("track", chained=True), made("plain")]
    guards = recipe(text=text).guards
    waiting = Backlog(products, replay([]), context, "output", "products", guards)
    for number in (1, 2):
        waiting.add(frame(key(number)))
    inspecting = [
        (order.context.product, order.frame.time)
        for order in waiting.take(0.0, 100)
        if order.inspects
    ]
    assert sorted(inspecting) == [("plain", key(1)), ("plain", key(2))]


def test_a_picture_is_not_made_again_without_the_track_that_it_followed(backlog, frame):
    for events, whole in (([state(1)], True), ([state(3)], False)):
        waiting = backlog(made("map", follows=("track",)), events=events)
        order = replace(waiting._order(waiting.products[0], frame(key(2))), remakes=True)
        assert waiting.needs.is_whole(order, needed(waiting, order)) == whole
