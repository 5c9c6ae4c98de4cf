"""The findings of a recipe before it runs: levels, order, paths, and a time limit."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burstlens.core.errors import RecipeError, SiteError
from burstlens.viz.kinds.base import ProductKind
from burstlens.viz.product import Made
from burstlens.workflows.plan.commands import check_recipe, new_run
from burstlens.workflows.recipe.load import load
from burstlens.workflows.recipe.preflight import preflight, require, surveyed
from burstlens.workflows.recipe.recipe import MadeProduct

pytestmark = pytest.mark.integration

PYTHON = """
[[product]]
name = "mine"
kind = "python"
function = "plots.py:rain"
[[product]]
name = "script"
kind = "command"
command = ["ncl", "{frame}", "{out}"]
[[step]]
name = "prepare"
command = ["python3", "make.py"]
before = "simulation"
[[guard]]
name = "tall"
variable = "T2"
run = ["mail.sh", "me"]
"""


def test_code_of_the_recipe_is_listed_in_one_note_and_not_as_a_warning(recipe_file: Any):
    path = recipe_file()
    path.write_text(path.read_text() + PYTHON)
    (path.parent / "plots.py").write_text("")
    recipe, _ = load(str(path))
    findings = preflight(recipe)
    (note,) = [finding.text for finding in findings if finding.level == "note"]
    assert note == (
        "code of the recipe that will run: simulation: ./model.sh; step.prepare: python3 make.py; "
        "product.mine: plots.py:rain; product.script: ncl {frame} {out}; guard.tall: mail.sh me"
    )
    (warning,) = require(findings)
    assert warning.startswith("guard.tall: when it trips it would run mail.sh me; allow that in ")
    assert [(one.level, one.path) for one in findings] == [
        ("warning", "guard.tall.run"), ("note", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("program", "listed"),
    [
        ("", []),
        ('executable = "wrf-debug.exe"', []),
        ('executable = "/opt/wrf.exe"', ["simulation: /opt/wrf.exe"]),
        ('executable = "bin/wrf.exe"\narguments = ["-v"]', ["simulation: bin/wrf.exe -v"]),
        ('arguments = ["-v"]', ["simulation: ./wrf.exe -v"]),
    ],
)
def test_wrf_is_listed_where_the_recipe_chooses_more_than_a_file_of_the_inputs(
    recipe_file: Any, program: str, listed: list[str]
):
    path = recipe_file(
        'title = "Storm"\n[simulation]\nmodel = "wrf"\ninputs = "inputs"\n'
        f'{program}\n[buffer]\ncapacity = "1 MiB"\n'
        '[[product]]\nname = "t2"\nkind = "map"\nvariable = "T2"\n'
    )
    recipe, _ = load(str(path))
    notes = [finding.text for finding in preflight(recipe, look=lambda *_: ()) if not finding.path]
    assert notes == [f"code of the recipe that will run: {what}" for what in listed]


def test_errors_are_listed_together_and_first(recipe_file: Any):
    path = recipe_file()
    text = path.read_text().replace("./model.sh", "./modell.sh") + PYTHON
    path.write_text(text)
    recipe, _ = load(str(path))
    findings = preflight(recipe)
    assert [one.level for one in findings] == ["error", "error", "warning", "note"]
    assert [one.path for one in findings[:2]] == ["simulation.inputs", "product.mine"]
    with pytest.raises(RecipeError, match=r"(?s)no program ./modell\.sh.*there is no file .*plots"):
        require(findings)


def test_inputs_that_do_not_answer_are_one_warning_beside_what_was_found(recipe_file: Any):
    recipe, _ = load(str(recipe_file()))
    found = '{"level": "error", "text": "x"}'
    program = f"print({found!r}, flush=True); import time; time.sleep(60)"
    findings = surveyed(recipe, 3.0, 0.0, [sys.executable, "-c", program])
    assert [(one.level, one.path) for one in findings] == [
        ("error", ""), ("warning", "simulation.inputs"),
    ]  # fmt: skip
    assert findings[1].text.endswith("could be looked at: they did not answer within 3 s")


def test_a_file_that_never_opens_does_not_hold_the_check(wrf_inputs: Any, tmp_path: Path):
    folder = wrf_inputs()
    (folder / "namelist.input").unlink()
    os.mkfifo(folder / "namelist.input")  # to open it is to wait for a writer
    (tmp_path / "it.toml").write_text('[simulation]\nmodel = "wrf"\ninputs = "inputs"\n')
    recipe, _ = load(str(tmp_path / "it.toml"))
    (finding,) = surveyed(recipe, 1.0)
    assert (finding.level, finding.path) == ("warning", "simulation.inputs")
    assert "they did not answer within 1 s" in finding.text


def test_a_recipe_that_cannot_be_pickled_is_still_surveyed(recipe_file: Any):
    recipe, _ = load(str(recipe_file()))

    class Local(ProductKind[Any]):
        name = "local"

        def ships(self, options: Any) -> tuple[str, ...]:
            return ("nowhere.txt",)

        def inspect(self, options: Any, seen: Any) -> None:
            raise RuntimeError("a defect of the kind's own")

        def make(self, *given: Any) -> Made:
            return Made("png")

    product = MadeProduct(recipe.products[0].common, Local(), None)  # type: ignore[arg-type]
    (finding,) = surveyed(replace(recipe, products=(product,)))
    assert finding.path == "product.t2"
    assert "there is no file" in finding.text


def test_a_library_that_crashes_on_an_input_gives_one_warning(recipe_file: Any):
    recipe, _ = load(str(recipe_file()))
    (finding,) = surveyed(recipe, command=[sys.executable, "-c", "import os; os.abort()"])
    assert finding.level == "warning"
    assert "not all of the inputs could be looked at: the survey ended with" in finding.text


@pytest.mark.parametrize("site", [None, "limit = '1 GiB'"])
def test_check_and_run_give_one_verdict_on_the_capacity(
    recipe_file: Callable[..., Path], tmp_path: Path, monkeypatch: Any, site: str | None
):
    monkeypatch.setenv("BURSTLENS_RUNS", str(tmp_path / "runs"))
    name = None
    if site is not None:
        file = tmp_path / "small.toml"
        folder = f"folders = ['{tmp_path}']"
        file.write_text(f"scheduler = 'local'\n[buffer]\n{folder}\n{site}\n")
        name = str(file)
    path, settings = str(recipe_file()), ["buffer.capacity=1000000 TiB"]
    (finding,) = without_code(check_recipe(path, name, settings))
    assert (finding.level, finding.path) == ("error", "buffer.capacity")
    with pytest.raises(SiteError) as raised:
        new_run(path, name, settings)
    # How much is free changes meanwhile.
    assert str(raised.value).partition(":")[0] == finding.text.partition(":")[0]
    assert not (tmp_path / "runs").exists() or not os.listdir(tmp_path / "runs")
    assert without_code(check_recipe(path, name, [])) == []


def without_code(findings):
    return [one for one in findings if not one.text.startswith("code of the recipe")]


TWO_NODES = """
title = "Two nodes"
[simulation]
model = "wrf"
inputs = "inputs"
nodes = 2
"""


@pytest.fixture
def on_two_nodes(recipe_file: Any) -> Callable[..., list[tuple[str, str]]]:
    """The findings about nodes of a WRF run with these settings on that site."""

    def found(*settings: str, site: str = "frontier") -> list[tuple[str, str]]:
        path = recipe_file(text=TWO_NODES)
        text = "&time_control\n" + ",\n".join(settings) + "\n/\n"
        (path.parent / "inputs" / "namelist.input").write_text(text)
        findings = check_recipe(str(path), site)
        return [(one.level, one.text) for one in findings if one.path == "simulation.nodes"]

    return found


@pytest.mark.parametrize(
    ("setting", "means"),
    [
        ("io_form_history = 102", "each rank writes a file of its own"),
        ("io_form_auxhist2 = 11", "all ranks write one file"),
        ("io_form_restart = 13", "all ranks write one file"),
        ("nio_tasks_per_group = 2", "the last ranks write"),
    ],
)
def test_output_on_the_disks_of_other_nodes_is_refused(on_two_nodes: Any, setting: str, means: str):
    ((level, text),) = on_two_nodes("io_form_history = 2", setting)
    assert level == "error"
    assert setting.partition(" ")[0] in text
    assert means in text
    assert "2 nodes of site frontier have a disk each, only the first is watched" in text
    assert on_two_nodes(setting, site="slurm") == []


def test_output_of_the_first_rank_alone_is_fine_on_several_nodes(on_two_nodes: Any):
    assert on_two_nodes("io_form_history = 2", "io_form_input = 11") == []


def test_a_program_with_unknown_writers_gives_a_warning(recipe_file: Any):
    text = TWO_NODES.replace('model = "wrf"', 'model = "command"\ncommand = ["./a"]')
    (finding,) = [
        one for one in check_recipe(str(recipe_file(text=text)), "frontier")
        if one.path == "simulation.nodes"
    ]  # fmt: skip
    assert finding.level == "warning"
    assert "command has to write its frames there" in finding.text


MADE = (
    '[simulation]\nmodel = "command"\ncommand = ["./solver"]\nframes = "o_*.nc"\n'
    'inputs = "inputs"\n[[step]]\nname = "build"\nbefore = "simulation"\ncommand = {}\n'
)


@pytest.mark.parametrize(
    ("step", "levels"), [('["make", "solver"]', ["note"]), ('["make", "-j4"]', ["error", "note"])]
)
def test_a_missing_program_is_right_only_if_a_step_before_names_it(
    recipe_file: Any, step: str, levels: list[str]
):
    recipe, _ = load(str(recipe_file('title = "Built"\n' + MADE.format(step))))
    assert [one.level for one in preflight(recipe)] == levels
