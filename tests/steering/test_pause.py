"""Pausing: the model goes on, nothing is made, nothing is lost."""

from __future__ import annotations

import json
import signal

import pytest
from run_case import TIMES

from burstlens.clients.opened.status import read_status, text

STOPPED = 4


def pause_at_start(case):
    """Launch, and pause before there is a frame."""
    driver = case.launch()
    case.await_that(case.control.is_dir, "control folder")
    case.ask("pause", "r")
    return driver


@pytest.mark.slow
def test_a_paused_run_finds_frames_makes_nothing_and_then_the_newest_first(steered):
    case = steered(0.3, wait=True)
    driver = pause_at_start(case)
    case.await_event("frame.ready", 3)
    case.await_that(lambda: status(case)["frames"]["ready"] == 3, "status")
    found = status(case)
    assert found["paused"] is True
    assert found["backlog"] >= 6
    assert "no products are made; burstlens resume-watching r" in text(read_status(str(case.run)))
    assert case.events("product.published") == []

    assert "makes products again" in case.ask("resume-watching", "r")
    case.await_event("product.published", 6)
    order = sorted(case.events("product.published"), key=lambda e: e["clock"]["submitted"])
    assert [event["time"] for event in order] == sorted(2 * TIMES, reverse=True)
    case.await_that(lambda: status(case)["paused"] is False, "status")
    assert "was not paused" in case.ask("resume-watching", "r")

    case.ask("stop", "r", "--now")
    assert case.wait(driver).code == STOPPED
    asked = [event["control"] for event in case.events("control.received")]
    assert asked[:2] == ["pause", "resume-watching"]


@pytest.mark.fault  # the test before it has a pause, tests/driving/test_history.py its fold
def test_a_pause_outlives_the_driver_and_ends_with_the_model(steered):
    case = steered(0.3, wait=True)
    driver = pause_at_start(case)
    case.await_event("frame.ready", 1)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    resumed = case.start("resume", "r")
    case.await_event("frame.ready", 3)
    assert case.events("product.published") == []
    case.ask("stop", "r")
    assert case.wait(resumed).code == STOPPED
    assert sorted(case.published("w")) == sorted(case.published("core")) == list(TIMES)
    asked = [event["control"] for event in case.events("control.received")]
    assert asked == ["pause", "stop", "resume-watching"]
    assert not (case.control / "pause").exists()


@pytest.mark.slow
def test_a_pause_does_not_fill_the_buffer(steered):
    case = steered(0.3, wait=True, capacity="2 MiB")  # less than two frames
    driver = pause_at_start(case)
    case.await_event("product.published", 6)
    asked = [event["control"] for event in case.events("control.received")]
    assert asked == ["pause", "resume-watching"]
    assert any("the pause is over" in alarm["text"] for alarm in status(case)["alarms"])
    case.ask("stop", "r", "--now")
    assert case.wait(driver).code == STOPPED


def test_a_run_that_is_over_cannot_be_paused(standing):
    standing.done()
    refused = standing.call("pause", "done")
    assert refused.returncode == 1
    assert refused.stderr == "burstlens: done is over already: done\n"


def status(case):
    return json.loads((case.run / "status.json").read_text())
