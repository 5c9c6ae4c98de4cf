"""Whether a file that has changed after its last record was declared was closed by its writer.

Closing writes the mark that no program has the file open into the superblock of HDF5, and nothing
else (measured with WRF 4.3.3). Whatever else has changed is compared by its products.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable

from burstlens.workflows.frames.structure import has_writer

SUPERBLOCK_BYTES = 96
SAMPLES, SAMPLE_BYTES, LAST_BYTES = 64, 256, 1 << 16
"""The bytes that are compared: some everywhere, and the end, where the last record lies."""


def digest(paths: Iterable[str]) -> int:
    """A digest of the files' sizes and of samples of their bytes behind the superblock, never 0.
    Raises OSError."""
    crc = 1
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            size = os.fstat(descriptor).st_size
            crc = zlib.crc32(str(size).encode(), crc)
            step = max(SAMPLE_BYTES, (size - SUPERBLOCK_BYTES) // SAMPLES)
            for offset in range(SUPERBLOCK_BYTES, size, step):
                crc = zlib.crc32(os.pread(descriptor, SAMPLE_BYTES, offset), crc)
            last = max(SUPERBLOCK_BYTES, size - LAST_BYTES)
            crc = zlib.crc32(os.pread(descriptor, LAST_BYTES, last), crc)
        finally:
            os.close(descriptor)
    return crc or 1


def is_closed(before: int, paths: Iterable[str]) -> bool:
    """Whether the mark that a program has the file open for writing was there when its digest was
    ``before`` (0: it was not), and only that is gone since. Raises OSError."""
    paths = list(paths)
    return bool(before) and not any(map(has_writer, paths)) and digest(paths) == before
