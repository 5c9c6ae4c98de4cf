"""A driver on another host, whose clock may be wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from burstlens.clients.opened.status import read_status, rows, text
from burstlens.core.decode import convert
from burstlens.core.durable import write_json
from burstlens.core.errors import RunError
from burstlens.core.run.heartbeat import driver_lives
from burstlens.core.run.status_file import DriverPart
from burstlens.workflows.driver.claim import take_over

BEATS = """
import pathlib, sys, time
from burstlens.core.decode import convert
from burstlens.core.durable import write_json
while True:
    driver = {"host": "elsewhere", "heartbeat": time.time() + float(sys.argv[2])}
    write_json(pathlib.Path(sys.argv[1]), {"state": "running", "driver": driver}, sync=False)
    time.sleep(0.3)
"""


@pytest.fixture
def other(run_dir, monkeypatch):
    """The run directory of a driver on another host; its heartbeat is off by some seconds."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(run_dir.path.parent))
    write_json(run_dir.facts, {"title": "Storm", "created": time.time()})
    return run_dir


def write_status(run, off, **more):
    driver = {"host": "elsewhere", "heartbeat": time.time() + off}
    write_json(run.status, {"state": "running", "driver": driver} | more)
    return convert(driver, DriverPart)


@pytest.mark.integration
@pytest.mark.parametrize("off", [-3600, -20, 0, 3600])
def test_a_driver_lives_while_its_heartbeat_changes_whatever_its_clock(other, off):
    write_status(other, off)
    driver = subprocess.Popen([sys.executable, "-c", BEATS, str(other.status), str(off)])
    try:
        assert read_status("storm-1").state == "running"
    finally:
        driver.kill()
        driver.wait()


@pytest.mark.integration
@pytest.mark.parametrize("off", [-200_000, 200_000])
def test_no_driver_takes_over_from_one_that_lives_whatever_is_set_on_either_clock(other, off):
    write_status(other, off)
    other.claim(1).write_text('{"host": "elsewhere", "pid": 7, "ticks": 1}')
    driver = subprocess.Popen([sys.executable, "-c", BEATS, str(other.status), str(off)])
    try:
        with pytest.raises(RunError, match=r"has a driver already \(pid 7 on elsewhere\)"):
            take_over(other)
    finally:
        driver.kill()
        driver.wait()


@pytest.mark.parametrize("off", [-60, 600])
def test_one_whose_heartbeat_stands_still_is_dead_also_when_its_clock_was_ahead(other, off):
    assert not driver_lives(other, write_status(other, off), confirm_s=0.5)


@pytest.mark.parametrize(
    "status",
    [
        {"driver": 3},
        {"state": []},
        {"driver": {"heartbeat": "x"}},
        {"driver": None},
        {"products": {"a": {}}},
        {"latency_s": {"p50": 1}},
        {"buffer": {"name": 1}},
        {"ledger": {}},
        {"alarms": [1]},
    ],
    ids=str,
)
def test_a_run_that_cannot_be_read_hides_no_other(other, status):
    broken = other.path.with_name("broken")
    broken.mkdir()
    write_json(broken / "run.json", {"created": 0.0})
    write_json(broken / "status.json", status)
    write_status(other, 0)
    states = {row["run"]: row["state"] for row in rows()}
    assert states == {"broken": "unreadable", "storm-1": "running"}


def test_a_pipe_in_the_place_of_the_sentinels_file_blocks_no_reader(other):
    write_status(other, -1e6)
    os.mkfifo(other.sentinel)
    assert [row["state"] for row in rows()] == ["unreadable"]


def test_control_characters_in_a_status_are_removed(other):
    write_status(other, 0, outcome={"message": "a\x1b[2Jb\ud800"}, alarms=[{"text": "c\x1b[2Jd"}])
    said = text(read_status("storm-1"))
    assert "a[2Jb" in said
    assert "c[2Jd" in said
    assert "\x1b" not in said
    said.encode()
