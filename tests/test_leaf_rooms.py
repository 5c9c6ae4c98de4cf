"""Leaf rooms plug in: copies of the source that lack them import, run, and name what they lack."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from copied_source import ROOT, CopiedSource

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
[LEAVES] = (
    [name.removeprefix("burstlens.workflows.") for name in contract["forbidden_modules"]]
    for contract in CONTRACTS["contracts"]
    if contract["name"] == "Nothing needs a leaf room"
)
IMPORTS = """\
import importlib, json, os, sys
from pathlib import Path
import burstlens
lacking, root = {}, Path(burstlens.__file__).parent
for folder, _, files in os.walk(root, followlinks=True):
    for file in files:
        parts = (Path(folder) / file).relative_to(root).with_suffix("").parts
        if file.endswith(".py") and parts[-1] != "__main__":
            try:
                importlib.import_module(".".join(("burstlens", *parts)).removesuffix(".__init__"))
            except ModuleNotFoundError as error:
                lacking[".".join(parts)] = error.name
print(json.dumps([str(root), len(sys.modules), lacking]))
"""
"""Imports every module, and prints which of them lack which."""


def copy_without(folder: Path, *rooms: str) -> CopiedSource:
    copy = CopiedSource(folder, compiled=True)
    for room in rooms:
        shutil.rmtree(folder / "workflows" / room)
    return copy


def assert_the_rest_imports(copy: CopiedSource, *rooms: str) -> None:
    """Only modules of a command of such a room may need it, and the command line imports them when
    it is called."""
    root, count, lacking = json.loads(copy.python("-W", "ignore", "-c", IMPORTS))
    assert Path(root) == copy.folder / "src" / "burstlens"
    assert count > 700
    assert set(lacking.values()) <= {f"burstlens.workflows.{room}" for room in rooms}
    assert all(name.startswith("clients.") for name in lacking), lacking
    assert not any(name.startswith(("clients.opened", "clients.api")) for name in lacking), lacking


@pytest.mark.integration
def test_without_any_leaf_room_the_rest_imports_and_commands_name_what_they_lack(tmp_path):
    copy = copy_without(tmp_path / "copy", *LEAVES)
    assert_the_rest_imports(copy, *LEAVES)
    (tmp_path / "a.log").touch()
    commands = {
        ("io", str(tmp_path / "a.log")): "iostats",
        ("io", "--plan", "command-generic"): "buffer_worth",
        ("look", str(tmp_path)): "look",
        ("demo",): "awm",
        ("tune", "command-generic"): "tuning",
    }
    for words, room in commands.items():
        ended = copy.start(sys.executable, "-m", "burstlens", *words)
        assert ended.returncode == 2, words
        said = f"burstlens: this copy has no workflows/{room}: install Burstlens whole\n"
        assert (ended.stdout, ended.stderr) == ("", said)


@pytest.mark.slow
@pytest.mark.timeout(900)  # two files of tests with real runs, in a process of their own
@pytest.mark.parametrize("rooms", [*([room] for room in LEAVES), LEAVES], ids="-".join)
def test_without_leaf_rooms_launched_runs_work_and_the_other_leaf_rooms_do_not_need_them(
    rooms, tmp_path
):
    copy = copy_without(tmp_path / "copy", *rooms)
    assert_the_rest_imports(copy, *rooms)
    (copy.folder / "tests").symlink_to(ROOT / "tests")
    runs = ["test_generic_recipe", "test_interval_run"][: len(rooms)]
    passed = copy.tests(*(f"tests/runs/{name}.py" for name in runs))
    assert re.search(r"^\d+ passed", passed, re.MULTILINE)
