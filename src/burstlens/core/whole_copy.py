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
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Future

    Path = str | os.PathLike[str]

BLOCK = 1 << 20
"""Bytes of one call: in the processor's cache when they are summed or compared. An ext4 took three
times the CPU for writes of twice as much."""
BUFFER = 4 * BLOCK
"""What one thread hands to the next; a file that is no larger is copied without threads."""
_BUFFERS = 3
FLUSHED_BYTES = 32 << 20
"""So much is brought to disk while more is copied: that pays for the CRC and the comparison."""
_END = memoryview(b"")


@dataclass(frozen=True, slots=True)
class Checksum:
    """A content's size in bytes and CRC-32."""

    bytes: int
    crc32: int


def copy_whole(
    source: Path, target: Path, *, keep_mode: bool = False, grows: bool = False
) -> Checksum:
    """Copy the content of a regular file, links followed: afterwards the target is the whole copy,
    on disk, or what it was before.

    The CRC of what is read is computed while copying, and what the copy returns compared with it.
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
            if (size := os.fstat(writer).st_size) != copied.bytes:
                raise _differing(f"{size} of {copied.bytes} bytes")
        finally:
            os.close(writer)
        rename(part, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(part)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = os.fspath(target)
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
    """Write what can be read, ``most`` bytes of it, and compare. Raises OSError, which names the
    source if that is where it failed."""
    if most > BUFFER:
        try:
            return _pump_with_threads(reader, writer, most, source)
        except RuntimeError:  # no thread can be started: a limit of processes, or the end of Python
            os.lseek(reader, 0, os.SEEK_SET)
            os.lseek(writer, 0, os.SEEK_SET)
    buffer = memoryview(bytearray(min(most, BUFFER)))
    size = crc = 0
    while wanted := buffer[: most - size]:
        block, crc = _fill(wanted, reader, crc, source)
        _write(writer, block)
        _compare(writer, block, size)
        size += len(block)
        if len(block) < len(wanted):
            break
    return Checksum(size, crc)


def _pump_with_threads(reader: int, writer: int, most: int, source: Path) -> Checksum:
    """:func:`_pump` for a large file: one thread reads and sums, this one writes, one compares, and
    one brings to disk. None of them runs after. Raises RuntimeError where one cannot be started."""
    from concurrent.futures import ThreadPoolExecutor  # with it comes logging: 10 ms of `list`
    from queue import SimpleQueue

    free: SimpleQueue[memoryview] = SimpleQueue()
    full: SimpleQueue[memoryview] = SimpleQueue()
    written: SimpleQueue[memoryview] = SimpleQueue()
    for _ in range(_BUFFERS):
        free.put(memoryview(bytearray(BUFFER)))

    def read() -> Checksum:
        size = crc = 0
        try:
            while wanted := free.get()[: most - size]:
                block, crc = _fill(wanted, reader, crc, source)
                size += len(block)
                full.put(block)
                if len(block) < len(wanted):
                    break
        finally:
            full.put(_END)
        return Checksum(size, crc)

    def compare() -> None:
        size = 0
        try:
            while block := written.get():
                _compare(writer, block, size)
                size += len(block)
                free.put(memoryview(block.obj))
        finally:
            full.put(_END)  # after an error nothing more is written

    size = flushed = 0
    flush: Future[None] | None = None
    with ThreadPoolExecutor(3) as threads:
        try:
            reading, comparing = threads.submit(read), threads.submit(compare)
            while block := full.get():
                _write(writer, block)
                size += len(block)
                written.put(block)
                if size - flushed >= FLUSHED_BYTES and (flush is None or flush.done()):
                    if flush is not None:
                        flush.result()
                    flush, flushed = threads.submit(os.fdatasync, writer), size
        finally:  # so that the others end
            free.put(_END)
            written.put(_END)
        copied = reading.result()
        if flush is not None:
            flush.result()
        os.fdatasync(writer)
        comparing.result()
    return copied


def _fill(buffer: memoryview, reader: int, crc: int, source: Path) -> tuple[memoryview, int]:
    """What was read into the buffer, less than all only at the file's end, and ``crc`` with it."""
    size = 0
    while size < len(buffer) and (count := _read(reader, buffer[size : size + BLOCK], source)):
        crc = zlib.crc32(buffer[size : size + count], crc)
        size += count
    return buffer[:size], crc


def _write(writer: int, block: memoryview) -> None:
    while block:
        block = block[os.write(writer, block[:BLOCK]) :]


def _compare(file: int, block: memoryview, offset: int) -> None:
    """Raises OSError where an open file returns at ``offset`` something else than ``block``."""
    found = bytearray(min(BLOCK, len(block)))
    while block:
        count = os.preadv(file, [memoryview(found)[: len(block)]], offset)
        returned = found if count == len(found) else found[:count]
        if not count or returned != block[:count]:  # by memcmp: not so two memoryviews
            raise _differing(f"within {BLOCK} bytes from byte {offset}")
        block, offset = block[count:], offset + count


def _differing(where: str) -> OSError:
    return OSError(errno.EIO, f"the copy differs from what was read: {where}")


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
