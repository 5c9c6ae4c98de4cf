"""A case of the I/O study: who writes how much, in which pieces, how often."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from burstlens.core.errors import RecipeError
from burstlens.core.quantity import parse_bytes, parse_duration
from burstlens.core.toml.faults import Faults, dotted
from burstlens.core.toml.table import read_table

Positive = Annotated[int, Field(ge=1)]
Size = Annotated[int, BeforeValidator(parse_bytes, json_schema_input_type=str | int)]
Pause = Annotated[
    float, Field(ge=0), BeforeValidator(parse_duration, json_schema_input_type=str | float)
]
WORD = 4
"""Bytes of a word, the unit of all sizes."""
MOST_IN_A_CALL = 2**30
"""The most bytes of one call: MPI counts them in 32 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The keys of a profile. Raises ValueError for values that do not fit each other."""

    title: str
    """What the case imitates."""
    pattern: Literal["blocks", "cells", "segments"]
    """`blocks`: an array cut into one box per rank. `cells`: NAS BT's cut of a cube, for which the
    number of ranks is a square. `segments`: as IOR, `segments` times `block` bytes of each rank."""
    shape: Annotated[tuple[Positive, ...], Field(max_length=3)] = ()
    """Points of the array, the slowest dimension first."""
    split: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(max_length=3)] = ()
    """Ranks along each dimension of `blocks`; 0: MPI_Dims_create chooses."""
    words: Positive = 1
    """4-byte words of a point."""
    variables: Positive = 1
    """Variables of a frame, each written by its own calls."""
    block: Size = 2**20
    """Contiguous bytes of a rank in a segment."""
    transfer: Size | None = None
    """Bytes of one call in a segment, and of one read where whole files are read. By default the
    block."""
    segments: Positive = 1
    """Segments of a file."""
    files: Literal["shared", "rank"] = "shared"
    """One file per frame, or one per rank and frame."""
    calls: Literal["view", "runs"] = "view"
    """Of an array: one call per variable through a file view, or one per contiguous run."""
    collective: bool = True
    """Collective calls (`MPI_File_write_at_all`) or independent ones."""
    read: Literal["none", "own", "whole"] = "none"
    """`own`: each frame is read as it was written, by the next rank. `whole`: one file is written,
    and in each frame every rank reads all of it."""
    frames: Positive = 4
    """Frames of a run."""
    pause: Pause = 0.0
    """Time between frames, in which a model computes."""
    align: Size = 4096
    """The data of a file begin at a multiple of this."""
    sync: bool = False
    """Whether a frame counts as written only after `MPI_File_sync`."""
    check: bool = True
    """Whether each frame is read again by other ranks and compared, outside of the times."""
    hints: Annotated[Mapping[str, str | int], Field(max_length=32)] = field(default_factory=dict)
    """MPI-IO hints, given to `MPI_File_open`."""

    def __post_init__(self) -> None:
        segments = self.pattern == "segments"
        if not segments and len(self.shape) not in ({3} if self.pattern == "cells" else {1, 2, 3}):
            raise ValueError(f"the pattern {self.pattern} needs a shape of its dimensions")
        if self.pattern == "cells" and len(set(self.shape)) > 1:
            raise ValueError("the shape of cells is a cube")
        if self.split and len(self.split) != len(self.shape):
            raise ValueError("split has as many numbers as shape")
        if self.files == "rank" and not segments:
            raise ValueError('files = "rank" goes with the pattern segments')
        if self.calls == "runs" and self.collective and not segments:
            raise ValueError('calls = "runs" needs collective = false: ranks make different counts')
        for name in ("block", "transfer", "align"):
            size = getattr(self, name)
            if size is not None and (size % WORD or size > MOST_IN_A_CALL):
                raise ValueError(f"{name} is a multiple of {WORD} bytes, at most 1 GiB")
        for key, value in self.hints.items():
            if any(mark in f"{key}{value}" for mark in "\n ") or not key:
                raise ValueError(f"hints: {key!r} and its value are words without spaces")

    def dimensions(self, ranks: int) -> tuple[int, ...]:
        """The dimensions in words of one variable in one file, the slowest first."""
        if self.pattern == "segments":
            words = self.block * self.segments // WORD
            return (words if self.files == "rank" else words * ranks,)
        return (*self.shape, self.words) if self.words > 1 else self.shape

    def frame_bytes(self, ranks: int) -> int:
        """Bytes of data of a frame, in all of its files."""
        of_file = WORD * self.variables * math.prod(self.dimensions(ranks))
        return of_file * (ranks if self.files == "rank" else 1)

    def require_ranks(self, ranks: int) -> None:
        """Raise RecipeError if so many ranks cannot share the work."""
        side = math.isqrt(ranks)
        if self.pattern == "cells" and side * side != ranks:
            raise RecipeError(f"NAS BT runs on a square number of ranks, not on {ranks}")
        if self.pattern == "cells" and side > self.shape[0]:
            raise RecipeError(f"{ranks} ranks cut a cube of {self.shape[0]} points too small")
        fixed = math.prod(number for number in self.split if number)
        free = 0 in self.split or not self.split
        if self.pattern == "blocks" and (ranks % fixed or (not free and ranks != fixed)):
            raise RecipeError(f"{ranks} ranks do not fit split = {list(self.split)}")
        whole = self.frame_bytes(ranks) // ranks
        if self.pattern != "segments" and whole // self.variables > MOST_IN_A_CALL:
            raise RecipeError("a rank would write more than 1 GiB in one call: take more ranks")


def read(path: Path, settings: Sequence[str] = (), size: str = "") -> Profile:
    """The profile in a TOML file, with those of its table ``[sizes.<size>]`` and ``key=value``
    settings over it; a setting without a value leaves the key as it is. Raises RecipeError that
    lists all faults."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path} is not TOML: {error}") from error
    sizes = table.pop("sizes", {})
    if size and (not isinstance(sizes, dict) or not isinstance(sizes.get(size), dict)):
        known = ", ".join(sizes) if isinstance(sizes, dict) and sizes else "none"
        raise RecipeError(f"profile {path} has no size {size!r}; it has: {known}")
    table |= sizes[size] if size else {}
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        if not equals:
            raise RecipeError(f"expected key=value, got {setting!r}")
        if key == "hints":
            table["hints"] = {**table.get("hints", {}), **pairs(text)}
        elif text:
            table[key] = _value(text)
    faults = Faults()
    found = read_table(Profile, table, (), faults)
    if faults or found is None:
        lines = [f"  {dotted(fault.path) or 'profile'}: {fault.message}" for fault in faults]
        raise RecipeError("\n".join([f"profile {path}:", *lines]))
    return found


def pairs(text: str) -> dict[str, str]:
    """What is written as ``key=value;key=value``; empty for an empty text. Raises RecipeError."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = part.partition("=")
        if not equals:
            raise RecipeError(f"expected key=value;key=value, got {text!r}")
        found[key.strip()] = value.strip()
    return found


def _value(text: str) -> object:
    """A TOML value, or the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def study(profile: Profile, ranks: int, begin: int) -> str:
    """The text of ``study.txt``, which the program reads; ``begin`` is the data's first byte."""
    segments = profile.pattern == "segments"
    lines: dict[str, object] = {
        "ranks": ranks,
        "pattern": profile.pattern,
        "files": profile.files,
        "calls": "runs" if segments else profile.calls,
        "collective": int(profile.collective and profile.files == "shared"),
        "read": profile.read,
        "shape": " ".join(map(str, profile.shape)),
        "split": " ".join(map(str, profile.split or (0,) * len(profile.shape))),
        "words": profile.words,
        "variables": profile.variables,
        "block": profile.block,
        "transfer": profile.transfer or (profile.block if segments else 0),
        "segments": profile.segments,
        "frames": profile.frames,
        "pause_ms": round(profile.pause * 1000),
        "begin": begin,
        "sync": int(profile.sync),
        "check": int(profile.check),
    }
    text = [f"{key} {value}" for key, value in lines.items()]
    text += [f"hint {key} {value}" for key, value in profile.hints.items()]
    return "\n".join([*text, "end", ""])
