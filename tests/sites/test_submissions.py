"""What --dry-run prints are the scripts that a run submits, to the letter."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from burstlens.cluster_configs.site import SITES, read
from burstlens.core.run.directory import runs_folder
from burstlens.workflows.placement import host, supervisor
from burstlens.workflows.plan.submissions import submissions

GOLDEN = Path(__file__).parent / "golden"
NAMES = {
    "make the buffer": "buffer-create.sh",
    "simulation": "simulation.sh",
    "give the buffer back": "buffer-destroy.sh",
}
STEPS = """\
title = "Any"
[simulation]
model = "command"
command = ["./model.sh"]
inputs = "inputs"
nodes = 40
ranks_per_node = 32
walltime = "02:00:00"
[buffer]
capacity = "600 GiB"
[[step]]
name = "a"
command = ["./a"]
after = "simulation"
[[step]]
name = "b"
command = ["./b"]
before = "simulation"
[[step]]
name = "c"
command = ["./c"]
beside = "simulation"
[[step]]
name = "d"
command = ["./d"]
where = "login"
after = "simulation"
"""


def as_golden(text):
    for found, name in (
        (supervisor.__file__, "BURSTLENS/supervisor.py"),
        (host.__file__, "BURSTLENS/host.py"),
        (sys.executable, "VENV/bin/python"),
        (f"{runs_folder()}/RUN/", "RUNS/chapala-1/"),
        ("bl_RUN_TOKEN", "bl_chapala_1_0a1b2c3d"),
        ("RUN-TOKEN", "chapala-1-0a1b2c3d"),
        ("--comment=RUN", "--comment=chapala-1"),
    ):
        text = text.replace(found, name)
    return text


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.iterdir()))
def test_scripts_are_those_that_a_run_submits(name, recipe):
    made = submissions(recipe(text=STEPS), read(SITES / f"{name}.toml"))
    scripts = {one.name: as_golden(one.script) for one in made}
    if "simulation" in scripts:
        for what, file in NAMES.items():
            assert (what in scripts) == (GOLDEN / name / file).exists()
            if what in scripts:
                assert scripts[what] == (GOLDEN / name / file).read_text()
    else:
        assert list(scripts) == ["the job with the buffer"]
        golden = (GOLDEN / name / "same-job.sh").read_text()
        # The recipe's two steps on the buffer, of an hour each, are part of the one job.
        assert scripts["the job with the buffer"] == golden.replace("--time=120", "--time=240")
    assert not runs_folder().exists()


def test_they_come_in_the_order_of_their_submission(recipe):
    made = submissions(recipe(text=STEPS), read(SITES / "slurm-datawarp.toml"), driver=True)
    assert [one.name for one in made] == [
        "driver", "make the buffer", "step b", "simulation", "viewing block", "step c", "step a",
        "give the buffer back",
    ]  # fmt: skip
    for one in made:
        assert one.script.startswith("#!/bin/bash\n")
    used = [one.name for one in made if "#DW persistentdw name=bl_RUN_TOKEN" in one.script]
    assert used == ["step b", "simulation", "viewing block", "step c", "step a"]


def test_a_buffer_of_another_user_stays(recipe):
    wanted = recipe("buffer.name=shared", text=STEPS)
    made = submissions(wanted, read(SITES / "slurm-datawarp.toml"))
    assert "give the buffer back" not in [one.name for one in made]


def test_there_are_none_without_a_scheduler(recipe):
    assert submissions(recipe(text=STEPS), read(SITES / "local.toml")) == ()
