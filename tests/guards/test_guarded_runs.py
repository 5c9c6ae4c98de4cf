"""Whole runs that go wrong: stopped in time, reported, and marked in the picture."""

from __future__ import annotations

import json
import os
import signal

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.integration

PLANTED = 3
RECIPE = """
[[guard]]
name = "whole"
variable = "W"
then = "stop"
run = ["touch", "notified"]
[[guard]]
log = "cfl"
count = 1000
[[guard]]
name = "faulty"
variable = "WW"
then = "stop-now"
[[guard]]
expression = "max(T2) > 1e6"
then = "stop-now"
"""
RED = (200, 16, 46)
PROGRAM = "burstlens.workflows.placement.sentinel"


@pytest.fixture(scope="session")
def stopped(storm_class, tmp_path_factory):
    """A run whose model writes a NaN into a frame, and would never end by itself."""
    plant = f"--plant {PLANTED} W nan 12 20 25 --hang-at {PLANTED + 1}"
    model = f"--frames 8 --begin 5 --period 2 {plant} --say 1 said.txt"
    case = storm_class(tmp_path_factory.mktemp("stopped") / "storm", model=model, guards=RECIPE)
    config = case.folder / "config" / "burstlens"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[guards]\nallow = ["run"]\n')
    before = os.environ.get("XDG_CONFIG_HOME")
    os.environ["XDG_CONFIG_HOME"] = str(config.parent)
    try:
        case.life = case.wait(case.launch())
    finally:
        if before is None:
            del os.environ["XDG_CONFIG_HOME"]
        else:
            os.environ["XDG_CONFIG_HOME"] = before
    yield case
    case.end()


def status(case):
    return json.loads((case.run / "status.json").read_text())


def test_the_model_is_stopped_at_the_bad_frame(stopped):
    assert stopped.life.code == 3, stopped.life.said
    assert max(stopped.closed()) == PLANTED


def test_the_run_says_which_guard_stopped_it_and_where(stopped):
    text = 'stopped by guard "whole": W is NaN at 1 of 68921 points, first at bottom_top_stag 12'
    assert f"burstlens: {text}" in stopped.life.said
    assert f"d01 0001-01-01 00:0{PLANTED}:00 UTC" in stopped.life.said
    (ended,) = stopped.events("run.ended")
    assert (ended["outcome"], ended["exit_code"]) == ("stopped", 3)
    assert ended["message"].startswith(text)
    (received,) = stopped.events("control.received")
    assert received["guard"] == "whole"
    assert received["by"] == "guard"


def test_the_trip_is_journalled_with_its_place_and_frame(stopped):
    trip = next(event for event in stopped.events("guard.tripped") if event["guard"] == "whole")
    assert (trip["what"], trip["variable"], trip["value"]) == ("finite", "W", None)
    assert (trip["stream"], trip["time"]) == ("d01", f"00010101T00{PLANTED:02d}00")
    assert trip["place"]["index"] == {"bottom_top_stag": 12, "south_north": 20, "west_east": 25}
    assert (trip["place"]["x"], trip["place"]["y"]) == (51000.0, 41000.0)


def test_the_status_has_guards_trips_and_the_saved_node_hours(stopped):
    shown = status(stopped)
    states = {guard["name"]: guard["state"] for guard in shown["guards"]}
    assert states == {
        "whole": "tripped",
        "log-cfl": "tripped",
        "faulty": "failed",
        "expression": "good",
    }
    assert [trip["guard"] for trip in shown["trips"]] == ["log-cfl", "whole"]
    # The model was to simulate 1,920 s, at about 30 s per second. A machine so busy that the log
    # is rarely read does not know the speed.
    left_s, saved = shown["progress"].get("eta_s"), shown["outcome"]["saved_node_hours"]
    assert saved == (None if left_s is None else pytest.approx(left_s / 3600, abs=1e-3))
    assert left_s is None or 0 < left_s < 90
    placed = [alarm for alarm in shown["alarms"] if alarm.get("time")]
    assert {"stream": "d01", "time": f"00010101T00{PLANTED:02d}00"}.items() <= placed[-1].items()
    assert ("node-hours, by stopping early (estimate)" in stopped.life.said) is (saved is not None)


def test_a_cfl_line_of_another_rank_trips_its_guard(stopped):
    trip = next(event for event in stopped.events("guard.tripped") if event["guard"] == "log-cfl")
    assert trip["value"] > 1000
    assert "rsl.error.0001" in trip["text"]
    assert trip["then"] == "alarm"


def test_a_guard_that_fails_alarms_once_and_does_not_stop_the_run(stopped):
    alarms = [event["text"] for event in stopped.events("alarm") if "faulty" in event["text"]]
    assert len(alarms) == 1
    assert "did you mean" in alarms[0]


def test_a_trip_runs_the_program_that_the_user_allows(stopped):
    assert (stopped.run / "notified").exists()


def test_each_frame_is_inspected_once_when_its_product_reads_it(stopped):
    seen = [event["time"] for event in stopped.events("frame.inspected")]
    assert sorted(seen) == sorted(event["time"] for event in stopped.events("frame.ready"))
    bad = {
        event["time"]: event["readings"]["whole"]["bad"]
        for event in stopped.events("frame.inspected")
    }
    first = f"00010101T00{PLANTED:02d}00"
    assert bad == {time: int(time >= first) for time in seen}


def test_the_picture_of_that_frame_is_marked_and_no_other(stopped):
    marked = {}
    for path in (stopped.run / "products" / "w").glob("*.png"):
        with Image.open(path) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        marked[path.stem[-6:]] = int(np.count_nonzero((pixels == RED).all(axis=-1)))
    assert {time for time, count in marked.items() if count > 50} == {
        time for time in marked if time >= f"00{PLANTED:02d}00"
    }


@pytest.mark.slow
def test_resume_says_that_a_guard_had_stopped_the_run_and_continues(storm):
    case = storm("--frames 6 --begin 6 --period 2 --plant 1 W nan 12 20 25 --hang-at 3", GUARD)
    assert case.wait(case.launch()).code == 3
    (case.inputs / "wrf.exe").write_text("")  # the inputs on the buffer are those of the run
    life = case.burstlens("resume", "r")
    assert 'r was stopped by guard "whole"' in life.said
    assert "it is resumed now, as requested" in life.said
    assert life.code == 3  # the same model goes wrong again
    # Of two frames that were read at once, an attempt may have a second trip: the stop's cause.
    assert {trip["attempt"] for trip in case.events("guard.tripped")} == {1, 2}


GUARD = '[[guard]]\nname = "whole"\nvariable = "W"\nthen = "stop"\n'


@pytest.mark.slow
def test_a_run_whose_guard_trips_after_the_models_end_is_not_done_and_is_not_run_again(storm):
    case = storm("--frames 6 --begin 1 --period 0.01 --plant 3 W nan 12 20 25", GUARD)
    life = case.wait(case.launch())
    assert life.code == 7, life.said
    assert "stopped by" not in life.said
    (ended,) = case.events("run.ended")
    assert (ended["outcome"], ended["exit_code"]) == ("failed", 7)
    assert ended["message"].startswith('guard "whole" ')
    assert ended["message"].endswith("d01 0001-01-01 00:03:00 UTC")
    assert status(case)["outcome"]["exit_code"] == 7
    assert status(case)["products"]["w"]["published"] == 6
    life = case.burstlens("resume", "r")
    assert life.code == 7
    assert "the model is not run again" in life.said
    assert len(case.events("simulation.submitting")) == 1


@pytest.mark.slow
def test_a_stop_by_a_user_is_reported_as_such_even_if_a_guard_trips_after_it(storm):
    wait = "--wait-at 3 HERE/runs/r/control/stop"
    case = storm(f"--frames 60 --begin 6 --period 2 --plant 3 W nan 1 1 1 {wait}", GUARD)
    driver = case.launch()
    case.await_event("product.published")
    assert case.burstlens("stop", "r").code == 0
    assert case.wait(driver).code == 4
    assert case.events("run.ended")[0]["message"] == "stopped, as asked"


@pytest.mark.slow
def test_with_the_driver_killed_a_trip_still_ends_the_model_and_is_reported_afterwards(storm):
    planted = 14
    plant = f"--plant {planted} W nan 12 20 25 --hang-at {planted + 1}"
    case = storm(f"--frames 20 --begin 6 --period 2 {plant}", GUARD)
    driver = case.launch()
    case.await_event("product.published", 2)
    driver.send_signal(signal.SIGKILL)
    driver.wait(120)
    case.await_that((case.run / "attempts" / "1" / "ended.json").exists, "end of the model")
    assert max(case.closed()) == planted
    ended = json.loads((case.run / "attempts" / "1" / "ended.json").read_text())
    assert ended["reason"] == "stop"
    assert case.events("guard.tripped") == []
    (found,) = map(json.loads, (case.run / "sentinel.jsonl").read_text().splitlines())
    why = json.loads((case.run / "control" / "stop").read_text())
    assert (why["by"], why["guard"]) == ("guard", "whole")
    life = case.burstlens("resume", "r")
    assert life.code == 3, life.said
    (trip,) = case.events("guard.tripped")
    assert (trip["time"], trip["attempt"]) == (f"00010101T00{planted:02d}00", 1)
    assert trip["found"] == found["t"] < trip["t"]
    (shown,) = json.loads((case.run / "status.json").read_text())["trips"]
    assert shown["t"] == found["t"]
    assert [e["exit_code"] for e in case.events("run.ended")] == [3]


@pytest.mark.fault  # the test before it has the driver killed and what it reports
def test_the_sentinel_ends_when_a_driver_runs_again(storm):
    case = storm("--frames 30 --begin 6 --period 3 --hang-at 4", GUARD)
    driver = case.launch()
    case.await_event("product.published", 2)
    driver.send_signal(signal.SIGKILL)
    driver.wait(120)

    def sentinels():
        return [command for command in case.processes().values() if PROGRAM in command]

    case.await_that(sentinels, "sentinel")
    driver = case.start("resume", "r")
    case.await_event("run.resumed")
    case.await_that(lambda: not sentinels(), "end of the sentinel")
    assert case.burstlens("stop", "r", "--now").code == 0
    assert case.wait(driver).code == 4
    trips = case.run / "sentinel.jsonl"  # made with the first one
    assert not trips.exists() or not trips.read_text()
