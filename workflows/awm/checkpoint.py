"""Checkpoints: the whole state of a run in one file, from which it continues bit by bit.

A file is one line of JSON, padded with blanks, and then the fields as they lie in memory. The line
says which run, step and fields it is of, and has a CRC of each field and of itself. A file is
written aside, brought to disk and renamed: what has the name of a checkpoint is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from deflate import crc32
from numpy.typing import NDArray

from burstlens.core.errors import RecipeError
from burstlens.core.version import __version__
from burstlens.workflows.awm.checkpoint_files import HEAD_BYTES, name_of, part_of
from burstlens.workflows.awm.output import write_errors
from burstlens.workflows.awm.solver import Solver

PIECE_BYTES = 1 << 20
"""A field is summed and written in such pieces: what is summed is still in the core's cache."""
FLUSHED_BYTES = 1 << 24
"""So much is brought to disk while as much or more is still written: that pays for the CRCs."""
FORMAT = 1

State = Mapping[str, NDArray[Any]]
"""Fields by name, each contiguous; read and written in place."""


@dataclass(frozen=True, slots=True)
class Past:
    """Where a run continues: its ``step``, JSON values, and ``series``, fields of any length."""

    step: int
    more: Mapping[str, Any]
    series: Mapping[str, NDArray[Any]]


def digest(solver: Solver) -> str:
    """What a continuation must have in common with the run that wrote the checkpoint: all but how
    long it goes on, what it writes and how many threads it has."""
    parameters = solver.parameters
    given = parameters.model_dump(exclude={"title", "output", "threads", "time", "checkpoint"})
    given |= {"step_s": parameters.time.step_s, "robust": solver.robust}
    # A material that is read from a file may have changed.
    given["medium"] = [crc32(one.data) for one in (solver.medium.density, solver.medium.lam)]
    return hashlib.sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()


class Checkpoints:
    """The checkpoints of a run in ``folder``: of those that this process wrote, the newest ``keep``
    are kept. ``state`` are the fields of the solver's step, ``more`` JSON values.
    """

    def __init__(self, folder: Path, solver: Solver, keep: int) -> None:
        self._folder, self._solver, self._keep = folder, solver, keep
        self._run = digest(solver)
        self._written: list[Path] = []
        self._deletion: Thread | None = None

    def write(self, state: State, more: Mapping[str, Any]) -> Path:
        """Write the checkpoint of the solver's step; returns its file.

        Raises SimulationError when it cannot be written; then no part of it is left.
        """
        solver = self._solver
        head = {
            "format": FORMAT, "awm": __version__, "run": self._run, "step": solver.steps,
            "step_s": solver.step_s, "more": dict(more),
        }  # fmt: skip
        path = self._folder / name_of(solver.steps)
        with write_errors(path):
            _write(path, head, state)
            self._written.append(path)
            if 0 < self._keep < len(self._written):
                self._delete(self._written.pop(0))
        return path

    def read(self, path: Path, state: State, series: Collection[str]) -> Past:
        """Put a checkpoint's fields in place; those named in ``series`` are returned.

        Raises RecipeError when it is damaged, or of another version, grid or set of parameters.
        """
        head = read_head(path)
        if head["format"] != FORMAT:
            raise RecipeError(f"{path} was written by awm {head['awm']}, this is {__version__}")
        if head["run"] != self._run:
            raise RecipeError(
                f"{path} is of another run: grid, step, material, source, stations and absorbing "
                "layers, with their friction, must be the same to continue from it"
            )
        shapes = {one["name"]: (tuple(one["shape"]), one["type"]) for one in head["fields"]}
        given = {name: np.empty(*shapes.pop(name)) for name in series if name in shapes}
        if shapes != {name: (values.shape, values.dtype.str) for name, values in state.items()}:
            raise RecipeError(
                f"{path} is of a run with other peaks: output.peaks must be the same to continue "
                "from it"
            )
        _read(path, head["fields"], {**state, **given})
        return Past(int(head["step"]), head["more"], given)

    def close(self) -> None:
        """Wait until the last deletion is done."""
        if self._deletion is not None:
            self._deletion.join()

    def _delete(self, path: Path) -> None:
        """Beside the next steps: it takes a quarter of the time of a write."""
        self.close()
        self._deletion = Thread(target=_unlink, args=(path,))
        self._deletion.start()


def _write(path: Path, head: Mapping[str, Any], state: State) -> None:
    part, fields = part_of(path), list[dict[str, Any]]()
    try:
        with open(part, "wb", buffering=0) as file, ThreadPoolExecutor(1, "awm disk") as threads:
            handle, flushed = file.fileno(), file.seek(HEAD_BYTES)
            flush: Future[None] | None = None
            last = sum(values.nbytes for values in state.values()) + HEAD_BYTES - FLUSHED_BYTES
            for name, values in state.items():
                about = {"name": name, "shape": values.shape, "type": values.dtype.str}
                fields.append({**about, "crc32": _write_field(handle, values)})
                if flushed + FLUSHED_BYTES <= file.tell() <= last and (not flush or flush.done()):
                    if flush is not None:
                        flush.result()
                    flush, flushed = threads.submit(os.fdatasync, handle), file.tell()
            file.seek(0)
            file.write(_line({**head, "fields": fields}))
            if flush is not None:
                flush.result()
            os.fsync(handle)
        part.replace(path)
        _sync(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _unlink(path: Path) -> None:
    with suppress(OSError):  # one too many does no harm
        path.unlink()


def _write_field(handle: int, values: NDArray[Any]) -> int:
    raw, crc = values.reshape(-1).view(np.uint8).data, 0
    for begin in range(0, len(raw), PIECE_BYTES):
        piece = raw[begin : begin + PIECE_BYTES]
        crc = crc32(piece, crc)
        while piece:
            piece = piece[os.write(handle, piece) :]
    return crc


def _line(head: Mapping[str, Any]) -> bytes:
    text = json.dumps(head, separators=(",", ":")).encode()
    line = b"%08x %s" % (crc32(text), text)
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
    if len(line) < HEAD_BYTES or crc != b"%08x" % crc32(text):
        raise RecipeError(f"{path} is not a whole checkpoint of awm")
    head: dict[str, Any] = json.loads(text)
    return head


def _read(path: Path, fields: Collection[Mapping[str, Any]], into: State) -> None:
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(HEAD_BYTES)
            for one in fields:
                if _read_field(file.fileno(), into[one["name"]]) != one["crc32"]:
                    raise RecipeError(f"{path} is damaged: its field {one['name']} was changed")
    except OSError as error:
        raise RecipeError(f"{path}: {error.strerror}") from None


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
        crc = crc32(piece, crc)
    return crc
