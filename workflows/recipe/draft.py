"""The draft of a recipe: its faults, and a recipe from the valid parts, so that these can be
compared with the inputs even if others are wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path

from burstlens.core.fault import Fault, KeyPath, Place
from burstlens.core.toml.faults import Faults, at, key_of
from burstlens.workflows.guards.guard import Guard
from burstlens.workflows.recipe.findings import Finding
from burstlens.workflows.recipe.layers import Source, path_of
from burstlens.workflows.recipe.parameters import Settled, named_in
from burstlens.workflows.recipe.recipe import MadeProduct, Recipe

Products = list[tuple[KeyPath, MadeProduct | None]]
Guards = list[tuple[KeyPath, Guard | None]]
_INPUTS = ("simulation", "inputs")
_WORD = re.compile(r"[A-Za-z_]\w*")
_PREFIX = re.compile(r"((?:simulation|product|guard|checkpoint)\.[^\s:]+)(?:: | (?=is ))")
_NO_FILE = "there is no file"
_GENERAL = {"variable", "variables", "kind", "name"}
"""Keys whose names also occur in messages on other keys."""


@dataclass(frozen=True, slots=True)
class Draft:
    """``recipe`` lacks what is faulty, and some of its values stand in for faulty ones
    (``faults.guessed``); None if the model is not known. ``unknown`` are paths of texts that name
    an unknown parameter."""

    source: Source
    settled: Settled
    faults: Faults
    unknown: frozenset[KeyPath]
    recipe: Recipe | None

    def found(self) -> list[Fault]:
        """The faults of the text with their places, in the order of places."""
        own = placed(self.faults, self.source, self.settled, self.unknown)
        return in_order([*self.source.faults, *own], self.source)

    def of(self, findings: Iterable[Finding]) -> list[Fault]:
        """Findings about the draft's recipe with the places of their keys, in the order of places,
        without those that only follow from a fault of the text."""
        faults = []
        for finding in findings:
            path = self._path(finding)
            if not self._follows(path, finding.text):
                faults.append(Fault(path, _message(finding.text, path)))
        found = placed(faults, self.source, self.settled, self.unknown)
        return in_order(found, self.source)

    def _path(self, finding: Finding) -> KeyPath:
        """The path of a finding's key; for one about the inputs or a product's file, of the key
        whose value it shows."""
        path = path_of(self.settled.table, finding.path)
        table = at(self.settled.table, path[: 1 if path == _INPUTS else 2])
        keys: Iterable[str] = ()
        if path == _INPUTS and self.recipe is not None and is_dataclass(self.recipe.model):
            keys = (field.name for field in fields(self.recipe.model))
        elif len(path) == 2 and _NO_FILE in finding.text and isinstance(table, Mapping):
            keys = table.keys() - _GENERAL
        shown = (key for key in keys if _is_shown(table.get(key), finding.text))
        return next(((*(path[:1] if path == _INPUTS else path), key) for key in shown), path)

    def _follows(self, path: KeyPath, text: str) -> bool:
        """Whether it is about a guessed value, or names the key of one in its table."""
        words = set(_WORD.findall(text)) - _GENERAL
        return any(
            path[: len(guess)] == guess or (len(guess) > 2 and guess[:2] == path[:2]
                                            and guess[-1] in words)
            for guess in self.faults.guessed
        )  # fmt: skip


def numbered(products: Products, guards: Guards, faults: Faults) -> tuple[Products, Guards]:
    """The same, but those without a valid name are named by their number among the recipe's
    tables, so that findings can be traced to these."""
    wrong = faults.guessed | {fault.path for fault in faults}
    called: Products = [
        (path, replace(one, common=replace(one.common, name=str(path[-1])))
               if one is not None and (*path, "name") in wrong else one)
        for path, one in products
    ]  # fmt: skip
    watching: Guards = [
        (path, replace(one, name=str(path[-1]))
               if one is not None and (one.name is None or (*path, "name") in wrong) else one)
        for path, one in guards
    ]  # fmt: skip
    return called, watching


def _message(text: str, path: KeyPath) -> str:
    """The text without the key at its beginning, which is shown beside it."""
    prefix = _PREFIX.match(text)
    if prefix is None or not path:
        return text
    ours = prefix[1].rpartition(".")[2] == str(path[-1]) or _NO_FILE in text
    return text[prefix.end() :] if ours else text


def _is_shown(value: object, text: str) -> bool:
    """Whether a message shows a value of the recipe: a text, or the first of a list; for "a.py:f"
    the file."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = value[0] if value else None
    return isinstance(value, str) and len(value) > 2 and value.split(":")[0] in text


def placed(
    faults: Iterable[Fault], source: Source, settled: Settled, unknown: Collection[KeyPath] = ()
) -> list[Fault]:
    """The faults with place, dotted key and value. ``unknown`` are paths of texts that name an
    unknown parameter. Faults that only follow from another one are left out: from a value or a file
    that could not be read, or from a parameter that is unknown or has no valid value."""
    broken = {_line(fault.place) for fault in source.faults if fault.value is not None}
    found: dict[tuple[KeyPath, str], Fault] = {}
    for fault in faults:
        value = at(settled.table, fault.path) if fault.value is None else fault.value
        place = fault.place or _place(fault.path, source, settled)
        follows = (
            (source.incomplete if fault.lacking else _line(place) in broken)
            or named_in(value) & settled.open
            or (fault.path in unknown and not fault.message.startswith("{"))
        )
        if not follows:
            key = key_of(settled.table, fault.path) or fault.key
            made = replace(fault, value=value, place=place, key=key)
            found.setdefault((fault.path, fault.message), made)
    return list(found.values())


def in_order(faults: Iterable[Fault], source: Source) -> list[Fault]:
    """The faults in the order of their places: the recipe's own file, those that it extends."""
    files = [layer.path for layer in source.layers]

    def order(fault: Fault) -> tuple[int, int, int]:
        place = fault.place or Place()
        number = files.index(place.file) if place.file in files else len(files)
        return number, place.line, place.column

    return sorted(faults, key=order)


def _place(path: KeyPath, source: Source, settled: Settled) -> Place | None:
    for depth in range(len(path), 0, -1):
        if path[:depth] in settled.by_path:
            return Place(setting=settled.by_path[path[:depth]])
    place = source.place(path) if path else None
    for name in sorted(named_in(at(source.table, path)) & settled.by_name.keys()):
        given = settled.by_name[name]
        said = given.setting or f"parameters.{name} of {given.file}"
        place = replace(place or Place(), setting=said)
    return place


def _line(place: Place | None) -> tuple[Path, int] | None:
    return (place.file, place.line) if place is not None and place.file is not None else None
