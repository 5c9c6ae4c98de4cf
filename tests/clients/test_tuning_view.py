"""A tuning on a terminal."""

from __future__ import annotations

import pytest
from events_case import events

from burstlens.clients.tuning_view import line
from burstlens.core.run.history import replay

BEGUN = {
    "event": "trial.submitting", "t": 1.0, "driver": 1, "job": "trial-4", "phase": "search",
    "origin": "rule", "values": {"simulation.mpiio_hints.*.cb_nodes": 4},
}  # fmt: skip


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        ({"outcome": "done", "seconds": {"a": 7.0, "b": 0.27}, "load": 2.04},
         "trial-4   search rule         7.27 s  load  2.0  cb_nodes=4"),
        ({"outcome": "failed", "message": "ended with \x1b[31m exit code 3"}, "failed"),
        ({"outcome": "lost"}, "lost"),
    ],
)  # fmt: skip
def test_a_trial_is_one_line_with_its_time_and_load(ended, said):
    about = {"event": "trial.ended", "t": 2.0, "driver": 1, "job": "trial-4", **ended}
    history = replay(events([BEGUN, about]))
    text = line("trial-4", history.trials["trial-4"]).plain
    assert said in text
    assert "\x1b" not in text
    assert "cb_nodes=4" in text
