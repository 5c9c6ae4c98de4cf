"""The rooms of the code: each says what it offers, the others use nothing else of it, and there
is no import cycle. import-linter (``make lint``) checks the order of the rooms."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

from burstlens.viz.registry import BUILT_IN

ROOT = Path(__file__).parents[1]
FOLDERS = ("src/burstlens", "workflows", "viz", "stagers", "cluster_configs")


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("burstlens", cache_dir=None)


def rooms() -> dict[str, ast.Module]:
    """Each package of the source, by dotted name, with its ``__init__``."""
    found = {}
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("__init__.py"):
            parts = file.parent.relative_to(ROOT).parts
            dotted = ".".join(("burstlens", *(parts[2:] if parts[0] == "src" else parts)))
            if file.read_text().strip():
                found[dotted] = ast.parse(file.read_text())
    return found


def offered(init: ast.Module) -> list[str] | None:
    for node in init.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [entry.value for entry in node.value.elts]
    return None


ROOMS = {name: init for name, init in rooms().items() if offered(init) is not None}


def test_every_folder_of_code_says_what_lives_there():
    for name, init in rooms().items():
        assert len(ast.get_docstring(init) or "") > 30, name
    assert {"burstlens.core", "burstlens.workflows.frames", "burstlens.viz.kinds"} <= set(ROOMS)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_what_a_room_offers_exists(room):
    folder = ROOT.joinpath("src", *room.split("."))
    for name in offered(ROOMS[room]):
        assert (folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file(), name


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_others_use_only_what_a_room_offers(graph, room):
    # The parts of a kind are named by the registry's strings, not imported.
    open_to_all = offered(ROOMS[room])
    for module in graph.find_descendants(room):
        inner = module.removeprefix(f"{room}.").split(".")[0]
        users = {
            user
            for user in graph.find_modules_that_directly_import(module)
            if user != room and not user.startswith(f"{room}.") and not room.startswith(user)
        }
        assert not users or inner in open_to_all, (module, sorted(users))


def test_no_module_needs_itself(graph):
    needs = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(needs).prepare()  # CycleError names the circle


def test_few_modules_lie_flat():
    flat = {"workflows": 12, "viz": 12, "src/burstlens": 20}
    for folder, most in flat.items():
        assert len(list((ROOT / folder).glob("*.py"))) <= most, folder


def test_every_kind_of_product_has_the_same_parts():
    kinds = sorted(
        path for path in (ROOT / "viz" / "kinds").iterdir() if (path / "kind.py").is_file()
    )
    assert len(kinds) == len(BUILT_IN)
    for kind in kinds:
        parts = {path.stem for path in kind.glob("*.py")}
        assert {"options", "read", "draw", "kind"} <= parts, kind.name
