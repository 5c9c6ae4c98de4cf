"""Values that an open frame keeps in memory, so that later reads do not use the disk."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from burstlens.core.allowance import allowance
from burstlens.viz.seams import Variable, Window

HELD_PART = 0.125
"""The part of a worker's memory for stored values of a frame; computed ones may take as much."""
_RANGES = frozenset({"valid_min", "valid_max", "valid_range"})


class Held:
    """Parts of variables by name, up to HELD_PART; none with a valid range: ``read`` masks values.

    ``of``: whose they are, where variables of one name differ; all in the ``room`` of another.
    """

    def __init__(self, of: object = (), room: Held | None = None) -> None:
        self._of = of
        self._parts: dict[object, tuple[tuple[slice, ...], NDArray[Any]]] = (
            {} if room is None else room._parts
        )

    def add(self, variable: Variable, window: Window | None, values: NDArray[Any]) -> None:
        """Keep the values of a window if there is room, and unless all of the variable is kept."""
        if self._is_whole(variable):
            return
        size = values.nbytes + sum(array.nbytes for _, array in self._parts.values())
        if size <= HELD_PART * allowance().memory and not _RANGES & variable.attributes.keys():
            self._parts[self._of, variable.name] = (slices(variable, window), values)

    def get(self, variable: Variable, window: Window | None) -> NDArray[Any] | None:
        """A copy of a window's values if that window or the whole variable is kept, else None."""
        parts, values = self._parts.get((self._of, variable.name), ((), None))
        if values is None:
            return None
        wanted = slices(variable, window)
        if parts == wanted:
            return values.copy()
        return values[wanted].copy() if self._is_whole(variable) else None

    def _is_whole(self, variable: Variable) -> bool:
        parts, _ = self._parts.get((self._of, variable.name), (None, None))
        return parts == tuple(slice(0, size, 1) for size in variable.shape)

    def clear(self) -> None:
        """Drop all values."""
        self._parts.clear()


def slices(variable: Variable, window: Window | None) -> tuple[slice, ...]:
    """The part of each dimension of a variable, with start, stop and step."""
    return tuple(
        slice(*(window or {}).get(dimension, slice(None)).indices(size))
        for dimension, size in zip(variable.dimensions, variable.shape, strict=True)
    )
