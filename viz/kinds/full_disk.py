"""A full disk below the product that a function or program of the user writes.

Such a product is made again when there is room, while a mistake of the user's code is a failure
for good. Libraries hide the system's error: netCDF4 raises ``NetCDF: HDF error``; VTK prints a
line, and leaves nothing or a part.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from burstlens.core.errors import FULL_ERRNO, FrameError, StagingError

ROOM_BYTES = 64 << 20
"""With less room, a product that was not written is taken for one that found the disk full."""
_HARDLY_ANY = 1 << 20


def raise_if_full(out: Path, error: BaseException | None = None) -> None:
    """Raise StagingError if ``error`` is that of a full disk or quota, or there is no room beside
    ``out``, which was not written whole. Errors in reading a frame are to be sorted out before.
    """
    number = _number(error) or _lacks_room(out.parent)
    if not number:
        return
    # Before it is removed: a library may keep the file open, and its blocks with it.
    with contextlib.suppress(OSError):
        os.truncate(out, 0)
    raise StagingError("the product cannot be written", path=str(out), number=number) from error


def take_over(written: Path, out: Path, fault: str) -> None:
    """Move what the user's code has written to ``out``; FrameError with the words ``fault`` where
    that is nothing, StagingError where there was no room for it."""
    is_empty = not written.is_file() or written.stat().st_size == 0
    # With hardly any room a library that does not report errors may have written a part.
    if is_empty or _has_hardly_any_room(written.parent):
        raise_if_full(written)
    if is_empty:
        raise FrameError(fault)
    written.replace(out)


def _has_hardly_any_room(folder: Path) -> bool:
    try:
        status = os.statvfs(folder)
    except OSError:
        return False
    return status.f_bavail * status.f_frsize < _HARDLY_ANY


def _number(error: BaseException | None) -> int:
    """The errno of a full disk that the error, or one that led to it, has; else 0."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, OSError) and error.errno in FULL_ERRNO:
            return error.errno or 0
        error = error.__cause__ or error.__context__
    return 0


def _lacks_room(folder: Path) -> int:
    """The errno with which the folder's file system refuses some room; else 0."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, ROOM_BYTES)
    except OSError as found:
        return found.errno if found.errno in FULL_ERRNO else 0
    return 0
