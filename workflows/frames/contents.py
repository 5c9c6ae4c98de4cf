"""What a netCDF file holds without its fields: variables, dimensions, attributes.

Safe on a file in progress, as :mod:`.structure` is: the header of a classic file is parsed here,
HDF5 is read by h5py in a child process. No lock, no writing, never the netCDF library.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burstlens.core import cdf
from burstlens.core.durable import open_descriptor
from burstlens.core.errors import FrameError
from burstlens.core.packing import read_packing
from burstlens.core.printable import file_text
from burstlens.workflows.frames import hdf5
from burstlens.workflows.frames.described import LONGEST_SAMPLE, MOST_VALUES
from burstlens.workflows.frames.hdf5 import Prober

CLASSIC, HDF5, NEITHER, EMPTY = "netCDF classic", "HDF5", "", "empty"
_KINDS = dict.fromkeys("df", "f") | dict.fromkeys("bhiq", "i") | dict.fromkeys("BHIQ", "u")


@dataclass(frozen=True, slots=True)
class Content:
    """One variable. ``dimensions`` are all of its dimensions, with time; ``kind`` is numpy's
    letter for the type, ``c`` for text, ``size`` its bytes; ``ends`` are the first and the last
    value of a coordinate that has its dimension's name, ``sample`` is the first of short texts."""

    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    kind: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    ends: tuple[float, float] | None = None
    sample: str = ""
    size: int = 8

    def text(self, key: str) -> str:
        """A text attribute, stripped; "" where it is missing or not text."""
        value = self.attributes.get(key, "")
        return value.strip() if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Contents:
    """One file. ``unnamed`` are variables whose dimensions have no names and ``groups`` those of
    the root: HDF5 that is not netCDF, or not of the classic model, has them. ``version`` is that
    of a classic file (1, 2, 5), 0 for HDF5. ``short``: not even its first record is all there.
    ``unlimited`` are the dimensions that may grow."""

    variables: Mapping[str, Content]
    sizes: Mapping[str, int]
    attributes: Mapping[str, Any]
    unnamed: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    version: int = 0
    short: bool = False
    unlimited: tuple[str, ...] = ()


def file_format(path: str) -> str:
    """What the first bytes say; ``NEITHER`` for any other file. Raises OSError."""
    with open_descriptor(path) as descriptor:
        head = os.pread(descriptor, 8, 0)
        if not head:
            return EMPTY
        if head[:3] == b"CDF" and head[3:4] in (b"\1", b"\2", b"\5"):
            return CLASSIC
        return HDF5 if hdf5.superblock(descriptor) else NEITHER


def read_contents(path: str, prober: Prober) -> Contents:
    """The contents of a file. Raises :class:`FrameError` where it cannot be read, perhaps only yet,
    and OSError."""
    with open_descriptor(path) as descriptor:
        if os.pread(descriptor, 3, 0) == b"CDF":
            return _classic(descriptor)
        block, size = hdf5.superblock(descriptor), os.fstat(descriptor).st_size
    if block is None:
        raise FrameError("it has no HDF5 superblock and no netCDF header")
    if block.end > size:
        raise FrameError(f"its superblock ends it at {block.end} bytes, it has {size}")
    return _hdf5(prober.describe(path))


def _hdf5(found: Mapping[str, Any]) -> Contents:
    variables, unnamed = {}, []
    for name, (dimensions, shape, kind, attributes, *values) in found["variables"].items():
        if dimensions is None:
            unnamed.append(name)
            continue
        ends, sample, size = values
        # A variable along an unlimited dimension may have been written less far than others.
        whole = tuple(found["sizes"].get(d, n) for d, n in zip(dimensions, shape, strict=True))
        variables[name] = Content(
            tuple(dimensions), whole, kind, attributes, _ends_of(ends), sample, size
        )
    return Contents(
        variables, found["sizes"], found["attributes"], tuple(unnamed), tuple(found["groups"]),
        unlimited=tuple(found["unlimited"]),
    )  # fmt: skip


def _classic(descriptor: int) -> Contents:
    header = cdf.read_header(descriptor)
    sizes = {name: length or header.records or 0 for name, length in header.dimensions.items()}
    variables = {}
    for name, one in header.variables.items():
        shape = tuple(sizes[dimension] for dimension in one.dimensions)
        attributes = _attributes(one.attributes)
        ends = _ends(descriptor, header, one) if one.dimensions == (name,) else None
        kind = _KINDS.get(one.code, "c")
        sample, size = _sample(descriptor, one), struct.calcsize(">" + one.code)
        variables[name] = Content(one.dimensions, shape, kind, attributes, ends, sample, size)
    first = header.end_of_record(0) if header.records else 0
    short = os.fstat(descriptor).st_size < max(header.end_of_fixed(), first)
    about = _attributes(header.attributes)
    grows = tuple(name for name, length in header.dimensions.items() if length == 0)
    return Contents(variables, sizes, about, version=header.version, short=short, unlimited=grows)


def _sample(descriptor: int, variable: cdf.Variable) -> str:
    """The first record of a variable of short texts; "" for any other."""
    width = variable.shape[-1] if variable.shape else 1
    if variable.code != "c" or len(variable.dimensions) > 2 or width > LONGEST_SAMPLE:
        return ""
    return file_text(os.pread(descriptor, width, variable.begin)).strip()


def _ends(
    descriptor: int, header: cdf.Header, variable: cdf.Variable
) -> tuple[float, float] | None:
    if variable.code == "c":
        return None
    size = struct.calcsize(">" + variable.code)
    count, step = variable.bytes // size, size
    if variable.is_record:
        count, step = header.records or 0, header.record_bytes
    if not count:
        return None
    packing, ends = read_packing(_attributes(variable.attributes), variable.code), []
    for number in (0, count - 1):
        raw = os.pread(descriptor, size, variable.begin + number * step)
        if len(raw) < size:
            return None
        ends.append(packing.value(struct.unpack(">" + variable.code, raw)[0]))
    return _ends_of(ends)


def _ends_of(values: Sequence[float | None] | None) -> tuple[float, float] | None:
    """The first and the last value; None where one is missing."""
    first, last = values or (None, None)
    return None if first is None or last is None else (float(first), float(last))


def _attributes(given: Mapping[str, cdf.Attribute]) -> dict[str, Any]:
    return {
        name: attribute.value
        for name, attribute in given.items()
        if attribute.code == "c" or 0 < attribute.length <= MOST_VALUES
    }
