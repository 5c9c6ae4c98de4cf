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
"""Bytes read, summed and written at once: small enough to stay in the processors' caches."""
_BLOCKS = 4
"""Blocks in memory of one copy: one is read or summed while another is written."""
FLUSHED_BYTES = 64 << 20
"""So much is brought to disk while more is copied: that pays for the CRCs."""


class Checksum(NamedTuple):
    """A content's size in bytes and CRC-32."""

    bytes: int
    crc32: int


def copy_whole(
    source: Path, target: Path, *, keep_mode: bool = False, grows: bool = False
) -> Checksum:
    """Copy the content of a regular file, links followed: afterwards the target is the whole copy,
    on disk, or what it was before.

    The CRC of what was read must be that of what the copy returns; both are computed while copying.
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
            pump = _pump_block if before.st_size <= BLOCK else _pump_blocks
            copied, found = pump(reader, writer, before.st_size, source)
            _check_source(before, os.fstat(reader), copied.bytes, source, grows=grows)
            if keep_mode:
                shutil.copystat(source, part)
            os.fsync(writer)
            _check_copy(os.fstat(writer).st_size, copied, found, target)
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


def _pump_block(reader: int, writer: int, most: int, source: Path) -> tuple[Checksum, Checksum]:
    """:func:`_pump_blocks` for a file of one block: no thread is started."""
    buffer = memoryview(bytearray(most))
    crc = size = 0
    while count := _read(reader, buffer[: most - size], source):
        crc = zlib.crc32(buffer[:count], crc)
        _write(writer, buffer[:count])
        size += count
    return Checksum(size, crc), _sum_range(writer, buffer, Checksum(0, 0), size)


def _pump_blocks(reader: int, writer: int, most: int, source: Path) -> tuple[Checksum, Checksum]:
    """Write ``most`` bytes of what can be read. Returns what was read, and what the copy returns.

    This thread writes; others read and sum, read back, and bring to disk what was written. Raises
    OSError, which names the source if that is where it failed; no thread runs after.
    """
    from concurrent.futures import ThreadPoolExecutor  # with it comes logging: 10 ms of `list`
    from queue import SimpleQueue

    free: SimpleQueue[memoryview | None] = SimpleQueue()
    full: SimpleQueue[memoryview] = SimpleQueue()
    written: SimpleQueue[int | None] = SimpleQueue()
    for _ in range(_BLOCKS):
        free.put(memoryview(bytearray(BLOCK)))

    def read() -> Checksum:
        size = crc = 0
        try:
            while (buffer := free.get()) and (
                count := _read(reader, buffer[: most - size], source)
            ):
                crc = zlib.crc32(buffer[:count], crc)
                size += count
                full.put(buffer[:count])
        finally:
            full.put(memoryview(b""))
        return Checksum(size, crc)

    def read_back() -> Checksum:
        found, buffer = Checksum(0, 0), memoryview(bytearray(BLOCK))
        while (size := written.get()) is not None:
            found = _sum_range(writer, buffer, found, size)
        return found

    size = flushed = 0
    with ThreadPoolExecutor(3) as threads:
        reading, returning = threads.submit(read), threads.submit(read_back)
        flush: Future[None] | None = None
        try:
            while block := full.get():
                _write(writer, block)
                size += len(block)
                free.put(memoryview(block.obj))
                written.put(size)
                if size - flushed >= FLUSHED_BYTES and (flush is None or flush.done()):
                    if flush is not None:
                        flush.result()
                    flush, flushed = threads.submit(os.fdatasync, writer), size
        finally:  # so that the others end
            free.put(None)
            written.put(None)
        copied = reading.result()
        if flush is not None:
            flush.result()
        os.fdatasync(writer)
        return copied, returning.result()


def _write(writer: int, block: memoryview) -> None:
    while block:
        block = block[os.write(writer, block) :]


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


def _check_copy(size: int, copied: Checksum, found: Checksum, target: Path) -> None:
    """Raises OSError when the copy, of ``size`` bytes, is not what was read."""
    if found != copied or size != copied.bytes:
        text = f"the copy differs ({size} of {copied.bytes} bytes, CRC-32 {found.crc32:08x} for "
        raise OSError(errno.EIO, f"{text}{copied.crc32:08x})", os.fspath(target))


def _sum_range(file: int, buffer: memoryview, before: Checksum, end: int) -> Checksum:
    """``before`` with what an open file returns after it, to offset ``end``. Raises OSError."""
    size, crc = before
    while size < end and (count := os.preadv(file, [buffer[: end - size]], size)):
        crc = zlib.crc32(buffer[:count], crc)
        size += count
    return Checksum(size, crc)
