"""A finished frame, opened for reading: one file, one record of a file, or joined tiles."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from burstlens.core.allowance import room
from burstlens.core.errors import FrameError, UnreadableFrameError
from burstlens.core.nearness import did_you_mean
from burstlens.core.valid_time import wrf_key
from burstlens.viz.frames import deflated
from burstlens.viz.frames.file import AGAIN, PAUSES_S, attributes_of, stored_time
from burstlens.viz.frames.file import netCDF4 as netCDF4
from burstlens.viz.frames.held import Held, slices
from burstlens.viz.frames.inflating import ChunkError
from burstlens.viz.frames.joining import JoinedArray, parts
from burstlens.viz.frames.overlooked import (
    ODD,
    is_packed_by_text,
    missing_numbers,
    with_overlooked,
)
from burstlens.viz.frames.reading_time import reading
from burstlens.viz.frames.record import own_fields
from burstlens.viz.frames.tile import Tile, Tiles
from burstlens.viz.seams import Stored, Variable, Window

_PACKED = frozenset({"scale_factor", "add_offset", "_Unsigned"})
_GAPS = {"num_press_levels_stag": "P_LEV_MISSING", "num_z_levels_stag": "Z_LEV_MISSING"}
"""Global attributes with the values that WRF writes where a level is underground; -999 by default
(run/README.namelist, ``&diags``)."""
_COMPRESSIONS = ("zlib", "zstd", "bzip2", "blosc", "szip", "fletcher32")
"""Filters of the format for which a chunk is read as a whole."""
_SMALL = 0.05
"""The part of a worker's memory up to which a variable of tiles is read at once."""
_Result = TypeVar("_Result")


class FrameReader:
    """Reads one frame from its files: an :class:`.OpenFrame` of their variables.

    ``paths`` are the frame's files, absolute: one, or every tile of an io_form 102 frame in rank
    order, which are joined by their ``..._PATCH_START_...`` attributes. ``record`` is its index
    along time, ``stream`` and ``time`` (a valid-time key) say which frame it is. Time lies along
    the dimension of ``time_variable``, see :func:`.time_dimension`.
    """

    def __init__(
        self, paths: Sequence[Path], record: int, stream: str, time: str, time_variable: str = ""
    ) -> None:
        self.paths = tuple(paths)
        self.record = record
        self.stream = stream
        self.time = time
        self._time_variable = time_variable
        self._tiles = Tiles(self.paths, record, time, time_variable)
        self._attributes: dict[str, Any] = {}
        self._held = Held()

    @property
    def attributes(self) -> dict[str, Any]:
        """The global attributes, of the first tile where there are several."""
        if not self._attributes:
            self._attributes = attributes_of(self._tiles.first)
        return self._attributes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all variables."""
        return tuple(self._tiles.first.variables)

    @property
    def start(self) -> str | None:
        """The valid-time key of the model's start if a WRF file has it, else None."""
        for key in ("SIMULATION_START_DATE", "START_DATE"):
            text = getattr(self._tiles.first, key, None)
            if isinstance(text, str):
                return wrf_key(text)
        return None

    @property
    def dimensions(self) -> dict[str, int]:
        """The size of each dimension of the joined domain, without time."""
        return self._tiles.sizes

    @property
    def has_own_time(self) -> bool | None:
        """Whether the first file says that its record has the frame's time; None: it says none."""
        path = str(self.paths[0])
        return stored_time(self._tiles.first, path, self.record, self.time, self._time_variable)

    def __contains__(self, name: object) -> bool:
        return name in self._tiles.first.variables

    def variable(self, name: str) -> Variable:
        """Describes a variable as the file does; FrameError with near names if there is none."""
        if name not in self:
            near = did_you_mean(name, own_fields(self))
            raise FrameError(f"{self} has no variable {name!r}{near}")
        stored = self._tiles.first.variables[name]
        sizes = self.dimensions
        dimensions = tuple(d for d in stored.dimensions if d != self._tiles.time_dimension)
        attributes = attributes_of(stored)
        for dimension in _GAPS.keys() & set(dimensions):
            missing = self.attributes.get(_GAPS[dimension], -999.0)
            attributes.setdefault("missing_value", missing)
        shape = tuple(sizes[dimension] for dimension in dimensions)
        is_text = stored.dtype is str or getattr(stored.dtype, "kind", "") in ("S", "U")
        chunks = self._chunks(stored, shape)
        return Variable(name, dimensions, shape, attributes, chunks, is_text=is_text)

    def _chunks(self, stored: Any, whole: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a compressed variable's chunks, without time. The chunks of tiles lie
        anywhere: its whole shape where that is small, else a tile's."""
        if not self._tiles.first.data_model.startswith("NETCDF4"):
            return ()
        chunks, filters = stored.chunking(), stored.filters() or {}
        if chunks == "contiguous" or not any(filters.get(name) for name in _COMPRESSIONS):
            return ()
        tiled = len(self.paths) > 1
        if tiled and prod(whole) * stored.dtype.itemsize <= _SMALL * room():
            return whole
        pairs = zip(stored.dimensions, stored.shape if tiled else chunks, strict=True)
        return tuple(size for name, size in pairs if name != self._tiles.time_dimension)

    def read(self, name: str, window: Window | None = None) -> NDArray[Any]:
        """As :meth:`.OpenFrame.read`; after an error that may be temporary, files are reopened."""
        variable = self.variable(name)
        held = self._held.get(variable, window)
        if held is not None:
            return held
        part = slices(variable, window)
        return self._again(lambda: self._read(variable, part), f"{name} of {self}")

    def stored(self, name: str, window: Window | None = None) -> Stored:
        variable = self.variable(name)
        if _PACKED & variable.attributes.keys():
            return Stored(self.read(name, window), (float("nan"),))
        part = slices(variable, window)
        values = self._again(lambda: self._read(variable, part, bare=True), f"{name} of {self}")
        return Stored(values, _fills(variable, values.dtype))

    def hold(self, name: str, window: Window | None, values: NDArray[Any]) -> None:
        self._held.add(self.variable(name), window, values)

    def share(self, size: int) -> None:
        """Keep up to so many bytes of inflated chunks until the files are closed."""
        self._tiles.share(size)

    def close(self) -> None:
        """Close the files; the reader cannot be used afterwards."""
        self._tiles.close()
        self._held.clear()

    def open(self) -> None:
        """Open a file and check that it has the record; FrameError if not.

        Further tiles are opened when their data is needed.
        """
        _ = self._tiles.first

    def _again(self, action: Callable[[], _Result], what: str) -> _Result:
        """Run ``action``; after an error that may be temporary, reopen the files and retry."""
        for pause_s in (*PAUSES_S, None):
            try:
                with reading():
                    return action()
            except AGAIN as error:
                self.close()
                if pause_s is None:
                    raise UnreadableFrameError(f"{what} cannot be read: {error}") from error
                clock.sleep(pause_s)
        raise AssertionError("unreachable")

    def _read(
        self, variable: Variable, part: tuple[slice, ...], *, bare: bool = False
    ) -> NDArray[Any]:
        joined = JoinedArray(tuple(len(range(s.start, s.stop, s.step)) for s in part))
        for target, source, tile in self._tiles.parts(variable.name, variable.dimensions, part):
            try:
                joined.put(target, self._part(tile, variable, source, bare=bare))
            except AGAIN as error:
                raise OSError(f"{tile.path.name}: {error}") from error
        return joined.values()

    def _part(
        self, tile: Tile, variable: Variable, part: tuple[slice, ...], *, bare: bool
    ) -> NDArray[Any]:
        stored = tile.data.variables[variable.name]
        inner = iter(part)
        # Time is not the first dimension in files that were written column by column.
        index = tuple(
            self.record if dimension == self._tiles.time_dimension else next(inner)
            for dimension in stored.dimensions
        )
        found, fault = None, ""
        try:
            found = deflated.read(tile, variable.name, index, bare=bare)
        except ChunkError as error:  # netCDF4 may know better
            fault = str(error)
        if found is not None:
            return self._filled(variable, stored, found, bare=bare)
        units = stored.chunking() if variable.chunks else [1] * len(index)
        joined = JoinedArray(tuple(len(range(s.start, s.stop, s.step)) for s in part))
        for place, one in parts(index, getattr(stored.dtype, "itemsize", 1), units):
            values = _values(tile, variable.name, one, fault, bare=bare)
            joined.put(place, self._filled(variable, stored, values, bare=bare))
        return joined.values()

    def _filled(self, variable: Variable, stored: Any, values: Any, *, bare: bool) -> NDArray[Any]:
        """The values with NaN where they are missing, unless ``bare``."""
        if isinstance(values, np.ma.MaskedArray):
            if values.dtype.kind in "SU":
                return np.asarray(values.data)
            kind = values.dtype if values.dtype.kind == "f" else np.float64
            values = np.ma.filled(values.astype(kind), np.nan)
        missing = variable.attributes.get("missing_value")
        if not bare and missing is not None and "missing_value" not in stored.ncattrs():
            # The library does not know these values: they are in the file's own attributes.
            values[values == missing] = np.nan
            return np.asarray(values)
        found = np.asarray(values)
        is_odd = bool(ODD & variable.attributes.keys()) and stored.dtype is not str
        if bare or not is_odd or stored.dtype.kind not in "fiu":
            return found
        return with_overlooked(found, variable.attributes, stored.dtype)

    def __str__(self) -> str:
        tiles = f" ({len(self.paths)} tiles)" if len(self.paths) > 1 else ""
        return self.paths[0].name + tiles


def _values(
    tile: Tile, name: str, index: tuple[int | slice, ...], fault: str, *, bare: bool
) -> Any:
    """An array, masked by netCDF4 where it has missing values. An error names a damaged chunk."""
    stored = tile.data.variables[name]
    stored.set_auto_mask(not bare)
    if ODD & set(stored.ncattrs()) and is_packed_by_text(attributes_of(stored)):
        stored.set_auto_scale(False)
    try:
        return stored[index if index else ...]
    except OverflowError:  # netCDF4 forces a text into the type
        return _masked(stored, index)
    except AGAIN as error:
        if lacking := deflated.lacks_filter(tile, name, error):
            raise FrameError(f"{tile.path.name}: {lacking}") from error
        fault = fault or deflated.damaged(tile, name, index)
        raise OSError(fault or str(error)) from error


def _masked(stored: Any, index: tuple[int | slice, ...]) -> NDArray[Any]:
    """Values of which those are masked that attributes and netCDF's own fill values mark."""
    part, scales = index if index else ..., stored.scale
    stored.set_auto_mask(False)
    stored.set_auto_scale(False)
    there = Variable("", (), (), attributes_of(stored))
    gaps = np.isin(stored[part], _fills(there, stored.dtype))
    stored.set_auto_scale(scales)
    return np.ma.array(stored[part], mask=gaps)


def _fills(variable: Variable, kind: np.dtype[Any]) -> tuple[float, ...]:
    """The values that mark missing data, as in CF 2.5.1, also of odd types; no NaN."""
    found = missing_numbers(variable.attributes, kind)
    default = netCDF4.default_fillvals.get(kind.str[1:])
    if "_FillValue" not in variable.attributes and kind.itemsize > 1 and default is not None:
        found.append(float(kind.type(default)))
    return tuple(found)
