"""MPI programs of a recipe, started by the launcher of the site."""

from __future__ import annotations

import pytest

from burstlens.cluster_configs.site import choose
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import replay
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_file import JobFile
from burstlens.workflows.placement.provision import Folder
from burstlens.workflows.recipe.load import load


@pytest.mark.parametrize(
    ("site", "settings", "words"),
    [
        ("local", (), ["mpiexec", "-n", "4", "./iostudy"]),
        ("local", ("ranks_per_node=1",), ["./iostudy"]),
        ("local", ("simulation.mpi=false",), ["./iostudy"]),
        (
            "slurm", ("nodes=2", "ranks_per_node=8"),
            ["srun", "--ntasks=16", "--ntasks-per-node=8", "--kill-on-bad-exit=1", "./iostudy"],
        ),
    ],
)  # fmt: skip
def test_an_mpi_program_of_a_recipe_is_started_by_the_site_s_launcher(
    tmp_path, site, settings, words
):
    recipe, _ = load("io-btio", settings)
    chosen = choose(site)
    space = Folder(chosen, "token", recipe.buffer.capacity)
    jobs = JobFile(RunDir(tmp_path), recipe, chosen, replay([]), space)
    jobs.plan(BufferRef("posix", "/space", "token"), 1, [])
    assert jobs.simulation("attempt-1")["argv"] == words
