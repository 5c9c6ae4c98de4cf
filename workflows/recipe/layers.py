"""The files of a recipe and its bases, merged into one table that keeps the place of each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.core.fault import Fault, KeyPath, Place
from burstlens.core.toml.text import TomlText

_OLD, _NEW = ("simulation", "argv"), ("simulation", "command")


@dataclass(frozen=True, slots=True)
class Layer:
    """One file of a recipe or its bases: its table, and the places of its parts."""

    path: Path
    table: dict[str, Any]
    text: TomlText

    def place(self, merged: Any, path: KeyPath) -> tuple[int, Place, bool]:
        """How far into the merged table this file follows ``path``, and the place there. The third
        is true if the files below do not contribute to the value at ``path``."""
        own: KeyPath = ()
        here: Any = self.table
        for step in path:
            merged = _entry(merged, step)
            if isinstance(step, int) and isinstance(here, list) and _named_list(here):
                name = merged.get("name") if isinstance(merged, Mapping) else None
                if step >= len(here) or here[step]["name"] != name:
                    names = [entry["name"] for entry in here]
                    step = names.index(name) if name in names else len(here)
            here = _entry(here, step)
            if here is None:
                break
            own = (*own, step)
        line, column = self.text.places.get(own, (1, 1) if not own else (0, 0))
        replaces = isinstance(here, list) and not _named_list(here)
        return len(own), Place(self.path, line, column), replaces


@dataclass(frozen=True, slots=True)
class Source:
    """A recipe as read: its name, its file, the merged table, and the files that it comes from.
    ``faults`` are those of the files themselves; ``notes`` are warnings."""

    name: str
    path: Path
    table: dict[str, Any]
    layers: tuple[Layer, ...] = ()
    faults: tuple[Fault, ...] = ()
    incomplete: bool = False
    notes: tuple[str, ...] = ()

    def place(self, path: KeyPath) -> Place | None:
        """The place of the value at ``path`` of the merged table; for a missing key, of the table
        that lacks it."""
        best: tuple[int, Place] | None = None
        for layer in self.layers:
            depth, place, last = layer.place(self.table, path)
            if best is None or depth > best[0]:
                best = depth, place
            if last:
                break
        return best[1] if best else None


def renamed(layers: Sequence[Layer]) -> list[str]:
    """Bring keys of former versions up to date, in all files; returns a warning for each."""
    models = (layer.table.get("simulation") for layer in layers)
    named = (table["model"] for table in models if isinstance(table, dict) and "model" in table)
    notes = []
    model = next(named, None)
    for layer in layers:
        if rename(layer.table, model):
            places = layer.text.places
            line, _ = places.get(_OLD, (0, 0))
            places |= {(*_NEW, *path[2:]): at for path, at in places.items() if path[:2] == _OLD}
            notes.append(
                f"{layer.path}:{line}: simulation.argv is now simulation.command; rename it"
            )
        for number, key in drop_first_frames(layer.table):
            line, _ = layer.text.places.get(("product", number, "limits"), (0, 0))
            notes.append(
                f"{layer.path}:{line}: {key} = {{ first = ... }} has no effect: limits widen with "
                "the run; remove it"
            )
    return notes


def rename(table: dict[str, Any], model: object = None) -> bool:
    """Rename ``argv`` of the model ``command`` to ``command``; returns whether it was there."""
    simulation = table.get("simulation")
    if not isinstance(simulation, dict) or "argv" not in simulation or "command" in simulation:
        return False
    if (model or simulation.get("model")) != "command":
        return False
    names = {"argv": "command"}
    table["simulation"] = {names.get(key, key): value for key, value in simulation.items()}
    return True


def drop_first_frames(table: dict[str, Any]) -> list[tuple[int, str]]:
    """Remove ``limits = { first = n }``, which formerly froze colour limits, from all products.
    Returns number and dotted key of each."""
    products = table.get("product")
    found = []
    for number, product in enumerate(products if isinstance(products, list) else ()):
        limits = product.get("limits") if isinstance(product, dict) else None
        if isinstance(limits, dict) and limits.keys() == {"first"}:
            del product["limits"]
            found.append((number, f"product.{product.get('name', number)}.limits"))
    return found


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """``above`` merged over ``below``: tables merge, named entries merge by name, others replace.

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


def path_of(table: Any, key: str) -> KeyPath:
    """The path of a dotted key; entries of lists are given by name, or by number from 0.

    >>> path_of({"product": [{"name": "t2"}, {"name": "w"}]}, "product.w.variable")
    ('product', 1, 'variable')
    """
    path: KeyPath = ()
    place = table
    for part in filter(None, key.split(".")):
        step: str | int = part
        if isinstance(place, list):
            names = [_entry(entry, "name") for entry in place]
            step = names.index(part) if part in names else int(part) if part.isdigit() else part
        path, place = (*path, step), _entry(place, step)
    return path


def _entry(place: Any, step: str | int) -> Any:
    try:
        return place[step]
    except (KeyError, IndexError, TypeError):
        return None
