"""The recipes and parameter files of docs/tutorials are right as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import burstlens

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"


def blocks(page: str, language: str) -> list[str]:
    """The code of one language on a page, in order."""
    text = (TUTORIALS / f"{page}.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize(
    ("page", "products"),
    [
        ("my-wrf-run", ["rain", "core"]),
        ("my-seismic-run", ["motion", "pgv", "seismograms"]),
        ("my-own-model", ["plate"]),
    ],
)
def test_the_recipe_of_a_tutorial_is_right(page: str, products: list[str], tmp_path: Path):
    (recipe,) = (text for text in blocks(page, "toml") if "[simulation]" in text)
    path = tmp_path / "recipe.toml"
    path.write_text(recipe)
    settings = ["inputs=wrf-run"] if "[parameters]" in recipe else []
    made, _ = burstlens.read_recipe(str(path), settings)
    assert [product.name for product in made.products] == products


@pytest.mark.integration
def test_awm_takes_the_parameters_of_the_seismic_tutorial(tmp_path: Path):
    (tmp_path / "awm.toml").write_text(blocks("my-seismic-run", "toml")[0])
    done = subprocess.run(
        [sys.executable, "-m", "burstlens.workflows.awm", "--check", "awm.toml"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.integration
def test_the_program_of_the_tutorial_writes_what_its_recipe_looks_for(tmp_path: Path):
    (program,) = blocks("my-own-model", "python")
    for slow, quick in (
        ("STEP_S = 120, 2000, 100,", "STEP_S = 120, 200, 100,"),
        ("sleep(0.5)", "sleep(0)"),
    ):
        assert slow in program
        program = program.replace(slow, quick)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "heat_00000.nc", "heat_00100.nc", "heat_00200.nc"
    ]  # fmt: skip
    (recipe,) = blocks("my-own-model", "toml")
    for key in ("written", "progress", "done"):
        (pattern,) = re.findall(rf"^{key} = '(.*)'$", recipe, re.MULTILINE)
        assert re.search(pattern, done.stdout, re.MULTILINE), key
