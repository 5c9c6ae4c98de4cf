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
from burstlens.workflows.awm.stability import UnstableError

PIECE_BYTES = 1 << 20
"""A field is checked, summed and written in such pieces, which stay in the core's cache."""
BEGUN_BYTES = 1 << 22
"""After so much the disk begins, while the rest is checked and summed: that pays for both."""
FORMAT = 1
"""Of the file, and of the loops: to be raised when a step from the same state gives other bits."""
UNTOUCHED: dict[str, bool | set[str]] = {
    "title": True, "output": True, "threads": True, "time": True, "checkpoint": True,
    "allow_unstable": True, "grid": {"points_per_wavelength"}, "absorbing": {"robust"},
}  # fmt: skip
"""Parameters on which the next state does not depend, but for ``step_s``. Friction, which follows
from ``robust`` or the number of steps, is compared by itself."""

MEDIUM = "the material's values"
"""They follow from ``grid``, ``time.step_s`` and ``material``, and from the file named there."""

State = Mapping[str, NDArray[Any]]
"""Fields by name, each contiguous; read and written in place."""


@dataclass(frozen=True, slots=True)
class RestartState:
    """What a checkpoint holds apart from the fields that are put in place: its ``step``, JSON
    ``values``, and ``series``, fields of any length."""

    step: int
    values: Mapping[str, Any]
    series: Mapping[str, NDArray[Any]]


def digests(solver: Solver) -> dict[str, str]:
    """What a continuation must have in common with the run that wrote the checkpoint, by name: all
    but its length, what it writes, its threads, and limits that are only checked."""
    parameters, medium = solver.parameters, solver.medium
    given = parameters.model_dump(exclude=UNTOUCHED)
    given["time.step_s"] = parameters.time.step_s
    # A material that is read from a file may have changed.
    fields = medium.density, medium.compliance, medium.lam
    given[MEDIUM] = [crc32(field.data) for field in fields]
    texts = {name: json.dumps(value, sort_keys=True, default=str) for name, value in given.items()}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


class Checkpoints:
    """The checkpoints of a run in ``folder``: of those that this process wrote, the newest ``keep``
    are kept. ``state`` are the fields of the solver's step, ``values`` JSON values.

    While one is written there are ``keep`` and an unfinished one.
    """

    def __init__(self, folder: Path, solver: Solver, keep: int) -> None:
        self._folder, self._solver, self._keep = folder, solver, keep
        self._digests = digests(solver)
        self._written: list[Path] = []
        self._deletion: Thread | None = None

    def write(self, state: State, values: Mapping[str, Any]) -> Path:
        """Write the checkpoint of the solver's step; returns its file.

        Raises SimulationError when it cannot be written: then no part of it is left. It is left
        where only its name may not have reached the disk; it counts as one of those to keep.
        Raises UnstableError for a field with NaN or infinity.
        """
        solver = self._solver
        head = {
            "format": FORMAT, "awm": __version__, "run": self._digests, "step": solver.steps,
            "step_s": solver.step_s, "robust": solver.robust, "values": dict(values),
        }  # fmt: skip
        path = self._folder / name_of(solver.steps)
        self.close()  # until then the disk holds one more
        with write_errors(path):
            _write(path, head, state)
            self._written.append(path)
            _sync(self._folder)
        self._delete_oldest()
        return path

    def step_of(self, path: Path) -> int:
        """The step of a checkpoint of this run.

        Raises RecipeError when it is damaged, or of another version, grid or set of parameters.
        """
        return int(self._head(path)["step"])

    def read(self, path: Path, state: State, series: Collection[str]) -> RestartState:
        """Put a checkpoint's fields in place; those named in ``series`` are returned.

        Raises RecipeError as :meth:`step_of`, and when a field is damaged or missing.
        """
        head = self._head(path)
        shapes = {field["name"]: (tuple(field["shape"]), field["type"]) for field in head["fields"]}
        given = {name: np.empty(*shapes.pop(name)) for name in series if name in shapes}
        if shapes != {name: (values.shape, values.dtype.str) for name, values in state.items()}:
            raise RecipeError(
                f"{path} is of a run with other peaks: output.peaks must be the same to continue "
                "from it"
            )
        _read(path, head["fields"], {**state, **given})
        return RestartState(int(head["step"]), head["values"], given)

    def close(self) -> None:
        """Wait until the last deletion is done."""
        if self._deletion is not None:
            self._deletion.join()

    def _head(self, path: Path) -> dict[str, Any]:
        head = read_head(path)
        if head["format"] != FORMAT:
            raise RecipeError(
                f"{path} was written by awm {head['awm']} in format {head['format']}: awm "
                f"{__version__} continues from format {FORMAT}"
            )
        known = self._digests.items()
        if other := [name for name, value in known if head["run"].get(name) != value]:
            names = ", ".join([name for name in other if name != MEDIUM] or other)
            raise RecipeError(
                f"{path} is of another run: {names} must be the same to continue from it"
            )
        if head["robust"] != self._solver.robust:
            there, robust = ("", "true") if head["robust"] else ("out", "false")
            raise RecipeError(
                f"{path} is of a run with{there} friction in the layers: set robust = {robust} in "
                "[absorbing] to continue from it"
            )
        return head

    def _delete_oldest(self) -> None:
        """Beside the next steps: it takes a quarter of the time of a write."""
        if 0 < self._keep < len(self._written):
            oldest, self._written = self._written[: -self._keep], self._written[-self._keep :]
            self._deletion = Thread(target=_unlink, args=(oldest,))
            self._deletion.start()


def _write(path: Path, head: Mapping[str, Any], state: State) -> None:
    part, fields = part_of(path), list[dict[str, Any]]()
    try:
        with open(part, "wb", buffering=0) as file:
            handle, begun = file.fileno(), file.seek(HEAD_BYTES)
            for name, values in state.items():
                about = {"name": name, "shape": values.shape, "type": values.dtype.str}
                crc = _write_field(handle, values)
                if crc is None:
                    raise UnstableError.of(name, head["step"])
                fields.append({**about, "crc32": crc})
                if (count := file.tell() - begun) >= BEGUN_BYTES:
                    _begin_writing(handle, begun, count)
                    begun += count
            file.seek(0)
            file.write(_line({**head, "fields": fields}))
            os.fsync(handle)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _begin_writing(handle: int, first: int, count: int) -> None:
    """Have the kernel bring these bytes to disk meanwhile: Linux begins with it when they are said
    not to be needed. Errors come out at the fsync."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError):  # only a hint
            os.posix_fadvise(handle, first, count, os.POSIX_FADV_DONTNEED)


def _unlink(paths: Collection[Path]) -> None:
    for path in paths:
        with suppress(OSError):  # one too many does no harm
            path.unlink()


def _write_field(handle: int, values: NDArray[Any]) -> int | None:
    """The CRC of what was written; None for a field that is not finite."""
    crc, flat, count = 0, values.reshape(-1), PIECE_BYTES // values.itemsize
    for begin in range(0, flat.size, count):
        numbers = flat[begin : begin + count]
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(numbers.sum()):
                return None
        piece = numbers.view(np.uint8).data
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
    """The first line of a checkpoint. Raises RecipeError where the file is not one, or its line is
    damaged."""
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
            for field in fields:
                if _read_field(file.fileno(), into[field["name"]]) != field["crc32"]:
                    raise RecipeError(f"{path} is damaged: its field {field['name']} was changed")
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
