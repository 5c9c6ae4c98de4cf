"""The notebooks: run from top to bottom by a real kernel, and kept with what they showed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))
LARGEST_BYTES = 600_000
# A path of the machine where the notebook was run, meaningless elsewhere.
FOREIGN = re.compile(r"(?<![\w.>:/])/(home|root|tmp|work|Users|var|dev/shm)/")


def code_cells(name: str) -> list:
    import nbformat

    notebook = nbformat.read(FOLDER / name, as_version=4)
    nbformat.validate(notebook)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cell) -> list[str]:
    """The text that a cell's outputs hold, pictures left out."""
    found = []
    for output in cell.outputs:
        found.append(output.get("text", ""))
        data = output.get("data", {})
        found += [data[kind] for kind in ("text/plain", "text/html") if kind in data]
    return [re.sub(r"base64,[\w+/=]+", "", text) for text in found]


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 4


@pytest.mark.integration
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_kept_as_it_came_out_of_one_run_from_top_to_bottom(name):
    cells = code_cells(name)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 1
    assert (FOLDER / name).stat().st_size < LARGEST_BYTES


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_has_no_trace_of_the_machine_where_it_was_run(name):
    for cell in code_cells(name):
        for text in texts(cell):
            assert not FOREIGN.search(text), text


@pytest.mark.integration
@pytest.mark.parametrize("hours", ["8", "100000"])
def test_the_recipe_of_the_notebooks_hears_how_far_its_model_is_however_long_it_runs(
    hours, tmp_path
):
    folder = FOLDER / "turbulence"
    progress = tomllib.loads((folder / "recipe.toml").read_text())["simulation"]["progress"]
    model = subprocess.Popen(
        [sys.executable, folder / "turbulence.py", f"--hours={hours}"],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        found = re.search(progress, model.stdout.readline() + model.stdout.readline())
    finally:
        model.kill()
        model.communicate()
    assert found
    assert float(found["total"]) == 3600 * float(hours)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_from_top_to_bottom(name, tmp_path, jupyter_environment, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    place = tmp_path / "notebooks"
    shutil.copytree(FOLDER, place, ignore=shutil.ignore_patterns("runs", "my-recipe"))
    home = {"BURSTLENS_RUNS": str(place / "runs"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    for key, value in (jupyter_environment | home).items():
        monkeypatch.setenv(key, value)
    notebook = nbformat.read(place / name, as_version=4)
    client = NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(place)}})
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output.get("name") == "stderr"]
    assert sum("image/png" in output.get("data", {}) for output in shown) >= 1
