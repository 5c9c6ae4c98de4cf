"""Guards that read the watcher's reports: logs, frames that are late, the buffer, output's time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burstlens.core.errors import OptionsError
from burstlens.core.model import Progress
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.log_search import Hit
from burstlens.workflows.frames.report import Report
from burstlens.workflows.frames.speech import Speech, Written
from burstlens.workflows.guards.finding import Trip, Trouble
from burstlens.workflows.guards.judge import Judge
from burstlens.workflows.guards.reports import Room

T = 1000.0
ROOM = Room(0, 10**9)


def key(seconds: float) -> str:
    return f"t{seconds:012.3f}"


def report(*, hits=(), given_up=None, frames=(), tail=(), ended_well=False, **more):
    cursor = Cursor(speech=Speech(ended_well=ended_well))
    return Report(frames, (), cursor, hits=hits, given_up=given_up or {}, tail=tail, **more)


@pytest.fixture
def watched(guard):
    """A judge of one guard, and a function that passes it reports at given seconds."""

    def make(**keys):
        judge = Judge([guard(name="it", **keys)], "d01")

        def look(now, room=ROOM, attempt=1, **fields):
            return judge.watched(report(**fields), room, attempt, now=now, t=T)

        return judge, look

    return make


def hit(lines=1, points=0):
    return Hit("it", lines, points, "1653 points exceeded v_cfl = 2", "rsl.error.0001")


def test_lines_are_counted_over_all_reports_of_an_attempt(watched):
    judge, look = watched(log="NaN", count=5)
    assert look(0, hits=(hit(2),)) == []
    assert look(1, hits=(hit(2),)) == []
    (trip,) = look(2, hits=(hit(2),))
    assert (trip.what, trip.value, trip.limit) == ("log", 6.0, 5.0)
    assert "rsl.error.0001" in trip.text
    assert look(3, hits=(hit(),)) == []
    assert judge.status()[0].repeats == 1
    assert look(4, hits=(hit(2),), attempt=2) == []


def test_the_text_of_a_trip_has_the_time_of_its_line_alone(watched):
    _, look = watched(log="cfl", count=1000)
    late = Progress(time="20050828T125900")
    found = replace(hit(points=1653), time="20050828T120200")
    (trip,) = look(0, hits=(found,), progress=late)
    assert trip.sentence.endswith(", 2005-08-28 12:02:00 UTC")
    _, look = watched(log="cfl", count=1000)
    (trip,) = look(0, hits=(hit(points=1653),), progress=late)
    assert trip.sentence.endswith("v_cfl = 2")


def test_if_lines_name_points_one_line_must_name_enough(watched):
    _, look = watched(log="cfl", count=1000)
    assert look(0, hits=(hit(points=900),)) == []
    assert look(1, hits=(hit(points=900),)) == []
    (trip,) = look(2, hits=(hit(points=1653),))
    assert trip.value == 1653.0


def test_a_pattern_that_took_too_long_is_a_trouble(watched):
    _, look = watched(log="(a+)+b")
    (trouble,) = look(0, given_up={"it": "took longer"})
    assert isinstance(trouble, Trouble)
    assert look(1, given_up={"it": "took longer"}) == []


def regular(look, frame, period=10, count=5):
    """Frames at that period; returns the time of the newest one."""
    for n in range(count):
        assert look(n * period, frames=(frame(key(n), "d01"),)) == []
        for second in range(1, period):
            assert look(n * period + second) == []
    return (count - 1) * period


def test_a_frame_that_does_not_come_in_time_is_reported_once(watched, frame):
    judge, look = watched(stall=4.0)
    last = regular(look, frame)
    (trip,) = [remark for s in range(10, 60) for remark in look(last + s)]
    assert isinstance(trip, Trip)
    assert trip.value > 40
    assert "no frame of d01 for 41 s, 4.1 times the usual 10 s" in trip.text
    assert judge.status()[0].repeats > 1
    assert look(last + 61, frames=(frame(key(9), "d01"),)) == []
    assert judge.status()[0].state == "good"


def test_the_first_frames_and_the_end_are_not_a_stall(watched, frame):
    _, look = watched(stall=2.0)
    assert [r for s in range(200) for r in look(s)] == []  # before anything came
    look(200, frames=(frame(key(1), "d01"),))
    look(201, frames=(frame(key(2), "d01"),))
    assert [r for s in range(202, 400) for r in look(s)] == []  # too few to know what is usual
    _, look = watched(stall=2.0)
    last = regular(look, frame)
    assert [r for s in range(10, 200) for r in look(last + s, ended_well=True)] == []
    assert [r for s in range(200, 400) for r in look(last + s, ended=True)] == []


def test_the_watchers_own_absence_is_not_a_stall(watched, frame):
    _, look = watched(stall=2.0)
    last = regular(look, frame)
    assert look(last + 500) == []
    assert look(last + 501) == []


def test_fast_frames_have_a_floor(watched, frame):
    _, look = watched(stall=3.0)
    for n in range(30):
        look(n * 0.5, frames=(frame(key(n), "d01"),))
    assert [r for s in range(15, 40) for r in look(s)] == []


def test_frames_of_another_stream_do_not_count(watched, frame):
    _, look = watched(stall=2.0, stream="d02")
    last = 0
    for n in range(5):
        last = n * 10
        look(last, frames=(frame(key(n), "d02"),))
        assert [r for s in range(1, 10) for r in look(last + s)] == []
    late = [
        remark for s in range(10, 45) for remark in look(last + s, frames=(frame(key(s), "d01"),))
    ]
    assert [trip.stream for trip in late] == ["d02"]


def test_a_log_that_falls_silent_is_reported(watched):
    _, look = watched(silence=10.0)
    for second in range(60):
        assert look(second, tail=("a line",) if second % 3 == 0 else ()) == []
    (trip,) = [remark for s in range(60, 120) for remark in look(s)]
    assert (trip.what, trip.units) == ("silence", "s")
    assert "no log line for 31 s" in trip.text


def test_a_buffer_that_fills_up_is_reported_before_it_is_full(watched, frame):
    _, look = watched(buffer_full_in=3)
    found = []
    for n in range(10):
        room = Room.of(1000, 100 * (n + 1), None)
        found += [(n, r) for r in look(n, room, frames=(frame(key(n), "d01"),))]
    ((n, trip),) = found
    assert n == 6  # 700 of 1000 are used, 100 per frame: three more
    assert trip.value == 3.0
    assert trip.time == key(6)


@pytest.mark.parametrize("over", [{"ended": True}, {"ended_well": True}])
def test_nothing_fills_the_buffer_when_the_model_has_ended(watched, frame, over):
    _, look = watched(buffer_full_in=3)
    for n in range(6):
        look(n, Room.of(1000, 100 * (n + 1), None), frames=(frame(key(n), "d01"),))
    last = (frame(key(9), "d01"),)
    assert look(9, Room.of(1000, 950, None), frames=last, **over) == []


def test_frames_that_come_together_count_each(watched, frame):
    _, look = watched(buffer_full_in=3)
    many = tuple(frame(key(n), "d01") for n in range(10))  # as a late driver finds them
    assert look(0, Room.of(3000, 1000, None), frames=many) == []
    assert look(1, Room.of(3000, 1400, None), frames=many[:4]) == []
    assert look(2, Room.of(3000, 2400, None), frames=many) == []
    (trip,) = look(3, Room.of(3000, 2700, None), frames=many[:3])
    assert trip.value == 3.0


def test_a_buffer_that_drains_as_fast_as_it_fills_is_never_full(watched, frame):
    _, look = watched(buffer_full_in=3)
    for n in range(20):
        room = Room.of(1000, (900, 920, 910)[n % 3], None)
        assert look(n, room, frames=(frame(key(n), "d01"),)) == []


def test_the_free_space_of_the_disk_counts_if_it_is_less():
    assert Room.of(1000, 100, 50).left_bytes == 50
    assert Room.of(1000, 100, 5000).left_bytes == 900
    assert Room.of(1000, 2000, None).left_bytes == 0


def test_output_that_takes_too_much_of_the_models_time_is_reported(guard):
    judge = Judge([guard(name="slow", io="40 %", then="alarm")], "d01")
    line = Written("d01", key(1), "out", took_s=30.0)

    def look(output, *lines):
        one = Report((), (), Cursor(), timed=lines)
        return judge.watched(one, ROOM, 1, now=0.0, t=T, output=output)

    assert look(None, line) == []
    assert look(0.39, line) == []
    assert look(0.41) == []  # nothing new was written
    (trip,) = look(0.41, line)
    assert trip.text == "output takes 41 % of the model's time"
    assert (trip.value, trip.limit, trip.stream) == (0.41, 0.4, "d01")


@pytest.mark.parametrize("io", ["0 %", "140 %", "much", 1.0, 7])
def test_a_part_of_the_time_lies_between_0_and_1(guard, io):
    with pytest.raises(OptionsError, match="io must be a part"):
        guard(io=io)


def test_a_log_without_a_hit_makes_its_guard_good(watched):
    judge, look = watched(log="NaN")
    look(0)
    assert judge.status()[0].state == "waiting"
    look(1, tail=("a line",))
    assert judge.status()[0].state == "good"


@pytest.mark.parametrize("keys", [{"stall": 2.0}, {"buffer_full_in": 3}, {"variable": "W"}])
def test_a_guard_of_a_stream_that_never_comes_is_blind(watched, frame, keys):
    judge, look = watched(stream="surfac", **keys)
    look(0, frames=(frame(key(0), "surface"),))
    assert judge.status()[0].state == "waiting"
    (text,) = judge.blind({"surface"})
    assert text.endswith("no frame of stream surfac came (there were: surface)")
    assert judge.blind({"surface", "surfac"}) == []
