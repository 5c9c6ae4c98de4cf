"""Recipe files: found by path or name, read, laid over those that they extend."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burstlens.errors import RecipeError
from burstlens.nearness import did_you_mean
from burstlens.plugins import points
from burstlens.workflows.faults import Fault, Place, report, shorten, shown
from burstlens.workflows.recipe_layers import Layer, Source, key_of, merge, renamed
from burstlens.workflows.toml_text import read_text

BUILT_IN = Path(__file__).parent / "recipes"


MOST_BYTES = 1024**2
"""A file that is larger is not a recipe."""


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
    """The merged table of a recipe and of those that it extends.

    Raises RecipeError when the file itself cannot be read; faults of its syntax, and of
    ``extends``, are those of the source.
    """
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
        faults += _of_syntax(one)
    incomplete = any(one.text.incomplete for one in layers) or any(
        fault.key == "extends" for fault in faults
    )
    return Source(own, path, table, tuple(layers), tuple(faults), incomplete, tuple(notes))


def layer(path: Path) -> Layer:
    """A recipe file as it stands, with the faults of its syntax. Raises RecipeError."""
    text = read_text(_content(path))
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
    # The inputs of a recipe that is extended lie beside that recipe, not beside the new one.
    simulation = table.get("simulation")
    inputs = simulation.get("inputs") if isinstance(simulation, dict) else None
    if isinstance(inputs, str) and inputs and not inputs.startswith(("/", "~", "{")):
        table["simulation"] = {**table["simulation"], "inputs": str((folder / inputs).resolve())}


def _of_syntax(read: Layer) -> Iterator[Fault]:
    for fault in read.text.faults:
        path = fault.path or ()
        place = Place(read.path, fault.line, fault.column)
        yield Fault(path, fault.message, fault.value, place, key_of(read.table, path))


def _content(path: Path) -> str:
    """The text of a file. Raises RecipeError when it is none, or too large for a recipe."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RecipeError(f"cannot read {path}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise RecipeError(f"{path} is larger than {MOST_BYTES // 1024**2} MiB: not a recipe")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        place = Place(path, line, column)
        message = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        fault = Fault((), message, None, place)
        raise RecipeError(f"{place.text()} is not TOML: {message}", (fault,)) from error


def parse(path: Path) -> dict[str, Any]:
    """The table in a TOML file. Raises RecipeError with all faults of its syntax."""
    text = read_text(_content(path))
    if text.faults:
        faults = list(_of_syntax(Layer(path, text.table, text)))
        first = f"{path} is not TOML: {faults[0].message} (line {text.faults[0].line})"
        raise RecipeError(
            first if len(faults) == 1 else report(f"{path} is not TOML: it", faults), faults
        )
    return text.table
