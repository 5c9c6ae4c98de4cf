"""What a job's description holds of hints and stripes, for each MPI. It never ran on a Cray here:
these are the texts that one would get."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from burstlens.cluster_configs.site import SITES, choose, read
from burstlens.core.errors import RecipeError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import replay
from burstlens.workflows.hints.stripes import Stripe
from burstlens.workflows.models.continuation import Continuation
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_file import JobFile
from burstlens.workflows.placement.provision import Folder

DATA = Path(__file__).parents[1] / "data"
HINTS = {"wrfout*": {"cb_nodes": 64}, "wrfrst*": {"romio_ds_write": "disable"}}


@pytest.fixture
def described(recipe, tmp_path):
    """The job file of the model with these hints, on a site."""

    def make(site, *, environment=None, **changed):
        made = recipe()
        simulation = replace(
            made.simulation, mpiio_hints=HINTS, nodes=8, environment=environment or {}, **changed
        )
        space = Folder(site, "storm-1", 10)
        run = RunDir(tmp_path / "storm-1")
        jobs = JobFile(run, replace(made, simulation=simulation), site, replay([]), space)
        jobs.plan(BufferRef("posix", "/scratch", "storm-1"), 1, [])
        return jobs.simulation("attempt-1")

    return make


@pytest.mark.parametrize("site", ["cori", "frontier", "shaheen2"])
def test_on_a_cray_the_launcher_inherits_hints_by_pattern(described, site):
    job = described(read(SITES / f"{site}.toml"), mpiio_report=True)
    hinted = {name: value for name, value in job["environment"].items() if "MPI" in name}
    assert hinted == {
        "MPICH_MPIIO_HINTS": "wrfout*:cb_nodes=64,wrfrst*:romio_ds_write=disable",
        "MPICH_MPIIO_HINTS_DISPLAY": "1",
        "MPICH_MPIIO_STATS": "1",
        "MPICH_MPIIO_TIMERS": "1",
    }
    assert (job["files"], job["stripes"]) == ({}, [])


def test_romio_s_file_lies_in_the_model_s_folder_and_its_path_is_absolute_in_the_job(described):
    job = described(replace(read(SITES / "slurm.toml"), mpi="romio"))
    name = ".romio_hints"
    assert job["files"] == {name: "cb_nodes 64\nromio_ds_write disable\ncb_config_list *:8\n"}
    assert job["places"]["ROMIO_HINTS"] == f"{job['folder']}/{name}"


def test_variables_of_the_recipe_s_own_count_first(described):
    own = {"ROMIO_HINTS": "/home/me/hints", "PNETCDF_HINTS": "cb_nodes=1"}
    job = described(replace(read(SITES / "slurm.toml"), mpi="romio"), environment=own)
    assert own.items() <= job["environment"].items()
    assert job["files"] == {}
    assert "ROMIO_HINTS" not in job["places"]


def test_stripes_are_of_the_folder_and_on_a_cray_of_the_pattern_as_well(described):
    stripes = {"wrfrst*": Stripe(count=144, size=4 << 20)}
    folder = [{"folder": "", "count": 144, "size": 4 << 20}]
    cray = described(read(SITES / "frontier.toml"), stripes=stripes)
    assert cray["stripes"] == folder
    assert cray["environment"]["MPICH_MPIIO_HINTS"].endswith(
        ",wrfrst*:romio_ds_write=disable:striping_factor=144:striping_unit=4194304"
    )
    romio = described(replace(read(SITES / "slurm.toml"), mpi="romio"), stripes=stripes)
    assert romio["stripes"] == folder
    assert "striping" not in romio["files"][".romio_hints"]


def test_a_checkpoint_in_tiles_needs_the_ranks_that_wrote_them(recipe, tmp_path):
    """Otherwise the real WRF hangs in its first step, without a message."""
    text = '[simulation]\nmodel = "wrf"\nexecutable = "model.sh"\ninputs = "inputs"\n'
    site = choose("local")
    name = "wrfrst_d01_0001-01-01_00:02:00"
    wanted = Continuation("00010101T000200", (f"{name}_0000", f"{name}_0001"))
    for ranks in (2, 1):
        made = recipe(text=f"{text}ranks_per_node = {ranks}\n")
        shutil.copy(DATA / "wrf" / "restart" / "F1" / "namelist.input", made.inputs)
        space = Folder(site, "storm-1", 10)
        jobs = JobFile(RunDir(tmp_path / "storm-1"), made, site, replay([]), space)
        jobs.open(BufferRef("posix", "/scratch", "storm-1"), 2, wanted, written_by=1)
        if ranks == 2:
            assert [pair[1] for pair in jobs.simulation("attempt-2")["checkpoint"]] == [
                *wanted.files
            ]
        else:
            with pytest.raises(RecipeError, match="of each of 2 ranks, and the simulation has 1"):
                jobs.simulation("attempt-2")
