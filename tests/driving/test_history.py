from __future__ import annotations

import pytest
from events_case import event, events

from burstlens.core.exit_codes import FRAMES_LOST
from burstlens.core.model import Damage
from burstlens.core.run.history import replay

FRAME = {"stream": "d01", "time": "t1", "attempt": 1}
PRODUCT = {"product": "t2", **FRAME}


def folded(*events):
    return replay(event({"t": float(number), **one}) for number, one in enumerate(events))


def test_no_events_are_a_new_run():
    history = folded()
    assert (history.state, history.attempt, history.started) == ("new", 0, None)


def test_a_run_keeps_its_first_start_and_its_last_outcome():
    history = folded(
        {"event": "run.started"},
        {"event": "run.ended", "outcome": "failed"},
        {"event": "run.resumed"},
        {"event": "run.ended", "outcome": "done"},
    )
    assert (history.state, history.started) == ("done", 0.0)


def test_how_a_run_ended_is_forgotten_when_it_is_resumed():
    ended = {
        "event": "run.ended",
        "outcome": "failed",
        "exit_code": 1,
        "message": "no",
        "line": "7",
    }
    history = folded({"event": "run.started"}, ended)
    assert history.outcome == {
        "state": "failed", "exit_code": 1, "message": "no", "line": "7",
        "saved_node_hours": None, "left": None, "advice": None,
    }  # fmt: skip
    history.apply(event({"event": "run.resumed", "t": 9.0}))
    assert (history.state, history.outcome) == ("running", None)


def test_a_run_that_ended_without_an_outcome_has_failed():
    history = folded({"event": "run.started"}, {"event": "run.ended", "saved_node_hours": 2.5})
    assert (history.state, history.outcome["saved_node_hours"]) == ("failed", 2.5)


def test_the_last_event_is_the_one_of_the_latest_time():
    history = folded({"event": "alarm", "t": 5.0}, {"event": "alarm", "t": 3.0})
    assert history.last == 5.0


def test_a_frame_of_two_attempts_is_one_frame_and_one_that_came_whole_is_not_damaged():
    again = FRAME | {"attempt": 2}
    history = folded(
        {"event": "frame.ready", **FRAME},
        {"event": "frame.damaged", **FRAME, "time": "t2", "reason": "cut short"},
        {"event": "frame.damaged", **FRAME, "time": "t3", "reason": "cut short"},
        {"event": "frame.ready", **again},
        {"event": "frame.ready", **again, "time": "t2"},
    )
    assert history.counts() == {"ready": 2, "damaged": 1}


def test_what_a_run_took_leaves_out_the_pause_before_a_resume():
    history = folded(
        {"event": "run.started", "t": 1000.0},
        {"event": "run.ended", "outcome": "failed", "t": 1060.0},
        {"event": "run.resumed", "t": 9060.0, "idle_s": 8000.0},
        {"event": "run.ended", "outcome": "done", "t": 9085.0},
    )
    assert history.took_s(9085.0) == 85.0
    assert history.took_s(9085.00049) == 85.0  # to the millisecond
    assert history.took_s(0.0) == 0.0  # a clock that was set back
    assert folded().took_s(9085.0) is None


def test_a_frame_that_is_journalled_twice_counts_once():
    ready = {"event": "frame.ready", **FRAME, "bytes": 100}
    history = folded(ready, ready, ready | {"time": "t2"}, {"event": "frame.released", **FRAME})
    assert history.frames == {("d01", "t1", 1), ("d01", "t2", 1)}
    assert history.raw_bytes == 200
    assert history.released == {("d01", "t1", 1)}


def test_a_damaged_frame_counts_also_when_its_time_is_not_known():
    history = folded({"event": "frame.damaged", **FRAME, "time": None})
    history.attempt = 1
    assert history.counts()["damaged"] == 1


def test_publishing_is_open_until_published():
    publishing = {"event": "product.publishing", **PRODUCT}
    published = {"event": "product.published", **PRODUCT, "bytes": 7}
    assert list(folded(publishing).publishing) == [("t2", "d01", "t1")]
    history = folded(publishing, published)
    assert (history.publishing, history.published) == ({}, {("t2", "d01", "t1"): 1})
    assert history.product_bytes == 7


def test_settled_is_what_stands_or_has_failed_in_this_attempt_or_later():
    key = ("t2", "d01", "t1")
    history = folded({"event": "product.published", **PRODUCT, "attempt": 2})
    assert [history.settled(key, attempt) for attempt in (1, 2, 3)] == [True, True, False]
    history = folded({"event": "product.failed", **PRODUCT})
    assert history.settled(key, 1)
    assert not history.settled(("w", "d01", "t1"), 1)


def test_a_failure_of_an_earlier_attempt_that_comes_late_hides_none_of_a_later_one():
    late, early = ({"event": "product.failed", **PRODUCT, "attempt": n} for n in (3, 1))
    assert folded(late, early).settled(("t2", "d01", "t1"), 3)


def test_a_product_that_is_published_after_all_has_not_failed():
    history = folded(
        {"event": "product.failed", **PRODUCT},
        {"event": "product.published", **PRODUCT, "attempt": 2},
    )
    assert history.failed == {}


def test_what_stands_and_what_has_failed_is_counted_once_whatever_came_before():
    published = {"event": "product.published", **PRODUCT}
    hole = published | {"facts": {"placeholder": True}}
    failed = {"event": "product.failed", **PRODUCT}
    again = published | {"attempt": 2}
    for seen, standing, failures in (
        ([published, again], 1, 0),
        ([published, published | {"time": "t2"}], 2, 0),
        ([hole, failed], 0, 1),
        ([hole, failed, failed], 0, 1),
        ([hole, failed, again], 1, 0),
        ([published, hole | {"attempt": 2}, failed | {"attempt": 2}], 0, 1),
    ):
        history = folded(*seen)
        assert (history.standing["t2"], history.failures["t2"]) == (standing, failures), events


def test_a_buffer_that_was_released_holds_no_inputs():
    created = {"event": "buffer.created", "kind": "posix", "path": "/b", "folder": "r"}
    history = folded(created, {"event": "stagein.done"})
    assert history.staged_in
    assert history.buffer == {"kind": "posix", "path": "/b", "folder": "r"}
    history = folded(created, {"event": "stagein.done"}, {"event": "buffer.released"})
    assert (history.staged_in, history.buffer_released) == (False, True)


def test_a_buffer_may_exist_from_the_request_on_until_it_is_given_back():
    requested = {"event": "buffer.requested"}
    created = {"event": "buffer.created", "kind": "posix", "path": "/b", "folder": "r"}
    released = {"event": "buffer.released"}
    found = [
        (history.buffer_requested, history.buffer_released)
        for history in (
            folded(),
            folded(requested),
            folded(created),
            folded(created, released),
            folded(created, released, requested),
            folded(created, released, created),
        )
    ]
    assert found == [
        (False, False), (True, False), (True, False), (False, True), (True, True), (True, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "exit_code", "home"),
    [("done", 0, True), ("failed", FRAMES_LOST, True), ("failed", 1, False), ("stopped", 4, False)],
)
def test_a_run_is_home_when_its_model_ended_well_though_frames_be_lost(outcome, exit_code, home):
    stage_out = {"event": "stageout.done", "outcome": outcome, "exit_code": exit_code}
    history = folded(stage_out)
    assert (history.brought_home, history.kept_home) == (home, True)
    assert not folded().kept_home


def test_what_came_home_is_not_what_the_next_attempt_writes():
    about = {"job": "attempt-2", "attempt": 2}
    history = folded({"event": "stageout.done"})
    history.apply(event({"event": "simulation.ended", "t": 1.0, **about, "outcome": "failed"}))
    assert history.kept_home
    history.apply(event({"event": "simulation.submitting", "t": 2.0, **about}))
    assert not history.kept_home


def test_products_are_paused_until_the_run_is_asked_to_go_on():
    pause = {"event": "control.received", "control": "pause"}
    stop = {"event": "control.received", "control": "stop"}
    more = {"event": "control.received", "control": "resume-watching"}
    found = [
        folded(*events).paused for events in ([], [pause], [pause, stop], [pause, more], [stop])
    ]
    assert found == [False, True, True, False, False]


def test_an_added_product_passes_over_the_frames_before_it_unless_it_is_for_all():
    before = (
        {"event": "frame.ready", **FRAME},
        {"event": "frame.damaged", **FRAME, "time": "t2"},
    )
    after = {"event": "frame.ready", **FRAME, "time": "t3"}
    added = {"event": "product.added", "product": "w", "table": {"kind": "map"}}
    history = folded(*before, added, after)
    assert history.added == {"w": {"kind": "map"}}
    assert history.passed_over == {"w": {("d01", "t1", 1), ("d01", "t2", 1)}}
    assert folded(*before, added | {"all_frames": True}).passed_over == {"w": frozenset()}


def test_what_guards_have_read_and_found_is_known_by_frame():
    history = folded(
        {"event": "frame.inspected", **FRAME},
        {"event": "guard.tripped", **FRAME, "guard": "hot", "attempt": 2},
    )
    assert history.inspected == {("d01", "t1", 1)}
    assert history.tripped == {("hot", "d01", "t1", 2)}


def test_the_reason_of_a_product_is_that_of_its_last_failure():
    failed = {"event": "product.failed", **PRODUCT}
    history = folded(failed | {"reason": "no T2"}, failed | {"time": "t2", "reason": "no room"})
    assert history.reasons == {"t2": "no room"}


@pytest.mark.parametrize("attempt", [1, 2])
@pytest.mark.parametrize("stream", ["d01", "d02"])
@pytest.mark.parametrize("time", ["t1", "t2"])
def test_damage_is_known_by_its_stream_time_and_attempt(stream, time, attempt):
    history = folded({"event": "frame.damaged", **FRAME})
    damage = Damage("storm-1", attempt, stream, time, ("r/1/out.nc",), 0, "cut")
    assert history.has_damage(damage) == ((stream, time, attempt) == ("d01", "t1", 1))


@pytest.mark.parametrize("attempt", [1, 2])
@pytest.mark.parametrize("stream", ["d01", "d02"])
@pytest.mark.parametrize(("file", "record"), [("a.nc", 3), ("b.nc", 3), ("a.nc", 4)])
def test_damage_without_a_time_is_known_by_its_stream_file_record_and_attempt(
    stream, file, record, attempt
):
    paths = "r/1/a.nc", "r/1/b.nc"
    history = folded({"event": "frame.damaged", **FRAME, "time": None, "paths": paths, "record": 3})
    damage = Damage("storm-1", attempt, stream, None, (f"r/1/{file}", "r/1/b.nc"), record, "cut")
    known = (stream, file, record, attempt) == ("d01", "a.nc", 3, 1)
    assert history.has_damage(damage) == known


def test_jobs_keep_their_id_and_outcome():
    history = folded(
        {"event": "simulation.submitting", "job": "attempt-1", "attempt": 1},
        {"event": "simulation.submitted", "job": "attempt-1", "attempt": 1, "job_id": "local:1:2"},
        {"event": "simulation.ended", "job": "attempt-1", "attempt": 1, "outcome": "failed"},
        {"event": "simulation.submitting", "job": "attempt-2", "attempt": 2},
        {"event": "step.submitting", "job": "step-real-1"},
        {"event": "step.ended", "job": "step-real-1", "outcome": "done", "attempt": 1},
    )
    assert history.attempt == 2
    first = history.jobs["attempt-1"]
    assert (first.job_id, first.outcome) == ("local:1:2", "failed")
    assert history.jobs["attempt-2"].outcome is None
    assert history.jobs["step-real-1"].outcome == "done"


def test_limits_are_kept_by_product():
    history = folded({"event": "product.limits", "product": "t2", "limits": [1, 2.5]})
    assert history.limits == {"t2": (1.0, 2.5)}


def test_a_picture_is_outgrown_when_it_has_other_limits_than_its_series():
    picture = {"event": "product.published", "product": "t2", "stream": "d01", "attempt": 1}
    history = folded(
        picture | {"time": "t1", "limits": [1, 2]},
        picture | {"time": "t2"},  # of a constant frame
        picture | {"time": "t3", "facts": {"placeholder": True}},
    )
    times = "t1", "t2", "t3", "t4"
    assert not any(history.outgrown(("t2", "d01", time)) for time in times)
    history.apply(event({"event": "product.limits", "product": "t2", "limits": [1, 2]}))
    assert [history.outgrown(("t2", "d01", time)) for time in times] == [False, True, False, False]
    history.apply(event({"event": "product.limits", "product": "t2", "limits": [0, 5]}))
    assert [history.outgrown(("t2", "d01", time)) for time in times] == [True, True, False, False]
    history.apply(event(picture | {"time": "t1", "limits": [0, 5]}))
    assert not history.outgrown(("t2", "d01", "t1"))
    history.apply(event(picture | {"time": "t1", "attempt": 2}))  # without limits of its own
    assert history.outgrown(("t2", "d01", "t1"))


def test_frames_that_another_attempt_has_written_whole_are_not_lost():
    def about(kind, time, attempt):
        frame = {"stream": "d01", "time": time, "record": 0, "bytes": 1}
        return {"event": f"frame.{kind}", "attempt": attempt, **frame}

    history = replay(
        events(
            [
                {"event": "simulation.submitting", "job": "attempt-1", "attempt": 1},
                about("ready", "20050828T110000", 1),
                about("damaged", "20050828T120000", 1),
                about("damaged", "20050828T130000", 1),
                about("damaged", None, 1),
                {"event": "simulation.submitting", "job": "attempt-2", "attempt": 2},
                about("damaged", "20050828T110000", 2),
                about("ready", "20050828T120000", 2),
            ]
        )
    )
    # The files of the last attempt are the ones that come home.
    assert history.lost_frames() == [
        ("d01", "2005-08-28 11:00:00 UTC"),
        ("d01", "2005-08-28 13:00:00 UTC"),
    ]


def test_damaged_files_whose_times_nothing_shows_count_each():
    frames = [
        {"event": "frame.damaged", **FRAME, "time": None, "paths": [f"run/1/out_{number}.nc"]}
        for number in (1, 2, 2)
    ]
    history = folded(*frames)
    history.attempt = FRAME["attempt"]
    assert history.counts()["damaged"] == 2
    assert [file for _, file in history.lost_frames()] == ["out_1.nc record 0", "out_2.nc record 0"]


def test_what_failed_of_whole_frames_is_made_again_when_an_ended_run_is_resumed():
    of = {"product": "w", "stream": "d01", "attempt": 1}
    frame = {"stream": "d01", "attempt": 1, "record": 0}
    whole, lost = "20050828T110000", "20050828T120000"
    events = [
        {"event": "run.started"},
        {"event": "simulation.submitting", "job": "attempt-1", "attempt": 1},
        {"event": "frame.ready", "time": whole, **frame},
        {"event": "frame.damaged", "time": lost, "reason": "cut", "paths": [], **frame},
        *(
            {"event": "product.failed", "time": time, "reason": "no", **of}
            for time in (whole, lost)
        ),
    ]
    key = "w", "d01", whole
    crashed = folded(*events, {"event": "run.resumed"})
    assert crashed.retried == set()  # nobody has ended the run
    ended = {"event": "run.ended", "outcome": "failed", "exit_code": 1}
    history = folded(*events, ended, {"event": "run.resumed"})
    assert history.retried == {key}
    history.apply(event({"event": "product.failed", "time": whole, "reason": "no", **of}))
    assert history.retried == set()
    assert history.failures["w"] == 2


def test_a_late_product_of_an_earlier_attempt_does_not_settle_a_later_failure():
    of = {"product": "w", "stream": "d01", "time": "20050828T110000"}
    failed = {"event": "product.failed", "attempt": 2, "reason": "no", **of}
    history = folded(failed, {"event": "product.published", **of, "attempt": 1})
    assert history.settled(tuple(of.values()), 2)
    assert (history.failures["w"], history.standing["w"]) == (1, 1)
    history.apply(event({"event": "product.published", **of, "attempt": 2}))
    assert history.failures["w"] == 0


def test_notices_of_each_product_count_in_its_own_calendar():
    def made(product, number, **facts):
        key = {"product": product, "stream": "d01", "time": f"t{number}", "attempt": 1}
        return {"event": "product.published", **key, "name": "a", "crc32": 0, "bytes": 1,
                "incoming": "b", "facts": facts}  # fmt: skip

    history = folded(
        made("a", 1, calendar="360_day"), made("b", 1), made("c", 1, calendar="360_day"),
        made("c", 2),
    )  # fmt: skip
    assert history.noticed.calendars == {"a": "360_day", "b": "", "c": ""}
