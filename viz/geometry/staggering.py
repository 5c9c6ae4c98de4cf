"""Staggered dimensions: the faces of the cells, beside the centres (WRF's Arakawa C grid).

ARW Technical Note v4, section 3.
"""

from __future__ import annotations

from burstlens.core.errors import FrameError
from burstlens.viz.seams import OpenFrame

STAGGERED = "_stag"
"""Suffix of WRF's dimensions of faces."""


def unstaggered(dimension: str, frame: OpenFrame) -> str:
    """The dimension of the mass points that belongs to a staggered one, else the same."""
    base = dimension.removesuffix(STAGGERED)
    return base if base in frame.dimensions else dimension


def with_faces(kept: dict[str, slice], frame: OpenFrame) -> dict[str, slice]:
    """The slices, with those of the cell faces along each staggered dimension added."""
    faces = {}
    for dimension, part in kept.items():
        size = frame.dimensions.get(dimension + STAGGERED)
        if size is not None:
            faces[dimension + STAGGERED] = slice(part.start, min(part.stop + 1, size), part.step)
    return kept | faces


def one_level(kept: dict[str, slice], dimension: str, level: int, size: int) -> dict[str, slice]:
    """The slices, with ``dimension`` (staggered or not) reduced to one level."""
    if not -size <= level < size:
        raise FrameError(f"level {level} is outside of {dimension}, which has 0 to {size - 1}")
    level %= size
    return kept | {dimension: slice(level, level + 1, 1)}
