"""A tuning with a verdict whose buffer is still there: it is given back, and nothing runs again."""

from __future__ import annotations

from pathlib import Path

import pytest
from burst_case import journalled
from tuning_case import FACTORS, fill

from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.facts import facts_of
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import read
from burstlens.workflows.driver.resuming import resumable
from burstlens.workflows.driver.run import execute
from burstlens.workflows.plan.tuning import new_tuning

pytest.importorskip("optuna")
pytestmark = pytest.mark.integration


@pytest.fixture
def new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDir:
    """A tuning that no driver has begun with."""
    for name in ("inputs", "runs", "buffer"):
        (tmp_path / name).mkdir()
    fill(tmp_path, FACTORS, "0.02")
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
    assert names.count("tuning.ended") == 1
    assert names.count("trial.submitting") == 3
    assert names[-2:] == ["buffer.released", "run.ended"]


def test_a_tuning_that_was_given_back_before_its_driver_died_asks_for_no_buffer(
    new: RunDir, tmp_path: Path
) -> None:
    concluded(new, tmp_path / "buffer", ev.BufferReleased()).rmdir()
    outcome = execute(new)
    assert (outcome.state, outcome.exit_code) == ("done", 0)
    assert not list((tmp_path / "buffer").iterdir())
    history = history_of(new.journal)
    assert (history.buffer_requested, history.state) == (False, "done")
