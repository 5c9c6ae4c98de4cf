"""A finished frame, opened for reading: one file, or one record of it, or tiles joined."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from burstlens.errors import FrameError
from burstlens.nearness import NEAR, did_you_mean
from burstlens.valid_time import wrf_key
from burstlens.viz.diagnostics.level import AT
from burstlens.viz.frame_file import AGAIN, PAUSES_S, TIME_NAMES
from burstlens.viz.frame_file import netCDF4 as netCDF4
from burstlens.viz.tile import Tiles

Window = Mapping[str, slice]
"""The part of each dimension that is wanted; dimensions not named are taken whole."""

_PACKED = frozenset({"scale_factor", "add_offset", "_Unsigned"})
_RANGES = frozenset({"valid_min", "valid_max", "valid_range"})
_GAPS = {"num_press_levels_stag": "P_LEV_MISSING", "num_z_levels_stag": "Z_LEV_MISSING"}
"""Global attributes with what WRF writes where such a level is underground; -999 by default
(run/README.namelist, ``&diags``)."""
_Result = TypeVar("_Result")
HELD_BYTES = 1 << 29
"""Values that an open frame keeps for a second reader."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of a frame; dimensions and shape are those of one record, without time."""

    name: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    attributes: Mapping[str, Any]

    @property
    def units(self) -> str:
        """The unit as the file writes it; empty when it names none."""
        return str(self.attributes.get("units", "")).strip()

    @property
    def long_name(self) -> str:
        """What the variable is, in words (CF ``long_name``, WRF ``description``), or its name."""
        for key in ("long_name", "description", "standard_name"):
            text = str(self.attributes.get(key, "")).strip()
            if text:
                return text
        return self.name


@dataclass(frozen=True, slots=True)
class Beside:
    """The newest frame of another stream, to be opened by ``open_frame``."""

    paths: tuple[Path, ...]
    record: int
    stream: str
    time: str


@dataclass(frozen=True, slots=True)
class Stored:
    """Values as the file holds them: NaN and infinities stay. ``fills`` stand for no value."""

    values: NDArray[Any]
    fills: tuple[float, ...]


class FrameReader:
    """Reads one frame. Arrays come without the time dimension, missing values as NaN.

    ``paths`` are the frame's files, ``record`` its index along time, ``stream`` and ``time``
    (a valid-time key) what it is. Use it through ``open_frame``. ``previous``, ``followed``
    and ``beside`` are what its product asked for, see ``burstlens.viz.product.Wants``.
    """

    previous: Path | None = None
    followed: Mapping[str, Path] = MappingProxyType({})
    beside: Mapping[str, Beside] = MappingProxyType({})

    def __init__(self, paths: Sequence[Path], record: int, stream: str, time: str) -> None:
        self.paths = tuple(paths)
        self.record = record
        self.stream = stream
        self.time = time
        self._tiles = Tiles(self.paths, record, time)
        self._attributes: dict[str, Any] = {}
        self._held: dict[str, tuple[tuple[slice, ...], NDArray[Any]]] = {}

    @property
    def attributes(self) -> dict[str, Any]:
        """The global attributes, of the first tile where there are several."""
        if not self._attributes:
            data = self._tiles.first
            self._attributes = {key: data.getncattr(key) for key in data.ncattrs()}
        return self._attributes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all variables."""
        return tuple(self._tiles.first.variables)

    @property
    def start(self) -> str | None:
        """The valid-time key of the model's start, where a WRF file tells it, else None."""
        for key in ("SIMULATION_START_DATE", "START_DATE"):
            text = getattr(self._tiles.first, key, None)
            if isinstance(text, str):
                return wrf_key(text)
        return None

    @property
    def dimensions(self) -> dict[str, int]:
        """The size of each dimension of the joined domain, without time."""
        return self._tiles.sizes

    def __contains__(self, name: object) -> bool:
        return name in self._tiles.first.variables

    def variable(self, name: str) -> Variable:
        """What the file says of a variable, or what is known of one computed from others.

        FrameError with near names when there is none, or naming what a diagnostic needs.
        """
        if name not in self:
            # It reads frames itself, so it is imported when it is asked for.
            from burstlens.viz.diagnostics.synonyms import SYNONYMS
            from burstlens.viz.diagnostics.table import DIAGNOSTICS, describe, is_derived

            if is_derived(name):
                return describe(self, name)
            near = self._near(name, DIAGNOSTICS, SYNONYMS)
            raise FrameError(f"{self._name()} has no variable {name!r}{near}")
        stored = self._tiles.first.variables[name]
        sizes = self.dimensions
        dimensions = tuple(d for d in stored.dimensions if d != self._tiles.time_dimension)
        attributes = {key: stored.getncattr(key) for key in stored.ncattrs()}
        for dimension in _GAPS.keys() & set(dimensions):
            missing = self.attributes.get(_GAPS[dimension], -999.0)
            attributes.setdefault("missing_value", missing)
        return Variable(
            name, dimensions, tuple(sizes[dimension] for dimension in dimensions), attributes
        )

    def read(self, name: str, window: Window | None = None) -> NDArray[Any]:
        """The values of a variable within a window, one axis for each of its dimensions.

        Floating point keeps its width; missing values are NaN (integers that have some become
        float64). What the file does not have is computed, where
        ``burstlens.viz.diagnostics.table`` knows how. Raises FrameError when the variable is
        not there or cannot be read.
        """
        variable = self.variable(name)
        slices = _slices(variable, window)
        held = self._from_held(variable, slices)
        if held is not None:
            return held
        if name not in self:
            from burstlens.viz.diagnostics.table import compute

            return compute(self, name, window)
        return self._again(lambda: self._read(variable, slices), f"{name} of {self._name()}")

    def stored(self, name: str, window: Window | None = None) -> Stored:
        """The values of a variable as the model wrote them, for those who judge it.

        Unlike ``read`` it hides nothing: what ``valid_range`` excludes is there, and a NaN is
        one also where the file says that NaN stands for a missing value. Packed values are
        unpacked, their missing ones NaN; so are those of a level that a column does not reach.
        Raises FrameError.
        """
        variable = self.variable(name)
        if name not in self:
            return Stored(self.read(name, window), (float("nan"),) if AT in name else ())
        if _PACKED & variable.attributes.keys():
            return Stored(self.read(name, window), (float("nan"),))
        slices = _slices(variable, window)
        values = self._again(
            lambda: self._read(variable, slices, bare=True), f"{name} of {self._name()}"
        )
        return Stored(values, _fills(variable, values.dtype))

    def hold(self, name: str, window: Window | None, values: NDArray[Any]) -> None:
        """Keep what ``stored`` gave until the frame is closed, so that the same part, or any
        part of a whole variable, is read from the disk once.

        Only for values of which none is missing: of others ``read`` makes something else.
        """
        variable = self.variable(name)
        size = values.nbytes + sum(array.nbytes for _, array in self._held.values())
        if size <= HELD_BYTES and not _RANGES & variable.attributes.keys():
            self._held[name] = (_slices(variable, window), values)

    def _from_held(self, variable: Variable, slices: tuple[slice, ...]) -> NDArray[Any] | None:
        parts, values = self._held.get(variable.name, ((), None))
        if values is None:
            return None
        if parts == slices:
            return values.copy()
        whole = all(
            part == slice(0, size, 1) for part, size in zip(parts, variable.shape, strict=True)
        )
        return values[slices].copy() if whole else None

    def close(self) -> None:
        """Close the files; the reader cannot be used afterwards."""
        self._tiles.close()
        self._held = {}

    def open(self) -> None:
        """Open a file and check that the record is there; FrameError when it is not.

        Further tiles are opened when what they hold is asked for.
        """
        _ = self._tiles.first

    def _again(self, action: Callable[[], _Result], what: str) -> _Result:
        """Run ``action``; what may pass means: open the files again."""
        for pause_s in (*PAUSES_S, None):
            try:
                return action()
            except AGAIN as error:
                self.close()
                if pause_s is None:
                    raise FrameError(f"{what} cannot be read: {error}") from error
                clock.sleep(pause_s)
        raise AssertionError("unreachable")

    def _read(
        self, variable: Variable, slices: tuple[slice, ...], *, bare: bool = False
    ) -> NDArray[Any]:
        parts = []
        for target, source, data in self._tiles.parts(variable.name, variable.dimensions, slices):
            try:
                parts.append((target, self._part(data, variable, source, bare=bare)))
            except AGAIN as error:
                raise OSError(f"{Path(data.filepath()).name}: {error}") from error
        if len(parts) == 1:
            return parts[0][1]
        shape = tuple(len(range(s.start, s.stop, s.step)) for s in slices)
        joined = np.empty(shape, np.result_type(*(values for _, values in parts)))
        for target, values in parts:
            joined[target] = values
        return joined

    def _part(
        self, data: Any, variable: Variable, slices: tuple[slice, ...], *, bare: bool
    ) -> NDArray[Any]:
        stored = data.variables[variable.name]
        has_time = len(stored.dimensions) > len(variable.dimensions)
        index: tuple[Any, ...] = (self.record, *slices) if has_time else slices
        stored.set_auto_mask(not bare)
        values = stored[index if index else ...]
        if isinstance(values, np.ma.MaskedArray):
            if values.dtype.kind in "SU":
                return np.asarray(values.data)
            kind = values.dtype if values.dtype.kind == "f" else np.float64
            values = np.ma.filled(values.astype(kind), np.nan)
        missing = variable.attributes.get("missing_value")
        if not bare and missing is not None and "missing_value" not in stored.ncattrs():
            # What the library cannot know: it stands in the file's own attributes.
            values[values == missing] = np.nan
        return np.asarray(values)

    def _near(self, name: str, diagnostics: Iterable[str], synonyms: Mapping[str, str]) -> str:
        """The end of a message on an unknown name: near names, else the file's own fields.

        Only a file on WRF's dimensions can have diagnostics."""
        sizes = self.dimensions
        own = [known for known in self.names if known not in sizes and known not in TIME_NAMES]
        if {"south_north", "west_east"} <= sizes.keys():
            if name.casefold() in synonyms:
                return f"{NEAR} {synonyms[name.casefold()]}?"
            near = did_you_mean(name, (*own, *diagnostics))
            if near.startswith(NEAR):
                return near
        return did_you_mean(name, own)

    def _name(self) -> str:
        tiles = f" ({len(self.paths)} tiles)" if len(self.paths) > 1 else ""
        return self.paths[0].name + tiles


@contextmanager
def open_frame(
    paths: Sequence[str | Path],
    record: int = 0,
    *,
    stream: str = "",
    time: str = "",
    previous: Path | None = None,
    followed: Mapping[str, Path] = MappingProxyType({}),
    beside: Mapping[str, Beside] = MappingProxyType({}),
) -> Iterator[FrameReader]:
    """Open a frame that was declared ready, read-only and without locks.

    ``paths`` are absolute: one file, or every tile of an io_form 102 frame in rank order, which
    are joined by their ``..._PATCH_START_...`` attributes. Raises FrameError when a file is
    missing, empty, short or no netCDF, or holds another time than ``time``.
    """
    reader = FrameReader([Path(path) for path in paths], record, stream, time)
    reader.previous, reader.followed, reader.beside = previous, followed, beside
    try:
        reader.open()
        yield reader
    finally:
        reader.close()


def _slices(variable: Variable, window: Window | None) -> tuple[slice, ...]:
    return tuple(
        slice(*(window or {}).get(dimension, slice(None)).indices(size))
        for dimension, size in zip(variable.dimensions, variable.shape, strict=True)
    )


def _fills(variable: Variable, kind: np.dtype[Any]) -> tuple[float, ...]:
    """The values that stand for none, as CF 2.5.1 has them; NaN is none of them."""
    found: list[float] = []
    for key in ("_FillValue", "missing_value"):
        with suppress(TypeError, ValueError):
            found += np.atleast_1d(variable.attributes.get(key, [])).astype(float).tolist()
    default = netCDF4.default_fillvals.get(kind.str[1:])
    if "_FillValue" not in variable.attributes and kind.itemsize > 1 and default is not None:
        found.append(float(kind.type(default)))
    return tuple(value for value in found if value == value)
