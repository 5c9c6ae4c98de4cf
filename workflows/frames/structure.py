"""The structure of an output file: which of its records are whole, judged by its bytes.

For HDF5 the end-of-file address in the superblock must equal the size, before and after h5py has
read the times: in a file with an unlimited time that holds only while every variable on disk is
final (:mod:`.described`: what a killed writer leaves). With a time of fixed length, or without any,
it also holds between two writes, as long as the file is open for writing. For classic files the
number of records in the header and the size must cover the record. No file is opened with a lock
or with the netCDF library.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from burstlens.core import cdf, time_axis
from burstlens.core.durable import open_descriptor
from burstlens.core.errors import FrameError, TimesError, UnreadError
from burstlens.core.ranks import absent
from burstlens.core.record_axis import no_variable, text_calendar
from burstlens.core.valid_time import counted_keys, file_key
from burstlens.workflows.frames import hdf5
from burstlens.workflows.frames.cursor import Open
from burstlens.workflows.frames.described import MAX_TIMES
from burstlens.workflows.frames.hdf5 import Prober, Reply

PATCH = tuple(
    f"{axis}_{part}"
    for axis in ("WEST-EAST", "SOUTH-NORTH")
    for part in ("GRID_DIMENSION", "PATCH_START_UNSTAG", "PATCH_END_UNSTAG")
)
"""Global attributes that say which part of the domain a tile of WRF holds."""


class Structure(Struct, frozen=True):
    """The records of one file that are whole by their bytes.

    ``times`` are the keys of the whole records from the requested one on, ``begun`` the number of
    records that the file says it has, ``frame_bytes`` the size of one. ``conclusive``: in a file
    that one process writes, the structure cannot look whole too early. ``is_fixed``: the number of
    records is fixed; ``begun`` are then those with a time. ``held``: it is, and a program has the
    file open for writing: its size does not show what is still to come. ``cut``: the HDF5 file ends
    in a record that was not flushed; ``times`` are those of the flushed ones. ``classic``: it is a
    CDF file. ``cells``: how many of the domain's cells the file holds, and the domain's
    number of cells. ``reason`` says what the next record lacks, "" if nothing. ``unread``: the file
    could not be read; ``undecoded``: it is there, and its times cannot be decoded.
    ``calendar`` is that of its dates, as CF names it.
    """

    times: tuple[str, ...] = ()
    begun: int = 0
    frame_bytes: int = 0
    conclusive: bool = True
    is_fixed: bool = False
    held: bool = False
    cut: bool = False
    classic: bool = False
    cells: tuple[int, int] = (1, 1)
    reason: str = ""
    unread: bool = False
    undecoded: bool = False
    calendar: str = ""


def probe(
    path: str,
    first: int,
    time_variable: str,
    prober: Prober,
    *,
    is_tile: bool = False,
    thorough: bool = False,
    settled: bool = False,
    time: str | None = None,
) -> Structure:
    """Read a file's structure, from record ``first`` on; ``reason`` says why none is whole yet.

    Without a time variable ("") the file is one frame at ``time``, else named by its name.
    ``is_tile``: also read which part of the domain it holds.
    ``thorough``: read the header even if its number of records shows no new one; bytes beyond the
    final record then count as an unfinished record. ``settled``: nobody seems to write it: of an
    HDF5 file that ends in an unfinished record, find the ones before it.
    Raises OSError if the file system cannot read it.
    """
    try:
        with open_descriptor(path) as descriptor:
            magic = os.pread(descriptor, 12, 0)
            if magic[:3] == b"CDF":
                if not time_variable:
                    return _nameable(_timeless(descriptor), first, path, time)
                if not thorough and first and cdf.records(magic) == first:
                    # The usual state of a file in progress: no need to read its header.
                    return Structure(begun=first, classic=True)
                return _classic(descriptor, first, time_variable, thorough, path)
            if not magic:
                return Structure(reason="it has 0 bytes")
            ask = partial(prober.ask, path, first, time_variable, PATCH if is_tile else ())
            found = _hdf5(descriptor, first, ask, settled=settled and bool(time_variable))
            return found if time_variable else _nameable(found, first, path, time)
    except FrameError as error:
        return Structure(
            reason=str(error),
            unread=isinstance(error, UnreadError),
            undecoded=isinstance(error, TimesError),
        )


def _hdf5(
    descriptor: int, first: int, ask: Callable[[int | None], Reply], *, settled: bool
) -> Structure:
    size, block = os.fstat(descriptor).st_size, hdf5.superblock(descriptor)
    if block is None:
        raise FrameError("it has no HDF5 superblock and no netCDF header")
    cut = f"its superblock ends it at {block.end} bytes, it has {size}"
    is_cut = block.end != size
    if is_cut and not (settled and block.end < size):
        raise FrameError(cut)
    reply = ask(block.end if is_cut else None)
    if (os.fstat(descriptor).st_size, hdf5.superblock(descriptor)) != (size, block):
        raise FrameError("it grew while it was read")
    share = size // max(1, reply.records)
    whole = _structure(
        reply.times, first, reply.records, share, reply.numbers, calendar=reply.calendar
    )
    if is_cut:
        if reply.is_fixed:
            raise FrameError(cut)
        return replace(whole, cut=True, held=True, conclusive=False, reason=cut)
    if not reply.is_fixed:
        return whole
    return replace(_fixed(whole, first), held=block.has_writer, conclusive=not block.has_writer)


def _fixed(whole: Structure, first: int) -> Structure:
    """The structure of a file with a fixed number of records: those without a time have not
    begun."""
    begun = first + len(whole.times) if whole.reason else whole.begun
    return replace(whole, begun=begun, is_fixed=True)


def _timeless(descriptor: int) -> Structure:
    """A classic file in which no variable is looked at."""
    header = cdf.read_header(descriptor)
    if not header.variables:
        raise FrameError("it has no variable yet")
    size = os.fstat(descriptor).st_size
    _check_size(header, size)
    return Structure(begun=1, frame_bytes=size, conclusive=False, is_fixed=True, classic=True)


def _nameable(found: Structure, first: int, path: str, time: str | None) -> Structure:
    """The structure of a file without any time as that of one record."""
    times = () if first else (time or file_key(path),)
    return replace(found, times=times, begun=1, reason="")


def _check_size(header: cdf.Header, size: int) -> None:
    """Raise FrameError unless the data of all records is there that the header says there are."""
    if header.records is None:
        raise FrameError("its number of records is left open")
    records = header.end_of_record(header.records - 1) if header.records else 0
    end = max(header.end_of_fixed(), records)
    if size < end:
        raise FrameError(f"it has {size} of {end} bytes")


def _classic(
    descriptor: int, first: int, time_variable: str, thorough: bool, path: str
) -> Structure:
    header = cdf.read_header(descriptor)
    size = os.fstat(descriptor).st_size
    if header.records is None:
        raise FrameError("its number of records is left open")
    times = _ClassicTimes(header, descriptor, time_variable, path)
    if times.is_missing:
        _check_size(header, size)
        raise TimesError(no_variable(time_variable, header.variables))
    patch = {
        key: int(value)
        for key in PATCH
        if key in header.attributes and (value := header.attributes[key].number) is not None
    }
    if not times.is_record:
        _check_size(header, size)
        fixed = times.all(first)
        share = size // max(1, len(fixed))
        whole = _structure(fixed[first:], first, len(fixed), share, patch, calendar=times.calendar)
        return replace(_fixed(whole, first), classic=True, conclusive=False)
    keys: list[str | None] = []
    short = ""
    for index in range(first, min(header.records, first + MAX_TIMES)):
        end = max(header.end_of_record(index), header.end_of_fixed())
        if size < end:
            short = f"it has {size} of {end} bytes"
            break
        try:
            keys.append(times.of(index))
        except TimesError as error:
            if not keys:
                raise
            short = str(error)
            break
    end = max(header.begin_of_record(header.records), header.end_of_fixed())
    if thorough and size > end:
        short = f"it has {size - end} bytes of an unfinished record"
    share = size if header.records == 1 else header.record_bytes
    return _structure(
        keys, first, header.records, share, patch, short, classic=True, calendar=times.calendar
    )


class _ClassicTimes:
    """The times in a classic file: those of its time variable, or, if it has only a dimension of
    that name, the numbers of the records along it."""

    def __init__(self, header: cdf.Header, descriptor: int, name: str, path: str) -> None:
        self._header, self._descriptor, self._path = header, descriptor, path
        self._variable = variable = header.variables.get(name)
        self._length = header.dimensions.get(name)
        self.is_missing = variable is None and self._length is None
        self.is_record = variable.is_record if variable is not None else self._length == 0
        self._axis: time_axis.TimeDecoding | None = None
        self.calendar = ""
        """That of its dates; empty for elapsed times, and of texts that name none."""
        if variable is None:
            return
        attributes = self._about(name) or {}
        if variable.code == "c":
            self.calendar = text_calendar(attributes, self._about)
        else:
            axis = time_axis.read_axis(attributes, variable.code, path, name)
            self._axis = axis.decided(self._numbers(variable)) if axis.may_be_digits else axis
            self.calendar = self._axis.calendar

    def _about(self, name: str) -> dict[str, Any] | None:
        """What a variable says of its times, "" the file; None if there is none."""
        found = self._header.variables.get(name) if name else self._header
        if found is None:
            return None
        about = found.attributes
        return {key: about[key].value for key in time_axis.ATTRIBUTES & about.keys()}

    def of(self, index: int) -> str | None:
        """The key of one record. Raises TimesError, and FrameError where it is cut short."""
        if self._variable is None:
            return counted_keys(self._path, index, index + 1)[0]
        keys = self._keys(self._variable, index)
        if len(keys) != 1:
            raise TimesError("its times are neither texts nor numbers along one dimension")
        return keys[0]

    def all(self, first: int) -> list[str | None]:
        """The keys of a fixed number of records; of texts, that of ``first`` must be a time."""
        if self._variable is None:
            return [*counted_keys(self._path, 0, self._length or 0)]
        return self._keys(self._variable, 0, first)

    def _keys(self, variable: cdf.Variable, index: int, first: int = 0) -> list[str | None]:
        raw = self._header.read(self._descriptor, variable, index)
        if len(raw) < variable.bytes:
            raise FrameError("its times are cut short")
        if self._axis is None:
            width = variable.shape[-1] if variable.shape else 1
            return time_axis.text_keys(raw, width, first, self.calendar)
        return self._axis.keys(_unpacked(raw, variable), first, is_fixed=not variable.is_record)

    def _numbers(self, variable: cdf.Variable) -> list[float]:
        """The numbers that show whether they are digits of dates."""
        if not variable.is_record:
            raw = self._header.read(self._descriptor, variable, 0)
            size = struct.calcsize(variable.code)
            stored = _unpacked(raw[: len(raw) // size * size], variable)
            parts = time_axis.deciding_records(len(stored))
            return [stored[index] for part in parts for index in part]
        found: list[float] = []
        for index in chain(*time_axis.deciding_records(self._header.records or 0)):
            raw = self._header.read(self._descriptor, variable, index)
            if len(raw) < variable.bytes:
                break
            found += _unpacked(raw, variable)
        return found


def _unpacked(raw: bytes, variable: cdf.Variable) -> tuple[float, ...]:
    count = len(raw) // struct.calcsize(">" + variable.code)
    return struct.unpack(f">{count}{variable.code}", raw)


def _structure(
    keys: Iterable[str | None],
    first: int,
    begun: int,
    frame_bytes: int,
    patch: Mapping[str, int],
    reason: str = "",
    *,
    classic: bool = False,
    calendar: str = "",
) -> Structure:
    times: list[str] = []
    for key in keys:
        if key is None:
            reason = reason or f"record {first + len(times)} has no time yet"
            break
        times.append(key)
    if not times and not first and not reason:
        reason = "it has no record yet"
    cells = 1, 1
    if len(patch) == len(PATCH):
        west_east, south_north = patch[PATCH[0]] - 1, patch[PATCH[3]] - 1
        mine = (patch[PATCH[2]] - patch[PATCH[1]] + 1) * (patch[PATCH[5]] - patch[PATCH[4]] + 1)
        cells = mine, west_east * south_north
    return Structure(
        tuple(times), begun, frame_bytes, cells=cells, classic=classic, reason=reason,
        calendar=calendar,
    )  # fmt: skip


def structure_of(
    entry: Open,
    paths: Sequence[str],
    time_variable: str,
    prober: Prober,
    *,
    ranks: Sequence[int],
    thorough: bool,
    settled: bool,
) -> Structure:
    """One structure for the files of a unit; the first one without a new record decides. ``ranks``
    are those that wrote the files. Raises OSError if the file system cannot read one."""
    found: list[Structure] = []
    tiled = entry.unit.tiled
    for path in paths:
        tile = probe(
            path, entry.declared, time_variable, prober, is_tile=tiled, thorough=thorough,
            settled=settled, time=entry.unit.time,
        )  # fmt: skip
        if not tile.times:
            which = f"the tile {os.path.basename(path)}: " if tiled and tile.reason else ""
            return replace(tile, reason=which + tile.reason)
        found.append(tile)
    return together(found, entry.declared, entry.unit.time, ranks)


def together(
    tiles: Sequence[Structure], first: int, time: str | None, ranks: Sequence[int] = (0,)
) -> Structure:
    """One structure for the files of a frame: what all have, if they cover the domain. ``time`` is
    the time in their name, which the first record must have; ``ranks`` are the ranks that wrote the
    files."""
    reason = next((tile.reason for tile in tiles if tile.reason), "")
    times = min([tile.times for tile in tiles], key=len)
    if time is not None and first == 0 and times and times[0] != time:
        times, reason = times[:0], f"its first time is {times[0]}, its name says {time}"
    if len(tiles) == 1 and tiles[0].cells == (1, 1):
        if times == tiles[0].times and not tiles[0].unread:
            return tiles[0]  # the usual one, of which there may be 100,000
        return replace(tiles[0], times=times, reason=reason, unread=False)
    if times and sum(tile.cells[0] for tile in tiles) < tiles[0].cells[1]:
        times, reason = times[:0], f"its tiles do not cover the domain: {absent(ranks)}"
    return Structure(
        times=times,
        begun=min(tile.begun for tile in tiles),
        frame_bytes=sum(tile.frame_bytes for tile in tiles),
        conclusive=all(tile.conclusive for tile in tiles),
        is_fixed=any(tile.is_fixed for tile in tiles),
        held=any(tile.held for tile in tiles),
        cells=(sum(tile.cells[0] for tile in tiles), tiles[0].cells[1]),
        cut=any(tile.cut for tile in tiles),
        classic=any(tile.classic for tile in tiles),
        reason=reason,
        calendar=tiles[0].calendar,
    )
