"""2-D fields of a frame, stored or computed: values, coordinates, names, statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.allowance import allowance
from burstlens.core.errors import FrameError
from burstlens.core.printable import printable
from burstlens.core.units import printed
from burstlens.viz.frames.held import HELD_PART, slices
from burstlens.viz.frames.joining import JoinedArray, cut, part_bytes
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.crop import Crop, resolve
from burstlens.viz.geometry.staggering import one_level, unstaggered
from burstlens.viz.seams import FrameWrapper, OpenFrame, Stored, Variable, Window

_COORDINATES = {"num_press_levels_stag": "P_PL", "num_z_levels_stag": "Z_ZL"}
"""WRF's names of the coordinates of its pressure and height levels (``&diags``)."""
_ITEM_BYTES = 4
_COUNTED = frozenset({"level", "levels", "layer", "layers", "sigma_level", "count"})
"""Units of vertical coordinates that count."""


@dataclass(frozen=True, slots=True)
class Field:
    """Values as (y, x), NaN where there is none, on the points of ``plane``.

    ``level`` names the level of a 3-D variable in words (empty for a 2-D one). ``first`` and
    ``step`` are the start and the stride of the crop along y and x in the file's own dimensions.
    """

    name: str
    long_name: str
    units: str
    values: NDArray[Any]
    plane: grid.Plane
    level: str
    dimensions: tuple[str, str]
    first: tuple[int, int]
    step: tuple[int, int]
    is_difference: bool = False
    """Whether it is a difference of temperatures."""

    def extent(self) -> tuple[float, float]:
        """The smallest and the largest finite value."""
        return finite_range(self.values)

    def count_beyond(self, limits: tuple[float, float]) -> tuple[int, int]:
        """How many values lie below and above limits."""
        below = above = 0
        for _, rows in _blocks(self.values):
            below += int(np.count_nonzero(rows < limits[0]))
            above += int(np.count_nonzero(rows > limits[1]))
        return below, above

    def place(self, extreme: str) -> dict[str, int]:
        """The file's index of the (first) ``min`` or ``max``, by dimension."""
        y, x = self.position(extreme)
        at = (self.first[0] + y * self.step[0], self.first[1] + x * self.step[1])
        return dict(zip(self.dimensions, at, strict=True))

    def position(self, extreme: str) -> tuple[int, int]:
        """The index of the (first) ``min`` or ``max`` in ``values``, as (y, x)."""
        low, high = finite_range(self.values)
        wanted = low if extreme == "min" else high
        for first, rows in _blocks(self.values):
            found = rows == wanted
            if found.any():
                y, x = np.unravel_index(int(np.argmax(found)), rows.shape)
                return first + int(y), int(x)
        raise ValueError("the field has no finite value")

    def facts(self) -> dict[str, Any]:
        """Its facts for the index: range, mean, count and positions, as JSON values."""
        low, high = self.extent()
        total, known = 0.0, 0
        for _, rows in _blocks(self.values):
            finite = np.isfinite(rows)
            count = int(np.count_nonzero(finite))
            there = rows.ravel() if count == rows.size else rows[finite]
            total, known = total + float(there.sum(dtype=np.float64)), known + count
        return {
            "variable": self.name,
            "units": self.units,
            "shape": list(self.values.shape),
            "min": low,
            "max": high,
            "mean": total / known,
            "nan": self.values.size - known,
            "min_at": self.place("min"),
            "max_at": self.place("max"),
        } | ({"level": self.level} if self.level else {})


def finite_range(values: NDArray[Any]) -> tuple[float, float]:
    """The smallest and the largest finite value. ValueError if there is none."""
    low, high = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    if not (np.isfinite(low) and np.isfinite(high)):  # infinite ones, or none at all
        finite = values[np.isfinite(values)]
        low, high = finite.min(), finite.max()
    return float(low), float(high)


def read_field(
    frame: OpenFrame, variable: str, *, level: int | None, crop: Crop, units: str | None
) -> Field:
    """One level of a variable within a crop; ``units`` None keeps the file's.

    Raises FrameError if the variable, the level or the crop does not exist, if no level is
    given for a 3-D variable, and if all values are NaN or infinite.
    """
    field = read_plain_field(frame, variable, level=level, crop=crop, units=units)
    if not any(bool(np.isfinite(rows).any()) for _, rows in _blocks(field.values)):
        raise FrameError(f"{variable}: all values are NaN")
    return field


def read_plain_field(
    frame: OpenFrame, variable: str, *, level: int | None, crop: Crop, units: str | None
) -> Field:
    """As :func:`read_field`, also where all values are NaN."""
    found = frame.variable(variable)
    window, dimension = one_level_of(frame, variable, level, resolve(crop, frame, variable))
    x, y = grid.horizontal_dimensions(frame, variable)
    words = _level_words(frame, variable, dimension, window[dimension].start) if dimension else ""
    words = ", ".join(filter(None, (words, found.choice)))
    return Field(
        variable,
        found.long_name,
        units or found.units,
        _read_plane(frame, found, window, (y, x), units),
        grid.map_plane(frame, variable, window),
        words,
        (y, x),
        (window[y].start, window[x].start),
        (window[y].step or 1, window[x].step or 1),
        found.is_difference,
    )


def read_values(frame: OpenFrame, variable: str, *, level: int | None, crop: Crop) -> NDArray[Any]:
    """The values of :func:`read_plain_field` alone, in the file's units."""
    window, _ = one_level_of(frame, variable, level, resolve(crop, frame, variable))
    x, y = grid.horizontal_dimensions(frame, variable)
    return _read_plane(frame, frame.variable(variable), window, (y, x), None)


def _read_plane(
    frame: OpenFrame, found: Variable, window: Window, ground: tuple[str, str], units: str | None
) -> NDArray[Any]:
    """The values as (y, x) in these units; a large stored field some rows at a time."""
    axes = [found.dimensions.index(dimension) for dimension in ground]
    shape = [len(range(*window[d].indices(frame.dimensions[d]))) for d in found.dimensions]
    others = [n for n in range(len(shape)) if n not in axes]
    if any(shape[n] != 1 for n in others):
        names = ", ".join(found.dimensions[n] for n in others if shape[n] != 1)
        raise FrameError(f"{found.name} has more than two dimensions: crop {names} to one index")
    size = shape[axes[0]], shape[axes[1]]
    joined = JoinedArray(size)
    rows = range(*window[ground[0]].indices(frame.dimensions[ground[0]]))
    is_large = prod(size) * _ITEM_BYTES > HELD_PART * allowance().memory
    # What is computed has slabs of its own; what needs no other units is read in parts below.
    is_cut = bool(units) and is_large and found.name in frame.names
    step = _rows_at_once(size[1]) if is_cut else len(rows)
    chunk = found.chunks[axes[0]] if found.chunks else 1
    for part in cut(rows, step, chunk):
        some = rows[part]
        window = {**window, ground[0]: slice(some.start, some.stop, some.step)}
        values = frame.read(found.name, window)
        values = values.transpose(*others, *axes).reshape(len(some), size[1])
        if values.dtype.kind != "f":
            values = values.astype(np.float64)
        joined.put((part, slice(None)), found.converted(values, units) if units else values)
    return joined.values()


def _rows_at_once(columns: int) -> int:
    return max(1, part_bytes() // (_ITEM_BYTES * max(1, columns)))


def _blocks(values: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Rows that are looked at together, so that temporaries stay small; the first one's number."""
    count = _rows_at_once(values.shape[1])
    for first in range(0, values.shape[0], count):
        yield first, values[first : first + count]


def one_level_of(
    frame: OpenFrame, variable: str, level: int | None, window: dict[str, slice]
) -> tuple[dict[str, slice], str]:
    """The window with one level of a 3-D variable, and its vertical dimension ("": it has none).

    FrameError if the variable does not have two horizontal dimensions, the level is out of range,
    none of several levels is given, or one is given for a variable without levels.
    """
    grid.horizontal_dimensions(frame, variable)
    direction = grid.axes(frame, variable).get("z")
    if direction is None:
        if level is not None:
            further = frame.variable(variable).further
            hint = f": {variable}[{further[0]}=...] chooses along {further[0]}" if further else ""
            raise FrameError(f"{variable} has no levels, so level = {level} means nothing{hint}")
        return window, ""
    actual = {unstaggered(d, frame): d for d in frame.variable(variable).dimensions}
    dimension = actual[direction]
    size = frame.dimensions[dimension]
    if level is not None:
        window = one_level(window, dimension, level, size)
    kept = slice(*window[dimension].indices(size))
    if len(range(kept.start, kept.stop, kept.step)) != 1:
        raise FrameError(f"{variable} has {size} levels along {dimension}: say which `level`")
    return window | {dimension: kept}, dimension


def _level_words(frame: OpenFrame, variable: str, dimension: str, level: int) -> str:
    """The level in words: by its coordinate if the file has one, else by its number."""
    name = _COORDINATES.get(dimension, dimension)
    if name in frame and frame.variable(name).dimensions == (dimension,):
        about = frame.variable(name)
        at = frame.read(name, {dimension: slice(level, level + 1)})[0]
        if not isinstance(at, (np.floating, np.integer)):
            return f"{about.name} = {printable(str(at))}"  # names of classes, of members
        units = printed(about.units)
        # Counted levels and layers: their number is all that the unit says.
        units = "" if units.lower() in _COUNTED else units
        return f"{about.name} = {at:g} {units}".strip()
    return f"level {level}"


class EnrichedFrame(FrameWrapper):
    """A frame with further variables on the points of ``like``, a whole field of it.

    ``added`` maps names to long name, units and values (y, x). Their names are accepted wherever a
    variable's name is: layers, netCDF. It is an :class:`.OpenFrame`.
    """

    def __init__(
        self, frame: OpenFrame, like: Field, added: Mapping[str, tuple[str, str, NDArray[Any]]]
    ) -> None:
        super().__init__(frame)
        where = frame.variable(like.name).attributes.get("coordinates")
        placed = {} if where is None else {"coordinates": where}
        self._variables = {
            name: Variable(
                name, like.dimensions, values.shape,
                {"long_name": long_name, "units": units} | placed,
            )
            for name, (long_name, units, values) in added.items()
        }  # fmt: skip
        self._values = {name: values for name, (_, _, values) in added.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the frame's variables and of those added."""
        return (*self.frame.names, *self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self.frame

    def variable(self, name: str) -> Variable:
        return self._variables.get(name) or self.frame.variable(name)

    def read(self, name: str, window: Window | None = None) -> NDArray[Any]:
        if name not in self._values:
            return self.frame.read(name, window)
        return self._values[name][slices(self._variables[name], window)]

    def stored(self, name: str, window: Window | None = None) -> Stored:
        if name not in self._values:
            return self.frame.stored(name, window)
        return Stored(self.read(name, window), ())

    def hold(self, name: str, window: Window | None, values: NDArray[Any]) -> None:
        """As :meth:`.OpenFrame.hold`; added variables are in memory."""
        if name not in self._values:
            self.frame.hold(name, window, values)
