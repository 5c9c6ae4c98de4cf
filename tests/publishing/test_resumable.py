"""A run that is over names the checkpoint from which it can be resumed."""

from __future__ import annotations

import pytest

from burstlens.core.exit_codes import FAILED, STOPPED_BY_GUARD
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.history import replay
from burstlens.core.run.status_file import RunStatus
from burstlens.core.run.wording import next_steps
from burstlens.workflows.publishing.snapshot import Snapshot

BEGUN = (
    ev.RunStarted(),
    ev.BufferCreated(kind="posix", path="/bb", folder="storm-1"),
    ev.SimulationSubmitting(job="attempt-1", attempt=1),
    ev.CheckpointWhole(attempt=1, time="t00000001.000", files=["a"], bytes=1),
    ev.CheckpointWhole(attempt=1, time="t00000002.000", files=["b"], bytes=1),
    ev.CheckpointSuspect(attempt=1, time="t00000002.000", reason="stable: vz = 9"),
)
STOPPED = Outcome("stopped", STOPPED_BY_GUARD, "stopped by a guard")


def status(run, recipe, *events: ev.Event, outcome: Outcome | None = STOPPED) -> RunStatus:
    snapshot = Snapshot(run, recipe, replay([*BEGUN, *events]), 1)
    snapshot.outcome = outcome
    snapshot.state = outcome.state if outcome else "running"
    return RunStatus.of(snapshot.value())


def test_it_is_the_newest_that_is_not_suspect_with_the_command(run_dir, recipe):
    shown = status(run_dir, recipe())
    assert [one.state for one in shown.checkpoints or ()] == ["unjudged", "suspect"]
    resume = f"burstlens resume {run_dir.id}"
    settings = "with --set for other settings of a model that takes them"
    assert next_steps(shown)[:2] == [
        f"continue from its checkpoint of t = 1 s: {resume}; the guard that stopped it looks again",
        f"from another one, {settings}: {resume} --from TIME",
    ]


def test_advice_that_names_it_is_enough(run_dir, recipe):
    advice = f"resume from its newest checkpoint: burstlens resume {run_dir.id} --from latest"
    ended = Outcome("failed", FAILED, "its job's time was over", advice=advice)
    steps = next_steps(status(run_dir, recipe(), outcome=ended))
    assert [step for step in steps if "resume" in step] == [advice]


@pytest.mark.parametrize(
    ("event", "outcome"),
    [(None, None), (None, Outcome("done", 0)), (ev.BufferReleased(), STOPPED)],
)
def test_there_is_none_of_a_run_that_lives_is_done_or_has_no_buffer(
    run_dir, recipe, event, outcome
):
    shown = status(run_dir, recipe(), *([event] if event else []), outcome=outcome)
    assert not any("--from" in step for step in next_steps(shown))
