"""A frame whose rows and columns follow each other as they do on the earth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.errors import FrameError
from burstlens.core.lengths import radians
from burstlens.viz.frames.held import Held, slices
from burstlens.viz.geometry.coordinate_order import CoordinateOrder, order_of
from burstlens.viz.geometry.degrees import role_by_name, role_of
from burstlens.viz.seams import FrameWrapper, OpenFrame, Stored, Variable, Window

_WRF = "west_east"
"""Its grids have no such coordinates."""
_MOST = 1 << 20
"""Larger 2-D coordinates are not looked at."""
_NEVER_REPEATS = ("grid_latitude", "projection_x_coordinate", "projection_y_coordinate")


class OrderedFrame(FrameWrapper):
    """An :class:`.OpenFrame` with the horizontal coordinates of another one in order.

    Where a file's columns or rows are out of order, or lack some, all of its variables are given
    in the order of their places, with missing values in the holes (:func:`.order_of`). Windows
    and sizes are those of that order.
    """

    def __init__(self, frame: OpenFrame) -> None:
        super().__init__(frame)
        self._found: dict[str, CoordinateOrder] | None = None
        self._coordinates: dict[str, str] = {}
        self._held = Held()
        self._described: dict[str, Variable] = {}

    @property
    def dimensions(self) -> Mapping[str, int]:
        """As :attr:`.OpenFrame.dimensions`, holes included."""
        sizes = self.frame.dimensions
        orders = self._orders()
        if not orders:
            return sizes
        return dict(sizes) | {name: order.source.size for name, order in orders.items()}

    def variable(self, name: str) -> Variable:
        known = self._described.get(name)
        if known is None:
            orders, known = self._orders(), self.frame.variable(name)
            sizes = zip(known.dimensions, known.shape, strict=True)
            shape = tuple(orders[d].source.size if d in orders else size for d, size in sizes)
            known = self._described[name] = replace(known, shape=shape)
        return known

    def read(self, name: str, window: Window | None = None) -> NDArray[Any]:
        """As :meth:`.OpenFrame.read`; NaN in the holes."""
        if not self._is_moved(name):
            return self.frame.read(name, window)
        variable = self.variable(name)
        held = self._held.get(variable, window)
        return self._read(variable, window) if held is None else held

    def stored(self, name: str, window: Window | None = None) -> Stored:
        """As :meth:`.OpenFrame.stored`; a hole, never written, repeats the point beside it."""
        if not self._is_moved(name):
            return self.frame.stored(name, window)
        orders, variable = self._orders(), self.variable(name)
        found = self.frame.stored(name, None)
        part = [
            orders[d].nearest[s] if d in orders else np.arange(s.start, s.stop, s.step)
            for d, s in zip(variable.dimensions, slices(variable, window), strict=True)
        ]
        return Stored(found.values[np.ix_(*part)], found.fills)

    def hold(self, name: str, window: Window | None, values: NDArray[Any]) -> None:
        if self._is_moved(name):
            self._held.add(self.variable(name), window, values)
        else:
            self.frame.hold(name, window, values)

    def _is_moved(self, name: str) -> bool:
        """Whether a variable lies along a dimension that is not in order in the file."""
        orders = self._orders()
        return bool(orders) and not orders.keys().isdisjoint(self.variable(name).dimensions)

    def _read(self, variable: Variable, window: Window | None) -> NDArray[Any]:
        orders, part = self._orders(), slices(variable, window)
        if variable.name in self._coordinates:
            return orders[self._coordinates[variable.name]].values[part[0]]
        inner: dict[str, slice] = {}
        moved: list[tuple[int, NDArray[np.intp]]] = []
        for axis, (dimension, wanted) in enumerate(zip(variable.dimensions, part, strict=True)):
            inner[dimension] = wanted
            if dimension not in orders:
                continue
            source = orders[dimension].source[wanted]
            there = source[source >= 0]
            low, high = (int(there.min()), int(there.max()) + 1) if there.size else (0, 1)
            inner[dimension] = slice(low, high, 1)
            moved.append((axis, np.where(source >= 0, source - low, -1)))
        values = self.frame.read(variable.name, inner)
        for axis, source in moved:
            values = np.take(values, np.maximum(source, 0), axis=axis)
            if (source < 0).any() and values.dtype.kind in "iuf":
                values = values if values.dtype.kind == "f" else values.astype(np.float64)
                values[(slice(None),) * axis + (source < 0,)] = np.nan
        return values

    def _orders(self) -> dict[str, CoordinateOrder]:
        """The dimensions that are not in order in the file."""
        if self._found is None:
            self._found = {}
            frame, sizes = self.frame, self.frame.dimensions
            if _WRF in sizes:
                return self._found
            for dimension in sizes:
                name = _coordinate(frame, dimension)
                if name is None or (period := _period(frame.variable(name))) is None:
                    continue
                try:
                    values = frame.read(name)
                except FrameError:
                    continue  # whoever needs it reports it
                if values.dtype.kind not in "iuf":
                    continue
                if np.isfinite(values).all():
                    frame.hold(name, None, values)
                order = order_of(values, period)
                if order is not None:
                    self._found[dimension] = order
                    self._coordinates[name] = dimension
            self._found |= _straight_orders(frame)
        return self._found


def _coordinate(frame: OpenFrame, dimension: str) -> str | None:
    """The 1-D coordinate of a dimension: that of its name, else its only longitude or latitude."""
    if dimension in frame:
        return dimension if frame.variable(dimension).dimensions == (dimension,) else None
    named = [name for name in frame.names if role_by_name(name, "") is not None]
    found = [name for name in named if frame.variable(name).dimensions == (dimension,)]
    return found[0] if len(found) == 1 else None  # both: a list of places


def _straight_orders(frame: OpenFrame) -> dict[str, CoordinateOrder]:
    """Those of dimensions without coordinates whose 2-D longitudes and latitudes are straight."""
    found: dict[str, CoordinateOrder] = {}
    for name in frame.names:
        role = role_by_name(name, "")
        about = frame.variable(name) if role else None
        if role is None or about is None or len(about.shape) != 2 or math.prod(about.shape) > _MOST:
            continue
        across, dimension = about.dimensions[:: 1 if role == "lon" else -1]
        if dimension in found or any(d in frame for d in about.dimensions):
            continue
        # A chunk is inflated as a whole; the first line of other coordinates is read alone.
        window = None if about.chunks == about.shape else {across: slice(0, 1)}
        try:
            values = frame.read(name, window)
            if values.dtype.kind != "f" or not values.size:
                continue
            if window is None and np.isfinite(values).all():
                frame.hold(name, None, values)
            line = values[0] if role == "lon" else values[:, 0]
            order = order_of(line, (_period(about) or 0.0) if role == "lon" else 0.0)
            if order is None or not np.isfinite(line).all():
                continue
            whole = frame.read(name)
        except FrameError:
            continue
        if (whole == (line if role == "lon" else line[:, None])).all():
            frame.hold(name, None, whole)
            found[dimension] = order
    return found


def _period(variable: Variable) -> float | None:
    """After how much a horizontal coordinate repeats, 0 for never; None for other coordinates."""
    standard = str(variable.attributes.get("standard_name", ""))
    role = role_of(variable, by_name=True)
    if role == "lon" or standard == "grid_longitude" or variable.name == "rlon":
        return 2 * math.pi / (radians(variable.units or "degrees") or math.radians(1))
    if role == "lat" or standard in _NEVER_REPEATS or variable.name == "rlat":
        return 0.0
    return None
