"""Headers of netCDF classic files (CDF-1, CDF-2, CDF-5), read with every count bounded.

The netCDF library is not used on a file in progress: a half-written header can cost it a second
of work, and it may hold a lock. This parser reads at most ``MAX_HEADER_BYTES`` and believes no
count that the bytes at hand could not hold. Formats: "The NetCDF Classic Format Specification"
(Unidata) and "CDF-5 File Format Specification" (PnetCDF project).
"""

from __future__ import annotations

import math
import os
import struct
from dataclasses import dataclass

from burstlens.errors import FrameError

MAX_HEADER_BYTES = 4 << 20
MAX_NAME_BYTES = 1024
MAX_RANK = 1024
_FIRST_READ = 64 << 10
_DIMENSION, _VARIABLE, _ATTRIBUTE = 10, 11, 12
_TYPES = {1: "b", 2: "c", 3: "h", 4: "i", 5: "f", 6: "d", 7: "B", 8: "H", 9: "I", 10: "q", 11: "Q"}
_CHAR = 2

Value = str | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable: ``shape`` without the record dimension, ``begin`` its first byte's offset."""

    shape: tuple[int, ...]
    is_record: bool
    code: str
    begin: int
    attributes: dict[str, Value]

    @property
    def bytes(self) -> int:
        """Bytes of data (of one record of it), without padding."""
        return math.prod(self.shape) * struct.calcsize(">" + self.code)


@dataclass(frozen=True, slots=True)
class Header:
    """What a classic file says of itself. ``records`` is None while it is undetermined."""

    version: int
    records: int | None
    record_bytes: int
    attributes: dict[str, Value]
    variables: dict[str, Variable]

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


class _Cursor:
    """Reads forward through a header, fetching more of the file only as it is needed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._data = os.pread(descriptor, _FIRST_READ, 0)
        self._at = 0
        self._wide = False

    def widen(self) -> None:
        self._wide = True

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes; the header's fields are padded to 4."""
        end = self._at + count
        if end > MAX_HEADER_BYTES:
            raise FrameError(f"the header is longer than {MAX_HEADER_BYTES} bytes")
        while end > len(self._data):
            more = os.pread(self._descriptor, max(_FIRST_READ, len(self._data)), len(self._data))
            if not more:
                raise FrameError("the header is cut short")
            self._data += more
        start, self._at = self._at, end + -count % 4
        return self._data[start:end]

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def u64(self) -> int:
        return int.from_bytes(self.take(8), "big")

    def count(self) -> int:
        """A NON_NEG: 4 bytes, 8 in CDF-5."""
        return self.u64() if self._wide else self.u32()

    def name(self) -> str:
        length = self.count()
        if not 0 < length <= MAX_NAME_BYTES:
            raise FrameError(f"the header has a name of {length} bytes")
        return self.take(length).decode("utf-8", "replace")

    def list_length(self, tag: int) -> int:
        found, length = self.u32(), self.count()
        if found not in (tag, 0) or (found == 0 and length):
            raise FrameError(f"the header has tag {found} where {tag} should be")
        return length

    def type_code(self) -> str:
        number = self.u32()
        if number not in _TYPES:
            raise FrameError(f"the header has the unknown type {number}")
        return _TYPES[number]

    def attributes(self) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for _ in range(self.list_length(_ATTRIBUTE)):
            name, code, length = self.name(), self.type_code(), self.count()
            raw = self.take(length * struct.calcsize(">" + code))
            if code == _TYPES[_CHAR]:
                found[name] = raw.decode("utf-8", "replace")
            else:
                found[name] = struct.unpack(f">{length}{code}", raw)
        return found


def records(start: bytes) -> int | None:
    """The number of records, from the first 12 bytes of a file; None where it is undetermined."""
    wide = start[3:4] == b"\5"
    if len(start) < (12 if wide else 8):
        return None
    count = int.from_bytes(start[4 : 12 if wide else 8], "big")
    return None if count == (1 << (64 if wide else 32)) - 1 else count


def read_header(descriptor: int) -> Header:
    """Read the header of a classic file.

    Raises :class:`FrameError` where it is no classic file, cut short, or not consistent.
    """
    cursor = _Cursor(descriptor)
    magic = cursor.take(4)
    if magic[:3] != b"CDF" or magic[3] not in (1, 2, 5):
        raise FrameError("no netCDF classic file")
    version = magic[3]
    if version == 5:
        cursor.widen()
    count = records(magic + cursor.take(8 if version == 5 else 4))
    lengths: list[int] = []
    for _ in range(cursor.list_length(_DIMENSION)):
        cursor.name()
        lengths.append(cursor.count())
    attributes = cursor.attributes()
    variables: dict[str, Variable] = {}
    for _ in range(cursor.list_length(_VARIABLE)):
        name, variable = _variable(cursor, version, lengths)
        variables[name] = variable
    return Header(version, count, _record_bytes(variables), attributes, variables)


def _variable(cursor: _Cursor, version: int, lengths: list[int]) -> tuple[str, Variable]:
    name, rank = cursor.name(), cursor.count()
    if rank > MAX_RANK:
        raise FrameError(f"the variable {name} has {rank} dimensions")
    numbers = [cursor.count() for _ in range(rank)]
    if any(number >= len(lengths) for number in numbers):
        raise FrameError(f"the variable {name} has a dimension that does not exist")
    shape = tuple(lengths[number] for number in numbers)
    is_record = bool(shape) and shape[0] == 0
    attributes, code = cursor.attributes(), cursor.type_code()
    # vsize is redundant, and wrong for large variables by specification: skipped.
    cursor.count()
    begin = cursor.u32() if version == 1 else cursor.u64()
    return name, Variable(shape[1:] if is_record else shape, is_record, code, begin, attributes)


def _record_bytes(variables: dict[str, Variable]) -> int:
    """The distance of records: each variable is padded to 4, except when it is the only one."""
    sizes = [v.bytes for v in variables.values() if v.is_record]
    return sizes[0] if len(sizes) == 1 else sum(size + -size % 4 for size in sizes)
