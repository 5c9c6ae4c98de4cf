"""The scripts that each site's Slurm would get, to the letter.

They are made as a run makes them; an ``sbatch`` that keeps what it is given stands in for Slurm.
"""

from __future__ import annotations

import json
import re
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from burstlens.cluster_configs.batch_script import batch_script
from burstlens.cluster_configs.directives import directives
from burstlens.cluster_configs.parsl_config import Block, viewing_block
from burstlens.cluster_configs.scheduler import BatchJob
from burstlens.cluster_configs.site import SITES, read
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core.run.directory import RunDir
from burstlens.workflows.placement import host as hosts
from burstlens.workflows.placement import supervisor
from burstlens.workflows.placement.batch import BatchLauncher
from burstlens.workflows.placement.job_buffer import HostedLauncher, JobBuffer

pytestmark = pytest.mark.integration

GOLDEN = Path(__file__).parent / "golden"
RUN, TOKEN, BUFFER = "chapala-1", "chapala-1-0a1b2c3d", "bl_chapala_1_0a1b2c3d"
CAPACITY = 600 * 2**30
SBATCH = """\
#!/bin/sh
for last; do :; done
case $last in /*) cat "$last" ;; *) cat ;; esac > "$KEPT"
case $last in /*) echo "Submitted batch job 7" ;; *) echo 7 ;; esac
"""
BATCH_SITES = sorted(path.stem for path in SITES.glob("*.toml") if read(path).scheduler == "slurm")
SEPARATE_SITES = [
    name for name in BATCH_SITES if read(SITES / f"{name}.toml").viewing.placement == "separate"
]
BUFFER_SITES = [name for name in BATCH_SITES if read(SITES / f"{name}.toml").buffer.kind != "posix"]


@pytest.fixture
def site(request):
    return read(SITES / f"{request.param}.toml")


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """What sbatch was given last, without what differs by machine and run."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "sbatch").write_text(SBATCH)
    (programs / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("KEPT", str(tmp_path / "kept"))

    def read_sent():
        text = (tmp_path / "kept").read_text()
        for path, name in (
            (str(Path(supervisor.__file__)), "BURSTLENS/supervisor.py"),
            (str(Path(hosts.__file__)), "BURSTLENS/host.py"),
            (sys.executable, "VENV/bin/python"),
            (str(Path(sys.executable).parent), "VENV/bin"),
            (str(tmp_path), "RUNS"),
        ):
            text = text.replace(path, name)
        return re.sub(r"parsl\.[\w.-]*?\d+\.\d+", "parsl.BLOCK", text)

    return read_sent


@pytest.fixture
def golden(request):
    """Compares with, or writes, the golden file."""

    def check(site, name, text):
        path = GOLDEN / site.name / name
        if request.config.getoption("--update-golden", default=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert text == path.read_text()

    return check


def simulate(tmp_path, site, lines):
    """Submits the simulation of a run on 40 nodes, as the driver does."""
    folder = tmp_path / RUN / "attempts" / "1"
    folder.mkdir(parents=True)
    batch = {"nodes": 40, "tasks_per_node": 32, "buffer_lines": list(lines)}
    job = {"name": "attempt-1", "walltime_s": 7200.0, "batch": batch}
    (folder / "job.json").write_text(json.dumps(job))
    assert (
        BatchLauncher(Slurm(site.batch), site, RunDir(tmp_path / RUN), TOKEN).submit(folder)
        == "slurm:7"
    )


@pytest.mark.parametrize("site", SEPARATE_SITES, indirect=True)
def test_simulation(site, tmp_path, sent, golden):
    lines = [] if site.buffer.kind == "posix" else [directives(site.buffer).use(BUFFER)]
    simulate(tmp_path, site, lines)
    golden(site, "simulation.sh", sent())


@pytest.mark.parametrize("site", SEPARATE_SITES, indirect=True)
def test_viewing_block(site, tmp_path, sent, golden):
    lines = () if site.buffer.kind == "posix" else (directives(site.buffer).use(BUFFER),)
    # The interfaces of the machine that runs this are not part of the site.
    here = replace(site, viewing=replace(site.viewing, address="127.0.0.1"))
    block = Block(
        scheduler=Slurm(site.batch), comment=RUN, token=TOKEN, walltime_s=7200.0, lines=lines
    )
    folder = tmp_path / RUN / "parsl"
    folder.mkdir(parents=True)
    provider = viewing_block(here, "viewing", folder, block).provider
    provider.script_dir = str(folder)
    provider.after = "6"
    assert provider.submit("process_worker_pool.py", 1) == "7"
    golden(site, "viewing.sh", sent())


@pytest.mark.parametrize("site", BUFFER_SITES, indirect=True)
@pytest.mark.parametrize("what", ["create", "destroy"])
def test_buffer_is_made_and_given_back_by_jobs_of_their_own(site, what, golden):
    lines = directives(site.buffer)
    line = lines.create(BUFFER, CAPACITY) if what == "create" else lines.destroy(BUFFER)
    job = BatchJob(
        name=f"{TOKEN}-buffer-{what}-1",
        comment=RUN,
        argv=("true",),
        output=Path("RUNS") / RUN / "steps" / f"buffer-{what}-1" / "said.log",
        buffer_lines=(line,),
    )
    golden(site, f"buffer-{what}.sh", batch_script(job, Slurm(site.batch)))


@pytest.mark.parametrize("site", BATCH_SITES, indirect=True)
def test_job_with_a_buffer_of_its_own_in_which_everything_runs(
    site, tmp_path, sent, golden, recipe
):
    here = site
    if site.viewing.placement == "separate":
        folders = ("$TMPDIR",) if site.buffer.kind == "posix" else ()
        here = replace(
            site,
            buffer=replace(site.buffer, lifetime="job", folders=folders),
            viewing=replace(site.viewing, placement="same-job"),
        )
    batch = BatchLauncher(Slurm(here.batch), here, RunDir(tmp_path / RUN), TOKEN)
    size = ("simulation.nodes=40", "simulation.ranks_per_node=32")
    wanted = recipe(*size, "simulation.walltime=02:00:00", "buffer.capacity=600 GiB")
    own = JobBuffer(here, batch.run, HostedLauncher(batch), wanted, TOKEN, lambda: False)
    host = tmp_path / RUN / "steps" / "host-1"
    batch.run.path.mkdir()
    batch.hand_in(host, own.job(host))
    golden(site, "same-job.sh", sent())


def test_no_golden_script_is_left_of_a_site_that_is_gone():
    assert sorted(path.name for path in GOLDEN.iterdir()) == BATCH_SITES


def test_no_script_names_this_machine():
    for path in GOLDEN.glob("*/*.sh"):
        text = path.read_text()
        # As a word of its own: a machine may be called "vm", and a constraint "nvme".
        assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text), path
        assert str(Path(__file__).parents[2]) not in text, path


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/*.sh")), ids=lambda path: str(path)[-40:])
def test_directives_stand_before_the_first_command(path):
    """Slurm reads up to the first line that is not a comment, and ignores the rest."""
    lines = path.read_text().splitlines()
    first = next(n for n, line in enumerate(lines) if line and not line.startswith("#"))
    assert not [line for line in lines[first:] if re.match(r"\s*#(DW|BB|SBATCH)", line)]
