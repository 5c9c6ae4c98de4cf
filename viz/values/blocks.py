"""Codes as blocks of 64 x 64 in one raw deflate stream, of which each block can be read alone.

In a block each code is predicted from its neighbours (left + above - above left, modulo 2^16,
outside of the block 0), the difference folded to an unsigned number (zigzag), low bytes kept apart
from high ones. Between blocks the stream is flushed: a reader may inflate the whole at once, as
browsers do, or one block from where it begins. Blocks go row by row; what lies beyond the field's
edge repeats it.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from burstlens.core.errors import ValuesError

Codes = NDArray[np.uint16]
BLOCK = 64
_BYTES = 2 * BLOCK * BLOCK
_RAW = -15
_LEVEL = 1
"""Higher levels save nothing on what prediction leaves."""


class Encoder:
    """Fields of codes, one after the other, in one stream."""

    def __init__(self) -> None:
        self._stream: Any = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _RAW)
        self._parts: list[bytes] = []
        self.ends: list[int] = []
        """Where each block ends in the stream, in bytes."""

    def add(self, codes: Codes) -> None:
        """Add a field of (row, column) codes."""
        end = self.ends[-1] if self.ends else 0
        for block in _folded(codes):
            part = self._stream.compress(block) + self._stream.flush(isal_zlib.Z_FULL_FLUSH)
            end += len(part)
            self._parts.append(part)
            self.ends.append(end)

    def finish(self) -> bytes:
        """The whole stream, with its end."""
        return b"".join([*self._parts, self._stream.flush()])


def count(rows: int, columns: int) -> int:
    """How many blocks a field has."""
    return -(-rows // BLOCK) * -(-columns // BLOCK)


def place(row: int, column: int, columns: int) -> tuple[int, int, int]:
    """The number of the block that holds a point, and the point's row and column in it."""
    across = -(-columns // BLOCK)
    number = row // BLOCK * across + column // BLOCK
    return number, row % BLOCK, column % BLOCK


def decode(stream: bytes, rows: int, columns: int, first: int = 0) -> Codes:
    """The codes of a field, as (row, column), whose first block is the ``first`` of the stream.

    Raises ValuesError where the stream is damaged or too short.
    """
    inflated = _inflated(stream, (first + count(rows, columns)) * _BYTES)
    down, across = -(-rows // BLOCK), -(-columns // BLOCK)
    parts = np.frombuffer(inflated, np.uint8)[first * _BYTES :].reshape(-1, 2, BLOCK, BLOCK)
    codes = _unfolded(parts[: down * across])
    whole = codes.reshape(down, across, BLOCK, BLOCK).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(whole.reshape(down * BLOCK, across * BLOCK)[:rows, :columns])


def decode_block(part: bytes) -> Codes:
    """The codes of one block as (row, column). Raises ValuesError where it is damaged."""
    inflated = np.frombuffer(_inflated(part, _BYTES), np.uint8)
    codes: Codes = _unfolded(inflated.reshape(1, 2, BLOCK, BLOCK))[0]
    return codes


def _inflated(stream: bytes, least: int) -> bytes:
    try:
        inflated = zlib.decompressobj(_RAW).decompress(stream, least)
    except zlib.error as error:
        raise ValuesError(f"the values are damaged: {error}") from error
    if len(inflated) < least:
        raise ValuesError(f"the values are cut short: {len(inflated)} of {least} bytes")
    return inflated


def _folded(codes: Codes) -> NDArray[np.uint8]:
    """(block, 2 * 64 * 64) bytes, ready to be deflated."""
    rows, columns = codes.shape
    below, beside = -rows % BLOCK, -columns % BLOCK
    if below or beside:
        codes = np.pad(codes, ((0, below), (0, beside)), mode="edge")
    parts = codes.reshape(codes.shape[0] // BLOCK, BLOCK, -1, BLOCK).transpose(0, 2, 1, 3)
    along = parts.copy()
    along[..., 1:] -= parts[..., :-1]
    left = along.copy()
    left[..., 1:, :] -= along[..., :-1, :]
    folded = (left << 1) ^ (left.view(np.int16) >> 15).view(np.uint16)
    split = np.empty((*folded.shape[:2], 2, BLOCK, BLOCK), np.uint8)
    split[:, :, 0], split[:, :, 1] = folded & 255, folded >> 8
    return split.reshape(-1, _BYTES)


def _unfolded(parts: NDArray[np.uint8]) -> Codes:
    """(block, row, column) codes of (block, low or high, row, column) bytes."""
    folded = parts[:, 0].astype(np.uint16) | (parts[:, 1].astype(np.uint16) << 8)
    left = (folded >> 1) ^ (0 - (folded & 1)).astype(np.uint16)
    along = np.cumsum(left, axis=1, dtype=np.uint16)
    return np.asarray(np.cumsum(along, axis=2, dtype=np.uint16), np.uint16)
