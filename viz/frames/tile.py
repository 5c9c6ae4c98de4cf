"""The files of a frame: one, or the tiles of an io_form 102 frame, opened when they are needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod
from pathlib import Path
from typing import Any

from burstlens.core.errors import FrameError
from burstlens.core.ranks import absent
from burstlens.viz.frames import fire
from burstlens.viz.frames.chunks import UNKNOWN, ChunkCache, ChunkFile, Identity, identity_of
from burstlens.viz.frames.file import opened
from burstlens.viz.frames.record import time_dimension

MOST_OPEN = 64
"""Maximum number of open files: a process may have 1024, and each costs memory."""

_RANK = re.compile(r"_(\d{4,8})$")


@dataclass(slots=True)
class Tile:
    """One file of a frame. ``part`` is where its points lie in the joined domain, by dimension;
    empty in a frame of one file. ``fault`` is why it cannot be read; ``kept`` the inflated chunks
    of all."""

    path: Path
    rank: int
    kept: ChunkCache
    data: Any = None
    part: dict[str, range] = field(default_factory=dict)
    fault: str = ""
    identity: Identity | None = None
    _chunks: tuple[ChunkFile | None] | None = None

    def open(self, record: int, time: str, time_variable: str) -> None:
        """Open it with netCDF4, see :func:`.opened`; FrameError."""
        with suppress(OSError):  # before it is opened: a file that replaces it is another one
            self.identity = identity_of(self.path.stat())
        self.data = opened(self.path, record, time, time_variable)

    def chunk_file(self) -> ChunkFile | None:
        """The open file as one of chunks, opened once; None if that cannot be done."""
        if self._chunks is None:
            self._chunks = (None,)
            if self.identity is not None and self.data.data_model.startswith("NETCDF4"):
                with suppress(*UNKNOWN):
                    self._chunks = (ChunkFile(self.path, self.identity),)
        return self._chunks[0]

    def close(self) -> None:
        """Close it; its place in the domain is kept."""
        if self.data is not None and self.data.isopen():
            self.data.close()
        if self._chunks is not None and self._chunks[0] is not None:
            self._chunks[0].close()
        self.data = self._chunks = None

    def overlap(self, dimension: str, wanted: slice) -> tuple[slice, slice]:
        """The position of this tile's part of ``wanted`` in the result, and in the tile itself.

        The first slice is empty if the tile has no part of it. Each tile has all of a dimension
        that is not split.
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
    """The files of one frame: ``record`` is its index along time, ``time`` the key that it must
    have ("": any), ``time_variable`` the variable with the times ("": found by CF)."""

    def __init__(
        self, paths: Sequence[Path], record: int, time: str, time_variable: str = ""
    ) -> None:
        self._record, self._time, self._time_variable = record, time, time_variable
        self._kept = ChunkCache()
        self._tiles = [Tile(path, _rank(path, n), self._kept) for n, path in enumerate(paths)]
        self._open: list[Tile] = []
        self._sizes: dict[str, int] = {}
        self._along: tuple[str | None] | None = None

    @property
    def first(self) -> Any:
        """The open file from which names, attributes and unsplit variables are read.

        The first tile that can be read; FrameError if there is none.
        """
        return self._first.data

    @property
    def _first(self) -> Tile:
        for tile in self._tiles:
            if self._is_readable(tile):
                return tile
        raise FrameError("; ".join(tile.fault for tile in self._tiles))

    @property
    def time_dimension(self) -> str | None:
        """The dimension along which the records lie."""
        if self._along is None:
            self._along = (time_dimension(self.first, self._time_variable),)
        return self._along[0]

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each dimension of the joined domain, without time and padding."""
        if self._sizes:
            return dict(self._sizes)
        data = self.first
        sizes = {name: len(dimension) for name, dimension in data.dimensions.items()}
        sizes.pop(self.time_dimension or "", None)
        if len(self._tiles) > 1:
            for dimension, axis in fire.AXES.items():
                faces = int(data.getncattr(f"{axis}_GRID_DIMENSION"))
                cells = _fire_cells(data, dimension)
                whole = {
                    dimension: faces - 1,
                    f"{dimension}_stag": faces,
                    dimension + fire.SUFFIX: (faces - 1) * cells,
                }
                sizes |= {name: size for name, size in whole.items() if name in sizes}
        elif any(name.endswith(fire.SUFFIX) for name in sizes):
            sizes = fire.without_padding(sizes, data.__dict__)
        self._sizes = sizes
        return dict(sizes)

    def parts(
        self, name: str, dimensions: Sequence[str], wanted: Sequence[slice]
    ) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...], Tile]]:
        """For each part of a variable: its slices in the result, those in its file, the open tile.

        Files are opened in the order in which they are likely to hold wanted points, until all
        points are found. FrameError names the missing and damaged ranks if some are not found.
        """
        first = self._first
        shape = tuple(len(range(s.start, s.stop, s.step)) for s in wanted)
        missing = prod(shape)
        split = len(self._tiles) > 1 and any(_is_split(dimension) for dimension in dimensions)
        if not split or not missing:
            yield tuple(slice(0, size) for size in shape), tuple(wanted), first
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
                yield target, tuple(outside for _, outside in pairs), tile
        if missing:
            text = f"{self._tiles[0].path.name} ({len(self._tiles)} tiles)"
            raise FrameError(f"{text}: the tiles do not cover {name}: {self._absent()}")

    def share(self, size: int) -> None:
        """Keep inflated chunks for later products, up to so many bytes."""
        self._kept.shared = size

    def close(self) -> None:
        """Close all files; the known parts of the domain are kept."""
        for tile in self._open:
            tile.close()
        self._open = []
        self._kept.clear()

    def _is_readable(self, tile: Tile) -> bool:
        """Open the tile if it is closed; False if that fails, FrameError if it is the only one."""
        if tile.data is None and not tile.fault:
            try:
                tile.open(self._record, self._time, self._time_variable)
                self._open.append(tile)
                if len(self._tiles) > 1:
                    tile.part = _part(tile.path, tile.data)
            except FrameError as error:
                if len(self._tiles) == 1:
                    raise
                tile.fault = str(error)
            if len(self._open) > MOST_OPEN:
                # The first one is used again and again.
                self._open.pop(1).close()
        return not tile.fault

    def _likely(self, wanted: Mapping[str, slice]) -> list[Tile]:
        """All tiles, first those that hold the wanted part if the domain is split as WRF does it.

        Ranks are numbered row by row. This is only an order: each tile's file has its position.
        """
        known, count = self._open[0], max(tile.rank for tile in self._tiles) + 1
        edges: dict[str, list[int]] = {}
        for columns in (number for number in range(1, count + 1) if count % number == 0):
            places = known.rank % columns, known.rank // columns
            for dimension, place, ranks in zip(
                fire.AXES, places, (columns, count // columns), strict=True
            ):
                size = self.sizes[dimension]
                found = _cut(size + 1, ranks)
                if known.part[dimension] != range(found[place], min(found[place + 1], size)):
                    break
                edges[dimension] = found
            else:
                break
        else:
            return self._tiles

        def holds_none(tile: Tile) -> bool:
            for dimension, place in zip(fire.AXES, divmod(tile.rank, columns)[::-1], strict=True):
                want = wanted.get(dimension) or wanted.get(f"{dimension}_stag")
                low, high = edges[dimension][place : place + 2]
                if want is not None and not (want.start < high and want.stop > low):
                    return True
            return False

        return sorted(self._tiles, key=holds_none)

    def _absent(self) -> str:
        """The ranks whose files are missing or cannot be read, as text for a message."""
        damaged = [tile for tile in self._tiles if tile.fault]
        faults = [f"rank {tile.rank} is damaged ({tile.fault})" for tile in damaged]
        ranks = {tile.rank for tile in self._tiles}
        if not faults or len(ranks) <= max(ranks):
            faults.insert(0, absent(ranks))
        return "; ".join(faults)


def _rank(path: Path, index: int) -> int:
    match = _RANK.search(path.name)
    return int(match[1]) if match else index


def _cut(faces: int, ranks: int) -> list[int]:
    """The starts of WRF's patches along a dimension, and the end of the last one. The larger
    patches are at both ends (frame/task_for_point.c, over the staggered dimension)."""
    least, more = divmod(faces, ranks)
    before, after = more // 2, more - more // 2
    sizes = [least + 1] * before + [least] * (ranks - more) + [least + 1] * after
    return list(accumulate(sizes, initial=0))


def _is_split(dimension: str) -> bool:
    return dimension.removesuffix("_stag").removesuffix(fire.SUFFIX) in fire.AXES


def _fire_cells(data: Any, dimension: str) -> int:
    """Fire cells for each atmospheric cell along a dimension; 0 if a tile has none. It holds them
    for each of its faces."""
    fine = data.dimensions.get(dimension + fire.SUFFIX)
    if fine is None:
        return 0
    ends = (f"{fire.AXES[dimension]}_PATCH_{end}_STAG" for end in ("START", "END"))
    first, last = (int(data.getncattr(end)) for end in ends)
    return len(fine) // (last - first + 1)


def _part(path: Path, data: Any) -> dict[str, range]:
    """The points that a tile holds along each horizontal dimension, from 0, by its attributes."""
    part = {}
    try:
        for dimension, axis in fire.AXES.items():
            data.getncattr(f"{axis}_GRID_DIMENSION")
            for suffix, which in (("", "UNSTAG"), ("_stag", "STAG")):
                name = dimension + suffix
                if name in data.dimensions:
                    start = int(data.getncattr(f"{axis}_PATCH_START_{which}")) - 1
                    part[name] = range(start, start + len(data.dimensions[name]))
            if cells := _fire_cells(data, dimension):
                start = cells * (int(data.getncattr(f"{axis}_PATCH_START_STAG")) - 1)
                name = dimension + fire.SUFFIX
                part[name] = range(start, start + len(data.dimensions[name]))
    except AttributeError as error:
        text = f"{path.name} does not say which part of the domain it holds"
        raise FrameError(f"{text}: {error}") from error
    return part
