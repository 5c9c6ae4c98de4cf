"""A model that is asked to stop ahead of its batch jobs' ends, and when a job is ended early."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import netCDF4
import pytest
from awm_texts import block_of
from testbed import Testbed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

RECIPE = """
title = "Waves in jobs"
[simulation]
model = "awm"
inputs = "inputs"
segments = "until done"
walltime = "{walltime}"
[checkpoint]
lead = "{lead}"
[buffer]
capacity = "200 MiB"
[stage_out]
keep = ["surface_*.nc"]
[[product]]
name = "motion"
kind = "map"
stream = "surface"
variable = "vz"
limits = [-1, 1]
width_px = 200
"""


PREEMPTION = """5
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SlurmctldParameters=preempt_send_user_signal"""
PARTITIONS = """batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=20
PartitionName=steady Nodes=ALL State=UP PriorityTier=1 PreemptMode=OFF
PartitionName=urgent Nodes=ALL State=UP PriorityTier=10"""


def model(steps: int) -> str:
    return block_of((32, 28, 24), steps, "surface_every = 250", top="threads = 1")


def waves(
    make_case: Any, steps: int, walltime: str, *, lead: str = "50 s", viewing: str = ""
) -> Any:
    case = make_case(viewing=f'walltime = "00:30:00"\n{viewing}')
    (case.folder / "r.toml").write_text(RECIPE.format(walltime=walltime, lead=lead))
    # Its kernels are compiled once per user, which takes a slow machine a minute.
    (case.folder / "warm.toml").write_text(model(2))
    command = [case.python, "-m", "burstlens.workflows.awm", "warm.toml"]
    done = case.slurm.run(command, cwd=case.folder, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    (case.inputs / "awm.toml").write_text(model(steps))
    return case


def ends(case: Any) -> list[dict[str, Any]]:
    folders = sorted((case.run / "attempts").iterdir(), key=lambda path: int(path.name))
    return [json.loads((folder / "ended.json").read_text()) for folder in folders]


def outcomes(case: Any) -> list[str]:
    return [one["outcome"] for one in case.journal() if one["event"] == "simulation.ended"]


def is_unbroken(case: Any, folder: Path) -> bool:
    """Whether the frames at home are those of awm alone, in one piece."""
    (folder / "awm.toml").write_text((case.inputs / "awm.toml").read_text())
    command = [sys.executable, "-m", "burstlens.workflows.awm", "awm.toml"]
    subprocess.run(command, cwd=folder, check=True, timeout=400, stdout=subprocess.DEVNULL)
    names = sorted(path.name for path in folder.glob("surface_*.nc"))
    home = case.run / "output"
    assert sorted(path.name for path in home.glob("surface_*.nc")) == names
    for name in names:
        with netCDF4.Dataset(folder / name) as one, netCDF4.Dataset(home / name) as other:
            for variable in one.variables:
                here, there = one[variable][:].data, other[variable][:].data
                assert here.tobytes() == there.tobytes(), (name, variable)
    return bool(names)


def test_jobs_of_a_minute_are_cut_after_ten_seconds_and_go_on_to_the_end(
    make_case: Any, tmp_path: Path
) -> None:
    case = waves(make_case, 5000, "00:01")
    life = case.wait(case.launch(), 400)
    assert life.code == 0, life.said
    *cut, last = ends(case)
    assert len(cut) >= 1
    assert {one["reason"] for one in cut} == {"stop_by"}, cut
    assert max(one["seconds"] for one in cut) < 40.0
    assert (last["reason"], last["exit_code"]) == ("exited", 0)
    assert outcomes(case) == ["cut"] * len(cut) + ["done"]
    assert not [one for one in case.journal() if one["event"] == "product.superseded"]
    assert is_unbroken(case, tmp_path)
    assert not list(case.scheduler_faults())


def test_a_job_that_makes_way_for_another_leaves_a_checkpoint_and_the_next_one_goes_on(
    slurm: Testbed, make_case: Any, tmp_path: Path
) -> None:
    steady = 'options = ["--partition=steady"]'
    with slurm.configured(KillWait=PREEMPTION, PartitionName=PARTITIONS):
        # Slurm may take its time to make way, and the model must not have ended by then.
        case = waves(make_case, 12000, "01:00:00", lead="60 s", viewing=steady)
        driver = case.launch()
        job = case.await_job("attempt-1")
        case.await_event("product.published")
        urgent = slurm.submit(
            f"#!/bin/sh\n#SBATCH --partition=urgent --time=1 --nodelist={job['NodeList']}\n"
            "#SBATCH --ntasks=2\nsleep 3\n"
        )
        life = case.wait(driver, 400)
        slurm.wait(urgent)
    assert life.code == 0, life.said
    assert [one["reason"] for one in ends(case)] == ["stop_by", "exited"]
    assert outcomes(case) == ["cut", "done"]
    assert is_unbroken(case, tmp_path)
    assert not list(case.scheduler_faults())


def test_a_job_that_a_person_cancels_is_followed_by_none(make_case: Any) -> None:
    case = waves(make_case, 10**6, "01:00:00")
    with (case.inputs / "awm.toml").open("a") as stream:
        stream.write("[checkpoint]\nevery = 100\n")
    driver = case.launch()
    job = case.await_job("attempt-1")
    case.await_event("checkpoint.whole")
    case.slurm.run(["scancel", job["JobId"]])
    life = case.wait(driver, 200)
    assert life.code == 1
    assert "CANCELLED" in life.said
    assert outcomes(case) == ["failed"]
    assert case.burstlens("free", "r", "--discard").code == 0
    assert not list(case.scheduler_faults())
