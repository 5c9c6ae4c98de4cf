"""An append-only file of JSON objects, one per line, that a crash can cut but never corrupt."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from burstlens.core.durable import json_object, open_regular

BLOCK_BYTES = 1 << 20


def lines_of(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines of an open file with their numbers, from 1 on, up to a torn last one.
    Raises OSError."""
    for number, line in enumerate(stream, 1):
        if not line.endswith(b"\n"):
            return
        yield number, line


def read_lines(path: Path, begin: int = 0) -> Iterator[dict[str, object]]:
    """The objects from a byte on in order; a torn or foreign line is passed over, a missing file is
    empty. Raises OSError when it cannot be read or is not a regular file."""
    try:
        stream = open_regular(path)
    except FileNotFoundError:
        return
    with stream:
        stream.seek(begin)
        for _, line in lines_of(stream):
            value = json_object(line)
            if value is not None:
                yield value


def lines_before(path: Path, end: int, count: int) -> list[bytes] | None:
    """The last ``count`` lines before byte ``end``; None where no line ends there, or where there
    are fewer or foreign ones. Raises OSError."""
    with open_regular(path) as stream:
        begin, tail = end, b""
        while begin > 0 and tail.count(b"\n") <= count:
            size = min(begin, BLOCK_BYTES)
            begin -= size
            stream.seek(begin)
            tail = stream.read(size) + tail
    if len(tail) != end - begin or (end and not tail.endswith(b"\n")):
        return None
    lines = tail.splitlines(keepends=True)[-count:] if count else []
    if len(lines) < count or any(json_object(line) is None for line in lines):
        return None
    return lines


class Lines:
    """Appends objects to such a file. Opening cuts off a torn last line. Raises any OSError (a full
    disk, an unavailable file server); the file then ends at the last whole line, so that the same
    append can be tried again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        self._size = self._cut_torn_line()
        self._dirty = self._torn = False

    def _cut_torn_line(self) -> int:
        size = whole = os.fstat(self._descriptor).st_size
        while whole > 0:
            start = max(0, whole - 65536)
            newline = os.pread(self._descriptor, whole - start, start).rfind(b"\n")
            if newline >= 0:
                whole = start + newline + 1
                break
            whole = start
        if whole != size:
            os.ftruncate(self._descriptor, whole)
        return whole

    @property
    def bytes(self) -> int:
        """The file's size. Raises OSError."""
        return os.fstat(self._descriptor).st_size

    def count(self) -> int:
        """How many lines the file has. Raises OSError."""
        found = at = 0
        while block := os.pread(self._descriptor, BLOCK_BYTES, at):
            found += block.count(b"\n")
            at += len(block)
        return found

    def is_at(self, path: Path) -> bool:
        """Whether the file with that name is this one. Raises OSError."""
        try:
            return os.path.samestat(os.stat(path), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def append(self, value: Mapping[str, object]) -> None:
        """Add one object; readers see it at once, it is on disk after :meth:`sync`."""
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
        # UTF-8 cannot encode a lone surrogate; a JSON escape can.
        line = text.encode(errors="backslashreplace")
        self._dirty = True
        try:
            self._cut_half_line()
            written = os.write(self._descriptor, line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        except OSError as error:
            self._torn = True
            with contextlib.suppress(OSError):  # else the next append does it first
                self._cut_half_line()
            error.filename = str(self.path)  # write() does not set it
            raise
        self._size += written

    def _cut_half_line(self) -> None:
        """Remove what a failed append has left: the next one would continue it."""
        if self._torn:
            os.ftruncate(self._descriptor, self._size)
            self._torn = False

    def sync(self) -> None:
        """Flush all that was appended to disk; a no-op when it is there already."""
        if self._dirty:
            os.fsync(self._descriptor)
            self._dirty = False

    def close(self) -> None:
        """Sync and close; a second close does nothing."""
        if self._descriptor >= 0:
            try:
                self.sync()
            finally:
                os.close(self._descriptor)
                self._descriptor = -1


class HeldLines(Lines):
    """Lines that hold in memory what a full or absent disk refuses, and write it first later. An
    append never fails, so the caller never stops halfway; ``sync`` and ``write_held`` raise OSError
    as long as anything is held."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._held: deque[Mapping[str, object]] = deque()

    def append(self, value: Mapping[str, object]) -> None:
        """Add one object, now or as soon as it can be written."""
        self._held.append(value)
        with contextlib.suppress(OSError):
            self.write_held()

    def write_held(self) -> None:
        """Write what is held. Raises OSError when it still cannot be written."""
        while self._held:
            super().append(self._held[0])
            self._held.popleft()

    def sync(self) -> None:
        """Flush all that was appended to disk. Raises OSError."""
        self.write_held()
        super().sync()
