"""What VTK's XML files have in common. Importable on a login node."""

from __future__ import annotations

import sys

ENDIAN = "LittleEndian" if sys.byteorder == "little" else "BigEndian"
Place = tuple[int, int, int]
"""The first point of a part in the whole, as (z, y, x)."""


def opening(kind: str) -> list[str]:
    """The first lines of a file of that kind."""
    return [
        '<?xml version="1.0"?>',
        f'<VTKFile type="{kind}" version="1.0" byte_order="{ENDIAN}" header_type="UInt64">',
    ]


def extent(first: Place, shape: tuple[int, int, int]) -> str:
    """The first and the last point along x, y and z, as VTK writes them."""
    ends = [f"{n} {n + size - 1}" for n, size in zip(first, shape, strict=True)]
    return " ".join(reversed(ends))
