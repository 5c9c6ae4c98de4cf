"""WRF-Fire's grid: its cells divide those of the atmosphere, and its arrays are padded.

Along each dimension WRF allocates and writes ``sr_x`` (``sr_y``) cells for each face of the
atmosphere's grid, so one cell of the atmosphere more than there are. What lies there is no data:
zeros, in longitude and latitude too (WRF's Registry/registry.fire; gen_wrf_io.c, ``subgrid``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SUFFIX = "_subgrid"
"""Of the dimensions of WRF-Fire's grid."""
AXES = {"west_east": "WEST-EAST", "south_north": "SOUTH-NORTH"}
"""WRF's horizontal dimensions, and how attributes call them."""


def without_padding(sizes: Mapping[str, int], attributes: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of a file's dimensions, those of WRF-Fire's grid without their padding.

    They are kept where they do not both hold a whole number of cells for each face of the
    atmosphere's grid: tools cut files, some the padding alone.
    """
    fire = {axis + SUFFIX: _cells(axis, sizes, attributes) for axis in AXES}
    cut = {name: sizes[name] - cells for name, cells in fire.items() if name in sizes and cells}
    has_all = len(cut) == sum(name in sizes for name in fire)
    return dict(sizes) | (cut if has_all else {})


def _cells(axis: str, sizes: Mapping[str, int], attributes: Mapping[str, Any]) -> int:
    """Fire cells for each cell of the atmosphere; 0 if the size along the axis fits no padding."""
    faces = int(attributes.get(f"{AXES[axis]}_GRID_DIMENSION", sizes.get(axis, 0) + 1))
    cells, rest = divmod(sizes.get(axis + SUFFIX, 0), max(faces, 1))
    return 0 if rest or faces < 2 else cells
