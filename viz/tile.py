"""The files of a frame, each opened when it is needed: one, or the tiles of an io_form 102 frame.

HDF5 locking is switched off before HDF5 is loaded, because a reader that holds a lock makes
WRF lose the frame it writes next. Nothing here ever opens model output for writing.
"""

from __future__ import annotations

import os
import re
import time as clock
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"

import netCDF4 as netCDF4
import numpy as np

from burstlens.errors import FrameError
from burstlens.valid_time import label, wrf_key
from burstlens.workflows import cdf
from burstlens.workflows.structure import absent

PAUSES_S = (0.05, 0.2)
"""How long to wait before a file that could not be read is opened again."""
AGAIN = (OSError, RuntimeError, KeyError)
"""What the library raises for a file that may be readable in a moment."""
MOST_OPEN = 64
"""Files open at once: a process may have 1024, and each costs memory."""
TIME_NAMES = ("Time", "time")

_AXES = {"west_east": "WEST-EAST", "south_north": "SOUTH-NORTH"}
_RANK = re.compile(r"_(\d{4,8})$")


@dataclass(slots=True)
class Tile:
    """One file of a frame. ``part`` is where its points lie in the joined domain, by dimension;
    empty in a frame of one file. ``fault`` is why it cannot be read."""

    path: Path
    rank: int
    data: Any = None
    part: dict[str, range] = field(default_factory=dict)
    fault: str = ""

    def overlap(self, dimension: str, wanted: slice) -> tuple[slice, slice]:
        """Where this tile's part of ``wanted`` lies in the result, and in the tile itself.

        The first one is empty when the tile has none of it. Of a dimension that is not split
        each tile has all.
        """
        mine = self.part.get(dimension)
        if mine is None:
            return slice(0, len(range(wanted.start, wanted.stop, wanted.step))), wanted
        first = max(0, -(-(mine.start - wanted.start) // wanted.step))
        end = min(mine.stop, wanted.stop)
        last = max(first, -(-(end - wanted.start) // wanted.step))
        source = wanted.start + first * wanted.step - mine.start
        return slice(first, last), slice(source, max(source, end - mine.start), wanted.step)


class Tiles:
    """The files of one frame: ``record`` is its index along time, ``time`` the key that it has to
    hold ("": any)."""

    def __init__(self, paths: Sequence[Path], record: int, time: str) -> None:
        self._record, self._time = record, time
        self._tiles = [Tile(path, _rank(path, index)) for index, path in enumerate(paths)]
        self._open: list[Tile] = []

    @property
    def first(self) -> Any:
        """An open file that speaks for all: of what is not split, names and attributes.

        The first tile that can be read; FrameError when there is none.
        """
        for tile in self._tiles:
            if self._is_readable(tile):
                return tile.data
        raise FrameError("; ".join(tile.fault for tile in self._tiles))

    @property
    def time_dimension(self) -> str | None:
        """The dimension along which the records lie."""
        return _time_dimension(self.first)

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each dimension of the joined domain, without time."""
        data = self.first
        sizes = {name: len(dimension) for name, dimension in data.dimensions.items()}
        sizes.pop(_time_dimension(data) or "", None)
        if len(self._tiles) > 1:
            for dimension, axis in _AXES.items():
                faces = int(data.getncattr(f"{axis}_GRID_DIMENSION"))
                whole = {dimension: faces - 1, f"{dimension}_stag": faces}
                sizes |= {name: size for name, size in whole.items() if name in sizes}
        return sizes

    def parts(
        self, name: str, dimensions: Sequence[str], wanted: Sequence[slice]
    ) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...], Any]]:
        """Where each part of a variable goes, where it lies in its file, and that file, open.

        Files are opened in the order in which they are likely to hold what is wanted, and no more
        than until all of it is there. FrameError names the ranks without which it is not.
        """
        data = self.first
        shape = tuple(len(range(s.start, s.stop, s.step)) for s in wanted)
        missing = prod(shape)
        split = len(self._tiles) > 1 and any(_is_split(dimension) for dimension in dimensions)
        if not split or not missing:
            yield tuple(slice(0, size) for size in shape), tuple(wanted), data
            return
        for tile in self._likely(dict(zip(dimensions, wanted, strict=True))):
            if not missing:
                break
            if not tile.part and not self._is_readable(tile):
                continue
            pairs = [tile.overlap(d, s) for d, s in zip(dimensions, wanted, strict=True)]
            target = tuple(inside for inside, _ in pairs)
            count = prod(max(0, inside.stop - inside.start) for inside in target)
            if count and self._is_readable(tile):
                missing -= count
                yield target, tuple(outside for _, outside in pairs), tile.data
        if missing:
            text = f"{self._tiles[0].path.name} ({len(self._tiles)} tiles)"
            raise FrameError(f"{text}: the tiles do not cover {name}: {self._absent()}")

    def close(self) -> None:
        """Close all files; what is known of where they lie stays."""
        for tile in self._open:
            if tile.data.isopen():
                tile.data.close()
            tile.data = None
        self._open = []

    def _is_readable(self, tile: Tile) -> bool:
        """Open the tile, unless it is; False when it cannot be. FrameError when it is alone."""
        if tile.data is None and not tile.fault:
            try:
                tile.data = self._opened(tile.path)
                self._open.append(tile)
                if len(self._tiles) > 1:
                    tile.part = _part(tile.path, tile.data)
            except FrameError as error:
                if len(self._tiles) == 1:
                    raise
                tile.fault = str(error)
            if len(self._open) > MOST_OPEN:
                # The first one is asked again and again.
                oldest = self._open.pop(1)
                oldest.data.close()
                oldest.data = None
        return not tile.fault

    def _opened(self, path: Path) -> Any:
        for pause_s in (*PAUSES_S, None):
            _check_whole(path, self._record)
            try:
                data = netCDF4.Dataset(os.fspath(path), "r")
                try:
                    _check_record(path, data, self._record, self._time)
                except BaseException:
                    data.close()
                    raise
                # A missing value costs a masked array only where there is one.
                data.set_always_mask(False)
                return data
            except AGAIN as error:
                if pause_s is None:
                    raise FrameError(f"{path.name} cannot be read: {error}") from error
                clock.sleep(pause_s)
        raise AssertionError("unreachable")

    def _likely(self, wanted: Mapping[str, slice]) -> list[Tile]:
        """All tiles, first those that are likely to hold the wanted part.

        WRF numbers ranks row by row (external/RSL_LITE/module_dm.F, ``mytask / ntasks_x``), and
        its patches differ by a cell or two. It is only an order: a tile itself says where it lies.
        """
        known = self._open[0]
        sizes = self.sizes
        split = [d for d in _AXES if d in known.part]
        columns = max(1, round(sizes[split[0]] / len(known.part[split[0]]))) if split else 1
        rows = -(-(max(tile.rank for tile in self._tiles) + 1) // columns)

        def distance(tile: Tile) -> float:
            far = 0.0
            for dimension in split:
                place, count = (
                    (tile.rank % columns, columns)
                    if dimension == "west_east"
                    else (tile.rank // columns, rows)
                )
                want = wanted.get(dimension) or wanted.get(f"{dimension}_stag")
                if want is not None:
                    low, high = (n * sizes[dimension] / count for n in (place, place + 1))
                    far += max(0.0, low - want.stop + 1, want.start - high + 1)
            return far

        return sorted(self._tiles, key=distance)

    def _absent(self) -> str:
        """Which ranks' files are missing or cannot be read, as a message has it."""
        told = [f"rank {tile.rank} is damaged ({tile.fault})" for tile in self._tiles if tile.fault]
        ranks = {tile.rank for tile in self._tiles}
        if not told or len(ranks) <= max(ranks):
            told.insert(0, absent(ranks))
        return "; ".join(told)


def _rank(path: Path, index: int) -> int:
    match = _RANK.search(path.name)
    return int(match[1]) if match else index


def _is_split(dimension: str) -> bool:
    return dimension.removesuffix("_stag") in _AXES


def _part(path: Path, data: Any) -> dict[str, range]:
    """The points that a tile holds of each horizontal dimension, from 0, by its attributes."""
    part = {}
    try:
        for dimension, axis in _AXES.items():
            data.getncattr(f"{axis}_GRID_DIMENSION")
            for suffix, which in (("", "UNSTAG"), ("_stag", "STAG")):
                name = dimension + suffix
                if name in data.dimensions:
                    start = int(data.getncattr(f"{axis}_PATCH_START_{which}")) - 1
                    part[name] = range(start, start + len(data.dimensions[name]))
    except AttributeError as error:
        text = f"{path.name} does not say which part of the domain it holds"
        raise FrameError(f"{text}: {error}") from error
    return part


def _time_dimension(data: Any) -> str | None:
    for name, dimension in data.dimensions.items():
        if name in TIME_NAMES or dimension.isunlimited():
            return str(name)
    return None


def _check_record(path: Path, data: Any, record: int, time: str) -> None:
    dimension = _time_dimension(data)
    records = len(data.dimensions[dimension]) if dimension else 1
    if record >= records:
        raise FrameError(f"{path.name} holds {records} frames, not frame {record}")
    if time and "Times" in data.variables:
        written = data.variables["Times"][record]
        found = wrf_key(b"".join(np.ma.filled(written, b"_")))
        if found != time:
            raise FrameError(
                f"{path.name} holds {label(found) if found else 'no time'} "
                f"where {label(time)} was expected"
            )


def _check_whole(path: Path, record: int) -> None:
    """Tell an empty, foreign or short file before the library sees it.

    The library reads what a short classic file lacks as zeros; of HDF5 it knows the end itself.
    """
    try:
        with path.open("rb") as file:
            head = file.read(8)
            if not head:
                raise FrameError(f"{path.name} is empty")
            if head.startswith(b"\x89HDF\r\n\x1a\n"):
                return
            if not head.startswith((b"CDF\x01", b"CDF\x02", b"CDF\x05")):
                raise FrameError(f"{path.name} is no netCDF file")
            try:
                header = cdf.read_header(file.fileno())
            except FrameError as error:
                raise FrameError(f"{path.name} cannot be read: {error}") from error
            size = os.fstat(file.fileno()).st_size
            least = max(header.end_of_fixed(), header.end_of_record(record))
            if size < least:
                raise FrameError(f"{path.name} is short: {size} bytes of {least}")
    except OSError as error:
        raise FrameError(f"{path.name} cannot be opened: {error.strerror}") from error
