"""A case of the I/O study on a cluster: compiled in a job, started by srun on two nodes."""

from __future__ import annotations

import uuid

import pytest
from debian import UnavailableError, provided

SITE = """\
scheduler = "slurm"
mpi_launcher = ["srun", "--mpi=pmi2", "--ntasks={ranks}", "--kill-on-bad-exit=1"]
[buffer]
folders = ["$SCRATCH"]
[viewing]
placement = "separate"
workers = 1
address = "127.0.0.1"
"""


@pytest.fixture
def folder(slurm):
    made = slurm.folder(f"study-{uuid.uuid4().hex[:8]}")
    (made / "ours.toml").write_text(SITE)
    yield made
    slurm.clear()


def test_a_case_runs_on_two_nodes_with_a_program_compiled_in_its_job(slurm, folder):
    try:
        compiler = provided("mpicc.mpich", package="libmpich-dev")
    except UnavailableError as error:
        pytest.skip(str(error))
    settings = {"nodes": "2", "ranks_per_node": "1", "pause": "0", "mpicc": compiler}
    words = ["burstlens", "run", "io-wrf", "--site", "./ours.toml", "--name", "r"]
    words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    here = {"SCRATCH": str(folder), "BURSTLENS_RUNS": str(folder / "runs")}
    done = slurm.run(words, cwd=folder, env=here, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    log = (folder / "runs" / "r" / "logs" / "attempt-1" / "model.log").read_text()
    assert log.count(": wrote frame_") == 4
    assert "all as written" in log
