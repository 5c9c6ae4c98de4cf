"""Incremental reads of an append-only file of JSON objects."""

from __future__ import annotations

import contextlib
import gc
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from burstlens.core.durable import json_object, open_regular
from burstlens.core.run.volumes import newest_volume, open_volume, volume_path

Line = dict[str, Any]
Parse = Callable[[list[bytes]], list[Any]]
ALL_BYTES = 1 << 62
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Stretch:
    """The lines of one read; the next read begins at ``offset`` (bytes). ``fresh`` says that they
    start from the beginning, since the file was replaced or truncated: the caller must forget what
    it read before. ``more`` says that whole lines are left."""

    lines: list[Any]
    offset: int
    fresh: bool
    more: bool


def read_stretch(
    path: Path,
    offset: int = 0,
    *,
    limit: int = ALL_BYTES,
    marks: tuple[bytes, ...] = (),
    parse: Parse | None = None,
) -> Stretch:
    """The objects from ``offset`` on, until about ``limit`` bytes are read, or what ``parse`` makes
    of their lines.

    A torn last line is left for the next read. Foreign lines are skipped, and so are lines
    without any of ``marks``, unparsed. A missing file is empty. Raises OSError, also when it
    is not a regular file.
    """
    try:
        stream = open_regular(path)
    except FileNotFoundError:
        return Stretch([], 0, fresh=True, more=False)
    kept: list[bytes] = []
    with stream:
        # Where no line ends before the offset, this is another file.
        is_same = offset > 0 and os.pread(stream.fileno(), 1, offset - 1) == b"\n"
        began = at = offset if is_same else 0
        stream.seek(began)
        whole = True
        while whole and at - began < limit:
            lines = stream.readlines(min(BLOCK_BYTES, limit - (at - began)))
            whole = bool(lines) and lines[-1].endswith(b"\n")
            if lines and not whole:
                del lines[-1]
            at += sum(map(len, lines))
            kept += (
                [line for line in lines if any(mark in line for mark in marks)] if marks else lines
            )
        more = whole and stream.readline().endswith(b"\n")
    return Stretch((parse or _objects)(kept), at, fresh=began == 0, more=more)


def number(value: Any) -> float | None:
    """The value as a float when it is a finite number, else None: lines may be foreign."""
    return value if type(value) in (int, float) and isfinite(value) else None


def _objects(lines: list[bytes]) -> list[Line]:
    """The objects in the lines; parsed at once, in half the time, unless one is foreign."""
    try:
        with uncollected():
            values = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        values = map(json_object, lines)
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


class FollowedJournal:
    """One reader's position in a journal and its volumes. ``marks`` are as for
    :func:`read_stretch`."""

    def __init__(self, path: Path, *, marks: tuple[bytes, ...] = ()) -> None:
        self._path = path
        self._marks = marks
        self._restart()

    def _restart(self) -> None:
        self._volume = 1
        self._offset = self._inode = 0

    def look(self) -> Stretch:
        """The lines since the previous call. Raises OSError, RunError for a missing volume."""
        lines: list[Line] = []
        fresh = self._volume == 1 and self._offset == 0
        while True:
            newest, inode = newest_volume(self._path), inode_of(self._path)
            same = newest == self._volume and inode == self._inode
            if not same and newest <= self._volume and self._offset:
                lines, fresh = [], True  # the journal was replaced
                self._restart()
            place = self._path
            if self._volume < newest:
                place = volume_path(self._path, self._volume)
                open_volume(place).close()
            stretch = read_stretch(place, self._offset, marks=self._marks)
            if newest_volume(self._path) != newest or inode_of(self._path) != inode:
                continue  # it became a volume meanwhile, or was replaced: these may be its lines
            if stretch.fresh and self._offset:
                lines, fresh = [], True
                self._restart()
                continue
            lines += stretch.lines
            if self._volume == newest:
                self._offset, self._inode = stretch.offset, inode
                return Stretch(lines, stretch.offset, fresh=fresh, more=False)
            self._volume, self._offset, self._inode = self._volume + 1, 0, 0


class Followed:
    """One reader's position in such a file. ``marks`` and ``parse`` are as for
    :func:`read_stretch`."""

    def __init__(
        self, path: Path, *, marks: tuple[bytes, ...] = (), parse: Parse | None = None
    ) -> None:
        self._path = path
        self._marks, self._parse = marks, parse
        self._offset = 0
        self._inode = 0

    def look(self) -> Stretch:
        """The lines since the previous call. Raises OSError."""
        inode = inode_of(self._path)
        if inode != self._inode:
            self._offset, self._inode = 0, inode
        stretch = read_stretch(self._path, self._offset, marks=self._marks, parse=self._parse)
        self._offset = stretch.offset
        return stretch


def inode_of(path: Path) -> int:
    """The file's inode; 0 when it is missing. Raises OSError."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0
