"""``[tune]`` of a recipe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.recipe.file import read
from burstlens.workflows.recipe.load import check
from burstlens.workflows.tuning.space import Configuration
from burstlens.workflows.tuning.table import trial_table, tune_of, with_values

BASE = """
title = "A"
[simulation]
model = "command"
inputs = "."
command = ["./a"]
[simulation.mpiio_hints."out*"]
cb_nodes = 1
"""
CB, NODES = "simulation.mpiio_hints.out*.romio_cb_write", "simulation.mpiio_hints.out*.cb_nodes"


def recipe(tmp_path, tune: str):
    (tmp_path / "r.toml").write_text(BASE + tune)
    return check(read(str(tmp_path / "r.toml")))


def test_factors_become_a_space_with_their_conditions(tmp_path):
    made, _ = recipe(
        tmp_path,
        f"""
[tune]
set = {{ "simulation.walltime" = "00:01:00" }}
skip = 2
[tune.factors]
"{CB}" = ["enable", "disable"]
"{NODES}" = {{ values = [1, 2, 4], when = {{ "{CB}" = ["enable"] }} }}
""",
    )
    space = tune_of(made).space()
    assert space is not None
    assert len(list(space.configurations())) == 4
    assert tune_of(made).skip == 2


def test_without_factors_there_is_no_space_of_the_recipes_own(tmp_path):
    assert tune_of(recipe(tmp_path, "")[0]).space() is None


@pytest.mark.parametrize(
    ("tune", "said"),
    [
        ('[tune.factors]\n"product.t2.every" = [1]', r"trials take \[simulation\] and \[buffer\]"),
        ('[tune.factors]\n"nodes" = [1]', "not a dotted key"),
        (f'[tune.factors]\n"{NODES}" = []', "not empty"),
        (
            f'[tune.factors]\n"{NODES}" = {{ values = [1], when = {{ "{CB}" = ["a"] }} }}',
            "above it",
        ),
        ('[tune]\nset = { "step.a.nodes" = 2 }', "trials take"),
        ("[tune]\nskip = -1", "greater than or equal to 0|at least 0"),
        ("[tune]\nruns = 3", "unknown key"),
        ("[tune]\nfactors = 3", "table|mapping|dictionary"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, tune, said):
    with pytest.raises(RecipeError, match=said) as error:
        recipe(tmp_path, tune)
    assert "tune" in str(error.value)


def test_a_fault_of_a_factors_values_has_the_factors_line(tmp_path):
    with pytest.raises(RecipeError) as error:
        recipe(tmp_path, f'[tune.factors]\n"{NODES}" = [1]\n"{CB}" = ["enable", "enable"]\n')
    assert f"r.toml:{len(BASE.splitlines()) + 3}:1" in str(error.value)
    assert f"tune.factors.{CB}  has a value twice" in str(error.value)
    with pytest.raises(RecipeError) as error:
        recipe(tmp_path, f'[tune.factors]\n"{NODES}" = [1]\n"{NODES}_list" = ["*:1", "*:1"]\n')
    assert f"tune.factors.{NODES}_list  has a value twice" in str(error.value)


def test_a_trials_table_is_the_recipes_with_other_values(tmp_path):
    made, table = recipe(tmp_path, "")
    changed = trial_table(table, Configuration(((CB, "disable"), ("simulation.nodes", 2))))
    source = replace(read(str(tmp_path / "r.toml")), table=changed)
    trial, _ = check(source)
    assert trial.simulation.mpiio_hints == {"out*": {"cb_nodes": 1, "romio_cb_write": "disable"}}
    assert trial.simulation.nodes == 2
    assert check(read(str(tmp_path / "r.toml")))[0].simulation == made.simulation


def test_a_key_inside_of_a_value_is_refused():
    with pytest.raises(RecipeError, match="has no parts"):
        with_values({"simulation": {"nodes": 2}}, {"simulation.nodes.x": 1})
