"""Incremental reads of an append-only file of JSON objects."""

from __future__ import annotations

import contextlib
import gc
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from burstlens.core.durable import open_regular

Line = dict[str, Any]
ALL_BYTES = 1 << 62
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Stretch:
    """The lines of one read; the next read begins at ``offset`` (bytes).

    ``fresh`` says that they start from the beginning, since the file was replaced or truncated:
    the caller must forget what it read before. ``more`` says that whole lines are left.
    """

    lines: list[Line]
    offset: int
    fresh: bool
    more: bool


def read_stretch(
    path: Path, offset: int = 0, *, limit: int = ALL_BYTES, mark: bytes = b""
) -> Stretch:
    """The objects from ``offset`` on, until about ``limit`` bytes are read.

    A torn last line is left for the next read. Foreign lines are skipped, and so are lines
    without the bytes ``mark``, unparsed. A missing file is empty. Raises OSError, also when it
    is not a regular file.
    """
    try:
        stream = open_regular(path)
    except FileNotFoundError:
        return Stretch([], 0, fresh=True, more=False)
    kept: list[bytes] = []
    with stream:
        began = at = _line_start(stream.fileno(), offset)
        stream.seek(began)
        whole = True
        while whole and at - began < limit:
            lines = stream.readlines(min(BLOCK_BYTES, limit - (at - began)))
            whole = bool(lines) and lines[-1].endswith(b"\n")
            if lines and not whole:
                del lines[-1]
            at += sum(map(len, lines))
            kept += [line for line in lines if mark in line]
        more = whole and stream.readline().endswith(b"\n")
    return Stretch(_objects(kept), at, fresh=began == 0, more=more)


def number(value: Any) -> float | None:
    """The value as a float when it is a finite number, else None: lines may be foreign."""
    return value if type(value) in (int, float) and isfinite(value) else None


def _line_start(descriptor: int, offset: int) -> int:
    """``offset`` when a line begins there, else the file's beginning: it is another file."""
    if offset <= 0:
        return 0
    before = os.pread(descriptor, 1, offset - 1)
    return offset if before == b"\n" else 0


def _objects(lines: list[bytes]) -> list[Line]:
    """The objects in the lines; parsed at once, in half the time, unless one is foreign."""
    try:
        with uncollected():
            values = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        values = [_value(line) for line in lines]
    return [value for value in values if isinstance(value, dict)]


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Disable garbage collection: with 100,000 new objects it frees nothing and takes a third of
    the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _value(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


class Followed:
    """One reader's position in such a file. ``mark`` is as for :func:`read_stretch`."""

    def __init__(self, path: Path, *, mark: bytes = b"") -> None:
        self._path = path
        self._mark = mark
        self._offset = 0
        self._inode = 0

    def look(self) -> Stretch:
        """The lines since the previous call. Raises OSError."""
        inode = self._present()
        if inode != self._inode:
            self._offset = 0
            self._inode = inode
        stretch = read_stretch(self._path, self._offset, mark=self._mark)
        self._offset = stretch.offset
        return stretch

    def _present(self) -> int:
        try:
            return self._path.stat().st_ino
        except FileNotFoundError:
            return 0
