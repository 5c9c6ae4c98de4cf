"""The golden scripts, put before a real Slurm and its burst-buffer plugin."""

from __future__ import annotations

from pathlib import Path

import pytest

from burstlens.cluster_configs.directives import directives
from burstlens.cluster_configs.site import BufferSite
from burstlens.workflows.plan.capacity import Granularity

GOLDEN = Path(__file__).parents[1] / "sites" / "golden"
SCRIPTS = sorted([*GOLDEN.glob("slurm/*.sh"), *GOLDEN.glob("slurm-datawarp/*.sh")])
# The testbed is smaller than what the scripts ask for, and has not the job that one waits for.
FITTED = ["--nodes=1", "--ntasks-per-node=1", "--dependency=singleton"]


def asked(slurm, text):
    return slurm.run(["sbatch", "--test-only", *FITTED], input=text)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_slurm_takes_the_script(slurm, path):
    done = asked(slurm, path.read_text())
    assert done.returncode == 0, done.stderr
    assert "to start at" in done.stderr


@pytest.mark.parametrize("line", ["#DW jobdw ", "#BB create_persistent "])
def test_slurm_would_have_refused_a_wrong_directive(slurm, line):
    path = next(path for path in SCRIPTS if line in path.read_text())
    done = asked(slurm, path.read_text().replace(line, f"{line[:-2]}x "))
    assert done.returncode != 0
    assert "Burst Buffer request invalid" in done.stderr


@pytest.mark.parametrize(
    ("size", "granted"),
    [
        (20 * 10**9, 20),
        (20 * 10**9 + 1, 40),
        (600 * 2**30, 660),
        (1_500_000_000, 20),
        (2**20, 20),
        (40 * 10**9, 40),
    ],
)
def test_slurm_grants_the_granules_that_were_planned(slurm, size, granted):
    lines = directives(BufferSite(kind="datawarp"))
    assert Granularity(20 * 10**9).grant(size).granted == granted * 10**9
    slurm.wait(slurm.submit(f"#!/bin/sh\n{lines.create('sized', size)}\ntrue\n"))
    assert slurm.burst()["sized"]["Size"] == f"{granted}GB"
    slurm.wait(slurm.submit(f"#!/bin/sh\n{lines.destroy('sized')}\ntrue\n"))
    assert slurm.burst() == {}
