"""Requests that the run directory cannot take reach the supervisor of the model directly."""

from __future__ import annotations

import socket
import time

import pytest

from burstlens.clients.opened.steering import stop
from burstlens.core.durable import read_json, write_json
from burstlens.core.errors import RunError
from burstlens.workflows.placement import direct_requests


@pytest.mark.parametrize("away", [False, True], ids=["full", "away"])
def test_a_stop_that_the_run_directory_cannot_take_reaches_the_supervisor_with_its_reason(
    job, supervise, run_dir, wait_for, away
):
    folder = job("sleep 300")
    child = supervise(folder)
    wait_for((folder / "started.json").exists)
    why = {"by": "guard", "guard": "whole", "text": "W is NaN"}
    elsewhere = run_dir.path.with_name("elsewhere")
    if away:
        run_dir.path.rename(elsewhere)
    assert direct_requests.send(folder, "stop", why)
    assert direct_requests.send(folder, "frame-done")
    if away:
        time.sleep(1.0)
        elsewhere.rename(run_dir.path)
    assert child.wait(120) == 0
    end = read_json(folder / "ended.json")
    assert (end["reason"], end["why"]) == ("stop", why)


def test_only_a_live_supervisor_of_that_job_is_told(job, supervise, wait_for):
    folder, other = job("sleep 300"), job("sleep 300", "attempt-2")
    assert not direct_requests.send(folder, "stop-now")
    child = supervise(folder)
    wait_for((folder / "started.json").exists)
    assert not direct_requests.send(other, "stop-now")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:  # no request at all
        for text in (b"", b"[]", b'{"request": "pause", "reason": {}}', b'{"request": "stop"}'):
            sender.sendto(text, direct_requests._address(folder))
    time.sleep(0.6)
    assert child.poll() is None
    assert direct_requests.send(folder, "stop-now")
    assert child.wait(120) == 0
    assert read_json(folder / "ended.json")["reason"] == "stop-now"


def test_the_command_stops_a_model_here_although_the_run_directory_is_full(
    job, supervise, run_dir, wait_for, monkeypatch
):
    folder = job("sleep 300")
    child = supervise(folder)
    wait_for((folder / "started.json").exists)
    monkeypatch.setenv("BURSTLENS_RUNS", str(run_dir.path.parent))
    write_json(run_dir.facts, {"title": "Storm", "created": time.time()})
    run_dir.control.mkdir(exist_ok=True)
    run_dir.control.rmdir()
    run_dir.control.touch()  # no request can be written
    said = stop(run_dir, now=True)
    assert "cannot write" in said
    assert said.endswith("the supervisor of its model, on this machine, was told directly")
    assert child.wait(120) == 0
    assert read_json(folder / "ended.json")["reason"] == "stop-now"
    with pytest.raises(RunError, match="cannot write"):
        stop(run_dir, now=True)  # there is none any more
