"""Which variables are read chunk by chunk: large deflated floats; netCDF4 reads all others."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.frames.file import netCDF4
from burstlens.viz.frames.inflating import Slices, count_met, inflate, met
from burstlens.viz.frames.tile import Tile

LEAST_BYTES = 1 << 20
"""netCDF4 reads fewer inflated bytes as fast (``python -m bench --only inflate``)."""
_MET_BYTES, _STORED_BYTES = 16_000, 1000
"""What it costs to take in a chunk, and to find one stored chunk among all (1 us), in bytes whose
inflating is faster here by as much."""
_INTERPRETED = frozenset(
    {"scale_factor", "add_offset", "_Unsigned", "valid_min", "valid_max", "valid_range"}
)
"""Attributes by which netCDF4 changes or masks values."""
_NO_FILTER = "undefined filter"
"""Of netCDF's message for NC_ENOFILTER."""
Index = Sequence[int | slice]
"""A number along the dimension of time; along others a slice with start, stop and step."""


def read(tile: Tile, name: str, index: Index, *, bare: bool) -> NDArray[Any] | None:
    """The values of a window as netCDF4 gives them, missing ones as NaN unless ``bare``.

    None where netCDF4 has to read them: values are not floats of 4 or 8 bytes in this machine's
    order, deflated with or without shuffle alone; they are packed or have a valid range; a chunk
    was never written; or there are few of them. Raises :class:`.ChunkError` for a chunk that cannot
    be inflated, OSError if the file is short.
    """
    stored = tile.data.variables[name]
    if not _is_worth_it(stored, index):
        return None
    fills = () if bare else _fills(stored)
    file = tile.chunk_file()
    if fills is None or file is None:
        return None
    records = [(axis, part) for axis, part in enumerate(index) if isinstance(part, int)]
    layout = file.layout(name, *records[0]) if records else file.layout(name)
    as_seen = stored.shape, stored.dtype, tuple(stored.chunking())
    if layout is None or (layout.shape, layout.kind, layout.chunk) != as_seen:
        return None
    values = inflate(file, layout, _window(index), fills, tile.kept)
    if values is None:
        return None
    return values[tuple(0 if isinstance(part, int) else slice(None) for part in index)]


def damaged(tile: Tile, name: str, index: Index) -> str:
    """Names the first chunk of a window that HDF5 cannot read; empty if there is none."""
    chunk = tile.data.variables[name].chunking()
    file = tile.chunk_file() if isinstance(chunk, list) else None
    if file is None:
        return ""
    return file.damaged(name, (first for first, *_ in met(_window(index), tuple(chunk))))


def lacks_filter(tile: Tile, name: str, error: Exception) -> str:
    """Names the filter of a variable that netCDF4 has not; empty if the error is another one."""
    file = tile.chunk_file() if _NO_FILTER in str(error) else None
    return file.lacks_filter(name) if file is not None else ""


def _is_worth_it(stored: Any, index: Index) -> bool:
    """Whether the chunks of a window are large enough, and plain as far as netCDF4 knows them."""
    if not (stored.filters() or {}).get("zlib") or _INTERPRETED & set(stored.ncattrs()):
        return False
    if stored.dtype not in (np.dtype("f4"), np.dtype("f8")):
        return False
    chunk = stored.chunking()
    there = prod(-(-whole // size) for whole, size in zip(stored.shape, chunk, strict=True))
    needed = count_met(_window(index), chunk)
    least = LEAST_BYTES + _STORED_BYTES * there + _MET_BYTES * needed
    return bool(needed * prod(chunk) * stored.dtype.itemsize >= least)


def _window(index: Index) -> Slices:
    return tuple(part if isinstance(part, slice) else slice(part, part + 1, 1) for part in index)


def _fills(stored: Any) -> tuple[Any, ...] | None:
    """The values that netCDF4 masks; None if it has to convert them to the variable's type."""
    attributes = stored.ncattrs()
    found: list[Any] = []
    for name in ("missing_value", "_FillValue"):
        if name in attributes:
            values = np.atleast_1d(stored.getncattr(name))
            if values.dtype != stored.dtype:
                return None
            found += list(values)
    if "_FillValue" not in attributes:
        found.append(stored.dtype.type(netCDF4.default_fillvals[stored.dtype.str[1:]]))
    return tuple(found)
