"""``<picture>.values.js``: a product's fields as drawn, in one classic script.

Browsers run such a script even from a file share, where they fetch nothing. It passes one text to
``burstlensFeed``: base64 of ``BLV1``, u32 length of the header, the header (JSON, padded with
spaces to a multiple of 8), u32 end of each block, the blocks (:mod:`.blocks`), and the overlay's
PNG images; all numbers little-endian. docs/values.md describes the header.
"""

from __future__ import annotations

import binascii
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from burstlens.core.errors import ValuesError
from burstlens.viz.values import blocks
from burstlens.viz.values.quantised import Codes, Scale, restored

MAGIC = b"BLV1"
TRACES = b"BLT1"
"""Begins the traces of a seismogram instead, which stand in a script of the same name."""
FORMAT = 1
_BEFORE = b'burstlensFeed("'
_AFTER = b'");\n'
_FIXED = len(MAGIC) + 4
_GUESS = 32768
"""Bytes of a script that hold its header in most cases."""


@dataclass(frozen=True, slots=True)
class Laid:
    """One field in a script: where its blocks begin, and what its codes stand for."""

    grid: str
    rows: int
    columns: int
    first: int
    scale: Scale


def script(header: Mapping[str, Any], fields: Sequence[tuple[Mapping[str, Any], Codes, Scale]],
           overlay: Sequence[tuple[Sequence[int], bytes]] = ()) -> bytes:  # fmt: skip
    """The script of a header, its fields (facts, codes, scale), the lowest first, and its overlay.

    ``overlay`` are PNG images with (left, top, width, height) in pixels of the picture.
    """
    encoder, laid = blocks.Encoder(), []
    for facts, codes, scale in fields:
        first = len(encoder.ends)
        encoder.add(codes)
        rows, columns = codes.shape
        laid.append({**facts, "ny": rows, "nx": columns, "first": first, **scale.facts()})
    stream = encoder.finish()
    images = [{"at": list(at), "bytes": len(image)} for at, image in overlay]
    whole = {
        "format": FORMAT,
        **header,
        "block": blocks.BLOCK,
        "bytes": len(stream),
        "fields": laid,
        "overlay": images,
    }
    ends = struct.pack(f"<{len(encoder.ends)}I", *encoder.ends)
    return packed(MAGIC, whole, ends, stream, *(image for _, image in overlay))


def packed(magic: bytes, header: Mapping[str, Any], *parts: bytes) -> bytes:
    """The script that passes a header on, and what follows it."""
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-(len(text) + _FIXED) % 8)
    payload = b"".join((magic, struct.pack("<I", len(text)), text, *parts))
    return _BEFORE + binascii.b2a_base64(payload, newline=False) + _AFTER


class ValuesFile:
    """The values of one picture, opened at its script; reads no more of it than is asked for.

    Raises ValuesError where the script is missing, cut short, damaged or of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._beginning = file.read(_GUESS)
        except OSError as error:
            raise ValuesError(f"{path} cannot be read: {error.strerror}") from error
        if not self._beginning.startswith(_BEFORE):
            raise ValuesError(f"{path} is not a file of values")
        fixed = self._bytes(0, _FIXED)
        if fixed[:4] == TRACES:
            raise ValuesError(f"{path} holds traces of stations, not the values of a field")
        if fixed[:4] != MAGIC:
            raise ValuesError(f"{path} is not a file of values, or of a newer version of Burstlens")
        length = int.from_bytes(fixed[4:], "little")
        try:
            self.header: dict[str, Any] = json.loads(self._bytes(_FIXED, length))
            self.fields = tuple(_laid(one) for one in self.header["fields"])
            self._blocks = sum(blocks.count(one.rows, one.columns) for one in self.fields)
            self._length = int(self.header["bytes"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValuesError(f"{path}: its header cannot be read: {error!r}") from error
        if self.header.get("format") != FORMAT or self.header.get("block") != blocks.BLOCK:
            raise ValuesError(f"{path} is of another version of Burstlens")
        self._ends: int = _FIXED + length

    def field(self, number: int = 0) -> Any:
        """All values of a field, as (row, column) float64."""
        one = self.fields[number]
        stream = self._bytes(self._stream, self._length)
        codes = blocks.decode(stream, one.rows, one.columns, one.first)
        return restored(codes, one.scale)

    def at(self, row: int, column: int, number: int = 0) -> float:
        """The value of one point; reads its block alone. IndexError beyond the field."""
        one = self.fields[number]
        if not (0 <= row < one.rows and 0 <= column < one.columns):
            raise IndexError(f"({row}, {column}) is not in a field of {one.rows} x {one.columns}")
        for at_row, at_column, value in one.scale.outliers:
            if (at_row, at_column) == (row, column):
                return value
        codes, down, across = self._block_codes(one, row, column)
        scale = replace(one.scale, outliers=())  # their places are those of the whole field
        return float(restored(codes[down : down + 1, across : across + 1], scale)[0, 0])

    def block(self, row: int, column: int, number: int = 0) -> tuple[Any, tuple[int, int]]:
        """The values of the block that holds a point, as (row, column) float64, and the row and
        column of its first one; reads no other block. IndexError beyond the field."""
        one = self.fields[number]
        if not (0 <= row < one.rows and 0 <= column < one.columns):
            raise IndexError(f"({row}, {column}) is not in a field of {one.rows} x {one.columns}")
        codes, down, across = self._block_codes(one, row, column)
        top, left = row - down, column - across
        outliers = tuple(
            (at_row - top, at_column - left, value)
            for at_row, at_column, value in one.scale.outliers
            if at_row >= top and at_column >= left
        )
        codes = codes[: one.rows - top, : one.columns - left]
        return restored(codes, replace(one.scale, outliers=outliers)), (top, left)

    def longest_block(self, number: int = 0) -> tuple[int, int]:
        """Row and column where the block of a field begins that takes the most bytes: its values
        differ if those of any block do."""
        one = self.fields[number]
        begun = min(1, one.first)
        count = blocks.count(one.rows, one.columns)
        ends = self._bytes(self._ends + 4 * (one.first - begun), 4 * (count + begun))
        bounds = [*([] if begun else [0]), *struct.unpack(f"<{count + begun}I", ends)]
        sizes = [end - begin for begin, end in pairwise(bounds)]
        down, across = divmod(sizes.index(max(sizes)), -(-one.columns // blocks.BLOCK))
        return down * blocks.BLOCK, across * blocks.BLOCK

    def _block_codes(self, one: Laid, row: int, column: int) -> tuple[Codes, int, int]:
        """The codes of the block that holds a point of a field, and the point's row and column in
        it."""
        block, down, across = blocks.place(row, column, one.columns)
        block += one.first
        ends = self._bytes(self._ends + 4 * max(0, block - 1), 8 if block else 4)
        bounds = struct.unpack(f"<{len(ends) // 4}I", ends)
        begin, end = (bounds[0], bounds[1]) if block else (0, bounds[0])
        if not begin <= end <= self._length:
            raise ValuesError(f"{self.path}: the ends of its blocks are damaged")
        return blocks.decode_block(self._bytes(self._stream + begin, end - begin)), down, across

    @property
    def overlay(self) -> list[tuple[list[int], bytes]]:
        """The images over the field: (left, top, width, height), PNG."""
        at, images = self._stream + self._length, []
        for one in self.header["overlay"]:
            images.append((list(one["at"]), self._bytes(at, int(one["bytes"]))))
            at += int(one["bytes"])
        return images

    @property
    def _stream(self) -> int:
        """Where the blocks begin in the payload."""
        return self._ends + 4 * self._blocks

    def _bytes(self, at: int, length: int) -> bytes:
        """That part of the payload."""
        first = at // 3 * 4
        wanted = -(-(at + length) // 3) * 4 - first
        begin = len(_BEFORE) + first
        text = self._beginning[begin : begin + wanted]
        if len(text) < wanted:
            try:
                with self.path.open("rb") as file:
                    file.seek(begin)
                    text = file.read(wanted)
            except OSError as error:
                raise ValuesError(f"{self.path} cannot be read: {error.strerror}") from error
        text = text.removesuffix(_AFTER)
        try:
            data = binascii.a2b_base64(text, strict_mode=True)
        except binascii.Error as error:
            raise ValuesError(f"{self.path} is damaged or cut short") from error
        found = data[at % 3 : at % 3 + length]
        if len(found) < length:
            raise ValuesError(f"{self.path} is cut short")
        return found


def read_payload(path: Path) -> bytes:
    """What a script of values passes to the page. Raises ValuesError."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ValuesError(f"{path} cannot be read: {error.strerror}") from error
    if not (text.startswith(_BEFORE) and text.endswith(_AFTER)):
        raise ValuesError(f"{path} is not a file of values, or cut short")
    try:
        return binascii.a2b_base64(text[len(_BEFORE) : -len(_AFTER)], strict_mode=True)
    except binascii.Error as error:
        raise ValuesError(f"{path} is damaged") from error


def _laid(facts: Mapping[str, Any]) -> Laid:
    rows, columns, first = (int(facts[name]) for name in ("ny", "nx", "first"))
    if min(rows, columns) < 1 or first < 0:
        raise ValueError("a field without points")
    return Laid(str(facts["grid"]), rows, columns, first, Scale.of(facts))
