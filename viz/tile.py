"""Tiles of an io_form 102 frame: where the points of each file lie in the joined domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_PATCHES = {
    "west_east": "WEST-EAST_PATCH_{}_UNSTAG",
    "west_east_stag": "WEST-EAST_PATCH_{}_STAG",
    "south_north": "SOUTH-NORTH_PATCH_{}_UNSTAG",
    "south_north_stag": "SOUTH-NORTH_PATCH_{}_STAG",
}


@dataclass(slots=True)
class Tile:
    """One open file, and where its points begin in the joined domain, by dimension."""

    data: Any
    origin: dict[str, int]

    def overlap(self, dimension: str, wanted: slice) -> tuple[slice, slice]:
        """Where this tile's part of ``wanted`` lies in the result, and in the tile itself.

        The first one is empty when the tile has none of it.
        """
        begin, size = self.origin.get(dimension, 0), len(self.data.dimensions[dimension])
        first = max(0, -(-(begin - wanted.start) // wanted.step))
        end = min(begin + size, wanted.stop)
        last = max(first, -(-(end - wanted.start) // wanted.step))
        source = wanted.start + first * wanted.step - begin
        return slice(first, last), slice(source, max(source, end - begin), wanted.step)


def origin(data: Any) -> dict[str, int]:
    """The first point of each horizontal dimension, from 0, as the file's attributes tell."""
    return {
        dimension: int(data.getncattr(template.format("START"))) - 1
        for dimension, template in _PATCHES.items()
        if dimension in data.dimensions
    }
