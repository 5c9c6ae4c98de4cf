"""Into how many pieces a volume goes, so that each fits the memory of a worker."""

from __future__ import annotations

from math import prod

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.formula import is_formula, parse_formula
from burstlens.viz.geometry.columns import order_of
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.kinds.vtk.read import Box
from burstlens.viz.kinds.vtk.split import Part, Split
from burstlens.viz.kinds.vtk.volume import Volume
from burstlens.viz.kinds.vtk.xml_file import Curvilinear

_TEMPORARIES = 6
"""Arrays of a variable's size that reading it needs beside it, at most: two of the faces, their
mean, the masks of missing values."""
_DIAGNOSTICS = 96 << 20
"""What diagnostics may take that are computed a few rows at a time."""
_CACHE, _HEIGHTS = 64 << 20, 2
"""What netCDF keeps of each variable in chunks; the variables that heights are made of."""
_SOURCES = 8
"""Variables that such a diagnostic may hold whole, where they are compressed."""
SLAB = 64 << 20
"""What a slab may take with its temporaries: arrays of about 6 MB."""

PIECE = 64 << 20
"""Values that are worth a task: opening the frame anew takes a quarter of the CPU time of these."""


def split_of(box: Box, *, shared: bool) -> Split:
    """How the box can be cut. ``shared``: neighbours have the points between them in common."""
    frame = box.frame
    stored = [name for name in box.reads if name in frame]
    is_stored = len(stored) == len(box.reads)
    if not is_stored:
        # What quantities are computed from lies on the same grid.
        stored += [name for name in frame.names if order_of(frame, name) == box.order]
    chunks = [0, 0, 0]
    for name in stored:
        variable = frame.variable(name)
        for dimension, size in zip(variable.dimensions, variable.chunks, strict=False):
            if dimension in box.order and unstaggered(dimension, frame) == dimension:
                axis = box.order.index(dimension) + 3 - len(box.order)
                chunks[axis] = max(chunks[axis], size)
    return Split(box.points, (chunks[0], chunks[1], chunks[2]), is_stored, shared)


def count_pieces(
    box: Box, split: Split, memory: int, *, copies: int = 0, in_slabs: bool = False
) -> int:
    """The fewest pieces of which each is read and written within ``memory`` bytes.

    ``copies`` of the values are made by what writes them. Pieces that are written ``in_slabs`` fit
    anyhow: there are no more of these than are worth a task, and none that would only inflate
    chunks again. RecipeError when not even the smallest possible piece fits.
    """
    points = prod(box.shape)
    if points * _most(box, copies) + _DIAGNOSTICS <= memory:
        return 1
    corner = box.corner()
    each, fixed = _needs(box, corner, copies)
    if points * each + fixed <= memory:
        return 1
    room = memory - fixed
    count = -(-points * each // room) if room > 0 else points
    if in_slabs:
        most = min(points * _kept(corner) // PIECE, max(box.shape[1:]) - split.shared)
        return max(1, min(count, most, split.most or count))
    least = points
    while count <= max(box.shape) - split.shared:
        try:
            least = max(_points(box, part) for part in split.parts(count))
        except FrameError:
            break
        if least * each <= room:
            return count
        count += 1
    needed = (min(least, points // max(box.shape) * (1 + split.shared)) * each + fixed) >> 20
    raise RecipeError(
        f"the smallest piece of the volume needs {needed + 1} MiB of memory, and a worker has "
        f"{memory >> 20}: allow more memory, or keep less by crop or stride"
    )


def slabs_of(box: Box, split: Split, part: Part, memory: int) -> tuple[Part, ...]:
    """A part of a box in slabs, to be read and written one after the other.

    Small ones are several times faster than the whole, whose arrays are new memory each time. A
    whole with integers is one slab where it fits: see :meth:`.Box.read`. Two are in memory at most.
    """
    points = _points(box, part)
    if points * _most(box, 0) <= SLAB:
        return (part,)
    each, fixed = _needs(box, box.corner(), 0)
    least = -(-points * each // max(memory // 2 - fixed, SLAB))
    if least == 1 and points == prod(box.shape) and box.has_integers():
        return (part,)
    return split.slabs(part, -(-points * each // SLAB), least)


def _points(box: Box, part: Part) -> int:
    return prod(box.shape) // box.shape[part.axis] * (part.stop - part.first)


def _most(box: Box, copies: int) -> int:
    """Bytes per point that are enough, whatever the types are."""
    kept = 8 * len(box.reads) + (24 if box.wind is not None else 0) + 24
    return kept * (1 + copies) + 8 * (_arrays(box) + len(box.reads) + _HEIGHTS) + 32


def _needs(box: Box, corner: Volume, copies: int) -> tuple[int, int]:
    """Bytes per point, and bytes whatever the number of points."""
    # Heights are read as the variables are; the wind's components are kept until they are one.
    width = max(values.itemsize for values in corner.arrays.values())
    fixed = 3 * (box.plane.x.nbytes + box.plane.y.nbytes)
    fixed += (len(box.reads) + _HEIGHTS) * min(_CACHE, prod(box.shape) * width)
    fixed += 0 if all(name in box.frame for name in box.reads) else _DIAGNOSTICS
    return _kept(corner) * (1 + copies) + width * _arrays(box), fixed


def _kept(corner: Volume) -> int:
    """Bytes per point of the file."""
    kept = sum(values.nbytes for values in corner.arrays.values())
    return kept + (corner.mesh.points.nbytes if isinstance(corner.mesh, Curvilinear) else 0)


def _arrays(box: Box) -> int:
    """The arrays of a variable's size that are needed beside those that are kept."""
    most = _TEMPORARIES + (0 if box.wind is None else 3)
    for name in box.reads:
        if name not in box.frame:
            most = max(most, _SOURCES)
        if is_formula(name):
            most = max(most, _TEMPORARIES + len(parse_formula(name).variables))
    return most
