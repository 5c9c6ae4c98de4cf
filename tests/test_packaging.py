"""The package: the wheel, the imports of each command, the examples in the docstrings."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "src/burstlens": "burstlens",
    "workflows": "burstlens/workflows",
    "stagers": "burstlens/stagers",
    "viz": "burstlens/viz",
    "cluster_configs": "burstlens/cluster_configs",
}
HEAVY = "netCDF4 matplotlib vtk vtkmodules h5py numba jinja2"
EXAMPLES = sorted(
    ".".join([*installed.split("/"), *path.relative_to(ROOT / folder).with_suffix("").parts])
    for folder, installed in FOLDERS.items()
    for path in (ROOT / folder).rglob("*.py")
    if "\n    >>> " in path.read_text(encoding="utf-8")
)
# By the package's own path, as they are started.
PLACEMENT = ROOT / "src" / "burstlens" / "workflows" / "placement"


def imported(program: str, names: str, cwd: Path) -> set[str]:
    """Which of ``names`` are imported after ``program`` ran in an interpreter of its own."""
    code = f"import sys\n{program}\nprint(*(set({names.split()}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def files_of_the_tree() -> set[str]:
    found = set()
    for folder, installed in FOLDERS.items():
        for path, names, files in os.walk(ROOT / folder):
            names[:] = [name for name in names if name != "__pycache__"]
            here = os.path.relpath(path, ROOT / folder)
            found |= {os.path.normpath(f"{installed}/{here}/{file}") for file in files}
    ignored = subprocess.run(
        ["git", "ls-files", "--others", "--ignored", "--exclude-standard", *FOLDERS],
        cwd=ROOT, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    return found - {
        file.replace(folder, installed, 1)
        for file in ignored
        for folder, installed in FOLDERS.items()
        if file.startswith(f"{folder}/")
    }


def test_the_wheel_holds_each_file_of_the_tree_once_under_one_import_name(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    [wheel] = tmp_path.glob("burstlens-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert len(names) == len(set(names))
    packed = {name for name in names if ".dist-info/" not in name}
    assert packed == files_of_the_tree()
    assert {name.split("/")[0] for name in packed} == {"burstlens"}
    # Of the C that is here only what is compiled where it runs belongs to an installation.
    compiled = {"burstlens/workflows/hints/probe.c", "burstlens/workflows/iostudy/iostudy.c"}
    assert {name for name in packed if name.endswith(".c")} == compiled
    assert {"burstlens/py.typed", "burstlens/workflows/placement/supervisor.py"} <= packed
    scripts = next(name for name in names if name.endswith("entry_points.txt"))
    assert b"burstlens = burstlens.__main__:main" in zipfile.ZipFile(wheel).read(scripts)


@pytest.mark.slow
def test_the_emulator_and_how_to_build_it_are_in_the_source_distribution(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    [archive] = tmp_path.glob("burstlens-*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path, filter="data")
    [source] = tmp_path.glob("burstlens-*/")
    assert (source / "docs" / "emulator.md").exists()
    subprocess.run(
        ["make", "emulator", f"PREFIX={tmp_path}/built"],
        cwd=source, check=True, capture_output=True,
    )  # fmt: skip
    assert (tmp_path / "built" / "lib" / "libdatawarp.so").exists()


@pytest.mark.parametrize("command", ["status", "list"])
def test_asking_how_runs_stand_imports_nothing_that_is_slow(command, tmp_path, run_dir):
    run_dir.facts.write_text('{"title": "Storm", "created": 1.0}')
    program = f"""
import os
os.environ["BURSTLENS_RUNS"] = {str(run_dir.path.parent)!r}
sys.argv = ["burstlens", {command!r}]
from burstlens.clients.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print()"""
    # typer brings pydantic along; our own schemas are a matter of recipes.
    slow = f"parsl numpy burstlens.workflows.recipe.recipe burstlens.clients.terminal {HEAVY}"
    assert imported(program, slow, tmp_path) == set()


def test_the_driver_imports_nothing_that_reads_or_draws(tmp_path):
    modules = ", ".join(
        f"burstlens.{name}"
        for name in (
            "clients.cli",
            "clients.terminal",
            "workflows.driver.run",
            "workflows.deciding.launched",
            "workflows.driver.loop",
            "workflows.viewing.blocks",
        )
    )
    assert imported(f"import {modules}\nprint()", HEAVY, tmp_path) == set()


@pytest.mark.parametrize("program", ["supervisor", "host", "model_folder", "job_processes"])
def test_what_runs_in_the_models_job_needs_the_standard_library_alone(program):
    code = f"import runpy; runpy.run_path({str(PLACEMENT / program)!r} + '.py')"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_in_the_docstrings_hold(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
