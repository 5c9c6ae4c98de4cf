"""What a viewing block says to its workers: the memory and the cores of each."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace

import pytest

from burstlens.cluster_configs.parsl_config import Block, viewing_block
from burstlens.cluster_configs.scheduler import Scheduler
from burstlens.cluster_configs.site import choose
from burstlens.cluster_configs.slurm import Slurm

pytestmark = pytest.mark.integration


class Uncounted(Slurm):
    """A scheduler that says nothing of the CPUs of its jobs."""

    cpus_on_node = Scheduler.cpus_on_node


def said(site, tmp_path, *, batch: type[Scheduler] | None = None, **environment):
    """Memory and cores in the environment of a worker of the block."""
    client = (batch or Slurm)(site.batch)
    place = Block(scheduler=client, comment="r", token="t", walltime_s=60.0)
    provider = viewing_block(site, "viewing", tmp_path, place if batch else None).provider
    shown = subprocess.run(
        ["bash", "-c", f"{provider.worker_init}\necho $BURSTLENS_MEMORY,$BURSTLENS_CORES"],
        capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin", **environment},
    )  # fmt: skip
    return shown.stdout.strip()


def here(name):
    site = choose(name)
    return replace(site, viewing=replace(site.viewing, address="127.0.0.1"))


def test_a_worker_has_its_memory_and_one_core(tmp_path):
    assert said(here("local"), tmp_path) == ","
    assert said(here("local").allowing(2_000_000_000), tmp_path) == "2000000000,"


@pytest.mark.parametrize(("cpus", "cores"), [(1, 1), (2, 2), (3, 3), (4, 2), (64, 2)])
def test_workers_of_a_block_that_counts_its_cpus_have_all_of_them(tmp_path, cpus, cores):
    site = here("slurm")
    counted = said(site, tmp_path, batch=Slurm, SLURM_CPUS_ON_NODE=str(cpus))
    assert counted == f",{cores}"


def test_where_the_scheduler_does_not_say_the_cpus_are_those_that_the_job_may_use(tmp_path):
    cpus = len(os.sched_getaffinity(0))
    counted = said(here("slurm"), tmp_path, batch=Uncounted)
    assert counted == f",{cpus if cpus < 4 else 2}"


def test_workers_that_a_site_counts_have_one_core_each(tmp_path):
    site = here("slurm")
    site = replace(site, viewing=replace(site.viewing, workers=3))
    assert said(site, tmp_path, batch=Slurm, SLURM_CPUS_ON_NODE="64") == ","
