from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from burstlens.model import Damage, Needed
from burstlens.viz.product import Context
from burstlens.workflows.backlog import Backlog, Work
from burstlens.workflows.history import replay
from burstlens.workflows.needs import AHEAD
from burstlens.workflows.recipe import MadeProduct, Product


@dataclass(frozen=True)
class Options:
    chained: bool = False
    follows: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


class Kind:
    """A kind as a plugin may be: what it needs stands in its options."""

    name = "any"
    options = Options

    def chained(self, options):
        return options.chained

    def follows(self, options):
        return options.follows

    def beside(self, options):
        return options.beside

    def extensions(self, options):
        return ("csv",)

    def ships(self, options):
        return ()

    def widens(self, options):
        return False


def key(number: int) -> str:
    return f"t{number:08d}.000"


def made(name, stream=None, **options):
    return MadeProduct(Product(name=name, kind="any", stream=stream), Kind(), Options(**options))


@pytest.fixture
def backlog():
    """A backlog of these products, after these events."""

    def make(*products, events=()):
        context = Context("storm-1", "Any", "", "", "", Path("files"))
        return Backlog(products, replay(events), context, "output", "products")

    return make


def state(number, product="track", attempt=1):
    return {
        "event": "product.published", "product": product, "stream": "output", "t": 1.0,
        "time": key(number), "attempt": attempt, "state": {"name": f".states/{number}-{attempt}"},
    }  # fmt: skip


def taken(waiting, slots=100):
    """Product and time of what goes now."""
    found = list(waiting.take(0.0, slots))
    return [(work.order.context.product, work.order.frame.time) for work in found]


def settle(waiting, product, number, attempt=1):
    waiting.returned()
    waiting.history.apply(state(number, product, attempt))
    waiting.needs.settled(product, "output", key(number), attempt)


def needed(waiting, work, frames=()):
    def newest(stream, beside):
        found = [f for f in frames if f.stream == stream and f.time <= beside.time]
        return max(found, key=lambda frame: frame.time, default=None)

    return waiting.needs.of(work, waiting.history.states, newest)


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
        [work] = waiting.take(0.0, 100)
        given.append(needed(waiting, work).previous)
        settle(waiting, "track", number)
    assert given == [(), (".states/1-1",)]


def test_a_restarted_model_goes_on_from_the_state_before_its_first_frame(backlog, frame):
    events = [state(number) for number in (1, 2, 3)]
    waiting = backlog(made("track", chained=True), events=events)
    given = []
    for number in (2, 3, 4):
        waiting.add(frame(key(number), attempt=2))
        [work] = waiting.take(0.0, 100)
        given.append(needed(waiting, work).previous)
        settle(waiting, "track", number, attempt=2)
    assert [newest for newest, *_ in given] == [".states/1-1", ".states/2-2", ".states/3-2"]


def test_a_frame_that_failed_leaves_the_chain_at_the_state_before_it(backlog, frame):
    waiting = backlog(made("track", chained=True), events=[state(1)])
    for number in (2, 3):
        waiting.add(frame(key(number)))
    assert taken(waiting) == [("track", key(2))]
    waiting.returned()
    waiting.needs.settled("track", "output", key(2), 1)
    [work] = waiting.take(0.0, 100)
    assert (work.order.frame.time, needed(waiting, work).previous) == (key(3), (".states/1-1",))


def test_work_that_is_tried_again_holds_its_chain(backlog, frame):
    waiting = backlog(made("track", chained=True))
    for number in (1, 2):
        waiting.add(frame(key(number)))
    [work] = waiting.take(0.0, 100)
    waiting.returned()
    waiting.again(work, 0.0)
    assert taken(waiting) == []
    assert [again.order.frame.time for again in waiting.take(60.0, 100)] == [key(1)]


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
        works = waiting.take(0.0, 100)
        return [(w.order.context.product, w.order.frame.attempt) for w in works]

    assert goes() == [("track", 1)]
    assert goes() == []
    settle(waiting, "track", 1, attempt=1)
    assert goes() == [("track", 2)]
    settle(waiting, "track", 1, attempt=2)
    assert sorted(goes()) == [("moving", 1), ("moving", 2)]


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
    work = Work("remake", waiting._order(waiting.products[0], frame(key(2))))
    assert needed(waiting, work) == Needed()
    assert waiting.needs.is_whole(work, Needed())


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
    assert {first.order.frame.time, second.order.frame.time} == {key(1), key(2)}
    moving = first if first.order.context.product == "moving" else second
    assert moving.order.frame.time == key(1)
    assert needed(waiting, moving).followed == {"track": ".states/1-1"}


def test_what_follows_a_chain_that_failed_gets_the_state_before(backlog, frame):
    products = made("track", chained=True), made("moving", follows=("track",))
    waiting = backlog(*products, events=[state(1), state(1, "moving")])
    waiting.add(frame(key(2)))
    assert taken(waiting) == [("track", key(2))]
    waiting.returned()
    waiting.needs.settled("track", "output", key(2), 1)
    [work] = waiting.take(0.0, 100)
    assert needed(waiting, work).followed == {"track": ".states/1-1"}


def test_what_follows_a_chain_that_stands_already_goes_at_once(backlog, frame):
    products = made("track", chained=True), made("moving", follows=("track",))
    waiting = backlog(*products, events=[state(1)])
    waiting.add(frame(key(1)))
    [work] = waiting.take(0.0, 100)
    assert work.order.context.product == "moving"
    assert needed(waiting, work).followed == {"track": ".states/1-1"}


def test_what_follows_a_chain_without_a_state_goes_without(backlog, frame):
    waiting = backlog(made("track", chained=True), made("moving", follows=("track",)))
    waiting.add(frame(key(1)))
    assert taken(waiting) == [("track", key(1))]
    waiting.returned()
    waiting.needs.settled("track", "output", key(1), 1)
    [work] = waiting.take(0.0, 100)
    assert needed(waiting, work).followed == {}


def test_what_follows_a_chain_of_every_other_frame_waits_for_the_one_before(backlog, frame):
    track = made("track", chained=True)
    sparse = replace(track, common=replace(track.common, every=2))
    waiting = backlog(sparse, made("moving", follows=("track",)))
    for number in (0, 1):
        waiting.add(frame(key(number)))
    assert taken(waiting) == [("track", key(0))]
    settle(waiting, "track", 0)
    assert sorted(taken(waiting)) == [("moving", key(0)), ("moving", key(1))]


def test_what_shows_a_nest_waits_until_the_nest_is_as_far(backlog, frame):
    waiting = backlog(made("nested", beside=("d02",)))
    waiting.add(frame(key(1)))
    assert taken(waiting) == []
    assert (waiting.size, waiting.empty) == (1, False)
    nest = frame(key(1), stream="d02")
    waiting.add(nest)
    [work] = waiting.take(0.0, 100)
    assert needed(waiting, work, [nest]).beside == {"d02": nest}


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
    [work] = waiting.take(0.0, 100)
    assert (work.order.frame.time, needed(waiting, work).beside) == (key(3), {})


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
    works = {work.order.frame.time: work for work in waiting.take(0.0, 100)}
    found = [needed(waiting, works[nest.time], nests).beside for nest in nests]
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


def test_what_follows_two_chains_waits_for_both(backlog, frame):
    tracks = made("eye", chained=True), made("vortex", chained=True)
    waiting = backlog(*tracks, made("moving", follows=("eye", "vortex")))
    waiting.add(frame(key(1)))
    assert sorted(taken(waiting)) == [("eye", key(1)), ("vortex", key(1))]
    settle(waiting, "eye", 1)
    assert taken(waiting) == []
    settle(waiting, "vortex", 1)
    assert taken(waiting) == [("moving", key(1))]


def test_a_resumed_driver_knows_how_far_the_nest_was(backlog, frame):
    seen = {"event": "frame.ready", "stream": "d02", "time": key(1), "attempt": 1}
    waiting = backlog(made("nested", beside=("d02",)), events=[seen])
    waiting.add(frame(key(1)))
    assert taken(waiting) == [("nested", key(1))]


def test_a_chain_that_is_entered_goes_one_frame_at_a_time(backlog, frame):
    waiting = backlog(made("plain"))
    waiting.enter([made("track", chained=True)])
    for number in (1, 2):
        waiting.add(frame(key(number)))
    assert taken(waiting) == [("plain", key(2)), ("plain", key(1)), ("track", key(1))]


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
        (work.order.context.product, work.order.frame.time)
        for work in waiting.take(0.0, 100)
        if work.order.inspects
    ]
    assert sorted(inspecting) == [("plain", key(1)), ("plain", key(2))]


@pytest.mark.parametrize(("there", "whole"), [((1, 2), True), ((1,), False), ((), False)])
def test_a_picture_is_made_again_only_with_the_frame_beside_that_it_showed(
    backlog, frame, there, whole
):
    waiting = backlog(made("map", beside=("d02",)))
    for number in (1, 2, 3):
        waiting.add(frame(key(number), stream="d02"))
    order = waiting._order(waiting.products[0], frame(key(2)))
    frames = [frame(key(number), stream="d02") for number in there]
    work = Work("remake", order)
    assert waiting.needs.is_whole(work, needed(waiting, work, frames)) == whole


def test_a_picture_is_made_again_without_a_frame_beside_where_there_never_was_one(backlog, frame):
    waiting = backlog(made("map", beside=("d02",)))
    work = Work("remake", waiting._order(waiting.products[0], frame(key(2))))
    assert waiting.needs.is_whole(work, needed(waiting, work))


def test_a_picture_is_not_made_again_without_the_track_that_it_followed(backlog, frame):
    for events, whole in (([state(1)], True), ([state(3)], False)):
        waiting = backlog(made("map", follows=("track",)), events=events)
        work = Work("remake", waiting._order(waiting.products[0], frame(key(2))))
        assert waiting.needs.is_whole(work, needed(waiting, work)) == whole
