"""The judge: each trip is reported once, in time order, with the state that this needs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from events_case import event

from burstlens.core.decode import record
from burstlens.core.errors import OptionsError
from burstlens.core.model import Progress
from burstlens.workflows.frames.cursor import Cursor, Speech, Written
from burstlens.workflows.frames.log_search import Hit
from burstlens.workflows.frames.report import Report
from burstlens.workflows.guards.finding import Breach, Reading, Trip, Trouble
from burstlens.workflows.guards.judge import Judge
from burstlens.workflows.guards.reports import Room

T = 1000.0
ROOM = Room(0, 10**9)
BAD = Breach("finite", "W is NaN", "W")


def key(seconds: float) -> str:
    return f"t{seconds:012.3f}"


def reading(seconds, least=0.0, most=1.0, mean=0.5, *, breach=None, error="", attempt=1):
    known = {} if error else {"least": least, "most": most, "mean": mean, "units": "m"}
    return Reading("W", "d01", key(seconds), attempt, breach=breach, error=error, **known)


@pytest.fixture
def judge(guard):
    def make(**keys):
        return Judge([guard(name="W", **({"variable": "W"} | keys))], "d01")

    return make


def remarks(judge, *readings):
    return [remark for one in readings for remark in judge.read(one, T)]


def state(judge):
    (one,) = judge.status()
    return one["state"], one["repeats"]


def test_a_breach_is_reported_once_then_counted_and_reported_again_after_a_good_frame(judge):
    one = judge()
    assert state(one) == ("waiting", 0)
    assert remarks(one, reading(1)) == []
    assert state(one) == ("good", 0)
    (trip,) = remarks(one, reading(2, breach=BAD))
    assert (trip.guard, trip.time, trip.stream, trip.text) == ("W", key(2), "d01", "W is NaN")
    assert remarks(one, reading(3, breach=BAD), reading(4, breach=BAD)) == []
    assert state(one) == ("tripped", 2)
    assert remarks(one, reading(5)) == []
    assert state(one)[0] == "good"
    assert len(remarks(one, reading(6, breach=BAD))) == 1


def test_frames_that_come_late_do_not_change_a_newer_breach(judge):
    one = judge()
    assert len(remarks(one, reading(9, breach=BAD))) == 1
    assert remarks(one, reading(3), reading(4)) == []
    assert state(one) == ("tripped", 0)


def test_of_a_guard_that_stops_each_earlier_bad_frame_is_a_trip_that_nobody_gets_word_of(judge):
    one = judge(then="stop")
    trips = remarks(one, *(reading(number, breach=BAD) for number in (9, 12, 8, 3, 5)))
    assert [(trip.time, trip.earlier) for trip in trips] == [
        (key(9), False), (key(8), True), (key(3), True)
    ]  # fmt: skip
    assert state(one) == ("tripped", 4)
    second = judge(then="stop")
    second.recall([event({"event": "guard.tripped", "t": T, **trip.fields()}) for trip in trips])
    assert remarks(second, reading(4, breach=BAD), reading(9)) == []
    (trip,) = remarks(second, reading(2, breach=BAD))
    assert (trip.time, trip.earlier) == (key(2), True)


def test_a_frame_that_is_read_again_is_not_a_repeat(judge):
    one = judge()
    remarks(one, reading(2, breach=BAD))
    remarks(one, reading(2, breach=BAD))
    assert state(one) == ("tripped", 0)


def test_a_breach_of_the_next_attempt_is_reported_again(judge):
    one = judge()
    remarks(one, reading(2, breach=BAD))
    assert len(remarks(one, reading(2, breach=BAD, attempt=2))) == 1


def test_a_failing_guard_is_reported_once_and_never_trips(judge):
    one = judge()
    (trouble,) = remarks(one, reading(1, error="no W"), reading(2, error="no W"))
    assert isinstance(trouble, Trouble)
    assert 'guard "W" fails: no W' in trouble.sentence
    assert state(one)[0] == "failed"
    remarks(one, reading(3))
    assert state(one)[0] == "good"


def test_the_rate_is_that_of_an_extreme_between_neighbours(judge):
    one = judge(max_rate=2.0)
    assert remarks(one, reading(0, most=10), reading(10, most=29)) == []
    (trip,) = remarks(one, reading(20, most=50))
    assert (trip.what, trip.value, trip.limit, trip.units) == ("max_rate", 2.1, 2.0, "m s-1")
    assert "the largest W went from 29 to 50 m in 10 s, 2.1 a second" in trip.text
    (low,) = remarks(judge(max_rate=2.0), reading(0), reading(1, least=-5.0))
    assert "the smallest W went from 0 to -5" in low.text


def test_the_rate_is_the_same_whatever_the_order_of_the_frames(judge):
    frames = [reading(10.0 * n, most=float(n)) for n in range(6)]
    frames += [reading(60, most=99.0)]
    for order in (frames, frames[::-1], [*frames[3:], *frames[:3]]):
        trips = remarks(judge(max_rate=2.0), *order)
        assert [trip.time for trip in trips] == [key(60)]


def test_frames_without_a_time_have_no_rate(judge):
    frames = [replace(reading(0, most=most), time=f"n{n:010d}") for n, most in enumerate((0, 99))]
    assert remarks(judge(max_rate=2.0), *frames) == []


def test_an_attempt_is_never_compared_with_the_blow_up_of_the_one_before(judge):
    one = judge(max_rate=2.0)
    blown_up = reading(60, most=999.0)
    assert [trip.attempt for trip in remarks(one, reading(50), blown_up)] == [1]
    assert remarks(one, *(reading(10.0 * n, attempt=2) for n in range(10))) == []
    late = remarks(one, reading(55, most=500.0))  # of the first attempt, read late
    assert [trip.attempt for trip in late] == [1]
    (trip,) = remarks(one, reading(100, most=22.0, attempt=2))
    assert (trip.attempt, trip.time, trip.value) == (2, key(100), 2.1)


def test_the_drift_is_from_the_first_frame_of_the_same_attempt(judge):
    one = judge(max_drift=0.5)
    assert remarks(one, reading(0, mean=10.0)) == []
    assert remarks(one, reading(1, mean=20.0, attempt=2), reading(2, mean=20.4, attempt=2)) == []
    (trip,) = remarks(one, reading(3, mean=20.6, attempt=2))
    assert "from that of the first frame (20, t = 1 s" in trip.text


def test_an_attempt_is_not_compared_with_recalled_readings_of_another(judge):
    one = judge(max_rate=2.0)
    frame = {"event": "frame.inspected", "stream": "d01", "time": key(60), "attempt": 1}
    one.recall([{**frame, "readings": {"W": reading(60, most=999.0).summary()}}])
    assert remarks(one, reading(50, attempt=2)) == []
    assert state(one)[0] == "good"


def test_distant_frames_never_seem_faster_than_those_between(judge):
    one = judge(max_rate=2.0)
    assert remarks(one, reading(0, most=0), reading(100, most=150)) == []


@pytest.mark.parametrize(
    ("drift", "mean", "trips"),
    [(0.5, 10.4, 0), (0.5, 10.6, 1), (0.5, 9.4, 1), ("5 %", 10.4, 0), ("5 %", 9.4, 1)],
)
def test_the_drift_is_that_of_the_mean_from_the_first_frame(judge, drift, mean, trips):
    found = remarks(judge(max_drift=drift), reading(0, mean=10.0), reading(60, mean=mean))
    assert len(found) == trips


def test_a_part_of_a_mean_of_zero_is_a_trouble_not_a_trip(judge):
    (trouble,) = remarks(judge(max_drift="5 %"), reading(0, mean=0.0), reading(60, mean=1.0))
    assert isinstance(trouble, Trouble)
    assert "say max_drift in units" in trouble.text


def test_the_first_frame_is_remembered_however_many_come(judge):
    one = judge(max_drift=5.0)
    for n in range(500):
        assert remarks(one, reading(n, mean=0.01 * n)) == []
    (trip,) = remarks(one, reading(500, mean=5.1))
    assert "first frame (0" in trip.text


def test_the_journal_of_an_earlier_driver_is_recalled(judge):
    first = judge(max_drift=0.5)
    trips = remarks(first, reading(0, mean=10.0), reading(1, mean=11.0))
    frame = {"event": "frame.inspected", "stream": "d01", "time": key(0), "attempt": 1}
    journal = [
        event({**frame, "readings": {"W": record(reading(0, mean=10.0).summary())}}),
        event({"event": "guard.tripped", "t": T, **trips[0].fields()}),
    ]
    second = judge(max_drift=0.5)
    assert second.recall(journal) == trips
    assert remarks(second, reading(1, mean=11.0)) == []  # reported already
    assert remarks(second, reading(2, mean=10.1)) == []
    assert len(remarks(second, reading(3, mean=12.0))) == 1


def test_a_frame_without_a_finite_value_has_no_place_in_the_series(judge):
    one = judge(max_rate=1.0, max_drift=1.0)
    void = replace(reading(1, breach=BAD), least=None, most=None, mean=None)
    assert len(remarks(one, reading(0), void)) == 1
    assert remarks(one, reading(2)) == []


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
    assert judge.status()[0]["repeats"] == 1
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
    assert judge.status()[0]["repeats"] > 1
    assert look(last + 61, frames=(frame(key(9), "d01"),)) == []
    assert judge.status()[0]["state"] == "good"


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
    assert judge.status()[0]["state"] == "waiting"
    look(1, tail=("a line",))
    assert judge.status()[0]["state"] == "good"


@pytest.mark.parametrize("keys", [{"stall": 2.0}, {"buffer_full_in": 3}, {"variable": "W"}])
def test_a_guard_of_a_stream_that_never_comes_is_blind(watched, frame, keys):
    judge, look = watched(stream="surfac", **keys)
    look(0, frames=(frame(key(0), "surface"),))
    assert judge.status()[0]["state"] == "waiting"
    (text,) = judge.blind({"surface"})
    assert text.endswith("no frame of stream surfac came (there were: surface)")
    assert judge.blind({"surface", "surfac"}) == []
