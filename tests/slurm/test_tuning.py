"""Tunings on a real Slurm: all trials in one job, also where runs have jobs of their own."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from testbed import Testbed
from tuning_case import FACTORS, fill

pytest.importorskip("optuna")
pytestmark = pytest.mark.slow
BUFFER = 'kind = "posix"\nfolders = ["HERE/buffer"]'


@pytest.fixture
def case(slurm: Testbed, make_case: Any) -> Any:
    made = make_case(buffer=BUFFER, placement="separate")
    fill(made.folder, FACTORS, pause="0.3")
    for path, folders, files in os.walk(made.folder):
        for entry in (".", *folders, *files):
            os.chown(os.path.join(path, entry), slurm.user.pw_uid, slurm.user.pw_gid)
    return made


def test_all_trials_run_in_one_job_that_ends_with_the_tuning(slurm: Testbed, case: Any) -> None:
    words = ("tune", "r.toml", "--site", "bed", "--name", "r", "--runs", "3")
    life = case.wait(case.start(*words))
    assert life.code == 0, life.said
    (job,) = case.jobs()
    slurm.wait(job["JobId"])
    result = json.loads((case.run / "tuning" / "tuning.json").read_text())
    assert result["gain"] is True
    assert len(result["trials"]) == len((case.folder / "starts").read_text().splitlines())
    assert not list((case.folder / "buffer").iterdir()), "the buffer is given back"


@pytest.mark.fault  # tests/tuning kills drivers, supervisors and programs of trials
def test_a_job_that_is_cancelled_under_a_tuning_loses_one_trial_and_no_other(
    slurm: Testbed, case: Any
) -> None:
    driver = case.start("tune", "r.toml", "--site", "bed", "--name", "r", "--runs", "3")
    case.await_event("trial.ended")
    (job,) = case.jobs()
    slurm.run(["scancel", job["JobId"]])
    life = case.wait(driver)
    assert life.code == 1, life.said
    assert "burstlens resume r" in life.said
    life = case.wait(case.start("resume", "r"))
    assert life.code == 0, life.said
    ended = [line for line in case.journal() if line["event"] == "trial.ended"]
    assert [line["outcome"] for line in ended].count("lost") <= 1
    phases = [line["phase"] for line in case.journal() if line["event"] == "trial.submitting"]
    assert phases.count("pilot") <= 4
    assert json.loads((case.run / "tuning" / "tuning.json").read_text())["gain"] is True
