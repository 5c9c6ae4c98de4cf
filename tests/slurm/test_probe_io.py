"""``burstlens sites --probe-io`` from a login node: srun asks for a node for MPICH's ranks."""

from __future__ import annotations

import json
import uuid

import pytest
from mpich import mpich_programs

SITE = """\
scheduler = "slurm"
mpi = "romio"
mpi_compiler = ["{compiler}"]
mpi_launcher = ["srun", "--mpi={mpi}", "--ntasks={{ranks}}", "--kill-on-bad-exit=1"]
[buffer]
folders = ["$SCRATCH"]
[viewing]
placement = "separate"
address = "127.0.0.1"
"""
LATE = """\
import sys
from pathlib import Path
from burstlens.cluster_configs.site import read
from burstlens.core.errors import SiteError
from burstlens.workflows.hints.probe import probe
Path("build").mkdir(), Path("files").mkdir()
hints = {"*": {"cb_nodes": 2}}
try:
    probe(read(Path("ours.toml")), hints, ranks=2, build=Path("build").resolve(),
          folder=Path("files").resolve(), limit_s=3)
except SiteError as error:
    print(error)
"""


@pytest.fixture
def clean(slurm):
    yield slurm
    slurm.clear()


@pytest.fixture
def folder(clean):
    """A folder of the user's with the site ``ours.toml``, whose srun speaks PMI as MPICH does."""
    compiler, _ = mpich_programs()
    made = clean.folder(f"probe-{uuid.uuid4().hex[:8]}")
    for name, mpi in (("ours", "pmi2"), ("none", "none")):
        (made / f"{name}.toml").write_text(SITE.format(compiler=compiler, mpi=mpi))
    return made


def probed(slurm, folder, site):
    words = ["burstlens", "sites", "--probe-io", f"./{site}.toml", "--ranks", "2", "--json"]
    here = {"SCRATCH": str(folder), "BURSTLENS_RUNS": str(folder / "runs")}
    return slurm.run(words, cwd=folder, env=here)


def test_hints_arrive_in_a_program_that_srun_starts(clean, folder):
    done = probed(clean, folder, "ours")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["ranks"], found["arrived"]) == (2, True)
    assert found["library"].startswith("MPICH Version: 4")
    assert not list(folder.rglob("burstlens-probe-*"))


def test_ranks_that_do_not_find_each_other_are_found_out(clean, folder):
    done = probed(clean, folder, "none")
    assert (done.returncode, done.stdout) == (1, "")
    assert "programs of 1 rank instead of one of 2" in done.stderr


def test_a_probe_that_waits_too_long_for_a_node_leaves_no_job(clean, folder):
    nodes = len(clean.daemons.ask("sinfo", "-h", "-N", "-o", "%n").split())
    busy = clean.submit(
        f"#!/bin/sh\n#SBATCH --exclusive --nodes={nodes}\nexec sleep 300\n", cwd=folder
    )
    clean.wait(busy, "RUNNING")
    done = clean.run([clean.python, "-c", LATE], cwd=folder, timeout=60)
    assert "the probe did not end within 3 s" in done.stdout, done.stderr
    waiting = clean.daemons.ask("squeue", "-h", "-o", "%i").split()
    assert waiting == [busy]
