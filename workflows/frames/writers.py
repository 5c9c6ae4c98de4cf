"""What a file's bytes say of the programs that write it: open, closed, or gone with a gap left."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable

from burstlens.core import cdf
from burstlens.core.durable import open_descriptor
from burstlens.core.errors import FrameError
from burstlens.workflows.frames import hdf5

SUPERBLOCK_BYTES = 96
SAMPLES, SAMPLE_BYTES, LAST_BYTES = 64, 256, 1 << 16
"""The bytes that are compared: some everywhere, and the end, where the last record lies."""


def has_writer(path: str) -> bool:
    """Whether an HDF5 file says that a program has it open for writing: False is not a proof.
    Raises OSError if the file system cannot read it."""
    block = superblock_of(path)
    return block is not None and block.has_writer


def is_classic(path: str) -> bool:
    """Whether it is a classic netCDF file. Raises OSError if the file system cannot read it."""
    with open_descriptor(path) as descriptor:
        return os.pread(descriptor, 3, 0) == b"CDF"


def superblock_of(path: str) -> hdf5.Superblock | None:
    """The superblock of an HDF5 file, None of any other. Raises OSError if the file system cannot
    read it."""
    with open_descriptor(path) as descriptor:
        return hdf5.superblock(descriptor)


def has_gap(path: str, index: int) -> bool:
    """Whether a classic file has a hole in that record: bytes that were never written. A full disk
    leaves one if there is room again for the next record. False if the file system does not report
    holes."""
    try:
        with open_descriptor(path) as descriptor:
            header = cdf.read_header(descriptor)
            begin, end = header.begin_of_record(index), header.end_of_record(index)
            return os.lseek(descriptor, begin, os.SEEK_HOLE) < end
    except (FrameError, OSError):
        return False


def digest(paths: Iterable[str]) -> int:
    """A digest of the files' sizes and of samples of their bytes behind the superblock, never 0.
    Raises OSError."""
    crc = 1
    for path in paths:
        with open_descriptor(path) as descriptor:
            size = os.fstat(descriptor).st_size
            crc = zlib.crc32(str(size).encode(), crc)
            step = max(SAMPLE_BYTES, (size - SUPERBLOCK_BYTES) // SAMPLES)
            for offset in range(SUPERBLOCK_BYTES, size, step):
                crc = zlib.crc32(os.pread(descriptor, SAMPLE_BYTES, offset), crc)
            last = max(SUPERBLOCK_BYTES, size - LAST_BYTES)
            crc = zlib.crc32(os.pread(descriptor, LAST_BYTES, last), crc)
    return crc or 1


def is_closed(before: int, paths: Iterable[str]) -> bool:
    """Whether the mark that a program has the file open for writing was there when its digest was
    ``before`` (0: it was not), and only that is gone since.

    Closing an HDF5 file changes that mark in its superblock, and nothing else (measured with WRF
    4.3.3). Whatever else has changed is compared by its products. Raises OSError.
    """
    paths = list(paths)
    return bool(before) and not any(map(has_writer, paths)) and digest(paths) == before
