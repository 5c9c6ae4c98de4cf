"""Recipe files: found by path or name, read, merged over those that they extend."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burstlens.core.errors import RecipeError
from burstlens.core.fault import Fault, Place, shorten, shown
from burstlens.core.nearness import did_you_mean
from burstlens.core.plugins import points
from burstlens.core.toml.text import read_file, syntax_faults
from burstlens.workflows.recipe.layers import Layer, Source, merge, renamed

BUILT_IN = Path(__file__).parents[1] / "recipes"


def known() -> dict[str, Path]:
    """Recipes that can be named: ``$BURSTLENS_RECIPES`` first, then plugins, then built-ins."""
    found: dict[str, Path] = {}
    for folder in _folders():
        for path in sorted([*folder.glob("*.toml"), *folder.glob("*/recipe.toml")]):
            name = path.parent.name if path.name == "recipe.toml" else path.stem
            found.setdefault(name, path)
    return found


def _folders() -> Iterator[Path]:
    for part in os.environ.get("BURSTLENS_RECIPES", "").split(os.pathsep):
        if part:
            yield Path(os.path.expanduser(part))
    for entry in points("burstlens.recipes"):
        module = entry.module.replace(".", "/")
        if entry.dist is not None:
            yield Path(str(entry.dist.locate_file(module)))
    yield BUILT_IN


def find(name: str) -> Path:
    """The file of a recipe given by path or by name. Raises RecipeError with near names."""
    path = Path(os.path.expanduser(name))
    called = shorten(name, 120)
    try:
        if path.is_dir() and (path / "recipe.toml").is_file():
            return path / "recipe.toml"
        if path.suffix == ".toml" or os.sep in name:
            if path.is_dir():
                raise RecipeError(f"{called} is a folder without recipe.toml")
            if path.exists() and not path.is_file():
                raise RecipeError(f"{called} is not a regular file")
            if not path.is_file():
                raise RecipeError(f"there is no recipe file {called}")
            return path
    except OSError as error:
        raise RecipeError(f"cannot read {called}: {error.strerror}") from error
    found = known()
    if name not in found:
        if name and path.is_dir():
            raise RecipeError(f"{called} is a folder without recipe.toml")
        raise RecipeError(f'there is no recipe "{called}"{did_you_mean(name, list(found))}')
    return found[name]


def read(name: str) -> Source:
    """The merged table of a recipe and of those that it extends. Raises RecipeError when the file
    itself cannot be read; faults of syntax and of ``extends`` are in the source's ``faults``."""
    path = find(name).resolve()
    own = path.parent.name if path.name == "recipe.toml" else path.stem
    layers = [layer(path)]
    faults: list[Fault] = []
    while "extends" in layers[-1].table:
        wanted = layers[-1].table.pop("extends")
        try:
            layers.append(_extended(layers, wanted))
        except RecipeError as error:
            line, column = layers[-1].text.places.get(("extends",), (0, 0))
            place = Place(layers[-1].path, line, column)
            faults.append(Fault(("extends",), str(error), wanted, place, "extends"))
            break
    notes = renamed(layers)
    table: dict[str, Any] = {}
    for one in reversed(layers):
        table = merge(table, one.table)
        faults += syntax_faults(one.path, one.text, one.table)
    incomplete = any(one.text.incomplete for one in layers) or any(
        fault.key == "extends" for fault in faults
    )
    return Source(own, path, table, tuple(layers), tuple(faults), incomplete, tuple(notes))


def layer(path: Path) -> Layer:
    """A recipe file as it stands, with the faults of its syntax. Raises RecipeError."""
    text = read_file(path)
    return Layer(path, text.table, text)


def _extended(layers: list[Layer], wanted: object) -> Layer:
    if not isinstance(wanted, str):
        raise RecipeError(f"expected the name or the path of a recipe, got {shown(wanted)}")
    beside = layers[-1].path.parent / wanted
    path = (beside if "\0" not in wanted and beside.is_file() else find(wanted)).resolve()
    if any(path == one.path for one in layers):
        raise RecipeError(f"extends goes in a circle through {path}")
    found = layer(path)
    _anchor(found.table, path.parent)
    return found


def _anchor(table: dict[str, Any], folder: Path) -> None:
    """Let relative inputs of an extended recipe, and the defaults of its parameters that are paths,
    start at that recipe's folder."""
    simulation, parameters = table.get("simulation"), table.get("parameters")
    paths = [(simulation, "inputs")] if isinstance(simulation, dict) else []
    if isinstance(parameters, dict):
        entries = (entry for entry in parameters.values() if isinstance(entry, dict))
        paths += [(entry, "default") for entry in entries if entry.get("type") == "path"]
    for part, key in paths:
        path = part.get(key)
        if isinstance(path, str) and path and not path.startswith(("/", "~", "{")):
            part[key] = str((folder / path).resolve())
