"""Chunks of deflated variables: where they lie in an HDF5 file, and their bytes.

h5py finds them, and does not read them. Their bytes come from the descriptor that h5py has open, so
index and bytes are of one file, whatever its path names meanwhile. h5py and netCDF4 each have an
HDF5 library of their own as wheels; where a site's builds share one, a reader still calls them in
turn, from its own thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.hdf5_filters import foreign_filter, missing_filter

CACHE_BYTES = 64 << 20
"""Most bytes of inflated chunks that one frame keeps; netCDF-C keeps as many of each variable."""
Identity = tuple[int, int]
"""Device and inode of a file."""
Point = tuple[int, ...]
Plain = bytearray | NDArray[np.uint8]
"""The bytes of an inflated chunk."""
UNKNOWN = (OSError, RuntimeError, KeyError, ValueError, TypeError)
"""Errors of h5py for what it does not know, and for damaged metadata."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stored chunk: its first point in the variable, position and size in the file in bytes.

    ``skipped`` has a bit for each filter that was not applied to it.
    """

    first: Point
    position: int
    size: int
    skipped: int


@dataclass(frozen=True, slots=True)
class Layout:
    """How a deflated variable is stored: the shapes of variable and chunk, the type of its values,
    whether their bytes are shuffled, the chunks of one record by their first points."""

    name: str
    shape: Point
    chunk: Point
    kind: np.dtype[Any]
    is_shuffled: bool
    chunks: Mapping[Point, Chunk]

    @property
    def chunk_bytes(self) -> int:
        """Size of an inflated chunk in bytes; chunks at an edge are stored whole."""
        return prod(self.chunk) * self.kind.itemsize

    def count_points(self, chunk: Chunk) -> int:
        """How many points of the variable a chunk holds: fewer at an edge."""
        pairs = zip(chunk.first, self.chunk, self.shape, strict=True)
        return prod(min(first + size, whole) - first for first, size, whole in pairs)

    def name_chunk(self, chunk: Chunk) -> str:
        """A chunk in words, see :func:`_chunk_name`."""
        return _chunk_name(chunk.first, self.chunk, chunk.position)


class ChunkFile:
    """An HDF5 file, open to find and read chunks: never for writing, without a lock.

    Raises one of UNKNOWN if it cannot be opened, OSError if it is not the file with ``identity``.
    """

    def __init__(self, path: Path, identity: Identity) -> None:
        import h5py  # takes 40 ms; only large deflated variables need it

        self._file = h5py.File(path, "r", locking=False)
        self._descriptor: int = self._file.id.get_vfd_handle()
        self._layouts: dict[str, Layout | None] = {}
        self.identity = identity
        if identity_of(os.fstat(self._descriptor)) != identity:
            self.close()
            raise OSError(f"{path.name} was replaced")

    def layout(self, name: str, axis: int | None = None, record: int = 0) -> Layout | None:
        """The layout of a variable, with the chunks that hold a record along ``axis`` (None: all).

        None if its filters are not deflate, alone or after shuffle, if its values are not floats of
        4 or 8 bytes in this machine's order, or if h5py cannot say.
        """
        if name not in self._layouts:
            self._layouts[name] = None
            with suppress(*UNKNOWN):
                self._layouts[name] = _layout(self._file, name, axis, record)
        return self._layouts[name]

    def stored(self, chunk: Chunk) -> NDArray[np.uint8]:
        """The bytes of a chunk as they are stored. OSError if the file ends before them."""
        found = np.empty(chunk.size, np.uint8)  # in large pages, unlike bytes
        view, done = found.data, 0
        while done < chunk.size:
            read = os.preadv(self._descriptor, [view[done:]], chunk.position + done)
            if not read:
                raise OSError(f"the file ends after {done} of its {chunk.size} bytes")
            done += read
        return found

    def damaged(self, name: str, firsts: Iterable[Point]) -> str:
        """Names the first chunk of those with these first points that HDF5 cannot read, and why.

        Empty if it can read all, or lacks one of their filters.
        """
        with suppress(*UNKNOWN):
            dataset = self._file[name]
            if not missing_filter(dataset):
                for first in firsts:
                    ends = [a + size for a, size in zip(first, dataset.chunks, strict=True)]
                    try:
                        dataset[tuple(map(slice, first, ends))]
                    except OSError as error:
                        position = dataset.id.get_chunk_info_by_coord(first).byte_offset
                        return f"{_chunk_name(first, dataset.chunks, position)} is damaged: {error}"
        return ""

    def lacks_filter(self, name: str) -> str:
        """Names the filter of a variable that netCDF4 has not, see :mod:`.hdf5_filters`."""
        with suppress(*UNKNOWN):
            return foreign_filter(self._file[name])
        return ""

    def close(self) -> None:
        """Close the file. No other thread may be reading it."""
        self._file.close()


class ChunkCache:
    """The latest inflated chunks of a frame of which a part was used, for the next read.

    A frame of several products keeps all chunks beside these, up to ``shared`` bytes, and drops
    none: where more are read in turn, the oldest of them would be gone each time.
    """

    def __init__(self) -> None:
        self._chunks: dict[Any, Plain] = {}
        self._size = 0
        self._lock = Lock()
        self._kept: dict[Any, Plain] = {}
        self.shared = 0

    def get(self, key: Any) -> Plain | None:
        """The bytes of a chunk, if they are kept."""
        found = self._kept.get(key)
        return self._chunks.get(key) if found is None else found

    def add(self, key: Any, inflated: Plain, *, whole: bool) -> None:
        """Keep a chunk if all of it may be used again, or if it was not used as a ``whole``; drop
        the oldest ones beyond CACHE_BYTES."""
        with self._lock:
            if len(inflated) <= self.shared and key not in self._kept:
                self._kept[key] = inflated
                self.shared -= len(inflated)
            elif not whole and key not in self._chunks and len(inflated) <= CACHE_BYTES:
                self._chunks[key] = inflated
                self._size += len(inflated)
                while self._size > CACHE_BYTES:
                    self._size -= len(self._chunks.pop(next(iter(self._chunks))))

    def clear(self) -> None:
        """Drop all."""
        with self._lock:
            self.shared += sum(map(len, self._kept.values()))
            self._kept.clear()
            self._chunks.clear()
            self._size = 0


def identity_of(status: os.stat_result) -> Identity:
    """Which file this is, whatever its path."""
    return status.st_dev, status.st_ino


def _chunk_name(first: Point, shape: Point, position: int) -> str:
    """A chunk in words, by its number along each dimension of the variable and its position."""
    numbers = ", ".join(str(at // size) for at, size in zip(first, shape, strict=True))
    return f"chunk ({numbers}) at byte {position}"


def _layout(file: Any, name: str, axis: int | None, record: int) -> Layout | None:
    dataset = file[name]
    kind = dataset.dtype
    made = dataset.id.get_create_plist()
    filters = [made.get_filter(index) for index in range(made.get_nfilters())]
    shuffle, deflate = (2, (kind.itemsize,)), (1, None)
    known = [(number, values if number == 2 else None) for number, _, values, _ in filters]
    if (
        known not in ([deflate], [shuffle, deflate])
        or kind not in (np.dtype("<f4"), np.dtype("<f8"))
        or not kind.isnative
        or file.userblock_size  # HDF5 2.0 counts it in a chunk's position, its predecessor does not
        or not hasattr(dataset.id, "chunk_iter")  # HDF5 before 1.12.3
    ):
        return None
    chunks: dict[Point, Chunk] = {}
    shape = dataset.chunks

    def keep(found: Any) -> None:
        first = found.chunk_offset
        if axis is None or first[axis] <= record < first[axis] + shape[axis]:
            chunks[first] = Chunk(first, found.byte_offset, found.size, found.filter_mask)

    dataset.id.chunk_iter(keep)
    return Layout(name, dataset.shape, shape, kind, len(filters) == 2, chunks)
