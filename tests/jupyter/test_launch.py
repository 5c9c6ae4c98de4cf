"""Runs launched from a real kernel: they live on their own."""

from __future__ import annotations

import os

import pytest

import burstlens
from burstlens.clients.api.runs import _setting
from burstlens.workflows.recipe.load import load

LAUNCH = """
import burstlens
run = burstlens.launch("r.toml", name="storm", settings={{"simulation.inputs": "{inputs}"}})
print(run.status["state"])
"""


def text(outputs: list[dict]) -> str:
    return "".join(output.get("text", "") for output in outputs)


@pytest.mark.slow
def test_a_run_launched_from_a_kernel_goes_on_when_the_kernel_is_restarted(own_runs, kernel):
    own_runs.prepare("storm", "--interval 1")
    said = text(kernel.run(LAUNCH.format(inputs="inputs-storm")))
    assert said.strip() in burstlens_states()
    assert "run.ended" not in own_runs.events("storm")
    kernel.restart()
    own_runs.await_that(lambda: "run.ended" in own_runs.events("storm"), "storm/logs/driver.log")
    said = text(kernel.run('import burstlens\nprint(burstlens.open_run("storm").status["state"])'))
    assert said.strip() == "done"
    assert own_runs.events("storm").count("run.started") == 1
    assert "run.resumed" not in own_runs.events("storm")


def burstlens_states() -> set[str]:
    """What a run's state may be just after its launch."""
    return {"new", "waiting for the buffer", "staging in", "starting", "running"}


@pytest.mark.slow
def test_the_kernel_holds_nothing_of_parsl_and_the_driver_nothing_of_the_kernel(own_runs, kernel):
    own_runs.prepare("storm", "--interval 1")
    kernel.run(LAUNCH.format(inputs="inputs-storm"))
    said = text(
        kernel.run(
            "from parsl.dataflow.dflow import DataFlowKernelLoader\n"
            "import threading, os, burstlens\n"
            "print(DataFlowKernelLoader._dfk)\n"
            "print([it.name for it in threading.enumerate() if 'parsl' in it.name.lower()])\n"
            "print(os.environ.get('MPLBACKEND'))"
        )
    ).split("\n")
    assert said[:2] == ["None", "[]"]
    assert said[2].startswith("module://matplotlib_inline")  # it takes a notebook to be loaded
    claim = burstlens.open_run(own_runs.runs / "storm").status["driver"]
    with open(f"/proc/{claim['pid']}/environ", "rb") as stream:
        assert b"MPLBACKEND" not in stream.read()


def test_a_wrong_recipe_is_one_message_in_a_notebook(own_runs, kernel):
    [output] = kernel.run('import burstlens\nburstlens.launch("r.tomll")')
    assert output["ename"] == "RecipeError"
    assert output["traceback"][0].startswith("RecipeError: ")
    assert "Traceback" not in "".join(output["traceback"])
    assert not own_runs.runs.exists()


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("inputs", "my/run", "inputs=my/run"),
        ("inputs", os.sep + "my", "inputs=/my"),
        ("nodes", 4, "nodes=4"),
        ("simulation.nodes", 4, "simulation.nodes=4"),
        ("product.t2.title", "12", 'product.t2.title="12"'),
        ("product.t2.limits", [-1, 1.5], "product.t2.limits=[-1, 1.5]"),
        ("flag", True, "flag=true"),
    ],
)
def test_settings_of_python_are_those_of_the_command(key, value, word):
    assert _setting(key, value) == word


def test_a_text_that_looks_like_a_number_stays_a_text(recipe_file):
    words = [_setting("product.t2.title", "2026"), _setting("product.t2.limits", [270, 300.5])]
    recipe, _ = load(str(recipe_file()), words)
    options = recipe.products[0].options
    assert (options.title, list(options.limits)) == ("2026", [270, 300.5])
