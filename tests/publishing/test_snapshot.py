"""What the snapshot makes of a run's products at its end."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
from events_case import event

from burstlens.clients.opened.status import facts
from burstlens.clients.terminal import one_line
from burstlens.cluster_configs import silence
from burstlens.cluster_configs.scheduler import BatchSite
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core.decode import record
from burstlens.core.durable import read_json
from burstlens.core.exit_codes import FRAMES_LOST
from burstlens.core.model import Failure
from burstlens.core.outcome import Outcome
from burstlens.core.run.events import ControlReceived
from burstlens.core.run.history import History, replay
from burstlens.core.run.occasional_events import (
    OutputTimed,
    RunAttached,
    TrialEnded,
    TrialSubmitting,
    TuningEnded,
)
from burstlens.core.run.status_file import AttachedPart, Latency, OutcomePart, RunStatus
from burstlens.core.run.wording import next_steps
from burstlens.workflows.publishing.run_outcome import run_outcome
from burstlens.workflows.publishing.snapshot import Load, Snapshot

DONE = Outcome("done", 0)
PUBLISHED = {"event": "product.published"}


def publish(snapshot, **fields):
    """What the journal has of a product that is published for the first time."""
    for name in ("product.publishing", "product.published"):
        snapshot.apply(event({**fields, "event": name}))


@pytest.fixture
def snapshot(run_dir, recipe):
    """A snapshot of a run whose product ``typo`` could not be made of any frame."""
    history = History()
    history.reasons["typo"] = "no variable 'vq'"
    history.frames.add(("output", "t00000001.000", 1))
    return Snapshot(run_dir, recipe(), history, 1)


def test_a_product_of_the_recipe_that_could_not_be_made_of_any_frame_fails_the_run(snapshot):
    outcome = snapshot.judge(DONE)
    text = "product typo could not be made of any frame: no variable 'vq'"
    assert (outcome.state, outcome.exit_code, outcome.message) == ("failed", 1, text)


def test_an_added_product_that_could_not_be_made_of_any_frame_only_raises_an_alarm(snapshot):
    snapshot.history.added["typo"] = {}
    assert snapshot.judge(DONE) == DONE
    (alarm,) = snapshot.messages.alarms
    assert alarm.text == "product typo could not be made of any frame: no variable 'vq'"
    assert alarm.product == "typo"


def test_products_of_frames_found_before_a_request_do_not_count_as_latency(snapshot):
    def made(written, detected):
        publish(snapshot, clock={"written": written, "detected": detected}, t=detected + 1.0)

    begin = time.time()
    made(begin, begin)
    assert snapshot.value().latency_s.last == 1.0
    snapshot.apply(ControlReceived(control="resume-watching", t=begin + 0.5))
    made(begin - 90.0, begin - 89.0)
    assert snapshot.value().latency_s.p95 == 1.0
    made(begin + 100.0, begin + 102.0)
    assert snapshot.value().latency_s.p95 == 3.0


def history_of(*events):
    return replay(event({"attempt": 1, "stream": "output", "record": 0, **one}) for one in events)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["20050828T120000"], "1 frame is lost or damaged (output 2005-08-28 12:00:00 UTC)"),
        (
            ["20050828T120000", "20050828T130000"],
            "2 frames are lost or damaged "
            "(output 2005-08-28 12:00:00 UTC to output 2005-08-28 13:00:00 UTC)",
        ),
    ],
)
def test_a_run_with_lost_frames_is_not_done(run_dir, recipe, times, message):
    history = history_of(*({"event": "frame.damaged", "time": time} for time in times))
    history.attempt = 1
    outcome = Snapshot(run_dir, recipe(), history, 1).judge(DONE)
    assert (outcome.state, outcome.exit_code) == ("failed", FRAMES_LOST)
    assert outcome.message == f"the model ended well, but {message}"


def test_a_product_of_damaged_frames_alone_is_not_at_fault(run_dir, recipe):
    history = history_of({"event": "frame.damaged", "time": "20050828T120000"})
    history.attempt = 1
    history.reasons["t2"] = "no frame is whole"
    assert Snapshot(run_dir, recipe(), history, 1).judge(DONE).exit_code == FRAMES_LOST


def test_a_product_whose_stream_never_came_fails_the_run(run_dir, recipe):
    other = {"event": "frame.ready", "stream": "restart", "time": "20050828T120000"}
    history = history_of(other)
    history.attempt = 1
    outcome = Snapshot(run_dir, recipe(), history, 1).judge(DONE)
    assert (outcome.state, outcome.exit_code) == ("failed", 1)
    assert outcome.message == (
        "product t2 was not made: no frame of stream output came (there were frames of: restart)"
    )
    nothing = Snapshot(run_dir, recipe(), History(), 1).judge(DONE)
    assert nothing.message == "product t2 was not made: no frame of stream output came"


def test_a_stream_whose_times_cannot_be_decoded_fails_the_run_with_the_reason(run_dir, recipe):
    why = "the units of its times are not known: 'olympiads'"
    undecoded = {"event": "stream.undecoded", "file": "out_1.nc", "reason": why}
    history = history_of(undecoded)
    history.attempt = 1
    outcome = Snapshot(run_dir, recipe(), history, 1).judge(DONE)
    assert (outcome.state, outcome.exit_code) == ("failed", 1)
    usable = f"of stream output, with no usable time: out_1.nc: {why}"
    assert outcome.message == f"product t2 was not made of any frame {usable}"
    shown = {"event": "frame.ready", "time": "20050828T110000"}
    history = history_of(undecoded, shown, PUBLISHED | {"product": "t2"})
    history.attempt = 1
    outcome = Snapshot(run_dir, recipe(), history, 1).judge(DONE)
    assert outcome.message == f"product t2 was not made of all frames {usable}"
    history.attempt = 2  # which wrote them well
    assert Snapshot(run_dir, recipe(), history, 1).judge(DONE) == DONE


def test_streams_without_usable_times_that_no_product_needs_are_named_at_the_end(run_dir, recipe):
    why = "the units of its times are not known: 'olympiads'"
    undecoded = {"event": "stream.undecoded", "stream": "aux", "file": "aux_1.nc", "reason": why}
    shown = {"event": "frame.ready", "time": "20050828T110000"}
    history = history_of(undecoded, shown, PUBLISHED | {"product": "t2"})
    history.attempt = 1
    outcome = Snapshot(run_dir, recipe(), history, 1).judge(DONE)
    assert (outcome.state, outcome.exit_code) == ("done", 0)
    assert outcome.message == (
        f"frames of stream aux were not shown, with no usable time: aux_1.nc: {why}"
    )


def test_a_product_of_the_first_stream_that_comes_fails_with_the_reason_why_none_came(
    run_dir, recipe
):
    why = "the units of its times are not known: 'olympiads'"
    history = history_of({"event": "stream.undecoded", "file": "out_1.nc", "reason": why})
    history.attempt = 1
    outcome = run_outcome(DONE, history, {"t2": None}, lambda *_: None)
    assert outcome.message == (
        f"product t2 was not made of any frame, with no usable time: out_1.nc: {why}"
    )


def test_a_look_that_has_shown_nothing_has_not_ended_well(run_dir, recipe):
    quiet = Outcome("quiet", 0, "nothing was written for 9 min")
    outcome = Snapshot(run_dir, recipe(), History(), 1).judge(quiet)
    assert (outcome.state, outcome.exit_code) == ("failed", 1)
    assert outcome.message.endswith("came; nothing was written for 9 min")
    shown = history_of(
        {"event": "frame.damaged", "time": "20050828T120000"},
        {"event": "frame.ready", "time": "20050828T110000"},
        PUBLISHED | {"product": "t2"},
    )
    assert Snapshot(run_dir, recipe(), shown, 1).judge(quiet) == quiet


def test_a_model_that_failed_is_not_judged_by_its_frames(run_dir, recipe):
    history = history_of({"event": "frame.damaged", "time": "20050828T120000"})
    failed = Outcome("failed", 1, "wrf ended with exit code 1")
    assert Snapshot(run_dir, recipe(), history, 1).judge(failed) == failed


def test_of_lost_frames_and_a_late_trip_the_frames_give_the_code_and_both_are_said(run_dir, recipe):
    trip = {"event": "guard.tripped", "guard": "whole", "then": "stop", "text": "W is NaN",
            "what": "finite", "time": "20050828T110000", "after_end": True}  # fmt: skip
    history = history_of({"event": "frame.damaged", "time": "20050828T120000"}, trip)
    history.attempt = 1
    outcome = Snapshot(run_dir, recipe(), history, 1).judge(DONE)
    assert outcome.exit_code == FRAMES_LOST
    assert outcome.message == (
        "the model ended well, but 1 frame is lost or damaged (output 2005-08-28 12:00:00 UTC); "
        'guard "whole" tripped after the model\'s end: W is NaN, output 2005-08-28 11:00:00 UTC'
    )
    stopped = Outcome("stopped", 4, "stopped, as asked")
    assert Snapshot(run_dir, recipe(), history, 1).judge(stopped) == stopped


def test_the_last_snapshot_waits_until_the_disk_takes_it(run_dir, recipe):
    snapshot = Snapshot(run_dir, recipe(), History(), 1)
    away = run_dir.path.with_name("away")
    run_dir.path.rename(away)
    threading.Timer(1.5, away.rename, [run_dir.path]).start()
    snapshot.end(DONE)
    assert read_json(run_dir.status)["outcome"]["exit_code"] == 0


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_clock_that_is_set_does_not_change_the_latency(snapshot, jump):
    def made(written, at):
        publish(snapshot, clock={"written": written, "detected": written + 1.0}, t=at)

    begin = time.time()
    snapshot.latencies.note_clock(10.0, begin)
    made(begin, begin + 2.0)
    snapshot.latencies.note_clock(12.0, begin + jump + 2.0)
    made(begin, begin + jump + 2.0)  # written before, published after
    assert snapshot.value().latency_s == Latency(last=2.0, p50=2.0, p95=2.0)
    later = begin + jump + 100.0
    made(later, later + 3.0)
    assert snapshot.value().latency_s.last == 3.0


def test_an_attached_run_has_its_folder_and_no_buffer(snapshot):
    snapshot.open(lambda: Load(3))
    snapshot.attached = AttachedPart(path="/scratch/storm", state="quiet", evidence="for 9 min")
    value = record(snapshot.value())
    assert value["buffer"] is None
    assert value["backlog"] == 3
    assert (value["attached"]["path"], value["attached"]["evidence"]) == (
        "/scratch/storm", "for 9 min"
    )  # fmt: skip


def test_a_launched_run_has_no_attached_part(snapshot):
    assert "attached" not in record(snapshot.value())


def test_the_ages_of_frames_that_were_there_on_arrival_are_no_latencies(snapshot):
    snapshot.history.apply(RunAttached(path="/scratch/storm", model="wrf", reason="its files"))
    now = time.time()
    for written in (now - 3600.0, now + 1.0):
        publish(snapshot, clock={"written": written, "detected": now + 1.0}, t=now + 3.0)
    assert snapshot.value().latency_s == Latency(last=2.0, p50=2.0, p95=2.0)


def test_a_look_goes_on_when_the_model_has_ended(snapshot):
    jobs = SimpleNamespace(attempt=1, waits="", place=None, over=True, asked=None)
    snapshot.attached = AttachedPart(path="/scratch/storm", state="ended")
    snapshot.state = "running"
    snapshot.look(jobs, "running")
    assert snapshot.state == "running"
    snapshot.attached = None
    snapshot.look(jobs, "running")
    assert snapshot.state == "draining"


def test_node_hours_of_output_are_unknown_of_a_model_that_others_started(snapshot):
    for t in range(1, 4):
        snapshot.history.apply(OutputTimed(t=600.0 * t, attempt=1, took_s=36.0, stream="d01"))
    output = snapshot.value().output
    assert (output.node_hours, output.part) == (0.03, 0.06)
    snapshot.attached = AttachedPart(path="/lus/other")
    assert snapshot.value().output.node_hours is None


def test_a_tuning_shows_its_trials_in_place_of_frames(snapshot):
    snapshot.history.apply(
        TrialSubmitting(job="trial-1", phase="pilot", origin="default", values={})
    )
    assert record(snapshot.value())["tuning"] == {"trials": 0}
    snapshot.history.apply(
        TrialEnded(job="trial-1", outcome="done", seconds={"d01": 2.0, "d02": 0.5})
    )
    status = RunStatus.of(snapshot.value())
    assert record(status.tuning) == {"trials": 1, "phase": "pilot", "seconds": 2.5}
    snapshot.history.apply(
        TrialSubmitting(job="trial-2", phase="pilot", origin="default", values={})
    )
    snapshot.history.apply(TrialEnded(job="trial-2", outcome="stopped"))
    assert record(snapshot.value())["tuning"]["trials"] == 1, "a stopped one is run again"
    shown = dict(facts(status))
    assert shown["trials"] == "1 done, pilot, 2.5 s in output"
    assert "frames" not in shown
    assert "1 trial done" in one_line(status)


def test_a_tuning_that_could_measure_nothing_is_not_to_be_resumed(snapshot):
    snapshot.history.apply(
        TrialSubmitting(job="trial-1", phase="pilot", origin="default", values={})
    )
    snapshot.history.apply(TrialEnded(job="trial-1", outcome="failed", message="no such file"))
    failed = {"state": "failed", "outcome": OutcomePart("failed", 1)}
    (step,) = next_steps(RunStatus.of(snapshot.value(), **failed))
    assert step.startswith("go on with")  # the driver died before the verdict
    snapshot.history.apply(TuningEnded(gain=False, reason="it could not be measured"))
    (step,) = next_steps(RunStatus.of(snapshot.value(), **failed))
    assert step == "correct what is named, then tune anew"


def texts_of(snapshot):
    return [alarm.text for alarm in snapshot.messages.alarms]


def test_a_frame_that_cannot_be_read_raises_one_alarm_for_all_its_products(snapshot):
    at = "d01", "20050828T120000", 1
    for number, product in enumerate(("wind", "rain", "clouds")):
        reason = f"V{number} of wrfout cannot be read: chunk {number} is damaged"
        snapshot.messages.blame(Failure(product, *at, reason, unreadable=True))
    assert texts_of(snapshot) == [
        f"frame d01 {at[1]}: V0 of wrfout cannot be read: chunk 0 is damaged"
    ]
    snapshot.messages.blame(Failure("wind", "d01", "20050828T130000", 1, "short", unreadable=True))
    assert len(texts_of(snapshot)) == 2


def test_a_damaged_frame_raises_one_alarm_whoever_finds_it(snapshot):
    damage = {"event": "frame.damaged", "time": "20050828T120000", "reason": "the end is missing"}
    snapshot.apply(event({**damage, "stream": "d01", "attempt": 1}))
    for product in ("wind", "rain"):
        failure = Failure(product, "d01", "20050828T120000", 1, "placed", unreadable=True)
        snapshot.messages.blame(failure)
    assert len(texts_of(snapshot)) == 1


def test_products_with_faults_of_their_own_raise_one_alarm_each(snapshot):
    for moment in ("20050828T120000", "20050828T130000"):
        for product in ("wind", "rain"):
            snapshot.messages.blame(Failure(product, "d01", moment, 1, "there is no variable U"))
    assert len(texts_of(snapshot)) == 2


def test_a_scheduler_is_named_while_it_does_not_answer(snapshot, monkeypatch):
    monkeypatch.setattr(silence, "SLOW_S", 0.0)
    slurm = Slurm(BatchSite())
    snapshot.note_scheduler(None)
    snapshot.note_scheduler(slurm)
    assert "scheduler" not in record(snapshot.value())
    slurm._silence.note_question()
    time.sleep(0.06)
    found = record(snapshot.value())["scheduler"]
    assert (found["title"], found["silent_s"] >= 0.1) == ("Slurm", True)
    slurm._silence.note_answer()
    assert "scheduler" not in record(snapshot.value())


def test_a_product_that_stands_is_not_the_last_when_it_is_made_again(snapshot):
    publish(snapshot, product="t2", name="first")
    snapshot.history.apply(event({**PUBLISHED, "product": "t2"}))
    publish(snapshot, product="t2", name="again")
    assert snapshot.value().last_product.name == "first"


def test_what_a_former_driver_began_to_publish_is_not_the_last_product(snapshot):
    snapshot.apply(event(PUBLISHED))
    assert snapshot.value().last_product is None
