"""The names that ``import burstlens`` gives, and the examples of docs/python.md."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import burstlens

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs" / "python.md").read_text()
NAMES = sorted(burstlens._PUBLIC)


def declared() -> set[str]:
    """What a type checker sees: the names under ``if TYPE_CHECKING``."""
    tree = ast.parse((ROOT / "src" / "burstlens" / "__init__.py").read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {
        alias.asname for node in block.body if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }  # fmt: skip
    assigned = {node.targets[0].id for node in block.body if isinstance(node, ast.Assign)}
    return {name for name in imported | assigned if not name.startswith("_")}


def test_type_checkers_and_python_see_the_same_names():
    assert declared() == set(NAMES) < set(dir(burstlens))


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there_and_in_the_document(name):
    value = getattr(burstlens, name)
    assert value is getattr(burstlens, name)
    assert f"`{name}" in DOCUMENT
    home, inner = burstlens._PUBLIC[name]
    assert value.__module__ == home
    assert value.__name__ == inner


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'recipe_of'"):
        burstlens.recipe_of  # noqa: B018


@pytest.mark.integration
def test_importing_the_package_imports_nothing_but_the_standard_library():
    code = (
        "import sys; import burstlens; dir(burstlens);"
        "print(*{name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names)"
    )
    bare = [sys.executable, "-S", "-c", code]
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(bare, env=env, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"burstlens", "__main__"}


@pytest.mark.integration
def test_one_name_does_not_import_what_the_others_need():
    code = (
        "import sys; from burstlens import BurstlensError, RunDir, read_journal, status_of;"
        "print(*{'numpy', 'pydantic', 'parsl', 'netCDF4', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.slow
def test_the_examples_of_the_document_run(own_runs):
    """In order: the recipe, the function, the script that runs it, the script that reads it."""
    recipe, function, script, reader = re.findall(r"```\w+\n(.*?)```", DOCUMENT, re.DOTALL)
    own_runs.prepare("storm", "--interval 0.3")
    folder = own_runs.folder
    (folder / "inputs-storm").rename(folder / "wrf-run")
    for name, text in {"storm.toml": recipe, "profile.py": function}.items():
        (folder / name).write_text(text)
    said = []
    for name, text in {"run.py": script, "read.py": reader}.items():
        (folder / name).write_text(text)
        done = subprocess.run(
            [sys.executable, name], cwd=folder, env=os.environ | own_runs.environment,
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said += done.stdout.splitlines()
    assert said[0] == "Supercell wrf ['updraft', 'profile']"
    assert "done 0 " in said
    assert "done 3 frames" in said
    published = [line.split() for line in said if line.startswith(("updraft ", "profile 0"))]
    assert len([line for line in published if line[0] == "profile"]) == 3
    for _, _, path in (line for line in published if len(line) == 3):
        assert Path(path).is_file()
    profile = next((own_runs.runs / "storm" / "products" / "profile").glob("*000200.txt"))
    assert len(profile.read_text().split()) == 16
    assert max(map(float, profile.read_text().split())) > 0
