"""The driver's side of guards, killed between two lines of the journal."""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import replace
from types import SimpleNamespace

import pytest
from loop_case import LoopCase
from recipe_texts import guarded_recipe

from burstlens.cluster_configs.site import choose
from burstlens.core.exit_codes import TRIPPED_AFTER_END
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.history import History, replay
from burstlens.core.run.journal import Journal, read
from burstlens.workflows.frames.cursor import Cursor
from burstlens.workflows.frames.log_search import Hit
from burstlens.workflows.frames.report import Report
from burstlens.workflows.guards.finding import Breach, Reading, Trip
from burstlens.workflows.placement.direct_requests import write_trips
from burstlens.workflows.publishing.context import RunContext

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
        history.frames.add(("d01", "t00000001.000", 1))

        class SeenJournal(Journal):
            def write(self, event):
                super().write(event)
                seen(event)

        journal = SeenJournal(run_dir.journal, 1, history.apply)
        context = RunContext.of(run_dir, made, choose("local"), journal, history)
        return LoopCase(context), history, journal.close

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


def test_a_trip_that_a_full_disk_takes_when_a_driver_lives_again_is_journalled_once(
    driver, events, run_dir
):
    guarding, _, end = driver()
    guarding.look()
    trip = Trip.of("race", "alarm", Breach("max_rate", "W grows", "W"), 1.0, "d01", "t1", 1)
    write_trips(run_dir.sentinel, [trip.status()])
    guarding.look()
    no_trip = {**trip.status(), "time": "t3", "value": "much"}
    write_trips(run_dir.sentinel, [no_trip, {**trip.status(), "time": "t2"}])
    guarding.settle(done=False)
    end()
    assert [event.time for event in events("guard.tripped")] == ["t1", "t2"]


def test_a_guard_of_a_stream_without_frames_raises_an_alarm_at_the_end(driver, events, frame):
    guarding, history, end = driver()
    history.frames = {("surface", "t00000001.000", 1), ("volume", "t00000001.000", 1)}
    guarding.settle(done=True)
    end()
    texts = [event.text for event in events("alarm")]
    came = "no frame of stream d01 came (there were: surface, volume)"
    assert texts == [f'guard "{name}" never looked: {came}' for name in ("whole", "race")]
    assert [alarm.text for alarm in guarding.snapshot.alarms] == texts
    assert {guard.state for guard in guarding.snapshot.guards()} == {"waiting"}


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
    assert {guard.state for guard in second.snapshot.guards()} == {"good"}


@pytest.fixture
def ended(run_dir):
    """The first attempt's end, as its supervisor reports it."""
    folder = run_dir.job("attempt-1")
    folder.mkdir(parents=True)
    (folder / "ended.json").write_text('{"reason": "exited", "exit_code": 0}')


def test_a_trip_after_the_models_end_asks_for_no_stop_and_says_so(
    driver, events, run_dir, frame, ended
):
    guarding, history, end = driver()
    history.attempt = 1
    for number in (3, 2):  # the newest first
        bad = frame(f"t0000000{number}.000", stream="d01")
        guarding.read(bad, readings(bad, breach=BAD))
    end()
    assert run_dir.stop_requested() is None
    trips = [(event.time[-5:], event.after_end, event.earlier) for event in events("guard.tripped")]
    assert trips == [("3.000", True, False), ("2.000", True, True)]
    (alarm,) = guarding.snapshot.alarms
    assert alarm.text == 'guard "whole": W is NaN, d01 t = 3 s (after the model\'s end)'
    outcome = guarding.snapshot.judge(Outcome("done", 0))
    assert (outcome.state, outcome.exit_code) == ("failed", TRIPPED_AFTER_END)
    text = 'guard "whole" tripped after the model\'s end: W is NaN, d01 t = 2 s'
    assert outcome.message == text
    second, history, end = driver()  # after a crash
    history.attempt = 1
    end()
    assert second.snapshot.judge(Outcome("done", 0)) == outcome


def test_a_stop_that_the_model_forestalled_by_its_own_end_is_not_a_run_that_is_done(
    driver, events, run_dir, frame, ended
):
    guarding, history, end = driver()
    history.attempt = 1
    bad = frame("t00000002.000", stream="d01")
    trip = Trip.of("whole", "stop", BAD, 1.0, "d01", bad.time, 1)
    run_dir.request("stop", trip.why())  # by the worker, while the model ran
    guarding.read(bad, readings(bad, breach=BAD))
    end()
    (event,) = events("guard.tripped")
    assert not event.after_end
    outcome = guarding.snapshot.judge(Outcome("done", 0))
    assert (outcome.state, outcome.exit_code) == ("failed", TRIPPED_AFTER_END)
    assert (
        "asked for a stop, and the model ended by itself before it was stopped" in outcome.message
    )


@pytest.mark.parametrize("heard", [True, False])
def test_no_trip_waits_for_an_end_that_cannot_be_seen(
    driver, events, run_dir, frame, ended, monkeypatch, heard
):
    guarding, history, end = driver()
    history.attempt = 1
    if heard:
        over = ev.SimulationEnded(job="attempt-1", attempt=1, outcome="done")
        guarding.journal.append(over)
    real, failed = os.stat, []

    def stale(path, **named):
        if str(path).endswith("ended.json"):
            failed.append(path)
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)
        return real(path, **named)

    monkeypatch.setattr(os, "stat", stale)
    bad = frame("t00000002.000", stream="d01")
    guarding.read(bad, readings(bad, breach=BAD))
    end()
    assert len(failed) == 2  # at once, for the loop has other things to do
    (event,) = events("guard.tripped")
    assert (event.after_end, run_dir.stop_requested()) == (
        (True, None) if heard else (False, "stop")
    )


def test_a_log_line_after_the_models_end_is_a_trip_after_it(run_dir, recipe, ended):
    text = guarded_recipe("Guarded", "W", '[[guard]]\nlog = "NaN"\nthen = "stop"\n')
    made = recipe(text=text)
    history = History()
    history.frames.add(("d01", "t00000009.000", 1))
    with contextlib.closing(Journal(run_dir.journal, 1, history.apply)) as journal:
        context = RunContext.of(run_dir, made, choose("local"), journal, history)
        case = LoopCase(context)
        history.attempt = 1
        hit = Hit("log-NaN", 1, 0, "NaN in theta", "rsl.error.0000", "t00000009.000")
        report = Report((), (), Cursor(), hits=(hit,), ended=True)
        space = SimpleNamespace(recipe=made, raw_bytes=0)
        case.after(case.guarding.heard, report, space, None, 1)
        outcome = context.snapshot.judge(Outcome("done", 0))
    assert outcome.exit_code == TRIPPED_AFTER_END
    assert 'guard "log-NaN" tripped after the model\'s end: NaN in rsl' in outcome.message
    assert run_dir.stop_requested() is None


def test_a_trip_of_an_earlier_attempt_or_of_a_guard_that_only_alarms_fails_no_run(
    driver, run_dir, frame, ended
):
    guarding, history, end = driver()
    bad = frame("t00000002.000", stream="d01")
    whole, race = readings(bad)
    guarding.read(bad, (whole, replace(race, breach=BAD)))
    history.attempt = 1
    assert guarding.snapshot.judge(Outcome("done", 0)).exit_code == 0
    guarding.read(bad, readings(bad, breach=BAD))
    history.attempt = 2
    end()
    assert guarding.snapshot.judge(Outcome("done", 0)).exit_code == 0


def test_a_frame_that_cannot_be_read_is_reported_once_and_as_no_fault_of_its_guards(
    driver, events, frame
):
    guarding, _, end = driver()
    bad = frame("t00000001.000", stream="d01")
    error = {"error": "W of out.nc cannot be read: chunk 3 is damaged", "unreadable": True}
    guarding.read(bad, [replace(one, **error) for one in readings(bad)])
    end()
    assert events("alarm") == []
    [alarm] = guarding.snapshot.alarms
    assert "chunk 3 is damaged" in alarm.text
    assert {guard.state for guard in guarding.snapshot.guards()} == {"failed"}
