"""Faults of a recipe or another TOML file: the place and message of each, as one report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burstlens.core.fault import Fault, KeyPath, Place
from burstlens.core.printable import printable

MOST = 100
"""The most faults that are kept; further ones are only counted."""


@dataclass(slots=True)
class Faults:
    """Faults found so far, in order of discovery."""

    found: list[Fault] = field(default_factory=list)
    more: int = 0
    """How many more were found than are kept."""
    guessed: set[KeyPath] = field(default_factory=set)
    """Paths whose values were left out or replaced, so that the rest could be read."""

    def __bool__(self) -> bool:
        return bool(self.found)

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.found)

    @property
    def full(self) -> bool:
        """Whether further faults are only counted."""
        return len(self.found) >= MOST

    def add(
        self,
        path: KeyPath,
        message: str,
        value: Any = None,
        *,
        place: Place | None = None,
        lacking: bool = False,
    ) -> None:
        """Add one fault; give ``place`` where ``path`` does not lead to it."""
        if self.full:
            self.more += 1
        else:
            self.found.append(Fault(path, message, value, place, dotted(path), lacking))

    def take(self, others: Faults, *, lacking: bool) -> None:
        """Add the faults of another check; ``lacking`` false leaves out its lacking faults, as when
        the check was made on a guessed name."""
        for one in others:
            if lacking or not one.lacking:
                self.add(one.path, one.message, one.value, lacking=one.lacking)
        self.more += others.more
        self.guessed |= others.guessed

    def text(self, source: str) -> str:
        """All faults as one message about ``source``."""
        return report(source, self.found, self.more)


def report(source: str, faults: Sequence[Fault], more: int = 0) -> str:
    """All faults as one message: the place, the dotted key and what is wrong, one per line."""
    rows = [fault.columns() for fault in faults]
    wide = [min(36, max((len(row[n]) for row in rows), default=0)) for n in (0, 1)]
    lines = []
    for where, key, what in rows:
        columns = (f"{where:<{wide[0]}}", f"{key:<{wide[1]}}", what)
        lines.append("  " + printable("  ".join(part for part in columns if part).strip()))
    total = len(rows) + more
    if more:
        lines.append(f"  and {more} more")
    count = "1 fault" if total == 1 else f"{total} faults"
    return f"{source} has {count}:\n" + "\n".join(lines)


def dotted(path: KeyPath) -> str:
    """``simulation.nodes`` of ``("simulation", "nodes")``."""
    return ".".join(str(step) for step in path)


def at(place: Any, path: KeyPath) -> Any:
    """The value at a path of a table; None where it is missing."""
    for step in path:
        try:
            place = place[step]
        except (KeyError, IndexError, TypeError):
            return None
    return place


def key_of(table: Any, path: KeyPath) -> str:
    """The dotted key, with the entries of ``[[product]]``, ``[[step]]``, ``[[guard]]`` by name."""
    steps = [str(step) for step in path]
    if len(path) > 1 and isinstance(path[1], int):
        entry = at(table, path[:2])
        name = entry.get("name") if isinstance(entry, Mapping) else None
        steps[1] = name if isinstance(name, str) else steps[1]
    return ".".join(steps)
