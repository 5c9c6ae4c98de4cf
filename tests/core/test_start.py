"""A run whose driver was asked for and has not begun."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burstlens.clients.api.run import Run
from burstlens.clients.opened.status import facts, read_status, rows, text
from burstlens.clients.terminal import one_line
from burstlens.core.durable import read_json, write_json
from burstlens.core.run.directory import RunDir
from burstlens.core.run.heartbeat import note_start
from burstlens.workflows.driver.claim import take_over
from burstlens.workflows.driver.run import show_loading

pytestmark = pytest.mark.integration

OLD_S = 600.0
ENDED = {
    "state": "failed",
    "outcome": {"exit_code": 1, "message": "it blew up"},
    "driver": {"host": "gone", "pid": 1, "ticks": 1, "epoch": 1, "heartbeat": 1000.0},
}


@pytest.fixture
def loading():
    """A process that loads during the whole test."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def made(run_dir, monkeypatch):
    """A run that was made ten minutes ago and whose driver has written nothing yet."""
    monkeypatch.setenv("BURSTLENS_RUNS", str(run_dir.path.parent))
    write_json(run_dir.facts, {"title": "Storm", "created": time.time() - OLD_S})
    return run_dir


def job(tmp_path, monkeypatch, says):
    """Let the scheduler say that of each job."""
    program = tmp_path / "bin" / "scontrol"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\necho JobId=$5 {says}\n")
    program.chmod(0o755)
    forgotten = program.with_name("squeue")
    forgotten.write_text("#!/bin/sh\n")
    forgotten.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr("burstlens.clients.opened.standing._scheduler", _fresh())


def _fresh():
    from burstlens.cluster_configs.slurm import Slurm

    slurm = Slurm(patience_s=0.0)
    return lambda name: slurm


def test_a_driver_that_loads_for_minutes_is_starting_and_waited_for(made, loading):
    note_start(made, 1, loading.pid)
    assert rows()[0]["state"] == "starting"
    found = read_status("storm-1")
    assert found.driver_alive
    assert f"its driver is loading (pid {loading.pid} on " in text(found)
    assert Run(made).wait(timeout_s=1.0)["state"] == "starting"


def test_a_start_that_is_dead_is_lost_with_its_reason_and_its_log(made, loading):
    (made.logs / "driver.log").write_text("burstlens: of before\n")
    said = (made.logs / "driver.log").stat().st_size
    with (made.logs / "driver.log").open("a") as log:
        log.write("warning: x\nburstlens: there is no site mine.toml\n")
    note_start(made, 1, loading.pid, log_from=said)
    loading.kill()
    loading.wait()
    found = read_status("storm-1")
    assert (found.state, found.driver_alive) == ("lost", False)
    assert "failed to start" in found.hint
    assert "there is no site mine.toml; its log is" in found.hint
    assert str(made.logs / "driver.log") in found.hint
    assert Run(made).wait(timeout_s=60.0)["state"] == "lost"


def test_a_resume_that_was_asked_for_hides_the_old_end_until_it_is_dead(made, loading):
    write_json(made.status, ENDED)
    assert read_status("storm-1").state == "failed"
    note_start(made, 2, loading.pid)
    found = Run(made).wait(timeout_s=1.0)
    assert (found["state"], found["outcome"]) == ("starting", None)
    loading.kill()
    loading.wait()
    found = read_status("storm-1")
    assert (found.state, found.outcome.message) == ("failed", "it blew up")
    assert "failed to start" in found.hint


@pytest.mark.parametrize("says", ["JobState=PENDING Reason=Priority", "JobState=RUNNING"])
def test_a_driver_in_the_schedulers_queue_is_starting(made, tmp_path, monkeypatch, says):
    job(tmp_path, monkeypatch, says)
    note_start(made, 1, 1, job="42")
    found = read_status("storm-1")
    assert found.state == "starting"
    assert "job 42" in found.hint
    assert ("queue" in found.hint) == ("PENDING" in says)


def test_a_drivers_job_that_was_cancelled_is_a_dead_start(made, tmp_path, monkeypatch):
    job(tmp_path, monkeypatch, "JobState=CANCELLED Reason=None")
    note_start(made, 1, 1, job="42")
    found = read_status("storm-1")
    assert found.state == "lost"
    assert "job 42 ended (CANCELLED)" in found.hint


def test_a_drivers_job_of_a_scheduler_that_is_not_installed_here_is_not_taken_for_dead(made):
    note_start(made, 1, 1, job="42.there", scheduler="elsewhere")
    found = read_status("storm-1")
    assert found.state == "starting"
    assert 'job 42.there: there is no scheduler "elsewhere"' in found.hint


@pytest.mark.parametrize(("age_s", "state"), [(120.0, "starting"), (36_000.0, "lost")])
def test_a_start_on_another_host_is_not_judged_by_a_minutes_silence(made, age_s, state):
    start = {"epoch": 1, "asked": time.time() - age_s, "host": "elsewhere", "pid": 1, "ticks": 1}
    write_json(made.start, start)
    assert read_status("storm-1").state == state


def test_a_driver_elsewhere_that_loads_is_not_taken_for_dead_either(made):
    claim = {"host": "elsewhere", "pid": 1, "ticks": 1, "epoch": 1, "loading": True}
    write_json(made.status, {"state": "starting",
                             "driver": {**claim, "heartbeat": time.time() - 120}})  # fmt: skip
    assert read_status("storm-1").state == "starting"


def test_a_driver_shows_that_it_loads_before_it_loads(made):
    write_json(made.status, ENDED)
    epoch = take_over(made)
    show_loading(made, epoch)
    found = read_status("storm-1")
    assert (found.state, found.outcome) == ("starting", None)
    assert "is loading" in found.hint
    assert read_json(made.products / "live" / "status.js") is None  # a script, not JSON
    assert '"loading":true' in (made.products / "live" / "status.js").read_text()


def test_a_stray_file_named_like_a_claim_is_passed_over(made):
    (made.path / "driver-abc").write_text("x")
    assert take_over(made) == 1


@pytest.mark.slow
def test_a_run_that_was_just_detached_is_waited_for_to_its_end(own_runs):
    own_runs.prepare("storm", "--interval 0.3")
    slow = {"PYTHONPATH": str(_slow_import(own_runs.folder))}
    made = subprocess.Popen(
        [sys.executable, "-m", "burstlens", *own_runs.words("storm"), "--detach"],
        cwd=own_runs.folder, env=os.environ | own_runs.environment | slow,
    )  # fmt: skip
    run = RunDir(own_runs.runs / "storm")
    own_runs.await_that(run.start.exists, "r.toml")
    pid = None
    while pid in (None, made.pid):
        pid = json.loads(run.start.read_text())["pid"]
    # The command that started it may end first, in any way.
    made.send_signal(signal.SIGKILL)
    made.wait()
    assert read_status(str(run.path)).state == "starting"
    assert Run(run).wait(timeout_s=150.0)["state"] == "done"


def _slow_import(folder):
    """A start of Python that takes a while in ``drive``, as on a cold file system."""
    place = folder / "slow"
    place.mkdir()
    (place / "sitecustomize.py").write_text(
        "import sys, time\n"
        "argv = open('/proc/self/cmdline').read().split('\\0')\n"
        "time.sleep(5 if 'drive' in argv else 0)\n"
    )
    return place


SILENT = {"title": "Slurm", "silent_s": 45.0}


@pytest.mark.parametrize(
    ("heartbeat_s", "scheduler", "hint"),
    [
        (1.0, SILENT, None),
        (60.0, SILENT, r"has written nothing for [\w ]+: Slurm has not answered for [\w ]+"),
        (60.0, None, r"has written nothing for [\w ]+: its file system may not answer"),
        (1.0, None, None),
    ],
)
def test_what_a_live_driver_waits_for_is_named(made, loading, heartbeat_s, scheduler, hint):
    note_start(made, 1, loading.pid)
    show_loading(made, 1)
    driver = read_json(made.status)["driver"] | {"pid": loading.pid}
    driver["ticks"] = int(Path(f"/proc/{loading.pid}/stat").read_text().split(")")[-1].split()[19])
    del driver["loading"]
    driver |= {"heartbeat": time.time() - heartbeat_s, "uptime": time.monotonic() - heartbeat_s}
    state = {"state": "running", "driver": driver} | ({"scheduler": scheduler} if scheduler else {})
    write_json(made.status, read_json(made.status) | state)
    found = read_status("storm-1")
    assert found.driver_alive
    if hint is None:
        assert not found.hint  # the driver lives and writes
        told = dict(facts(found)).get("scheduler", "")
        assert told == ("Slurm has not answered for 45 s" if scheduler else "")
        assert told in text(found)
        assert told in one_line(found)
    else:
        assert "scheduler" not in dict(facts(found))  # said once

        assert re.search(hint, found.hint)
        assert re.search(hint, text(found))
