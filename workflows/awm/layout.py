"""What a faulty parameter file still says about the frames to come."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from burstlens.core.toml.text import read_text
from burstlens.workflows.awm.parameters import Grid, Output, Source, Station, Table

T = TypeVar("T", bound=Table)


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of a parameter file that define what frames hold; None for a faulty one."""

    grid: Grid | None
    source: Source | None
    output: Output | None
    station: tuple[Station, ...]


def read_layout(path: Path) -> Layout | None:
    """What can be read of a faulty file; None if it is missing or not text."""
    try:
        table = read_text(path.read_text(encoding="utf-8")).table
    except (OSError, UnicodeDecodeError):
        return None
    entries = table.get("station", [])
    stations = [_part(Station, one) for one in (entries if isinstance(entries, list) else [])]
    return Layout(
        _part(Grid, table.get("grid")),
        _part(Source, table.get("source")),
        _part(Output, table.get("output", {})),
        tuple(one for one in stations if one is not None),
    )


def _part(cls: type[T], given: object) -> T | None:
    try:
        return cls.model_validate(given)
    except ValidationError:
        return None
