"""One fault in a file or setting: its place, and what is wrong."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.core.printable import printable

KeyPath = tuple[str | int, ...]
"""The keys and list indices that lead to a value: ``("product", 0, "crop", "stride")``."""

LONGEST_KEY = 120
LONGEST_MESSAGE = 600


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a value: line and column, from 1, in a file; or the setting that gave it.
    ``line`` 0 means that the place in the file is unknown."""

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
    """One fault. A ``lacking`` one may vanish when a part that could not be read is corrected."""

    path: KeyPath
    message: str
    value: Any = None
    place: Place | None = None
    key: str = ""
    """The dotted key, with the entries of ``[[product]]``, ``[[step]]``, ``[[guard]]`` by name."""
    lacking: bool = False

    def columns(self) -> tuple[str, str, str]:
        """Its place, its key, empty where unknown, and its message."""
        place = self.place.text() if self.place else ""
        return place, shorten(self.key, LONGEST_KEY), shorten(self.message, LONGEST_MESSAGE)

    def line(self) -> str:
        """``storm.toml:3:1: simulation.nodes: message``, without unknown parts."""
        *known, message = self.columns()
        return printable(": ".join([*filter(None, known), message]))

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


def shorten(text: str, longest: int) -> str:
    """The text, its middle left out where it is longer than ``longest`` characters."""
    if len(text) <= longest:
        return text
    half = (longest - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def shown(value: object) -> str:
    """A value as a message shows it: its Python repr, at most 80 characters."""
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
    if value is None or (isinstance(value, int | float) and abs(value) < 2.0**63):
        return value
    return shown(value)
