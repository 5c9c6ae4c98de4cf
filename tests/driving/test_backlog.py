from __future__ import annotations

from pathlib import Path

import pytest

from burstlens.model import Damage
from burstlens.viz.product import Context
from burstlens.workflows.backlog import Backlog
from burstlens.workflows.history import replay
from burstlens.workflows.limits import Freezing

FIXED = "product.t2.limits=[270, 310]"


def key(number: int) -> str:
    return f"t{number:08d}.000"


@pytest.fixture
def backlog(recipe):
    """A backlog of the recipe with these settings, after these events."""

    def make(*settings, events=()):
        made = recipe(*settings)
        context = Context("storm-1", made.title, "", "", "", Path("files"))
        return Backlog(made.products, replay(events), context, "output", "products")

    return make


def taken(backlog, slots=100, now=0.0):
    return [(work.what, work.order.frame.time) for work in backlog.take(now, slots)]


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


def test_work_that_failed_is_tried_after_a_pause_that_grows(backlog, frame):
    waiting = backlog(FIXED)
    waiting.add(frame())
    now, pauses = 0.0, []
    for _ in range(7):
        [work] = waiting.take(now, 1)
        waiting.returned()
        waiting.again(work, now)
        begin = now
        while not taken(waiting, slots=0, now=now) and not waiting.waiting:
            now += 0.5
        pauses.append(now - begin)
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_pictures_wait_for_the_limits_that_the_first_frames_give(backlog, frame):
    waiting = backlog("product.t2.limits={ first = 2 }")
    for number in range(3):
        waiting.add(frame(key(number)))
    assert [what for what, _ in taken(waiting)] == ["measure"] * 3
    assert waiting.measured("t2", (280.0, 290.0)) is None
    assert waiting.measured("t2", None) is None  # constant: it sets no limits
    limits = waiting.measured("t2", (270.0, 285.0))
    assert limits == (270.0, 290.0)
    waiting.history.limits["t2"] = limits
    waiting.freeze("t2")
    works = list(waiting.take(0.0, 100))
    assert [work.order.context.limits for work in works] == [limits] * 3
    waiting.add(frame(key(9)))
    [work] = waiting.take(0.0, 100)
    assert (work.what, work.order.context.limits) == ("produce", limits)


def test_limits_that_are_frozen_stay_so_after_a_restart(backlog, frame):
    frozen = {"event": "product.limits", "product": "t2", "limits": [270.0, 290.0]}
    waiting = backlog("product.t2.limits={ first = 2 }", events=[frozen])
    waiting.add(frame())
    [work] = waiting.take(0.0, 1)
    assert (work.what, work.order.context.limits) == ("produce", (270.0, 290.0))


def test_a_frame_that_cannot_be_measured_leaves_the_others_held(backlog, frame):
    waiting = backlog("product.t2.limits={ first = 2 }")
    for number in range(2):
        waiting.add(frame(key(number)))
    newest, _ = waiting.take(0.0, 2)
    waiting.drop_held(newest)
    assert [work.order.frame.time for work in waiting.held["t2"]] == [key(0)]


def test_a_damaged_frame_gets_a_placeholder_in_each_series(backlog):
    waiting = backlog(FIXED)
    waiting.add_damage(Damage("storm-1", 1, "output", key(1), ("x",), 0, "cut short"))
    [work] = waiting.take(0.0, 1)
    assert (work.what, work.reason, work.order.frame.time) == ("placeholder", "cut short", key(1))


def test_limits_span_the_ranges_of_the_frames_that_have_one():
    freezing = Freezing(2)
    assert freezing.limits() is None
    assert freezing.add(None) is None
    assert freezing.add((1.0, 2.0)) is None
    assert freezing.limits() == (1.0, 2.0)  # what there is when the model ends early
    assert freezing.add((-1.0, 0.0)) == (-1.0, 2.0)
