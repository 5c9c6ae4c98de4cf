"""A run whose journal becomes long: real drivers continue it in volumes, are killed, and resume."""

from __future__ import annotations

import json

import pytest
from run_case import WAITS, Case

from burstlens.core.run.directory import RunDir
from burstlens.core.run.history_file import history_of, history_path
from burstlens.core.run.volumes import VOLUME_EVENTS, volume_path


@pytest.mark.fault  # two kills; tests/core and tests/driving have volumes and their histories
def test_a_long_run_is_resumed_from_the_history_beside_its_last_volume(tmp_path):
    case = Case(tmp_path / "case", model=WAITS)
    run = RunDir(case.run)
    driver = case.launch()
    try:
        case.await_event("product.published", 2)
        driver.kill()
        driver.wait()
        with run.journal.open("a") as journal:
            alarm = {"driver": 1, "event": "alarm", "text": "full"}
            lines = (json.dumps({"t": float(n), **alarm}) for n in range(VOLUME_EVENTS))
            journal.write("".join(f"{line}\n" for line in lines))
        second = case.start("resume", "r")
        case.await_that(volume_path(run.journal, 1).exists, "volume")
        second.kill()
        second.wait()
        assert history_path(run.journal, 1).exists()
        assert history_of(run.journal).volume == 1
        case.go_on()
        case.finish()
        history = history_of(run.journal)
        assert (history.volume, history.state) == (1, "done")
        assert case.faults() == []
    finally:
        case.end()
