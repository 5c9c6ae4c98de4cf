"""Copies that are whole or not there: written aside, checked, on disk, then renamed.

Standard library alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import uuid
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from concurrent.futures import Future

    Path = str | os.PathLike[str]

BLOCK = 1 << 20
"""One thread writes a block, another sums it: small enough to be in the processors' caches."""
FLUSHED_BYTES = 64 << 20
"""So much is brought to disk by a third thread while more is copied: that pays for the CRC."""


class Checksum(NamedTuple):
    """A content's size in bytes and CRC-32."""

    bytes: int
    crc32: int


def copy_whole(
    source: Path,
    target: Path,
    *,
    read_back: bool = True,
    keep_mode: bool = False,
    grows: bool = False,
) -> Checksum:
    """Copy the content of a regular file, links followed: afterwards the target is the whole copy,
    on disk, or what it was before.

    ``read_back``: the CRC of what was read must be that of what the copy's file returns.
    The mode comes from the umask; ``keep_mode``: mode and times are the source's. ``grows``: a
    program may still write the source, so only what it has at the beginning must arrive.
    Raises OSError: EAGAIN for a source that changed meanwhile, EIO for a copy that differs.
    """
    folder, name = os.path.split(os.fspath(target))
    part = os.path.join(folder, f".{name}.{uuid.uuid4().hex}.part")
    reader = open_to_read(source)
    try:
        before = os.fstat(reader)
        writer = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            copied = _pump(reader, writer, before.st_size, source)
            _check_source(before, os.fstat(reader), copied.bytes, source, grows=grows)
            if keep_mode:
                shutil.copystat(source, part)
            os.fsync(writer)
            _check_copy(writer, copied, target, read_back=read_back)
        finally:
            os.close(writer)
        rename(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    finally:
        os.close(reader)
    return copied


def rename(source: Path, target: Path) -> None:
    """``os.replace``; one that was done and yet reported as failed counts as done. OSError."""
    renamed = os.lstat(source)
    try:
        os.replace(source, target)
    except OSError:
        if not _is_renamed(renamed, source, target):
            raise


def _is_renamed(renamed: os.stat_result, source: Path, target: Path) -> bool:
    """Whether that file is at the target, and no longer under its former name."""
    with contextlib.suppress(OSError):
        if os.path.samestat(renamed, os.lstat(target)):
            try:
                os.lstat(source)
            except FileNotFoundError:
                return True
    return False


def open_to_read(path: Path) -> int:
    """A descriptor of a regular file, opened without waiting for a pipe's writer. OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(number, os.strerror(number), os.fspath(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _pump(reader: int, writer: int, most: int, source: Path) -> Checksum:
    """Write what can be read, ``most`` bytes of it: no writer is run after. Raises OSError, which
    names the source if that is where it failed."""
    from concurrent.futures import ThreadPoolExecutor  # with it comes logging: 10 ms of `list`

    buffers = memoryview(bytearray(BLOCK)), memoryview(bytearray(BLOCK))
    size = flushed = number = crc = 0
    summed: Future[int] | None = None
    flush: Future[None] | None = None
    with ThreadPoolExecutor(2) as threads:  # starts none for a file of one block
        while count := _read(reader, buffers[number % 2][: most - size], source):
            block = buffers[number % 2][:count]
            if most <= BLOCK:
                crc = zlib.crc32(block, crc)
            else:  # the buffer of the block before is free again when its CRC is known
                crc = summed.result() if summed is not None else 0
                summed = threads.submit(zlib.crc32, block, crc)
            size, number = size + count, number + 1
            while block:
                block = block[os.write(writer, block) :]
            if size - flushed >= FLUSHED_BYTES and (flush is None or flush.done()):
                if flush is not None:
                    flush.result()
                flush, flushed = threads.submit(os.fdatasync, writer), size
        if flush is not None:
            flush.result()
        if summed is not None:
            crc = summed.result()
    return Checksum(size, crc)


def _read(reader: int, buffer: memoryview, source: Path) -> int:
    try:
        return os.readv(reader, [buffer])
    except OSError as error:
        error.filename = os.fspath(source)
        raise


def _check_source(
    before: os.stat_result, after: os.stat_result, size: int, path: Path, *, grows: bool
) -> None:
    """Raises OSError when not all of the source was read, or not all as it was at one time."""
    if not grows and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise OSError(errno.EAGAIN, "it changed while it was copied", os.fspath(path))
    if size != before.st_size:
        text = f"only {size} of {before.st_size} bytes could be read"
        raise OSError(errno.EIO, text, os.fspath(path))


def _check_copy(writer: int, copied: Checksum, target: Path, *, read_back: bool) -> None:
    """Raises OSError when the copy is not what was read."""
    size = os.fstat(writer).st_size
    found = _summed(writer) if read_back else Checksum(size, copied.crc32)
    if found != copied or size != copied.bytes:
        text = f"the copy differs ({size} of {copied.bytes} bytes, CRC-32 {found.crc32:08x} for "
        raise OSError(errno.EIO, f"{text}{copied.crc32:08x})", os.fspath(target))


def _summed(descriptor: int) -> Checksum:
    """Size and CRC of what an open file returns from its beginning. Raises OSError."""
    buffer = memoryview(bytearray(BLOCK))
    crc = size = 0
    while count := os.preadv(descriptor, [buffer], size):
        crc = zlib.crc32(buffer[:count], crc)
        size += count
    return Checksum(size, crc)
