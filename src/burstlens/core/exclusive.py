"""Files that only one process can make: the second gets FileExistsError, also after an error.

Standard library alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from pathlib import Path

_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK})
"""Errors of a file system without hard links."""


def make_exclusive(path: Path, content: str) -> None:
    """Make a file with that content, which only this process may have. It has its name only when
    it is whole. One that was made by an earlier call, which reported an error, counts as made.

    Raises FileExistsError for one with other content, and OSError.
    """
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        _write(part, content)
        try:
            os.link(part, path)
        except OSError as error:
            if error.errno in _NO_LINKS:
                _write(path, content)
            elif not _holds(path, content):
                raise
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def _write(path: Path, content: str) -> None:
    with path.open("x", encoding="utf-8") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _holds(path: Path, content: str) -> bool:
    """Whether the file has that content. Raises OSError where that is not known."""
    try:
        return path.read_bytes() == content.encode()
    except FileNotFoundError:
        return False
