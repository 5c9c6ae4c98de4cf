"""A model that is asked to write a checkpoint and stop, ahead of its job's end."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from burstlens.core.durable import read_json, write_json
from burstlens.workflows.placement.job_end import scheduled_end
from burstlens.workflows.placement.launch import LocalLauncher
from burstlens.workflows.placement.supervised import JobFailedError, run_job

pytestmark = pytest.mark.integration

# Takes the signal a while after its start, as programs do.
OBEYS = """\
import signal, sys, time
time.sleep(0.6)
signal.signal(signal.SIGUSR2, lambda *_: (open("saved", "w").close(), sys.exit(%d)))
open("ready", "w").close()
while True:
    time.sleep(0.01)
"""
FILE = "while ! test -e STOP; do sleep 0.02; done; touch saved"
SIGNAL = {"signal": "SIGUSR2"}
BATCH = {"batch": {}, "job_id_variable": "JOB"}


@pytest.fixture
def place(tmp_path):
    return tmp_path / "buffer" / "storm-1" / "1"


@pytest.fixture
def ended(job, supervise):
    """Runs a program to its end under a supervisor; what ``ended.json`` says."""

    def run(program, environment=None, **fields):
        folder = job(program, **fields)
        supervise(folder, **(environment or {})).wait(60)
        return read_json(folder / "ended.json")

    return run


def python(program: str) -> list[str]:
    return ["python3", "-c", program]


def test_a_model_that_takes_the_signal_stops_ahead_of_the_end_of_its_job(ended, place):
    end = ended("", argv=python(OBEYS % 0), stop_by=SIGNAL, walltime_s=30.0, lead_s=28.5)
    assert (end["exit_code"], end["reason"]) == (0, "stop_by")
    assert (place / "saved").exists()
    assert 1.0 < end["seconds"] < 8.0


def test_a_program_that_does_not_take_the_signal_yet_is_not_ended_by_it(ended, place):
    end = ended("", argv=python(OBEYS % 0), stop_by=SIGNAL, walltime_s=30.0, lead_s=29.99)
    assert (end["exit_code"], end["reason"]) == (0, "stop_by")
    assert (place / "ready").exists()


def test_the_signal_passes_a_shell_that_does_not_take_it(ended, place):
    (script := place.parent / "model.py").parent.mkdir(parents=True, exist_ok=True)
    script.write_text(OBEYS % 0)
    end = ended(f"python3 {script}; exit 0", stop_by=SIGNAL, walltime_s=30.0, lead_s=28.5)
    assert (end["exit_code"], end["reason"]) == (0, "stop_by")


@pytest.mark.parametrize("code", [128 + signal.SIGUSR2, 0])
def test_an_exit_code_of_the_signal_is_an_end_as_asked(ended, code):
    end = ended("", argv=python(OBEYS % code), stop_by=SIGNAL, walltime_s=30.0, lead_s=29.0)
    assert (end["exit_code"], end["reason"]) == (code, "stop_by")


def test_a_model_that_fails_when_it_is_asked_has_failed(ended):
    end = ended("", argv=python(OBEYS % 3), stop_by=SIGNAL, walltime_s=30.0, lead_s=29.0)
    assert (end["exit_code"], end["reason"]) == (3, "exited")


def test_a_model_that_ends_before_it_is_asked_has_ended_by_itself(ended):
    end = ended("true", stop_by=SIGNAL, walltime_s=30.0, lead_s=1.0)
    assert (end["exit_code"], end["reason"]) == (0, "exited")


def test_a_model_that_looks_for_a_file_is_asked_by_it(ended, place):
    end = ended(FILE, stop_by={"file": "STOP"}, walltime_s=30.0, lead_s=29.0)
    assert (end["exit_code"], end["reason"]) == (0, "stop_by")
    assert (place / "STOP").read_bytes() == b""
    assert (place / "saved").exists()


def test_no_file_is_made_through_a_link(ended, place, tmp_path):
    place.mkdir(parents=True)
    (place / "STOP").symlink_to(tmp_path / "outside")
    end = ended("sleep 60", stop_by={"file": "STOP"}, walltime_s=2.0, lead_s=1.0)
    assert end["reason"] == "walltime"
    assert not (tmp_path / "outside").exists()


def test_a_model_that_ignores_it_is_ended_at_the_end_of_its_time(ended):
    program = "trap '' USR2; sleep 60"
    end = ended(program, stop_by=SIGNAL, walltime_s=1.5, lead_s=1.0)
    assert (end["signal"], end["reason"]) == ("SIGTERM", "walltime")
    assert 1.0 < end["seconds"] < 10.0


def test_in_a_batch_job_it_is_ended_while_there_is_time_to_report_it(ended):
    unix = str(int(time.time()) + 12)
    program = "trap '' USR2 TERM; while true; do sleep 0.1; done"
    job_end = {"variable": "JOB_END", "command": []}
    how = {"walltime_s": 3600.0, "lead_s": 10.0, "stop_by": SIGNAL, "job_end": job_end}
    end = ended(program, {"JOB_END": unix}, **how, **BATCH)
    assert (end["signal"], end["reason"]) == ("SIGKILL", "walltime")
    assert end["ended"] < float(unix) - 1.0


def test_the_schedulers_end_counts_not_the_walltime_that_was_asked_for(ended):
    unix = str(int(time.time()) + 30)
    job_end = {"variable": "JOB_END", "command": []}
    how = {"walltime_s": 3600.0, "lead_s": 28.0, "stop_by": {"file": "STOP"}, "job_end": job_end}
    end = ended(FILE, {"JOB_END": unix}, **how, **BATCH)
    assert (end["exit_code"], end["reason"]) == (0, "stop_by")


def signalled(job, supervise, wait_for, place, program, **fields):
    """The end of a model whose supervisor gets the scheduler's SIGTERM; how long it took."""
    folder = job("", argv=python(program), stop_by=SIGNAL, **fields, **BATCH)
    child = supervise(folder)
    wait_for(lambda: (place / "ready").exists())
    began = time.monotonic()
    os.kill(child.pid, signal.SIGTERM)
    child.wait(60)
    return read_json(folder / "ended.json"), time.monotonic() - began


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"job_end": {}}, "stop_by"), ({}, "terminated by SIGTERM")],
    ids=["by its scheduler", "by a person"],
)
def test_a_job_that_is_ended_early_asks_first(job, supervise, wait_for, place, fields, reason):
    how = {"walltime_s": 3600.0, "lead_s": 60.0, **fields}
    end, _ = signalled(job, supervise, wait_for, place, OBEYS % 0, **how)
    assert (end["exit_code"], end["reason"], end["grace_s"]) == (0, reason, 30.0)
    assert (place / "saved").exists()


@pytest.mark.parametrize(("code", "signal_"), [(143, None), (None, "SIGTERM")])
def test_the_schedulers_signal_may_end_the_model_itself(
    job, supervise, wait_for, place, code, signal_
):
    program = "trap 'exit 143' TERM; touch ready; while true; do sleep 0.02; done"
    if code is None:
        program = "touch ready; sleep 60"
    folder = job(program, walltime_s=3600.0, lead_s=60.0, stop_by={"file": "STOP"}, **BATCH)
    child = supervise(folder)
    wait_for(lambda: (place / "ready").exists())
    group = wait_for(lambda: read_json(folder / "started.json"))["group"]
    os.kill(child.pid, signal.SIGTERM)
    os.killpg(group, signal.SIGTERM)
    child.wait(60)
    end = read_json(folder / "ended.json")
    assert (end["exit_code"], end["signal"]) == (code, signal_)
    assert end["reason"] == "terminated by SIGTERM"


def test_it_is_ended_within_the_sites_grace_when_it_does_not_stop(job, supervise, wait_for, place):
    stubborn = OBEYS.replace("lambda *_: (open", "lambda *_: None and (open") % 0
    how = {"walltime_s": 3600.0, "lead_s": 60.0, "preempt_grace_s": 4.0}
    end, took_s = signalled(job, supervise, wait_for, place, stubborn, **how)
    assert (end["signal"], end["reason"]) == ("SIGTERM", "terminated by SIGTERM")
    assert 1.5 < took_s < 4.0


def test_a_sigterm_near_the_end_of_the_job_is_due_to_that_end(job, supervise, wait_for, place):
    how = {"walltime_s": 60.0, "lead_s": 20.0}
    end, _ = signalled(job, supervise, wait_for, place, OBEYS % 0, **how)
    assert (end["exit_code"], end["reason"], end["grace_s"]) == (0, "stop_by", None)


@pytest.fixture
def utc(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize("text", ["2026-01-31T12:00:00", "1769860800", "N/A", "", "soon"])
def test_a_scheduler_that_sets_no_variable_is_asked_by_its_command(text, utc):
    job = {"job_end": {"variable": "NO_SUCH", "command": ["echo", text, "{job_id}"]}}
    assert scheduled_end(job, "") is None
    job["job_end"]["command"] = ["sh", "-c", f'test {{job_id}} = 7 && echo "{text}"']
    assert scheduled_end(job, "7") == (1769860800.0 if text[:1].isdigit() else None)


class Judging(LocalLauncher):
    """A launcher whose scheduler says that it did something to each job."""

    def __init__(self, by: str) -> None:
        super().__init__()
        self.by = by

    def find(self, job_folder: Path) -> str:
        return "local:1:1"

    def ended_by(self, job_id: str) -> str:
        return self.by


@pytest.mark.parametrize(
    ("reported", "by", "reason"),
    [
        ("stop_by", "", "stop_by"),
        ("stop_by", "cancelled", "cancelled"),
        ("walltime", "cancelled", "cancelled"),
        ("walltime", "timeout", "walltime"),
        ("stop_by", "preempted", "preempted"),
        ("terminated by SIGTERM", "preempted", "preempted"),
        ("terminated by SIGTERM", "cancelled", "terminated by SIGTERM"),
        ("lost", "preempted", "preempted"),
        ("lost", "timeout", "timeout"),
        ("lost", "cancelled", "lost"),
        ("exited", "preempted", "exited"),
        ("stop", "cancelled", "stop"),
    ],
)
def test_the_scheduler_knows_why_it_has_ended_a_job(job, reported, by, reason):
    folder = job("true")
    write_json(folder / "ended.json", {"reason": reported, "exit_code": 0})
    launcher = Judging(by)
    try:
        end = run_job(launcher, folder, lambda _: None, [])
    except JobFailedError as error:
        end = error.ended
    assert end.reason == reason
