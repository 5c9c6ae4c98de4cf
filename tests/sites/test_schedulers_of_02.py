"""Schedulers of other packages that were written for 0.2 work unchanged until 0.4."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from installed_plugin import install

from burstlens.cluster_configs.batch_script import batch_script
from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.parsl_config import Block, block_script
from burstlens.cluster_configs.scheduler import (
    BatchJob,
    BatchSite,
    BlockJob,
    JobVariables,
    Scheduler,
)
from burstlens.cluster_configs.schedulers import own_job, scheduler
from burstlens.cluster_configs.site import read
from burstlens.cluster_configs.slurm import Slurm

PBS = (Path(__file__).parents[1] / "data" / "plugins_of_0.2" / "pbs.py").read_text()
SITE = """\
scheduler = "pbs"
mpi_launcher = ["mpiexec", "-n", "{ranks}", "--ppn", "{ranks_per_node}"]
[buffer]
kind = "posix"
folders = ["/fast"]
[viewing]
placement = "separate"
[pbs]
partition = "workq"
account = "ab0123"
constraint = "model=rome"
options = ["-l filesystems=scratch"]
"""
SCRIPT = """\
#!/bin/bash
#PBS -N storm
#PBS -o /runs/log
#PBS -j oe
#PBS -k oed
#PBS -l select=2:ncpus=8:mpiprocs=8:model=rome
#PBS -l place=scatter
#PBS -l walltime=00:10:00
#PBS -S /bin/bash
#PBS -q workq
#PBS -A ab0123
#PBS -V
#PBS -v BURSTLENS_COMMENT=storm-1
#PBS -r n
#PBS -l filesystems=scratch
exec true
"""
PROTOCOL = '''\
"""A scheduler that has the methods of 0.2's protocol, and derives from nothing."""


class Plain:
    name = "plain"
    title = "Plain"
    offers = frozenset({offers})
    cpus_variable = "PLAIN_CPUS"

    def __init__(self, settings=None, patience_s=90.0):
        self.settings = settings

    def require(self): ...
    def submit(self, script): return "7"
    def submitted(self, job_id): ...
    def state(self, job_id): ...
    def calm(self, job_id): ...
    def forget(self, job_id): ...
    def look(self, job_id): ...
    def jobs(self, comment): return []
    def cancel(self, job_ids): ...
    def cancel_all(self, comment, *names): ...
    def cancel_command(self, job_id): return ""
    def header(self, job): return iter([f"#PLAIN {{self.settings.account}}"])
    def after(self, job_id): return ""
    def provider(self, block): ...
'''


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs a scheduler's module as a package; returns its class, as a site gets it."""

    def installed(name: str, attribute: str, code: str) -> type[Scheduler]:
        module = f"burstlens_{name}"
        points = {"burstlens.schedulers": {name: f"{module}:{attribute}"}}
        install(tmp_path / "site", module, "1.0", code, points)
        monkeypatch.syspath_prepend(tmp_path / "site")
        monkeypatch.delitem(sys.modules, module, raising=False)
        scheduler.cache_clear()
        return scheduler(name)

    yield installed
    scheduler.cache_clear()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_walks_pbs_makes_the_scripts_that_it_made(installed: Any, tmp_path: Path):
    pbs = installed("pbs", "PBS", PBS)
    path = tmp_path / "ours.toml"
    path.write_text(SITE)
    site = read(path)
    client = pbs(site.batch)
    job = BatchJob(
        name="storm", comment="storm-1", argv=("true",), output=Path("/runs/log"), nodes=2,
        tasks_per_node=8, walltime_s=600.0, options=site.batch.options,
    )  # fmt: skip
    assert batch_script(job, client) == SCRIPT
    block = Block(scheduler=client, comment="storm-1", token="storm", walltime_s=600.0)
    viewing = block_script(site, block, tmp_path / "parsl").splitlines()
    _, arguments = client.provider(BlockJob(comment="storm-1", nodes=1, cpus=2))
    assert (arguments["queue"], arguments["select_options"]) == ("workq", ":model=rome")
    assert "#PBS -W depend=after:SIMULATION" in viewing
    assert "cpus=${NCPUS:-$(nproc)}" in viewing
    assert pbs.version_command() == ("qsub", "--version")


def test_a_job_of_pbs_is_recognised_though_its_class_does_not_say_how(
    installed: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.warns(DeprecationWarning, match=r"PBS has to say cpus_on_node itself from 0\.4 on"):
        installed("pbs", "PBS", PBS)
    assert own_job() is None
    monkeypatch.setenv("PBS_JOBID", "7.there")
    job = own_job()
    assert job is not None
    assert (job.job_id, job.variable, job.submit_host) == ("7.there", "PBS_JOBID", "")


def test_a_class_that_derives_from_nothing_gets_what_it_does_not_say(installed: Any):
    with pytest.warns(DeprecationWarning, match=r"Plain has to derive from .*\.Scheduler from"):
        plain = installed("plain", "Plain", PROTOCOL.format(offers=""))
    client = plain(BatchSite(account="ab0123"))
    assert isinstance(client, Scheduler)
    assert list(client.header(None)) == ["#PLAIN ab0123"]
    assert client.cpus_on_node == "${PLAIN_CPUS:-$(nproc)}"
    assert (client.place("7"), client.silent_s, client.variables) == (None, 0.0, JobVariables())
    assert client.ask_for_node(["mpiexec"], 4) is None


def test_its_steps_inside_of_jobs_are_those_of_srun_as_all_were(installed: Any):
    with pytest.warns(DeprecationWarning, match="step_words and each_node itself from 0"):
        plain = installed("plain", "Plain", PROTOCOL.format(offers=repr({"same-job"})))
    job = Inside("7", cpus=8, node="n1")
    assert plain().step_words(job, 4) == Slurm().step_words(job, 4)
    assert plain().each_node(2) == Slurm().each_node(2)
    assert plain.launcher_lines == Slurm.launcher_lines
