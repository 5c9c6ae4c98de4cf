"""Supervisors of batch jobs that have no attempt yet, as processes of their own."""

from __future__ import annotations

import json
import time

import pytest

from burstlens.core.durable import read_json, write_json
from burstlens.workflows.placement.go import GO, RESTARTED

pytestmark = pytest.mark.integration
BATCH = {"batch": {}, "job_id_variable": "JOB_NUMBER"}


@pytest.fixture
def ahead(job, supervise, run_dir):
    """A supervisor of job 13, which was submitted ahead for attempt 2; its process and folder."""

    def start(number="13", **fields):
        folder = job("", "ahead-2", **BATCH, first_attempt=2, **fields)
        return supervise(folder, JOB_NUMBER=number), folder

    return start


def give(folder, number):
    write_json(folder / GO, {"job_id": number})


def awaits(folder):
    return lambda: read_json(folder / "ended.json")


def test_it_starts_the_model_when_a_driver_has_given_it_the_attempt(ahead, job, wait_for):
    child, folder = ahead()
    wait_for((folder / "claim").exists)
    attempt = job("echo $$", "attempt-2", **BATCH)
    time.sleep(1.0)
    assert not (attempt / "claim").exists(), "no driver has given it"
    give(attempt, "13")
    begin = time.time()
    end = wait_for(awaits(attempt))
    assert (end["reason"], end["exit_code"]) == ("exited", 0)
    assert end["idle_s"] >= 1.0
    started = read_json(attempt / "started.json")
    assert started["started"] - begin < 1.0
    assert started["idle_s"] == end["idle_s"]
    assert child.wait(60) == 0
    assert not (folder / "ended.json").exists()


def test_without_a_driver_it_ends_after_its_wait_and_says_so(ahead, wait_for):
    child, folder = ahead(wait_s=1.0)
    end = wait_for(awaits(folder))
    assert end["reason"] == "not started"
    assert "no driver gave it an attempt" in end["message"]
    assert end["idle_s"] >= 1.0
    assert child.wait(60) == 0


@pytest.mark.parametrize("name", ["stop", "stop-now"])
def test_a_stop_ends_it_at_once(ahead, wait_for, run_dir, name):
    child, folder = ahead()
    wait_for((folder / "claim").exists)
    run_dir.request(name)
    assert wait_for(awaits(folder))["reason"] == name
    assert child.wait(60) == 0


def test_the_schedulers_signal_ends_it(ahead, wait_for):
    child, folder = ahead()
    wait_for((folder / "claim").exists)
    time.sleep(0.5)
    child.terminate()
    assert wait_for(awaits(folder))["reason"] == "terminated by SIGTERM"


def test_an_attempt_that_was_given_to_another_job_is_not_taken(ahead, job, wait_for):
    _, folder = ahead(wait_s=2.0)
    attempt = job("true", "attempt-2", **BATCH)
    give(attempt, "12")
    assert wait_for(awaits(folder))["reason"] == "not started"
    assert not (attempt / "claim").exists()


def test_it_takes_the_attempt_after_the_one_that_another_job_runs(ahead, job, wait_for):
    taken = job("true", "attempt-2", **BATCH)
    (taken / "claim").write_text("n1 4711 1 12")
    ahead()
    attempt = job("true", "attempt-3", **BATCH)
    give(attempt, "13")
    assert wait_for(awaits(attempt))["exit_code"] == 0


def test_a_job_that_is_started_again_ends_its_attempt_and_waits_for_the_next(
    job, supervise, wait_for, alive
):
    first = job("sleep 300", **BATCH, wait_s=60.0)
    before = supervise(first, JOB_NUMBER="12")
    wait_for(lambda: read_json(first / "started.json"))
    before.kill()  # with its node
    before.wait()
    supervise(first, JOB_NUMBER="12")
    assert wait_for(awaits(first))["reason"] == "requeued"
    wait_for((first / RESTARTED).exists)
    second = job("sleep 300", "attempt-2", **BATCH)
    give(second, "12")
    wait_for(lambda: read_json(second / "started.json"))
    # Once more, under the same id.
    third_start = supervise(first, JOB_NUMBER="12")
    assert wait_for(awaits(second))["reason"] == "requeued"
    third = job("true", "attempt-3", **BATCH)
    give(third, "12")
    assert wait_for(awaits(third))["exit_code"] == 0
    assert third_start.wait(60) == 0


def test_the_end_that_the_first_start_has_reported_stays(job, supervise, wait_for):
    first = job("exit 3", **BATCH, wait_s=1.0)
    supervise(first, JOB_NUMBER="12").wait(60)
    again = supervise(first, JOB_NUMBER="12")
    wait_for((first / RESTARTED).exists)
    assert again.wait(60) == 0
    assert read_json(first / "ended.json")["exit_code"] == 3


@pytest.mark.parametrize("number", ["13", ""])
def test_another_job_does_not_adopt_what_this_one_has_claimed(job, supervise, wait_for, number):
    folder = job("sleep 300", **BATCH)
    supervise(folder, JOB_NUMBER="12")
    wait_for(lambda: read_json(folder / "started.json"))
    second = supervise(folder, JOB_NUMBER=number)
    assert second.wait(60) == 1
    assert "a supervisor already" in second.stderr.read()


def test_half_a_file_is_not_taken_for_a_word(ahead, job, wait_for):
    _, folder = ahead(wait_s=2.0)
    attempt = job("true", "attempt-2", **BATCH)
    (attempt / GO).write_text(json.dumps({"job_id": "13"})[:-3])
    assert wait_for(awaits(folder))["reason"] == "not started"
