"""``burstlens check`` and ``run --dry-run`` of a recipe with hints, on sites that ship."""

from __future__ import annotations

import pytest

from burstlens.workflows.hints.striping import file_system
from burstlens.workflows.plan.commands import check_recipe, make_plan

pytestmark = pytest.mark.integration

WRF = """\
title = "hints"
[simulation]
model = "wrf"
inputs = "."
nodes = 32
ranks_per_node = 32
[simulation.mpiio_hints]
"wrfout*" = { cb_nodes = 100, striping_factor = 64 }
STRIPES
[buffer]
capacity = "3 TiB"
"""


@pytest.fixture
def recipe_path(tmp_path):
    def make(stripes="", **replaced):
        text = WRF.replace("STRIPES\n", stripes)
        for old, new in replaced.values():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "hints.toml"
        path.write_text(text)
        (tmp_path / "namelist.input").write_text("&time_control\n io_form_history = 11,\n/\n")
        return path

    return make


def of_hints(path, site):
    return [
        (one.level, one.text)
        for one in check_recipe(str(path), site)
        if one.path == "simulation.mpiio_hints"
    ]


def test_datawarp_nodes_come_from_the_capacity_that_the_recipe_asks_for(recipe_path):
    ((level, text),) = of_hints(recipe_path(), "shaheen2")
    # 3 TiB are 9 granules of 368 GiB on 9 nodes.
    assert level == "warning"
    assert "does not divide the 1024 ranks and is not a multiple of the buffer's 9 nodes" in text


def test_wrf_that_writes_from_one_process_is_told_that_hints_do_nothing(recipe_path):
    path = recipe_path()
    (path.parent / "namelist.input").write_text("&time_control\n io_form_history = 2,\n/\n")
    said = (
        "wrf writes its frames from one process and not through MPI-IO (io_form 2 or 102, not 11)"
    )
    assert ("warning", f"{said}: hints have no effect on them") in of_hints(path, "frontier")
    assert not any("one process" in text for _, text in of_hints(recipe_path(), "frontier"))


def test_a_size_with_a_unit_keeps_the_run_from_starting(recipe_path):
    path = recipe_path(unit=("striping_factor = 64", 'striping_unit = "4M"'))
    levels = dict(of_hints(path, "frontier"))
    assert "'4M' is not a whole number above 0" in levels["error"]


@pytest.mark.parametrize(
    ("site", "line"),
    [
        ("cori", "MPICH_MPIIO_HINTS=wrfout*:cb_nodes=100:striping_factor=64"),
        ("slurm", "MPICH_MPIIO_HINTS=wrfout*:cb_nodes=100:striping_factor=64"),
    ],
)
def test_the_dry_run_shows_what_the_model_gets(recipe_path, site, line, monkeypatch, tmp_path):
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path))
    plan = make_plan(str(recipe_path()), site)
    (node,) = [node for node in plan.nodes if node.name == "MPI-IO hints"]
    assert node.what == line


def test_a_site_without_hints_for_its_mpi_shows_none(recipe_path):
    plan = make_plan(str(recipe_path()), "slurm-datawarp")
    assert "MPI-IO hints" not in [node.name for node in plan.nodes]


STRIPES = """\
[simulation.stripes]
"wrfout*" = { file_size = "50 GB", size = "4 MiB" }
"wrfrst*" = { count = 2048 }
"""


def of_stripes(path, site):
    return [
        (one.level, one.text)
        for one in check_recipe(str(path), site)
        if one.path == "simulation.stripes"
    ]


def test_stripes_are_hints_by_pattern_on_a_cray(recipe_path):
    plan = make_plan(str(recipe_path(STRIPES)), "shaheen2")
    shown = {node.what for node in plan.nodes if node.name == "stripes"}
    assert shown == {
        "wrfout*: 64 stripes of 4 MiB, by hints, if the MPI is Cray MPICH",
        "wrfrst*: 2048 stripes, by hints, if the MPI is Cray MPICH",
    }
    (hints,) = [node.what for node in plan.nodes if node.name == "MPI-IO hints"]
    assert "wrfout*:cb_nodes=100:striping_factor=64:striping_unit=4194304" in hints
    assert "wrfrst*:striping_factor=2048" in hints


def test_more_stripes_than_ranks_are_named(recipe_path):
    assert of_stripes(recipe_path(STRIPES), "shaheen2") == [
        ("warning", "'wrfrst*' gets 2048 stripes, more than there are ranks, 1024")
    ]


def test_stripes_without_effect_are_noted(recipe_path, monkeypatch, tmp_path):
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path))
    ((level, text),) = of_stripes(recipe_path(STRIPES), "slurm")
    assert level == "note"
    assert text.endswith(f"is on {file_system(tmp_path)}: stripes have no effect")
    ((level, text),) = of_stripes(recipe_path(STRIPES), "slurm-datawarp")
    assert level == "warning"
    assert "only Cray MPICH sets stripes on DataWarp" in text
