"""`pip install 'burstlens[jupyter]'` installs all that the notebooks and their code import."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PROGRAMS = sorted(
    [*(ROOT / "notebooks").rglob("*.py"), *(ROOT / "src" / "burstlens" / "opened").glob("*.py")]
)
FILE_MAGIC = re.compile(r"%%writefile \S+\.py\n")


def required() -> set[str]:
    """The distributions that Burstlens itself requires; their own dependencies may change."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["jupyter"]]
    return {normal(re.match(r"[\w.-]+", requirement)[0]) for requirement in wanted}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(program: str) -> set[str]:
    """The names of the packages that a program imports, but for the standard library and ours."""
    found = set()
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"burstlens"}


def programs_of(notebook: Path) -> list[str]:
    """The cells that are Python, and the Python files that cells write."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return [
        FILE_MAGIC.sub("", text) for text in code if not re.match(r"%%writefile \S+\.toml", text)
    ]


def missing(program: str) -> set[str]:
    named, known = required(), packages_distributions()
    return {
        name
        for name in imported(program)
        if not named & {normal(distribution) for distribution in known.get(name, ())}
    }


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_the_extra_brings_all_that_a_notebook_imports(notebook):
    programs = programs_of(notebook)
    assert "import burstlens" in "\n".join(programs)
    assert set().union(*map(missing, programs)) == set()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_the_extra_brings_all_that_the_code_of_the_notebooks_imports(path):
    assert missing(path.read_text(encoding="utf-8")) == set()
