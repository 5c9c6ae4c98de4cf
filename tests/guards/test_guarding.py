"""The driver's side of guards, killed between two lines of the journal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from recipe_texts import guarded_recipe

from burstlens.cluster_configs.site import choose
from burstlens.core.run.history import replay
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.guards.finding import Breach, Reading, Trip
from burstlens.workflows.production.context import RunContext
from burstlens.workflows.production.guarding import Guarding

BAD = Breach("finite", "W is NaN", "W")
GUARDS = """
[[guard]]
name = "whole"
variable = "W"
then = "stop"
[[guard]]
name = "race"
variable = "W"
finite = false
max_rate = 1.0
"""


@pytest.fixture
def driver(run_dir, recipe):
    """The guards of a driver that starts from the current journal, and a call that ends it.

    Each event that it writes is passed to ``seen``.
    """
    made = recipe(text=guarded_recipe("Guarded", "W", GUARDS))

    def begin(seen=lambda event: None):
        history = replay(read(run_dir.journal))

        def see(event):
            history.apply(event)
            seen(event)

        journal = Journal(run_dir.journal, 1, see)
        context = RunContext.of(run_dir, made, choose("local"), journal, history)
        return Guarding(context), history, journal.close

    return begin


@pytest.fixture
def events(run_dir):
    """The events of one kind that the journal holds."""
    return lambda kind: [event for event in read(run_dir.journal) if event.event == kind]


def readings(frame, most=1.0, breach=None):
    """The readings of both guards in that frame."""
    one = Reading("whole", frame.stream, frame.time, frame.attempt, 0.0, most, 0.5, breach=breach)
    return one, replace(one, guard="race", breach=None)


@pytest.mark.parametrize("lines", range(1, 5))
def test_a_driver_killed_between_two_lines_loses_no_trip_and_reports_none_twice(
    driver, events, run_dir, frame, lines
):
    good, bad, later = (frame(f"t0000000{n}.000", stream="d01") for n in (1, 2, 3))
    seen = {good: {}, bad: {"most": 99.0, "breach": BAD}, later: {"most": 2.5}}
    first, _, end = driver()
    for one in (good, bad):
        first.read(one, readings(one, **seen[one]))
    end()
    whole = run_dir.journal.read_bytes().splitlines(keepends=True)
    assert len(whole) == 4
    run_dir.journal.write_bytes(b"".join(whole[:lines]))
    second, history, end = driver()
    for one in (later, bad, good):  # the newest first
        if (one.stream, one.time, one.attempt) not in history.inspected:
            second.read(one, readings(one, **seen[one]))
    end()
    reported = sorted((event.guard, event.time) for event in events("guard.tripped"))
    assert reported == [("race", bad.time), ("whole", bad.time)]
    assert len(events("frame.inspected")) == 3


def test_the_stop_is_requested_before_its_trip_is_journalled(driver, run_dir, frame):
    asked = []
    guarding, _, end = driver(lambda event: asked.append((event.event, run_dir.stop_requested())))
    bad = frame("t00000002.000", stream="d01")
    guarding.read(bad, readings(bad, breach=BAD))
    end()
    assert asked == [("guard.tripped", "stop"), ("frame.inspected", "stop")]


def test_the_trip_that_requested_the_stop_is_reported_whichever_frame_returns_first(
    driver, events, run_dir, frame
):
    guarding, _, end = driver()
    one, other = (frame(f"t0000000{n}.000", stream="d01") for n in (2, 3))
    trip = Trip.of("whole", "stop", BAD, 1.0, "d01", other.time, 1)
    run_dir.request("stop", trip.why())  # as the worker that has read it does
    for bad in (one, other):
        guarding.read(bad, readings(bad, breach=BAD))
    end()
    assert [event.time for event in events("guard.tripped")] == [one.time, other.time]
    assert run_dir.stop_reason()["time"] == other.time


def test_a_guard_of_a_stream_without_frames_raises_an_alarm_at_the_end(driver, events, frame):
    guarding, history, end = driver()
    history.frames = {("surface", "t00000001.000", 1), ("volume", "t00000001.000", 1)}
    guarding.settle(done=True)
    end()
    texts = [event.text for event in events("alarm")]
    came = "no frame of stream d01 came (there were: surface, volume)"
    assert texts == [f'guard "{name}" never looked: {came}' for name in ("whole", "race")]
    assert [alarm.text for alarm in guarding.snapshot.alarms] == texts
    assert {guard["state"] for guard in guarding.snapshot.guards()} == {"waiting"}


def test_a_resumed_driver_knows_that_a_guard_has_checked_a_frame(driver, events, frame):
    first, _, end = driver()
    good = frame("t00000001.000", stream="d01")
    first.read(good, readings(good))
    end()
    second, _, end = driver()
    second.history.frames = {("other", good.time, 1)}
    second.settle(done=True)
    end()
    assert events("alarm") == []
    assert {guard["state"] for guard in second.snapshot.guards()} == {"good"}
