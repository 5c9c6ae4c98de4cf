"""A tuning that is resumed: its buffer goes back after its verdict, its loop waits for no disk."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from burst_case import journalled
from tuning_case import FACTORS, fill

from burstlens.clients.opened.status import status_of
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import read
from burstlens.workflows.driver.resuming import resumable
from burstlens.workflows.driver.run import execute
from burstlens.workflows.tuning.planning import new_tuning

pytest.importorskip("optuna")
pytestmark = pytest.mark.slow


@pytest.fixture
def new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDir:
    """A tuning that no driver has begun with."""
    return made(tmp_path, monkeypatch)


def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str = "") -> RunDir:
    """A new tuning of that recipe with further tables."""
    for name in ("inputs", "runs", "buffer"):
        (tmp_path / name).mkdir()
    fill(tmp_path, FACTORS + more, "0.02")
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path / "buffer"))
    run, _ = new_tuning(str(tmp_path / "r.toml"), "local", [], "t", runs=2, node_hours=None)
    return run


def concluded(run: RunDir, buffer: Path, *ends: ev.Event) -> Path:
    """Journal a tuning that found nothing to gain; returns its folder on the buffer."""
    folder = str(facts_of(run, "buffer_folder").buffer_folder)
    made = {"kind": "posix", "path": str(buffer), "folder": folder}
    trials: list[ev.Event] = []
    for name in ("trial-1", "trial-2", "trial-3"):
        seconds, frames = {"out": 0.001}, {"out": 3}
        trials += [
            ev.TrialSubmitting(job=name, phase="pilot", origin="default", values={}),
            ev.TrialEnded(job=name, outcome="done", seconds=seconds, frames=frames, wall_s=9.0),
        ]
    verdict = ev.TuningEnded(gain=False, reason="there is nothing to gain")
    journalled(run, ev.BufferRequested(kind="posix"), ev.BufferCreated(**made), *trials, verdict,
               *ends)  # fmt: skip
    (buffer / folder).mkdir()
    return buffer / folder


LEFT = ev.RunEnded(outcome="done", exit_code=8, message="", left="burstlens free t gives it back")


@pytest.mark.parametrize("ends", [(LEFT,), ()], ids=["left", "killed"])
def test_resume_gives_the_buffer_back_and_runs_nothing(
    new: RunDir, tmp_path: Path, ends: tuple[ev.Event, ...]
) -> None:
    left = concluded(new, tmp_path / "buffer", *ends)
    assert resumable(new) is None
    outcome = execute(new)
    assert (outcome.state, outcome.exit_code, outcome.left) == ("done", 0, None)
    assert "there is nothing to gain" in (outcome.message or "")
    assert not left.exists()
    names = [event.event for event in read(new.journal)]
    names = [name for name in names if not name.startswith("viewing.")]  # at any time
    assert names.count("tuning.ended") == 1
    assert names.count("trial.submitting") == 3
    assert names[-2:] == ["buffer.released", "run.ended"]


def test_a_buffer_that_cannot_be_given_back_is_reported_once(
    new: RunDir, tmp_path: Path, injector: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = concluded(new, tmp_path / "buffer")
    fault = {"COMMAND": "*", "CALL": "rmdir", "PATH": f"{left}*", "TIMES": "1000",
             "ERRNO": str(errno.EBUSY), "LOG": str(tmp_path / "injected")}  # fmt: skip
    for name, value in fault.items():
        monkeypatch.setenv(f"INJECT_{name}", value)
    monkeypatch.setenv("LD_PRELOAD", str(injector))
    outcome = execute(new)
    assert (tmp_path / "injected").exists()
    assert (outcome.state, outcome.exit_code) == ("done", 8)
    assert str(left) in (outcome.left or "")
    status = status_of(str(new.path))
    assert (status["outcome"]["left"], status["alarms"]) == (outcome.left, [])


def test_a_tuning_that_was_given_back_before_its_driver_died_asks_for_no_buffer(
    new: RunDir, tmp_path: Path
) -> None:
    concluded(new, tmp_path / "buffer", ev.BufferReleased()).rmdir()
    outcome = execute(new)
    assert (outcome.state, outcome.exit_code) == ("done", 0)
    assert not list((tmp_path / "buffer").iterdir())
    history = history_of(new.journal)
    assert (history.buffer_requested, history.state) == (False, "done")


STEP = """
[[step]]
name = "prepare"
command = ["true"]
before = "simulation"
"""


@pytest.mark.parametrize(
    ("more", "job"), [("", "trial-1"), (STEP, "step-prepare-1")], ids=["trial", "step"]
)
def test_a_job_is_described_beside_the_loop_and_again_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, job: str
) -> None:
    run = made(tmp_path, monkeypatch, more)
    folder = str(facts_of(run, "buffer_folder").buffer_folder)
    buffer = {"kind": "posix", "path": str(tmp_path / "buffer"), "folder": folder}
    (tmp_path / "buffer" / folder / "inputs").mkdir(parents=True)
    trial = ev.TrialSubmitting(job="trial-1", phase="pilot", origin="default", values={})
    trials = [] if more else [trial]
    journalled(run, ev.BufferRequested(kind="posix"), ev.BufferCreated(**buffer),
               ev.StageInDone(files=1), *trials)  # fmt: skip
    run.request("stop-now")  # the job's supervisor heeds it
    real, asked = os.stat, []

    def stale(path: Any, *args: Any, **named: Any) -> os.stat_result:
        if not isinstance(path, int) and os.fspath(path) == str(run.job(job) / "job.json"):
            asked.append(threading.current_thread())
            if len(asked) < 3:
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return real(path, *args, **named)

    monkeypatch.setattr(os, "stat", stale)
    outcome = execute(run)
    assert outcome.state == "stopped", outcome
    assert len(asked) >= 3
    assert threading.main_thread() not in asked
