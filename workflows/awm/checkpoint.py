"""Checkpoints: the whole state of a run in one file, from which it continues bit by bit.

A file is one line of JSON, padded with blanks, and then the fields as they lie in memory. The line
says which run, step and fields it is of, and has a CRC of each field and of itself. A file is
written aside, brought to disk and renamed: what has the name of a checkpoint is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import RecipeError
from burstlens.core.version import __version__
from burstlens.workflows.awm.output import write_errors
from burstlens.workflows.awm.solver import Solver

NAME = "checkpoint_{:07d}.awm"
_NAME = re.compile(r"checkpoint_(\d{7,})\.awm")
HEAD_BYTES = 1 << 16
"""Where the fields begin: 16 pages, which is room for the line of some hundred fields."""
PIECE_BYTES = 1 << 24
"""A field is checked and written in such pieces: what is checked is still in the cache."""
FORMAT = 1

State = Mapping[str, NDArray[Any]]
"""Fields by name, each contiguous; read and written in place."""


def digest(solver: Solver) -> str:
    """What a continuation must have in common with the run that wrote the checkpoint: all but how
    long it goes on, what it writes and how many threads it has."""
    parameters = solver.parameters
    given = parameters.model_dump(exclude={"title", "output", "threads", "time", "checkpoint"})
    given |= {"step_s": parameters.time.step_s, "robust": solver.robust}
    # A material that is read from a file may have changed.
    given["medium"] = [zlib.crc32(one.data) for one in (solver.medium.density, solver.medium.lam)]
    return hashlib.sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()


def write(folder: Path, solver: Solver, state: State, more: Mapping[str, Any]) -> Path:
    """Write the checkpoint of the solver's step; returns its file. ``more`` are JSON values.

    Raises SimulationError when it cannot be written; then no part of it is left.
    """
    path = folder / NAME.format(solver.steps)
    part = path.with_name(f".{path.name}.part")
    head: dict[str, Any] = {
        "format": FORMAT, "awm": __version__, "run": digest(solver), "step": solver.steps,
        "step_s": solver.step_s, "more": dict(more), "fields": [],
    }  # fmt: skip
    with write_errors(path):
        try:
            with open(part, "wb", buffering=0) as file:
                file.seek(HEAD_BYTES)
                for name, values in state.items():
                    about = {"name": name, "shape": values.shape, "type": values.dtype.str}
                    head["fields"].append({**about, "crc32": _write_field(file.fileno(), values)})
                file.seek(0)
                file.write(_line(head))
                os.fsync(file.fileno())
            part.replace(path)
            _sync(folder)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    return path


def _write_field(handle: int, values: NDArray[Any]) -> int:
    raw, crc = values.reshape(-1).view(np.uint8).data, 0
    for begin in range(0, len(raw), PIECE_BYTES):
        piece = raw[begin : begin + PIECE_BYTES]
        crc = zlib.crc32(piece, crc)
        while piece:
            piece = piece[os.write(handle, piece) :]
    return crc


def _line(head: Mapping[str, Any]) -> bytes:
    text = json.dumps(head, separators=(",", ":")).encode()
    line = b"%08x %s" % (zlib.crc32(text), text)
    assert len(line) < HEAD_BYTES, "more fields than the head has room for"
    return line.ljust(HEAD_BYTES - 1) + b"\n"


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_head(path: Path) -> dict[str, Any]:
    """What the checkpoint says of itself. Raises RecipeError when it is none, or is damaged."""
    try:
        with path.open("rb") as file:
            line = file.read(HEAD_BYTES)
    except OSError as error:
        raise RecipeError(f"{path}: {error.strerror}") from None
    crc, _, text = line.rstrip().partition(b" ")
    if len(line) < HEAD_BYTES or crc != b"%08x" % zlib.crc32(text):
        raise RecipeError(f"{path} is not a whole checkpoint of awm")
    head: dict[str, Any] = json.loads(text)
    return head


@dataclass(frozen=True, slots=True)
class Past:
    """Where a run continues: its ``step``, JSON values, and ``series``, fields of any length."""

    step: int
    more: Mapping[str, Any]
    series: Mapping[str, NDArray[Any]]


def read(path: Path, solver: Solver, state: State, series: Collection[str]) -> Past:
    """Put a checkpoint's fields in place; those named in ``series`` are returned.

    Raises RecipeError when it is damaged, or of another version, grid or set of parameters.
    """
    head = read_head(path)
    if head["format"] != FORMAT:
        raise RecipeError(f"{path} was written by awm {head['awm']}, this is {__version__}")
    shapes = {one["name"]: (tuple(one["shape"]), one["type"]) for one in head["fields"]}
    given = {name: np.empty(*shapes.pop(name)) for name in series if name in shapes}
    wanted = {name: (values.shape, values.dtype.str) for name, values in state.items()}
    if head["run"] != digest(solver) or shapes != wanted or given.keys() != {*series}:
        raise RecipeError(
            f"{path} is of another run: grid, step, material, source and absorbing layers must be "
            "the same to continue from it"
        )
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(HEAD_BYTES)
            for one in head["fields"]:
                name = one["name"]
                if _read_field(file.fileno(), {**state, **given}[name]) != one["crc32"]:
                    raise RecipeError(f"{path} is damaged: its field {name} was changed")
    except OSError as error:
        raise RecipeError(f"{path}: {error.strerror}") from None
    return Past(int(head["step"]), head["more"], given)


def _read_field(handle: int, values: NDArray[Any]) -> int | None:
    """The CRC of what was read; None where the file ends before."""
    raw, crc = values.reshape(-1).view(np.uint8).data, 0
    for begin in range(0, len(raw), PIECE_BYTES):
        piece = rest = raw[begin : begin + PIECE_BYTES]
        while rest:
            count = os.readv(handle, [rest])
            if not count:
                return None
            rest = rest[count:]
        crc = zlib.crc32(piece, crc)
    return crc


def step_of(name: str) -> int | None:
    """The step of the checkpoint in a file of that name; None for other files."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None
