from __future__ import annotations

from burstlens.workflows.history import replay

FRAME = {"stream": "d01", "time": "t1", "attempt": 1}
PRODUCT = {"product": "t2", **FRAME}


def told(*events):
    return replay({"t": float(number), **event} for number, event in enumerate(events))


def test_no_events_are_a_new_run():
    history = told()
    assert (history.state, history.attempt, history.started) == ("new", 0, None)


def test_a_run_keeps_its_first_start_and_its_last_outcome():
    history = told(
        {"event": "run.started"},
        {"event": "run.ended", "outcome": "failed"},
        {"event": "run.resumed"},
        {"event": "run.ended", "outcome": "done"},
    )
    assert (history.state, history.started) == ("done", 0.0)


def test_a_frame_of_two_attempts_is_one_frame_and_one_that_came_whole_is_not_damaged():
    again = FRAME | {"attempt": 2}
    history = told(
        {"event": "frame.ready", **FRAME},
        {"event": "frame.damaged", **FRAME, "time": "t2", "reason": "cut short"},
        {"event": "frame.damaged", **FRAME, "time": "t3", "reason": "cut short"},
        {"event": "frame.ready", **again},
        {"event": "frame.ready", **again, "time": "t2"},
    )
    assert history.counts() == {"ready": 2, "damaged": 1}


def test_what_a_run_took_leaves_out_the_pause_before_a_resume():
    history = told(
        {"event": "run.started", "t": 1000.0},
        {"event": "run.ended", "outcome": "failed", "t": 1060.0},
        {"event": "run.resumed", "t": 9060.0, "idle_s": 8000.0},
        {"event": "run.ended", "outcome": "done", "t": 9085.0},
    )
    assert history.took_s(9085.0) == 85.0


def test_a_frame_told_twice_counts_once():
    ready = {"event": "frame.ready", **FRAME, "bytes": 100}
    history = told(ready, ready, ready | {"time": "t2"}, {"event": "frame.released", **FRAME})
    assert history.frames == {("d01", "t1", 1), ("d01", "t2", 1)}
    assert history.raw_bytes == 200
    assert history.released == {("d01", "t1", 1)}


def test_a_damaged_frame_counts_also_when_its_time_is_not_known():
    history = told({"event": "frame.damaged", **FRAME, "time": None})
    history.attempt = 1
    assert history.counts()["damaged"] == 1


def test_publishing_is_open_until_published():
    publishing = {"event": "product.publishing", **PRODUCT}
    published = {"event": "product.published", **PRODUCT, "bytes": 7}
    assert list(told(publishing).publishing) == [("t2", "d01", "t1")]
    history = told(publishing, published)
    assert (history.publishing, history.published) == ({}, {("t2", "d01", "t1"): 1})
    assert history.product_bytes == 7


def test_settled_is_what_stands_or_has_failed_in_this_attempt_or_later():
    key = ("t2", "d01", "t1")
    history = told({"event": "product.published", **PRODUCT, "attempt": 2})
    assert [history.settled(key, attempt) for attempt in (1, 2, 3)] == [True, True, False]
    history = told({"event": "product.failed", **PRODUCT})
    assert history.settled(key, 1)
    assert not history.settled(("w", "d01", "t1"), 1)


def test_a_product_that_is_published_after_all_has_not_failed():
    history = told(
        {"event": "product.failed", **PRODUCT},
        {"event": "product.published", **PRODUCT, "attempt": 2},
    )
    assert history.failed == {}


def test_what_stands_and_what_has_failed_is_counted_once_whatever_came_before():
    published = {"event": "product.published", **PRODUCT}
    hole = published | {"facts": {"placeholder": True}}
    failed = {"event": "product.failed", **PRODUCT}
    again = published | {"attempt": 2}
    for events, standing, failures in (
        ([published, again], 1, 0),
        ([published, published | {"time": "t2"}], 2, 0),
        ([hole, failed], 0, 1),
        ([hole, failed, failed], 0, 1),
        ([hole, failed, again], 1, 0),
        ([published, hole | {"attempt": 2}, failed | {"attempt": 2}], 0, 1),
    ):
        history = told(*events)
        assert (history.standing["t2"], history.failures["t2"]) == (standing, failures), events


def test_a_buffer_that_was_released_holds_no_inputs():
    created = {"event": "buffer.created", "kind": "posix", "path": "/b", "folder": "r"}
    history = told(created, {"event": "stagein.done"})
    assert history.staged_in
    assert history.buffer == {"kind": "posix", "path": "/b", "folder": "r"}
    history = told(created, {"event": "stagein.done"}, {"event": "buffer.released"})
    assert (history.staged_in, history.buffer_released) == (False, True)


def test_jobs_keep_their_id_and_outcome():
    history = told(
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
    history = told({"event": "product.limits", "product": "t2", "limits": [1, 2.5]})
    assert history.limits == {"t2": (1.0, 2.5)}


def test_a_picture_is_outgrown_when_it_has_other_limits_than_its_series():
    picture = {"event": "product.published", "product": "t2", "stream": "d01", "attempt": 1}
    history = told(
        picture | {"time": "t1", "limits": [1, 2]},
        picture | {"time": "t2"},  # of a constant frame
        picture | {"time": "t3", "facts": {"placeholder": True}},
    )
    times = "t1", "t2", "t3", "t4"
    assert not any(history.outgrown(("t2", "d01", time)) for time in times)
    history.apply({"event": "product.limits", "product": "t2", "limits": [1, 2]})
    assert [history.outgrown(("t2", "d01", time)) for time in times] == [False, True, False, False]
    history.apply({"event": "product.limits", "product": "t2", "limits": [0, 5]})
    assert [history.outgrown(("t2", "d01", time)) for time in times] == [True, True, False, False]
    history.apply(picture | {"time": "t1", "limits": [0, 5]})
    assert not history.outgrown(("t2", "d01", "t1"))


def test_an_event_of_a_later_version_is_passed_over():
    assert told({"event": "weather.changed"}).state == "new"


def test_frames_that_another_attempt_has_written_whole_are_not_lost():
    def about(kind, time, attempt):
        frame = {"stream": "d01", "time": time, "record": 0, "bytes": 1}
        return {"event": f"frame.{kind}", "attempt": attempt, **frame}

    history = replay(
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
    history = told(*frames)
    history.attempt = FRAME["attempt"]
    assert history.counts()["damaged"] == 2
    assert [file for _, file in history.lost_frames()] == ["out_1.nc record 0", "out_2.nc record 0"]
