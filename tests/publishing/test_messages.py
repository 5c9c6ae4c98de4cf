"""What people are told of a run by its journal's events."""

from __future__ import annotations

import pytest
from events_case import event

from burstlens.core.run.history import History
from burstlens.core.run.occasional_events import RunAttached
from burstlens.workflows.frames.promised import REASON
from burstlens.workflows.publishing.messages import Messages

TIME = "20050828T120000"
FRAME = {"stream": "d01", "time": TIME, "attempt": 1}
LATE = {"event": "guard.tripped", "guard": "cfl", "text": "W is NaN", "then": "alarm", **FRAME}
LABEL = "2005-08-28 12:00:00 UTC"


@pytest.fixture
def messages():
    history = History()
    history.apply(RunAttached(path="/scratch/storm", model="wrf", reason="its files"))
    return Messages(history)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"event": "alarm", "text": "the disk\x1b[2J"}, "the disk[2J"),
        (
            {"event": "frame.damaged", **FRAME, "reason": "the end is missing"},
            f"damaged frame d01 {TIME}: the end is missing",
        ),
        (
            {"event": "frame.damaged", "stream": "d01", "paths": ["1/out.nc"], "reason": REASON},
            f"lost frame d01 out.nc: {REASON}",
        ),
        (
            {
                "event": "stream.undecoded",
                "stream": "aux",
                "file": "a.nc",
                "reason": "no units",
            },
            "frames of stream aux have no usable time: a.nc: no units",
        ),
        (LATE, f'guard "cfl": W is NaN, d01 {LABEL}'),
        (
            {"event": "product.refused", "reason": "there is no U"},
            "products are not added: there is no U",
        ),
        (
            {"event": "attempt.observed", "attempt": 2, "evidence": "its log is another one"},
            "attempt 2 of the model: its log is another one",
        ),
        (
            {"event": "path.lost", "evidence": "stale file handle"},
            "/scratch/storm: stale file handle; it is looked for again",
        ),
    ],
)
def test_an_event_that_a_person_should_see_is_an_alarm_and_among_the_latest(messages, values, text):
    messages.apply(event(values))
    assert [alarm.text for alarm in messages.alarms] == [text]
    assert [note.text for note in messages.events] == [text]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"event": "frame.ready", **FRAME, "signal": "log"}, f"frame d01 {TIME} ready (log)"),
        (
            {"event": "product.limits", "product": "t2", "limits": [270.0, 300.5]},
            "colour limits of t2: 270 to 300.5",
        ),
        ({"event": "product.added", "product": "u"}, "product u is added"),
        ({"event": "control.received", "control": "pause"}, "watching is paused"),
        ({"event": "control.received", "control": "resume-watching"}, "watching goes on"),
        (
            {"event": "model.observed", "state": "quiet", "evidence": "for 9 min"},
            "the model: quiet, for 9 min",
        ),
        (
            {"event": "path.back", "evidence": "the folder is another one now"},
            "/scratch/storm is another one now",
        ),
    ],
)
def test_an_event_that_is_news_is_a_line_of_the_latest_events(messages, values, text):
    messages.apply(event(values))
    assert [note.text for note in messages.events] == [text]
    assert not messages.alarms


@pytest.mark.parametrize(
    "values",
    [
        {"event": "control.received", "control": "stop"},
        {"event": "attempt.observed", "attempt": 1},
        {"event": "path.lost", "for_good": True},
        {**LATE, "earlier": True},
        {"event": "product.failed", "product": "u", **FRAME, "reason": "there is no U"},
        {"event": "product.published", "product": "u"},
    ],
    ids=lambda values: values["event"],
)
def test_of_other_events_nothing_is_told(messages, values):
    messages.apply(event(values))
    assert not messages.events


def test_the_place_of_a_trip_is_that_of_its_frame(messages):
    messages.apply(event(LATE))
    messages.apply(event({**LATE, "stream": "", "time": ""}))
    first, second = messages.alarms
    assert (first.stream, first.time) == ("d01", TIME)
    assert (second.stream, second.time) == (None, None)


def test_the_latest_reason_of_a_failure_is_kept(messages):
    for reason in ("there is no U", "there is no V"):
        failed = {"event": "product.failed", "product": "u", **FRAME, "reason": reason}
        messages.apply(event(failed))
    assert messages.reasons == {"u": "there is no V"}
