"""The judge: each trip is reported once, in time order, with the state that this needs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from events_case import event

from burstlens.core.decode import record
from burstlens.workflows.guards.finding import Breach, Reading, Trouble
from burstlens.workflows.guards.judge import Judge
from burstlens.workflows.guards.reports import Room
from burstlens.workflows.guards.shown_units import ShownUnits

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
    return one.state, one.repeats


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


def test_a_guard_s_limits_have_the_units_of_what_it_has_read(judge):
    one = judge(min=-1, max=80, max_rate=2, max_drift=0.5)
    before = one.status()[0].text
    remarks(one, reading(1))
    asked = "at least -1{0}, at most 80{0}, changing by at most 2{0} a second"
    limits = f"W: finite, {asked}, mean within 0.5{{0}} of the first"
    assert (before, one.status()[0].text) == (limits.format(""), limits.format(" m"))


def test_a_guard_s_limits_have_the_units_of_the_map(judge):
    one = judge(max=310.0, max_rate=2, max_drift=0.5)
    shown = ShownUnits("degC", 1.0, -273.15)
    remarks(one, replace(reading(1, mean=290.0), units="K", shown=shown))
    asked = "at most 36.85 degC, changing by at most 2 degC a second, mean within 0.5 degC"
    assert one.status()[0].text == f"W: finite, {asked} of the first"


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


def test_rates_and_drifts_are_given_in_the_units_of_the_map(judge):
    def warm(seconds: float, mean: float) -> Reading:
        shown = ShownUnits("degF", 1.8, -459.67)
        return Reading("W", "d01", key(seconds), 1, 280.0, mean, mean, units="K", shown=shown)

    (trip,) = remarks(judge(max_drift=5.0), warm(0, 290.0), warm(10, 300.0))
    assert "the mean of W = 80.33 degF is 18 degF from that of the first frame (62.33" in trip.text
    assert (trip.value, trip.limit, trip.units) == pytest.approx((18.0, 9.0, "degF"))
    (trip,) = remarks(judge(max_rate=0.5), warm(0, 290.0), warm(10, 300.0))
    assert "went from 62.33 to 80.33 degF in 10 s, 1.8 a second, more than 0.9" in trip.text


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


def test_the_rate_counts_seconds_in_the_calendar_of_the_frames(judge):
    days = [
        replace(reading(0, most=86400.0 * n), time=f"1991{day}T000000", calendar="360_day")
        for n, day in enumerate(("0227", "0228", "0229", "0230", "0301", "0302"))
    ]
    assert remarks(judge(max_rate=1.01), *days) == []
    assert len(remarks(judge(max_rate=0.99), *days)) == 1


def test_a_reading_of_an_older_journal_is_of_the_calendar_of_the_next_one(judge):
    before, after = (
        replace(reading(0, most=most), time=time, calendar=calendar)
        for most, time, calendar in (
            (0, "15820101T000000", ""),
            (99, "15820102T000000", "standard"),
        )
    )
    (trip,) = remarks(judge(max_rate=1e-6), before, after)
    assert "in 86400 s" in trip.text
