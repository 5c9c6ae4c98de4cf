"""One TOML file that a person writes: its text, its table, the faults of its syntax."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burstlens.core.errors import RecipeError
from burstlens.core.fault import Fault, Place
from burstlens.core.toml.faults import key_of, report
from burstlens.core.toml.text import TomlText, read_text

MOST_BYTES = 1024**2
"""A larger file is not a recipe."""


def read_file(path: Path) -> TomlText:
    """The text of a file with its table. Raises RecipeError when it is not UTF-8, or too large."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RecipeError(f"cannot read {path}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise RecipeError(f"{path} is larger than {MOST_BYTES // 1024**2} MiB: not a recipe")
    try:
        return read_text(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        place = Place(path, line, column)
        message = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        fault = Fault((), message, None, place)
        raise RecipeError(f"{place.text()} is not TOML: {message}", (fault,)) from error


def syntax_faults(path: Path, text: TomlText, table: dict[str, Any]) -> Iterator[Fault]:
    """The faults of a file's syntax, each at its place and key."""
    for fault in text.faults:
        steps = fault.path or ()
        place = Place(path, fault.line, fault.column)
        yield Fault(steps, fault.message, fault.value, place, key_of(table, steps))


def parse(path: Path) -> dict[str, Any]:
    """The table in a TOML file. Raises RecipeError with all faults of its syntax."""
    text = read_file(path)
    if text.faults:
        faults = list(syntax_faults(path, text, text.table))
        first = f"{path} is not TOML: {faults[0].message} (line {text.faults[0].line})"
        raise RecipeError(
            first if len(faults) == 1 else report(f"{path} is not TOML: it", faults), faults
        )
    return text.table
