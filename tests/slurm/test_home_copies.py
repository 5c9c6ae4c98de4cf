"""Runs of several jobs on a real Slurm whose buffers end with their jobs: each continues from the
checkpoint that came home, and a driver that is dead costs no results."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from awm_texts import block_of, surface_products
from batch_case import BatchCase
from testbed import Testbed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MODEL = block_of((60, 56, 40), 2000, "surface_every = 100")
RECIPE = """
title = "Waves in several jobs"
[simulation]
model = "awm"
inputs = "waves"
segments = {segments}
walltime = "{walltime}"
[checkpoint]
every = 0.75
[buffer]
capacity = "100 MiB"
[stage_out]
keep = ["surface_*.nc"]
""" + surface_products(200)
# Slurm gives a signal up to a minute early: the job's own time must not end before the model's.
LONGER = """
[[step]]
name = "prepare"
before = "simulation"
command = ["true"]
walltime = "00:03:00"
"""
JOB_BUFFERS = {
    "jobdw": 'kind = "datawarp"\nlifetime = "job"',
    "disk": 'kind = "posix"\nfolders = ["HERE/disk"]\nnode_local = true',
}


def waves(make_case: Any, kind: str) -> BatchCase:
    """A run of awm that was done in one piece, and is to be done in about three jobs: how fast the
    machine is now decides how long they are."""
    case: BatchCase = make_case(buffer=JOB_BUFFERS[kind], placement="same-job", interval=2.0)
    folder = case.folder / "waves"
    folder.mkdir()
    (folder / "awm.toml").write_text(MODEL)
    (case.folder / "whole.toml").write_text(RECIPE.format(segments=1, walltime="01:00:00"))
    (case.folder / "disk").mkdir()
    for path in (folder, case.folder / "disk"):
        shutil.chown(path, case.slurm.user.pw_uid, case.slurm.user.pw_gid)
    parts_of, case.runs = case.runs, case.folder / "whole"  # pictures have the name of their run
    whole = case.start("run", "whole.toml", "--site", "local", "--name", "r")
    assert case.wait(whole, 300).code == 0, case.said()
    took_s = json.loads((case.runs / "r" / "attempts" / "1" / "ended.json").read_text())["seconds"]
    case.runs = parts_of
    job = f"00:00:{max(8, min(59, round(took_s / 2.5 * 4 / 3))):02d}"
    recipe = RECIPE.format(segments='"until done"', walltime=job) + LONGER
    (case.folder / "r.toml").write_text(recipe)
    return case


def pictures(run: Path) -> dict[str, bytes]:
    found = [*(run / "products").glob("*/*.png"), *(run / "output").glob("*.nc")]
    return {path.name: path.read_bytes() for path in found}


def require_jobs_ahead(case: BatchCase) -> None:
    """Each attempt after the first had the job, and the buffer, that was submitted ahead for it."""
    lines = case.journal()
    ahead = [line["job_id"] for line in lines if line["event"] == "ahead.submitted"]
    submitted = [line["job_id"] for line in lines if line["event"] == "simulation.submitted"]
    used = [f"slurm:{job_id.split(':')[1]}" for job_id in submitted]
    assert used[1:] == ahead[: len(used) - 1]
    assert len(case.jobs("host-")) == 1
    ended = [line["outcome"] for line in lines if line["event"] == "ahead.ended"]
    assert ended == ["cancelled"] * (len(ahead) - len(used) + 1)
    links = sorted((case.run / "steps").glob("host-*"))
    assert [path.is_symlink() for path in links] == [False, *[True] * (len(used) - 1)]


@pytest.mark.parametrize("kind", JOB_BUFFERS)
def test_jobs_with_buffers_of_their_own_give_what_one_job_gives(make_case: Any, kind: str) -> None:
    case = waves(make_case, kind)
    assert case.wait(case.launch(), 400).code == 0, case.said()
    lines = case.journal()
    began = [line for line in lines if line["event"] == "simulation.submitting"]
    assert len(began) >= 2, "one job was long enough"
    home = {(one["attempt"], one["time"]) for one in lines if one["event"] == "checkpoint.home"}
    for before, one in pairwise(began):
        assert (one["written_by"], one["checkpoint"]) in home
        assert one["written_by"] == before["attempt"]
    require_jobs_ahead(case)
    one, parts = pictures(case.folder / "whole" / "r"), pictures(case.run)
    assert one.keys() == parts.keys()
    assert [name for name in one if one[name] != parts[name]] == []
    assert json.loads((case.run / "status.json").read_text())["state"] == "done"
    assert not list(case.scheduler_faults())
    assert not list((case.folder / "disk").iterdir())


def test_a_dead_driver_costs_no_results_when_its_job_ends(slurm: Testbed, make_case: Any) -> None:
    case = waves(make_case, "jobdw")
    driver = case.launch()
    case.await_event("checkpoint.home")
    driver.kill()
    driver.wait()
    seen = {line["time"] for line in case.journal() if line["event"] == "checkpoint.whole"}
    (job,) = (one for one in case.jobs("host-") if one["JobState"] == "RUNNING")
    host = case.run / "steps" / "host-1"
    folder = case.run / "attempts" / "1"
    case.await_that((folder / "ended.json").exists, "the end of the attempt", 120.0)
    slurm.run(["scancel", "--full", "--signal=TERM", job["JobId"]])
    slurm.wait(job["JobId"])
    left = json.loads((host / "home.json").read_text())
    assert left["files"], "kept files came home"
    attempt, newest = left["checkpoint"]
    assert newest not in seen, "the model wrote one after its driver had died"
    assert list((case.run / "checkpoints" / str(attempt) / newest).glob("*.awm"))
    assert case.burstlens("resume", "r").code == 0, case.said()
    assert pictures(case.folder / "whole" / "r") == pictures(case.run)
    alarms = [line["text"] for line in case.journal() if line["event"] == "alarm"]
    assert any("frames before it were not published" in text for text in alarms), alarms


def test_a_driver_that_dies_over_the_change_is_followed_by_one_that_takes_the_next_job_up(
    make_case: Any,
) -> None:
    case = waves(make_case, "jobdw")
    driver = case.launch()
    case.await_that((case.run / "steps" / "host-1" / "leave").exists, "the end of a job", 120.0)
    driver.kill()
    driver.wait()
    (job,) = case.jobs("ahead-2")
    case.await_that((case.run / "steps" / "ahead-2" / "host.json").exists, "the next job", 60.0)
    assert case.burstlens("resume", "r").code == 0, case.said()
    require_jobs_ahead(case)
    assert f"hosted:{job['JobId']}:2" in (case.run / "journal.jsonl").read_text()
    _, second, *_ = (one for one in case.journal() if one["event"] == "simulation.ended")
    assert second["lost_core_hours"] > 0, "its job was idle without a driver"
    assert pictures(case.folder / "whole" / "r") == pictures(case.run)
    assert not list(case.scheduler_faults())


def test_a_stop_cancels_the_next_job_with_its_buffer(slurm: Testbed, make_case: Any) -> None:
    case = waves(make_case, "jobdw")
    driver = case.launch()
    case.await_event("ahead.submitted")
    (job,) = case.jobs("ahead-2")
    assert job["JobState"] == "PENDING"
    assert case.burstlens("stop", "r").code == 0
    assert case.wait(driver, 120).code == 4, case.said()
    assert slurm.job(job["JobId"])["JobState"] == "CANCELLED"
    assert [one["outcome"] for one in case.journal() if one["event"] == "ahead.ended"] == [
        "cancelled"
    ]
    assert not list(case.scheduler_faults())
