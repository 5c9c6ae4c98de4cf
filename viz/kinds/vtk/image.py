"""A file in memory that takes no room for what is not written to it."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, BinaryIO

from burstlens.viz.kinds.vtk.placed import write_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

_PAGE = 4096


class Image(io.RawIOBase):
    """What a library writes that allots places to large arrays; unwritten bytes are zeros. h5py
    asks for ``readinto``, ``write``, ``seek``, ``tell``, ``truncate`` and ``flush``."""

    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = {}
        self._size = 0
        self._at = 0

    def copy(self, file: BinaryIO) -> None:
        """Write it to an unbuffered file, which gets the same length. Raises OSError."""
        if self._size:
            write_at(file, b"\0", self._size - 1)
        for number, page in self._pages.items():
            begin = number * _PAGE
            write_at(file, bytes(page[: self._size - begin]), begin)

    def write(self, data: Buffer, /) -> int:
        """Keep the data at the present place."""
        raw = memoryview(data).cast("B")
        for number, begin, part in self._runs(len(raw)):
            page = self._pages.setdefault(number, bytearray(_PAGE))
            page[begin : begin + len(part)] = raw[part.start : part.stop]
        self._at += len(raw)
        if len(raw):
            self._size = max(self._size, self._at)
        return len(raw)

    def readinto(self, buffer: Buffer, /) -> int:
        """Fill the buffer from the present place on; returns how much there was."""
        raw = memoryview(buffer).cast("B")
        count = max(0, min(len(raw), self._size - self._at))
        for number, begin, part in self._runs(count):
            page = self._pages.get(number, bytes(_PAGE))
            raw[part.start : part.stop] = page[begin : begin + len(part)]
        self._at += count
        return count

    def _runs(self, count: int) -> Iterator[tuple[int, int, range]]:
        """The bytes from the present place on, page by page: its number, the place in it, and
        which of them these are."""
        done = 0
        while done < count:
            number, begin = divmod(self._at + done, _PAGE)
            length = min(_PAGE - begin, count - done)
            yield number, begin, range(done, done + length)
            done += length

    def seek(self, place: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to a place."""
        self._at = place + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        """The present place."""
        return self._at

    def truncate(self, size: int | None = None) -> int:
        """Set the length; what is added takes no room."""
        self._size = self._at if size is None else size
        return self._size
