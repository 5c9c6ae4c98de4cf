"""Faults of a recipe or another TOML file: where each one stands, what is wrong, as one report."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burstlens.printable import printable

KeyPath = tuple[str | int, ...]
"""The keys and list indices that lead to a value: ``("product", 0, "crop", "stride")``."""

MOST = 100
"""No more faults than this are kept; the others are counted."""
LONGEST_KEY = 120
LONGEST_MESSAGE = 600


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: line and column, from 1, in a file; or the setting that gave it.

    ``line`` 0 means that the place in the file is unknown.
    """

    file: Path | None = None
    line: int = 0
    column: int = 0
    setting: str = ""
    """As it was given: ``--set simulation.nodes=4``."""

    def text(self) -> str:
        """``storm.toml:3:1``, or the setting; the file relative to the current folder."""
        if self.file is None:
            return shorten(self.setting, LONGEST_KEY)
        near = os.path.relpath(self.file)
        name = str(self.file) if near.startswith("..") else near
        where = f"{name}:{self.line}:{self.column}" if self.line else name
        return f"{where} ({shorten(self.setting, LONGEST_KEY)})" if self.setting else where


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. One that is ``lacking`` may be mended by a part that could not be read."""

    path: KeyPath
    message: str
    value: Any = None
    place: Place | None = None
    key: str = ""
    """The dotted key, with the entries of ``[[product]]``, ``[[step]]``, ``[[guard]]`` by name."""
    lacking: bool = False

    def line(self) -> str:
        """``storm.toml:3:1: simulation.nodes: message``, as far as they are known."""
        parts = (self.place.text() if self.place else "", shorten(self.key, LONGEST_KEY))
        shown = [*filter(None, parts), shorten(self.message, LONGEST_MESSAGE)]
        return printable(": ".join(shown))

    def json(self) -> dict[str, Any]:
        """What ``burstlens check --json`` prints of it; docs/recipe.md explains the keys."""
        place = self.place or Place()
        return {
            "file": None if place.file is None else str(place.file),
            "line": place.line or None,
            "column": place.column or None,
            "setting": place.setting or None,
            "key": shorten(self.key, LONGEST_KEY) or None,
            "value": plain(self.value),
            "message": shorten(printable(self.message), LONGEST_MESSAGE),
        }


@dataclass(slots=True)
class Faults:
    """Faults found so far, in the order of their finding."""

    found: list[Fault] = field(default_factory=list)
    more: int = 0
    """How many were found beside those that are kept."""
    guessed: set[KeyPath] = field(default_factory=set)
    """Paths whose values were left out or replaced, so that the rest could be made."""

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
        """Note one fault; ``place`` where ``path`` does not lead to it."""
        if self.full:
            self.more += 1
        else:
            self.found.append(Fault(path, message, value, place, dotted(path), lacking))

    def take(self, others: Faults, *, lacking: bool) -> None:
        """Note the faults of another check; without those that are ``lacking`` where it was made
        for what a misspelt name was only probably meant for."""
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
    rows = [
        (
            fault.place.text() if fault.place else "",
            shorten(fault.key, LONGEST_KEY),
            shorten(fault.message, LONGEST_MESSAGE),
        )
        for fault in faults
    ]
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
    """The value at a path of a table; None where there is none."""
    for step in path:
        try:
            place = place[step]
        except (KeyError, IndexError, TypeError):
            return None
    return place


def shorten(text: str, longest: int) -> str:
    """The text, its middle left out where it is longer than ``longest`` characters."""
    if len(text) <= longest:
        return text
    half = (longest - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def shown(value: object) -> str:
    """A value as a message shows it: as Python writes it, at most 80 characters."""
    if isinstance(value, str):
        value = shorten(value, 76)
    try:
        return shorten(repr(value), 80)
    except ValueError:  # Python writes no number of more than 4300 digits
        return "a number of thousands of digits"


def plain(value: object) -> bool | int | float | str | None:
    """A value as JSON: a scalar as it is, anything else as a text of at most 80 characters."""
    if isinstance(value, str):
        return printable(shorten(value, 80))
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) < 2.0**63:
        return value
    return shown(value)
