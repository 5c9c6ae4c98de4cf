"""Faults of a table, each with its place in the recipe's files, or with the setting at fault."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from burstlens.core.fault import Fault, KeyPath, Place
from burstlens.core.toml.faults import at, key_of
from burstlens.workflows.recipe.layers import Source
from burstlens.workflows.recipe.parameters import Settled, named_in


def placed(
    faults: Iterable[Fault], source: Source, settled: Settled, unknown: Collection[KeyPath] = ()
) -> list[Fault]:
    """The faults with place, dotted key and value.

    ``unknown`` are paths of texts that name an unknown parameter. Faults that only follow from
    another one are left out: from a value or a file that could not be read, or from a parameter
    that is unknown or has no valid value.
    """
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
