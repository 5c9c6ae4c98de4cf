"""What ``burstlens check`` and ``run --dry-run`` show of hints and stripes, on sites that ship."""

from __future__ import annotations

import pytest

from burstlens.cluster_configs.site import choose
from burstlens.workflows.hints.striping import file_system
from burstlens.workflows.plan.commands import findings
from burstlens.workflows.plan.plan import assemble
from burstlens.workflows.recipe.load import load
from burstlens.workflows.recipe.survey import survey

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


def found(path, site, key="simulation.mpiio_hints"):
    """The findings on that key, made in this process."""
    recipe, _ = load(str(path))
    return [(one.level, one.text) for one in findings(recipe, choose(site), survey)
            if one.path == key]  # fmt: skip


def shown(path, site):
    """The lines of the plan, as (name, what)."""
    recipe, _ = load(str(path))
    return [(node.name, node.what) for node in assemble(recipe, choose(site)).nodes]


def test_datawarp_nodes_come_from_the_capacity_that_the_recipe_asks_for(recipe_path):
    ((level, text),) = found(recipe_path(), "shaheen2")
    # 3 TiB are 9 granules of 368 GiB on 9 nodes.
    assert level == "warning"
    assert "does not divide the 1024 ranks and is not a multiple of the buffer's 9 nodes" in text


def test_wrf_that_writes_from_one_process_is_told_that_hints_do_nothing(recipe_path):
    path = recipe_path()
    (path.parent / "namelist.input").write_text("&time_control\n io_form_history = 2,\n/\n")
    said = (
        "wrf writes its frames from one process and not through MPI-IO (io_form 2 or 102, not 11)"
    )
    assert ("warning", f"{said}: hints have no effect on them") in found(path, "frontier")
    assert not any("one process" in text for _, text in found(recipe_path(), "frontier"))


def test_a_program_of_ones_own_is_not_told_of_wrfs_settings(tmp_path):
    recipe = """
    title = "A"
    [simulation]
    model = "command"
    mpi = true
    inputs = "."
    command = ["true"]
    frames = "out_*.nc"
    mpiio_hints = { "*" = { romio_cb_write = "disable" } }
    """
    (tmp_path / "r.toml").write_text(recipe)
    (said,) = [text for _, text in found(tmp_path / "r.toml", "frontier") if "no effect" in text]
    assert "io_form" not in said
    assert "say parallel = true" in said
    (tmp_path / "r.toml").write_text(f"{recipe}parallel = true\n")
    assert not any("no effect" in text for _, text in found(tmp_path / "r.toml", "frontier"))


def test_a_size_with_a_unit_keeps_the_run_from_starting(recipe_path):
    path = recipe_path(unit=("striping_factor = 64", 'striping_unit = "4M"'))
    levels = dict(found(path, "frontier"))
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
    assert ("MPI-IO hints", line) in shown(recipe_path(), site)


def test_a_site_without_hints_for_its_mpi_shows_none(recipe_path):
    assert "MPI-IO hints" not in dict(shown(recipe_path(), "slurm-datawarp"))


STRIPES = """\
[simulation.stripes]
"wrfout*" = { file_size = "50 GB", size = "4 MiB" }
"wrfrst*" = { count = 2048 }
"""


def test_stripes_are_hints_by_pattern_on_a_cray(recipe_path):
    lines = shown(recipe_path(STRIPES), "shaheen2")
    assert {what for name, what in lines if name == "stripes"} == {
        "wrfout*: 64 stripes of 4 MiB, by hints, if the MPI is Cray MPICH",
        "wrfrst*: 2048 stripes, by hints, if the MPI is Cray MPICH",
    }
    hints = dict(lines)["MPI-IO hints"]
    assert "wrfout*:cb_nodes=100:striping_factor=64:striping_unit=4194304" in hints
    assert "wrfrst*:striping_factor=2048" in hints


def test_more_stripes_than_ranks_are_named(recipe_path):
    assert found(recipe_path(STRIPES), "shaheen2", "simulation.stripes") == [
        ("warning", "'wrfrst*' gets 2048 stripes, more than there are ranks, 1024")
    ]


def test_stripes_without_effect_are_noted(recipe_path, monkeypatch, tmp_path):
    monkeypatch.setenv("BURSTLENS_BUFFER", str(tmp_path))
    ((level, text),) = found(recipe_path(STRIPES), "slurm", "simulation.stripes")
    assert level == "note"
    assert text.endswith(f"is on {file_system(tmp_path)}: stripes have no effect")
    ((level, text),) = found(recipe_path(STRIPES), "slurm-datawarp", "simulation.stripes")
    assert level == "warning"
    assert "only Cray MPICH sets stripes on DataWarp" in text
