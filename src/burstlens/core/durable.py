"""Atomic, durable files: written whole or not at all, also after a power cut; and files that only
one process can make: the second gets FileExistsError, also after an error.

Standard library alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from burstlens.core.whole_copy import rename

LARGEST_DROPPED_BYTES = 1 << 20
"""Largest size of a file in ``control/``: any user who may write there can drop one."""
_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK})
"""Errors of a file system without hard links."""


def open_regular(path: Path, *, follow: bool = True) -> BinaryIO:
    """Open ``path`` for reading, without waiting for a pipe's writer. Raises OSError when it cannot
    be opened or is not a regular file, or when it is a link and ``follow`` is false."""
    link = 0 if follow else os.O_NOFOLLOW
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | link)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return open(descriptor, "rb")


@contextlib.contextmanager
def open_descriptor(path: str) -> Iterator[int]:
    """A descriptor of ``path`` for reading, without waiting for a pipe's writer. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk, so that a rename in it survives a crash."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folder: Path, below: Path) -> None:
    """Make ``folder`` and its parents below ``below``, which itself is never made. A run directory
    that is unavailable for a while must not be made again in its place. Raises OSError."""
    descriptor = os.open(below, os.O_RDONLY | os.O_DIRECTORY)
    try:
        parts = folder.relative_to(below).parts
        for count in range(1, len(parts) + 1):
            place = os.path.join(*parts[:count])
            try:
                os.mkdir(place, dir_fd=descriptor)
            except FileExistsError:
                continue
            except OSError:
                if not _is_folder(place, descriptor):
                    raise  # else it was made, and reported as failed
    finally:
        os.close(descriptor)


def _is_folder(place: str, descriptor: int) -> bool:
    try:
        return stat.S_ISDIR(os.stat(place, dir_fd=descriptor).st_mode)
    except OSError:
        return False


def write_whole(path: Path, text: str | bytes, *, sync: bool = True) -> None:
    """Write ``text`` to ``path``: a reader finds the old content or the new, never a part. With
    ``sync`` the content and the name are on disk on return. On an OSError the old file is unchanged
    and no temporary file is left."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            stream.write(text.encode(errors="backslashreplace") if isinstance(text, str) else text)
            if sync:
                stream.flush()
                os.fsync(stream.fileno())
        rename(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    if sync:
        sync_folder(path.parent)


def make_exclusive(path: Path, content: str) -> None:
    """Make a file with that content, which only this process may have. It has its name only when it
    is whole. One that was made by an earlier call, which reported an error, counts as made. Raises
    FileExistsError for one with other content, and OSError."""
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


def write_json(path: Path, value: Mapping[str, Any], *, sync: bool = True) -> None:
    """:func:`write_whole` of ``value`` as JSON."""
    write_whole(path, json.dumps(value, ensure_ascii=False) + "\n", sync=sync)


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in ``path``; None when there is no such file or it is not (yet) JSON. Raises
    OSError when it cannot be read or is not a regular file."""
    try:
        with open_regular(path) as stream:
            return json_object(stream.read())
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_dropped(path: Path) -> dict[str, Any] | None:
    """The JSON object in a small file that any user may have dropped; None for anything else."""
    try:
        with open_regular(path, follow=False) as stream:
            text = stream.read(LARGEST_DROPPED_BYTES + 1)
    except (OSError, ValueError):
        return None
    return json_object(text) if len(text) <= LARGEST_DROPPED_BYTES else None


def json_object(text: bytes) -> dict[str, Any] | None:
    """The JSON object that is the text; None when it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
