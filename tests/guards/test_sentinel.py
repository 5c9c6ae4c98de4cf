"""The sentinel and the sentry that starts it: real processes, without a driver."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burstlens.clients.opened.status import status_of
from burstlens.core.decode import record
from burstlens.core.durable import read_json, write_json
from burstlens.core.model import Frame
from burstlens.core.run import events as ev
from burstlens.core.run.journal import Journal
from burstlens.core.run.snapshot import new_snapshot
from burstlens.viz.frames.reader import netCDF4
from burstlens.workflows.placement import sentry as sentry_module
from burstlens.workflows.placement.direct_requests import RequestInbox
from burstlens.workflows.placement.sentinel import Sentinel
from burstlens.workflows.placement.supervised import describe
from burstlens.workflows.plan.commands import new_run

GUARDS = """
[[guard]]
name = "whole"
variable = "W"
then = "stop"
[[guard]]
name = "cfl"
log = "cfl"
[[guard]]
name = "slow"
variable = "W"
finite = false
max_rate = 0.001
"""
MAP = """
[[product]]
name = "knots"
kind = "map"
variable = "W"
level = 12
units = "kn"
[[guard]]
variable = "W"
max = 80.0
"""
TEMPLATE = Path(__file__).parents[1] / "data" / "wrf" / "wrfout_d01_0001-01-01_00_08_00"
PATIENCE_S = 60.0


def wait_for(holds, what):
    end = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < end, what
        time.sleep(0.05)
    return found


def beat(run, number):
    status = record(new_snapshot(run)) if run.facts.exists() else {}
    write_json(run.status, status | {"driver": {"heartbeat": number}}, sync=False)


@pytest.fixture
def model(storm, monkeypatch):
    """A run with a dead driver: its directory, the model's folder, a function to write frames."""
    return begun(storm("", GUARDS), monkeypatch)


def begun(case, monkeypatch):
    monkeypatch.setenv("BURSTLENS_RUNS", str(case.runs))
    run, _ = new_run(str(case.folder / "r.toml"), name="r")
    folder = case.buffer / "f" / "1"
    folder.mkdir(parents=True)
    job = {"name": "attempt-1", "root": str(case.buffer), "folder": "f/1",
           "sentinel": {"after_s": 1.0, "poll_s": 0.05}}  # fmt: skip
    describe(run.job("attempt-1"), job)
    write_json(run.job("attempt-1") / "baseline.json", {})
    beat(run, 1.0)

    def write(minute: int, value: float = 1.0) -> None:
        part = folder / "part"
        shutil.copy(TEMPLATE, part)
        stamp = f"0001-01-01_00:{minute:02d}:00"
        with netCDF4.Dataset(os.fspath(part), "r+") as data:
            data["Times"][0] = [letter.encode() for letter in stamp]
            data["W"][0, 12, 20, 25] = value
        name = f"wrfout_d01_{stamp.replace(':', '_')}"
        part.rename(folder / name)
        with (folder / "rsl.error.0000").open("a") as log:
            log.write(f"Timing for Writing {name} for domain        1:    0.1 elapsed seconds\n")

    return run, folder, write


@pytest.fixture
def sentinel():
    """Starts the sentinel of a run in the same way as the supervisor."""
    started = []

    def start(run, job="attempt-1", *words, out=subprocess.PIPE):
        command = [sys.executable, "-P", "-m", "burstlens.workflows.placement.sentinel"]
        child = subprocess.Popen(
            [*command, str(run.path), str(run.job(job)), *words],
            stdout=out,
            text=True,
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()


def trips(run):
    lines = run.sentinel.read_text().splitlines() if run.sentinel.exists() else []
    return [json.loads(line) for line in lines]


@pytest.mark.slow
def test_it_gives_values_in_the_units_of_the_run_s_map(storm, monkeypatch):
    case = storm("", MAP)
    run, folder, write = begun(case, monkeypatch)
    write(1, 100.0)
    job = read_json(run.job("attempt-1") / "job.json")
    path = f"f/1/{next(folder.glob('wrfout*')).name}"
    frame = Frame(run.id, 1, "d01", "00010101T000100", (path,), 0, 1, 1.0, 1.0, "header")
    Sentinel(run, run.job("attempt-1"), job, 0.0, None, over=False)._inspect(frame)
    (trip,) = trips(run)
    assert (trip["value"], trip["units"]) == (pytest.approx(194.4, abs=0.1), "kn")


def test_it_stops_the_model_and_keeps_the_trips_for_the_next_driver(model, sentinel):
    run, folder, write = model
    for minute in (1, 2):
        write(minute)
    child = sentinel(run)
    write(3, float("nan"))
    # The file stands before its reason is in it.
    wait_for(lambda: read_json(run.control / "stop"), "no stop with a reason")
    why = read_json(run.control / "stop")
    assert (why["by"], why["guard"], why["time"]) == ("guard", "whole", "00010101T000300")
    # The frame is whole, so the supervisor does not wait for it.
    wait_for(lambda: (run.control / "frame-done").exists(), "no frame-done")
    (trip,) = trips(run)
    assert trip["place"]["index"]["west_east"] == 25
    status = status_of(str(run.path))
    assert status["trips"] == [trip]
    assert status["alarms"][-1]["text"].startswith('guard "whole": W is NaN at 1 of')
    with (folder / "rsl.error.0001").open("a") as log:
        log.write("12 points exceeded v_cfl = 2 in domain d01\n")
    wait_for(lambda: len(trips(run)) == 2, "no trip of the log's")
    assert trips(run)[1]["guard"] == "cfl"
    assert os.getpriority(os.PRIO_PROCESS, child.pid) >= 10
    beat(run, 2.0)  # a driver runs again
    assert child.wait(PATIENCE_S) == 0


def test_a_full_run_directory_keeps_no_sentinel_from_stopping_the_model(model, sentinel):
    run, _, write = model
    inbox = RequestInbox(run.job("attempt-1"))  # as the supervisor has one
    run.control.rmdir()
    run.control.touch()  # no request can be written
    run.sentinel.mkdir()  # nor a trip
    write(1)
    with open("/dev/full", "wb") as full:  # and its output lies there as well
        child = sentinel(run, out=full)
        write(2, float("nan"))
        (name, why) = wait_for(lambda: next(inbox.read(), None), "no request")
        assert (name, why["guard"], why["time"]) == ("stop", "whole", "00010101T000200")
        assert why["trip"]["place"]["index"]["west_east"] == 25
        run.control.unlink()
        run.sentinel.rmdir()
        wait_for(lambda: (run.control / "stop").exists(), "no stop")
        (trip,) = wait_for(lambda: trips(run), "no trip")
        assert trip == why["trip"]
        beat(run, 2.0)
        assert child.wait(PATIENCE_S) == 0


def test_a_trip_that_no_disk_takes_is_passed_on_before_a_driver_ends_the_sentinel(model, sentinel):
    run, folder, write = model
    inbox = RequestInbox(run.job("attempt-1"))  # as the supervisor has one
    run.sentinel.symlink_to("/dev/full")
    write(1)
    child = sentinel(run)
    with (folder / "rsl.error.0001").open("a") as log:
        log.write("12 points exceeded v_cfl = 2 in domain d01\n")
    (name, trip) = wait_for(lambda: next(inbox.read(), None), "no trip")
    assert (name, trip["guard"], trip["then"]) == ("trip", "cfl", "alarm")
    beat(run, 2.0)
    assert child.wait(PATIENCE_S) == 0
    assert next(inbox.read(), None) is None, "once is enough"


def test_a_driver_that_came_while_the_sentinel_was_started_ends_it(model, sentinel):
    run, _, _ = model
    child = sentinel(run, "attempt-1", "10", "0.5")
    assert child.wait(PATIENCE_S) == 0
    assert trips(run) == []


def test_the_sentinel_continues_from_the_readings_of_the_driver(model, sentinel):
    run, _, write = model
    journal = Journal(run.journal, 1)
    numbers = {"least": -1.0, "most": 4.5, "mean": 0.0, "points": 9, "bad": 0}
    journal.append(ev.FrameInspected(stream="d01", time="00010101T000100", attempt=1,
        readings={"slow": numbers, "whole": numbers},
    ))  # fmt: skip
    journal.close()
    write(1, float("nan"))  # inspected already: not read again
    write(2, 50.0)
    child = sentinel(run)
    wait_for(lambda: trips(run), "no trip")
    beat(run, 2.0)
    child.wait(PATIENCE_S)
    (trip,) = trips(run)
    assert (trip["guard"], trip["what"], trip["time"]) == ("slow", "max_rate", "00010101T000200")
    assert not (run.control / "stop").exists()


def test_a_second_attempt_is_not_compared_with_the_first_ones_blow_up(model, sentinel):
    run, folder, write = model
    journal = Journal(run.journal, 1)
    blown_up = {"least": -900.0, "most": 900.0, "mean": 0.0, "points": 9, "bad": 0}
    journal.append(ev.FrameInspected(stream="d01", time="00010101T000300", attempt=1,
        readings={"slow": blown_up, "whole": blown_up},
    ))  # fmt: skip
    journal.close()
    job = read_json(run.job("attempt-1") / "job.json")
    describe(run.job("attempt-2"), job | {"name": "attempt-2"})
    write_json(run.job("attempt-2") / "baseline.json", {})
    write(2)
    child = sentinel(run, "attempt-2")
    with (folder / "rsl.error.0001").open("a") as log:
        log.write("12 points exceeded v_cfl = 2 in domain d01\n")
    write_json(run.job("attempt-2") / "ended.json", {"reason": "exited"})
    assert child.wait(PATIENCE_S) == 0
    assert [(trip["guard"], trip["attempt"]) for trip in trips(run)] == [("cfl", 2)]


def test_a_model_that_has_ended_is_not_asked_to_stop(model, sentinel):
    run, _, write = model
    write(1, float("nan"))
    write_json(run.job("attempt-1") / "ended.json", {"reason": "exited"})
    assert sentinel(run).wait(PATIENCE_S) == 0
    (trip,) = trips(run)
    assert (trip["guard"], trip["then"]) == ("whole", "stop")
    assert not (run.control / "stop").exists()  # it would stop the next attempt


def test_it_ends_with_the_model(model, sentinel):
    run, _, write = model
    write(1)
    child = sentinel(run)
    write_json(run.job("attempt-1") / "ended.json", {"reason": "exited"})
    assert child.wait(PATIENCE_S) == 0


def test_an_error_is_reported_in_one_line(model, sentinel):
    run, _, _ = model
    run.facts.unlink()
    child = sentinel(run)
    said, _ = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 1
    assert said.startswith("the sentinel ends: RunError: ")
    assert said.count("\n") == 1


@pytest.fixture
def sentry(run_dir, monkeypatch):
    """A sentry of a run directory, and the log of the sentinels that it has started."""
    monkeypatch.setattr(sentry_module, "HEARTBEAT_PERIOD_S", 0.0)
    folder = run_dir.job("attempt-1")
    folder.mkdir(parents=True)
    made = sentry_module.Sentry(run_dir.path, folder, {"after_s": 10.0})
    yield made, folder / "sentinel.log"
    made.end()


def test_no_sentinel_is_started_while_the_heartbeat_moves(sentry, run_dir):
    watch, log = sentry
    now = time.monotonic()
    for number in range(100):
        beat(run_dir, number / 10)
        watch.look(now + number)
    assert not log.exists()


@pytest.mark.integration
def test_a_heartbeat_that_stands_still_starts_a_sentinel_whatever_the_clocks_say(sentry, run_dir):
    watch, log = sentry
    beat(run_dir, 9e9)  # from a node whose clock is ahead
    now = time.monotonic()
    watch.look(now)
    watch.look(now + 9.5)
    assert not log.exists()
    watch.look(now + 10.5)
    wait_for(lambda: log.exists() and "the sentinel ends" in log.read_text(), "no sentinel")
    watch.look(now + 12)  # one that fails is not started again at once
    assert log.read_text().count("the sentinel ends") == 1


@pytest.mark.integration
def test_a_status_that_cannot_be_read_is_not_a_sign_of_life(sentry, run_dir):
    watch, log = sentry
    now = time.monotonic()
    beat(run_dir, 1.0)
    watch.look(now)
    for torn in ("", "{", "[]", '{"driver": null}'):
        run_dir.status.write_text(torn)
        watch.look(now + 5)
    assert not log.exists()
    watch.look(now + 11)
    wait_for(log.exists, "no sentinel")
