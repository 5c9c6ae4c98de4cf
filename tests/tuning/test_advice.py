"""What gains more than hints and is not Burstlens's to change; the usual factors."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from burstlens.cluster_configs.site import SITES, read
from burstlens.workflows.models.wrf import Wrf
from burstlens.workflows.recipe.file import read as read_recipe
from burstlens.workflows.recipe.load import check
from burstlens.workflows.tuning.options import (
    TuneOptions,
    course_of,
    space_of,
    tuning_site,
)
from burstlens.workflows.tuning.planning import anywhere

NAMELIST = "&time_control\n io_form_history = {form},\n/\n&namelist_quilt\n {quilt}\n/\n"
RECIPE = """
title = "A"
[simulation]
model = "wrf"
inputs = "."
nodes = 4
ranks_per_node = 8
[simulation.mpiio_hints."wrfout*"]
cb_nodes = 4
"""


@pytest.mark.parametrize(
    ("form", "quilt", "ranks", "advised"),
    [
        (2, "", 32, True),
        (2, "", 1, False),
        (11, "", 32, False),
        (2, "nio_tasks_per_group = 2,", 32, False),
    ],
)
def test_serial_output_of_many_wrf_ranks_is_advised_against(tmp_path, form, quilt, ranks, advised):
    (tmp_path / "namelist.input").write_text(NAMELIST.format(form=form, quilt=quilt))
    found = Wrf().output_advice(tmp_path, ranks)
    assert bool(found) is advised
    assert all("io_form_history" in one and "by hand" in one for one in found)


def test_odd_settings_are_no_reason_to_fail(tmp_path):
    assert Wrf().output_advice(tmp_path, 32) == []


@pytest.fixture
def recipe(tmp_path):
    (tmp_path / "r.toml").write_text(RECIPE)
    return check(read_recipe(str(tmp_path / "r.toml")))[0]


def test_a_recipe_without_factors_tries_the_usual_hints_of_its_patterns(recipe):
    space = space_of(recipe, read(SITES / "local.toml"))
    assert all(one.key.startswith("simulation.mpiio_hints.wrfout*.") for one in space.factors)
    assert {"romio_cb_write", "cb_nodes", "cb_buffer_size"} <= {one.name for one in space.factors}
    assert "striping_unit" not in {one.name for one in space.factors}


def test_a_striped_buffer_has_its_unit_tried(recipe):
    space = space_of(recipe, read(SITES / "slurm-datawarp.toml"))
    assert "striping_unit" in {one.name for one in space.factors}


@pytest.mark.parametrize("name", ["slurm", "slurm-datawarp"])
def test_a_site_with_a_scheduler_runs_all_trials_in_one_job(name):
    site = tuning_site(read(SITES / f"{name}.toml"))
    assert site.viewing.placement == "same-job"
    assert not site.job_stages_in or site.buffer.node_local


def test_here_nothing_changes():
    site = read(SITES / "local.toml")
    assert tuning_site(site) is site


def test_node_hours_are_the_trials_own_seconds_on_their_nodes(recipe):
    course = course_of(recipe, read(SITES / "local.toml"), TuneOptions(node_hours=2.0))
    assert course.budget_s == 2.0 * 3600 / 4
    assert len(course.guesses) == 3


def test_options_come_back_from_json_also_of_a_newer_version():
    options = TuneOptions(runs=5, node_hours=1.5, settings=("a=b",))
    known = TuneOptions.of({**asdict(options), "newer": 1})
    assert (known.runs, known.node_hours, tuple(known.settings)) == (5, 1.5, ("a=b",))


def test_an_mpi_with_one_set_of_hints_is_tuned_by_one_pattern(tmp_path):
    (tmp_path / "r.toml").write_text(
        f'{RECIPE}\n[simulation.mpiio_hints."wrfrst*"]\ncb_nodes = 1\n'
    )
    two = check(read_recipe(str(tmp_path / "r.toml")))[0]
    for mpi, patterns in {"romio": 1, "openmpi": 1, "cray-mpich": 2}.items():
        space = space_of(two, replace(read(SITES / "local.toml"), mpi=mpi))
        assert len({factor.hint[0] for factor in space.factors}) == patterns


def test_the_path_of_a_parameter_is_kept_absolute_and_other_settings_as_given(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    source = read_recipe("io-btio")
    assert anywhere(source, "inputs=mine") == f"inputs={tmp_path}/mine"
    for other in ("size=class-b", "simulation.inputs=mine", "mpicc=./cc"):
        assert anywhere(source, other) == other
