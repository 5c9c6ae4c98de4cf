"""Headers of netCDF classic files (CDF-1, CDF-2, CDF-5), read with every count bounded.

The netCDF library is not used on a file in progress: a half-written header can cost it a second
of work, and it may hold a lock. This parser reads at most ``MAX_HEADER_BYTES`` and rejects
counts that the available bytes could not hold. Formats: "The NetCDF Classic Format Specification"
(Unidata) and "CDF-5 File Format Specification" (PnetCDF project).
"""

from __future__ import annotations

import math
import os
import struct
from collections import deque
from dataclasses import dataclass, field, replace

from burstlens.core.errors import FrameError
from burstlens.core.printable import file_text

MAX_HEADER_BYTES = 4 << 20
MAX_NAME_BYTES = 1024
MAX_RANK = 1024
_FIRST_READ = 64 << 10
_DIMENSION, _VARIABLE, _ATTRIBUTE = 10, 11, 12
_CODES = "bchifdBHIqQ"
_TYPES = {
    number: (code, struct.calcsize(">" + code)) for number, code in enumerate(_CODES, start=1)
}
_U32, _U64 = struct.Struct(">I"), struct.Struct(">Q")
_TYPE_U32, _TYPE_U64 = struct.Struct(">II"), struct.Struct(">IQ")


@dataclass(frozen=True, slots=True)
class Attribute:
    """The value of an attribute: the ``struct`` code of its type, and its big-endian bytes."""

    code: str
    raw: bytes

    @property
    def text(self) -> str:
        """The value of a character attribute, "" for any other."""
        return file_text(self.raw) if self.code == "c" else ""

    @property
    def number(self) -> float | None:
        """The first value of a numeric attribute, None for any other."""
        if self.code == "c" or not self.raw:
            return None
        return float(struct.unpack_from(">" + self.code, self.raw)[0])

    @property
    def value(self) -> str | float | list[float]:
        """The text, the only number, or the numbers."""
        if self.code == "c":
            return self.text
        values = struct.unpack(f">{self.length}{self.code}", self.raw)
        return values[0] if len(values) == 1 else list(values)

    @property
    def length(self) -> int:
        """How many values it has."""
        return len(self.raw) // struct.calcsize(">" + self.code)


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable: ``shape`` without the record dimension, ``begin`` its first byte's offset.
    ``dimensions`` are the names of all of its dimensions, with that of the records."""

    shape: tuple[int, ...]
    is_record: bool
    code: str
    begin: int
    attributes: dict[str, Attribute]
    dimensions: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        """Bytes of data (of one record of it), without padding."""
        return math.prod(self.shape) * struct.calcsize(">" + self.code)


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a classic file. ``records`` is None while it is undetermined. ``dimensions``
    are the lengths by name, 0 for that of the records."""

    version: int
    records: int | None
    record_bytes: int
    attributes: dict[str, Attribute]
    variables: dict[str, Variable]
    dimensions: dict[str, int] = field(default_factory=dict)

    def end_of_fixed(self) -> int:
        """The offset at which the data of all variables without records ends."""
        fixed = [v.begin + v.bytes for v in self.variables.values() if not v.is_record]
        return max(fixed, default=0)

    def end_of_record(self, index: int) -> int:
        """The offset at which the data of record ``index`` ends."""
        ends = [v.begin + v.bytes for v in self.variables.values() if v.is_record]
        return max(ends, default=0) + index * self.record_bytes

    def begin_of_record(self, index: int) -> int:
        """The offset of record ``index``: where the one before it ends, padding included."""
        begins = [v.begin for v in self.variables.values() if v.is_record]
        return min(begins, default=0) + index * self.record_bytes

    def read(self, descriptor: int, variable: Variable, index: int) -> bytes:
        """The raw, big-endian bytes of one record (of all data where it has no records)."""
        offset = variable.begin + (index * self.record_bytes if variable.is_record else 0)
        return os.pread(descriptor, variable.bytes, offset)


_parsed: deque[tuple[bytes, Header]] = deque(maxlen=8)
"""The newest headers, by their bytes after the number of records: frames of a stream share them."""


class _Cursor:
    """Reads forward through a header, fetching more of the file only as it is needed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._data = os.pread(descriptor, _FIRST_READ, 0)
        self.at = 0
        """The cursor's offset in bytes."""
        self._count, self._tagged_count = _U32, _TYPE_U32

    def widen(self) -> None:
        """Counts are 8 bytes from here on, as in CDF-5; types and tags stay at 4."""
        self._count, self._tagged_count = _U64, _TYPE_U64

    def since(self, start: int) -> bytes:
        """The bytes from ``start`` to the cursor."""
        return self._data[start : self.at]

    def stands_before(self, known: bytes) -> bool:
        """Whether the fetched bytes at the cursor begin with ``known``."""
        return self._data.startswith(known, self.at)

    def _fetch(self, end: int) -> None:
        if end > MAX_HEADER_BYTES:
            raise FrameError(f"the header is longer than {MAX_HEADER_BYTES} bytes")
        while end > len(self._data):
            more = os.pread(self._descriptor, max(_FIRST_READ, len(self._data)), len(self._data))
            if not more:
                raise FrameError("the header is cut short")
            self._data += more

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes; the header's fields are padded to 4."""
        start = self.at
        end = start + count
        if end > len(self._data):
            self._fetch(end)
        self.at = end + -count % 4
        return self._data[start:end]

    def unpack(self, form: struct.Struct) -> tuple[int, ...]:
        """The next integers, in the format ``form``."""
        start = self.at
        end = start + form.size
        if end > len(self._data):
            self._fetch(end)
        self.at = end
        return form.unpack_from(self._data, start)

    def count(self) -> int:
        """The next NON_NEG of the specification."""
        return self.unpack(self._count)[0]

    def counts(self, number: int) -> tuple[int, ...]:
        """The next ``number`` NON_NEGs."""
        return self.unpack(struct.Struct(f">{number}{self._count.format[-1]}"))

    def name(self) -> str:
        length = self.count()
        if not 0 < length <= MAX_NAME_BYTES:
            raise FrameError(f"the header has a name of {length} bytes")
        return self.take(length).decode("utf-8", "replace")

    def list_length(self, tag: int) -> int:
        """The number of elements of the list with this tag; 0 where the list is absent."""
        found, length = self.unpack(self._tagged_count)
        if found not in (tag, 0) or (found == 0 and length):
            raise FrameError(f"the header has tag {found} where {tag} should be")
        return length

    def attributes(self) -> dict[str, Attribute]:
        """A list of attributes, their values left as bytes."""
        found: dict[str, Attribute] = {}
        for _ in range(self.list_length(_ATTRIBUTE)):
            name = self.name()
            number, length = self.unpack(self._tagged_count)
            if number not in _TYPES:
                raise FrameError(f"the header has the unknown type {number}")
            code, size = _TYPES[number]
            found[name] = Attribute(code, self.take(length * size))
        return found


def records(start: bytes) -> int | None:
    """The number of records, from the first 12 bytes of a file; None where it is undetermined."""
    wide = start[3:4] == b"\5"
    if len(start) < (12 if wide else 8):
        return None
    count = int.from_bytes(start[4 : 12 if wide else 8], "big")
    return None if count == (1 << (64 if wide else 32)) - 1 else count


def read_header(descriptor: int) -> Header:
    """Read the header of a classic file. Raises :class:`FrameError` where it is not a classic file,
    cut short, or not consistent."""
    cursor = _Cursor(descriptor)
    magic = cursor.take(4)
    if magic[:3] != b"CDF" or magic[3] not in (1, 2, 5):
        raise FrameError("not a netCDF classic file")
    version = magic[3]
    if version == 5:
        cursor.widen()
    count = records(magic + cursor.take(8 if version == 5 else 4))
    for known, header in _parsed:
        if header.version == version and cursor.stands_before(known):
            return replace(header, records=count)
    start = cursor.at
    lengths = [(cursor.name(), cursor.count()) for _ in range(cursor.list_length(_DIMENSION))]
    attributes = cursor.attributes()
    variables: dict[str, Variable] = {}
    for _ in range(cursor.list_length(_VARIABLE)):
        name, variable = _variable(cursor, version, lengths)
        variables[name] = variable
    header = Header(version, count, _record_bytes(variables), attributes, variables, dict(lengths))
    _parsed.append((cursor.since(start), header))
    return header


def _variable(
    cursor: _Cursor, version: int, lengths: list[tuple[str, int]]
) -> tuple[str, Variable]:
    name, rank = cursor.name(), cursor.count()
    if rank > MAX_RANK:
        raise FrameError(f"the variable {name} has {rank} dimensions")
    numbers = cursor.counts(rank)
    if rank and max(numbers) >= len(lengths):
        raise FrameError(f"the variable {name} has a dimension that does not exist")
    shape = tuple(lengths[number][1] for number in numbers)
    dimensions = tuple(lengths[number][0] for number in numbers)
    is_record = bool(shape) and shape[0] == 0
    attributes = cursor.attributes()
    number, _ = cursor.unpack(_TYPE_U64 if version == 5 else _TYPE_U32)
    if number not in _TYPES:
        raise FrameError(f"the variable {name} has the unknown type {number}")
    # The skipped field is vsize: redundant, and by specification wrong for large variables.
    begin = cursor.unpack(_U32 if version == 1 else _U64)[0]
    code = _TYPES[number][0]
    shape = shape[1:] if is_record else shape
    return name, Variable(shape, is_record, code, begin, attributes, dimensions)


def _record_bytes(variables: dict[str, Variable]) -> int:
    """Bytes from one record to the next: each variable is padded to 4 unless it is the only one."""
    sizes = [v.bytes for v in variables.values() if v.is_record]
    return sizes[0] if len(sizes) == 1 else sum(size + -size % 4 for size in sizes)
