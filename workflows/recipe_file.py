"""Recipe files: found by path or name, read, laid over those that they extend."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from burstlens.errors import RecipeError
from burstlens.nearness import did_you_mean

BUILT_IN = Path(__file__).parent / "recipes"


@dataclass(frozen=True, slots=True)
class Source:
    """A recipe found: its name, its file and the merged table."""

    name: str
    path: Path
    table: dict[str, Any]


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
    for entry in entry_points(group="burstlens.recipes"):
        module = entry.module.replace(".", "/")
        if entry.dist is not None:
            yield Path(str(entry.dist.locate_file(module)))
    yield BUILT_IN


def find(name: str) -> Path:
    """The file of a recipe given by path or by name. Raises RecipeError with near names."""
    path = Path(os.path.expanduser(name))
    if path.is_dir() and (path / "recipe.toml").is_file():
        return path / "recipe.toml"
    if path.suffix == ".toml" or os.sep in name:
        if not path.is_file():
            raise RecipeError(f"there is no recipe file {name}")
        return path
    found = known()
    if name not in found:
        raise RecipeError(f'there is no recipe "{name}"{did_you_mean(name, list(found))}')
    return found[name]


def read(name: str) -> Source:
    """The merged table of a recipe and of those that it extends. Raises RecipeError."""
    path = find(name).resolve()
    chain = [path]
    table = parse(path)
    own = path.parent.name if path.name == "recipe.toml" else path.stem
    while "extends" in table:
        base_name = str(table.pop("extends"))
        beside = path.parent / base_name
        base = (beside if beside.is_file() else find(base_name)).resolve()
        if base in chain:
            raise RecipeError(f"{path}: extends goes in a circle through {base}")
        chain.append(base)
        below = parse(base)
        _anchor(below, base.parent)
        table = merge(below, table)
        path = base
    return Source(own, chain[0], table)


def _anchor(table: dict[str, Any], folder: Path) -> None:
    # The inputs of a recipe that is extended lie beside that recipe, not beside the new one.
    simulation = table.get("simulation", {})
    inputs = simulation.get("inputs", "")
    if isinstance(inputs, str) and inputs and not inputs.startswith(("/", "~", "{")):
        simulation["inputs"] = str((folder / inputs).resolve())


def parse(path: Path) -> dict[str, Any]:
    """The table in a TOML file. Raises RecipeError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path} is not TOML: {error}") from error


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """``above`` laid over ``below``: tables merge, named entries merge by name, the rest replaces.

    >>> merge({"a": {"x": 1}, "b": 1}, {"a": {"y": 2}})
    {'a': {'x': 1, 'y': 2}, 'b': 1}
    """
    out = dict(below)
    for key, value in above.items():
        old = out.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            out[key] = merge(old, value)
        elif _named_list(old) and _named_list(value):
            entries = {entry["name"]: entry for entry in old or []}
            for entry in value:
                entries[entry["name"]] = merge(entries.get(entry["name"], {}), entry)
            out[key] = list(entries.values())
        else:
            out[key] = value
    return out


def _named_list(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(entry, dict) and isinstance(entry.get("name"), str) for entry in value)
    )
