"""Records are written with one toolkit for one purpose, as decision 66 says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src/burstlens/core", "src/burstlens/clients", "workflows", "viz", "stagers",
           "cluster_configs")  # fmt: skip
MODULES = {
    path.relative_to(ROOT).as_posix().removeprefix("src/burstlens/"): ast.parse(path.read_text())
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
}
PLACES = {
    # Files of a run; what a watcher keeps, copies for each file and sends.
    "msgspec.Struct": {
        "core/decode.py", "core/run/",
        "workflows/driver/claim.py", "workflows/making/results.py",
        "workflows/placement/buffer_origin.py",
        "workflows/frames/cursor.py", "workflows/frames/ready.py", "workflows/frames/report.py",
        "workflows/frames/speech.py", "workflows/frames/structure.py",
    },
    "pydantic.BaseModel": {"workflows/awm/parameters.py"},
    # Compiled loops, and what is compared for each file of each scan.
    "typing.NamedTuple": {"workflows/awm/absorbing_loops.py", "workflows/frames/cursor.py"},
    "typing.TypedDict": set(),
    "collections.namedtuple": set(),
    "pydantic.dataclasses.dataclass": set(),
    "attrs.define": set(),
}  # fmt: skip


def imported(module: ast.Module) -> dict[str, str]:
    """The names of a module that come from others, and what each means."""
    names = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            names |= {one.asname or one.name.split(".")[0]: one.name for one in node.names}
    return names


def used(module: ast.Module) -> set[str]:
    """What a module uses of others, with the whole dotted name."""
    names = imported(module)
    found = set(names.values())
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute):
            base, _, rest = ast.unparse(node).partition(".")
            if base in names and base.isidentifier():
                found.add(f"{names[base]}.{rest}")
    return found


@pytest.mark.parametrize("toolkit", PLACES)
def test_a_toolkit_is_used_only_for_its_purpose(toolkit):
    users = {name for name, module in MODULES.items() if toolkit in used(module)}
    places = PLACES[toolkit]
    assert {name for name in users if not name.startswith(tuple(places))} == set()
    assert {place for place in places if not any(name.startswith(place) for name in users)} == set()


def test_no_module_copies_with_two_replace():
    both = {"dataclasses.replace", "msgspec.structs.replace"}
    assert len(MODULES) > 500
    assert [name for name, module in MODULES.items() if both <= used(module)] == []
