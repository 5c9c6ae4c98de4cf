"""Staggered grids: which points lie between which, and variables read at the cell centres.

Arakawa C grid (Arakawa and Lamb 1977, Methods Comput. Phys. 17, 173-265): a velocity lies on the
faces of the cells, the scalars at their centres. Names: ROMS and CROCO (``xi_u``), MITgcm (``XG``,
``Xp1``, xgcm's ``i_g``), MOM6 (``xq``), NEMO by XIOS (``x_grid_U``); for others the attribute
``c_grid_axis_shift`` (COMODO). WRF's names: :mod:`.staggering`.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from burstlens.viz.geometry import grid
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.staggering import unstaggered, with_faces
from burstlens.viz.seams import OpenFrame, Window

Faces = Literal["inner", "outer", "before", "behind", "none"]
"""Faces of n cells: the n - 1 between, all n + 1, the n before or behind each; none: centres."""

_ROMS = re.compile(r"(xi|eta)_(u|v|psi)")
_NEMO = re.compile(r"([xy])_grid_([UVF])(\w*)")
_SHIFTED = {("x", "U"), ("y", "V"), ("x", "F"), ("y", "F")}
_PAIRS = {
    "XG": "XC", "YG": "YC", "Xp1": "X", "Yp1": "Y", "i_g": "i", "j_g": "j",
    "xq": "xh", "yq": "yh", "x_f": "x_c", "y_f": "y_c",
}  # fmt: skip
_TURNED: dict[Faces, Faces] = {
    "none": "none", "inner": "outer", "outer": "inner", "before": "behind", "behind": "before",
}  # fmt: skip
"""How the cells lie as seen from the faces."""
_BEFORE = frozenset({"XG", "YG", "i_g", "j_g"})


def centres(frame: OpenFrame, dimension: str) -> tuple[str, Faces]:
    """The dimension of the cell centres that belongs to a dimension, and where its points lie.

    The dimension itself, with ``none``, if it is one of centres or nothing is known of it.
    """
    sizes = frame.dimensions
    shifted = True
    centre: str | None
    if match := _ROMS.fullmatch(dimension):
        centre = f"{match[1]}_rho"
    elif match := _NEMO.fullmatch(dimension):
        centre = f"{match[1]}_grid_T{match[3]}"
        shifted = (match[1], match[2]) in _SHIFTED
    else:
        centre = _PAIRS.get(dimension) or _comodo(frame, dimension)
    if centre is None or centre not in sizes or dimension not in sizes:
        return dimension, "none"
    apart = sizes[dimension] - sizes[centre]
    if apart in (-1, 1):
        return centre, "inner" if apart == -1 else "outer"
    if apart:
        return dimension, "none"
    # ROMS's eta_u are eta_rho: only one direction of a component is shifted.
    if not shifted or _ROMS.fullmatch(dimension):
        return centre, "none"
    return centre, _side(frame, dimension, centre)


def to_centres(values: Array, axis: int, faces: Faces) -> Array:
    """Means of the two faces of each cell along an axis; one of them if the other has no value.

    NaN where neither has one: a cell on land. At the border of the domain the one face counts.
    """
    if faces == "none":
        return values
    first, but_first, but_last = (
        _part(values, axis, part) for part in (slice(0, 1), slice(1, None), slice(None, -1))
    )
    none = np.full_like(first, np.nan)
    if faces == "outer":
        low, high = but_last, but_first
    elif faces == "inner":
        low, high = (np.concatenate(pair, axis) for pair in ((none, values), (values, none)))
    elif faces == "before":
        low, high = values, np.concatenate((but_first, none), axis)
    else:
        low, high = np.concatenate((none, but_last), axis), values
    both = low.dtype.type(0.5) * (low + high)
    return np.where(np.isnan(low), high, np.where(np.isnan(high), low, both))


def to_faces(values: Array, axis: int, faces: Faces) -> Array:
    """The reverse: means of the cells on both sides of each face, of one at the border."""
    return to_centres(values, axis, _TURNED[faces])


def read_at_centres(frame: OpenFrame, name: str, part: dict[str, slice]) -> Array:
    """A variable averaged to the cell centres: one axis for each of its dimensions, float.

    ``part`` are slices of dimensions of centres, and of others. Raises as :meth:`.OpenFrame.read`.
    """
    stored = frame.variable(name).dimensions
    found = [centres(frame, dimension) for dimension in stored]
    window, kept = {}, {}
    for axis, (dimension, (centre, faces)) in enumerate(zip(stored, found, strict=True)):
        wanted = part.get(dimension) if faces == "none" and dimension in part else part.get(centre)
        if wanted is not None:
            sizes = frame.dimensions
            window[dimension], kept[axis] = around(wanted, faces, sizes[centre], sizes[dimension])
    values = frame.read(name, window)
    values = values if values.dtype.kind == "f" else values.astype(np.float64)
    for axis, (_, faces) in enumerate(found):
        values = to_centres(values, axis, faces)
        if axis in kept:
            values = _part(values, axis, kept[axis])
    return values


def read_centred(frame: OpenFrame, name: str, part: Window) -> Array:
    """A variable of WRF's grid, or of none that is staggered, at the cell centres: one axis for
    each of its dimensions, in the file's order.

    ``part`` are slices of unstaggered dimensions; those of faces follow from them. Staggered
    integers become float64, what is not staggered keeps its type. Raises as
    :meth:`.OpenFrame.read`.
    """
    stored = frame.variable(name).dimensions
    # A staggered dimension without centres in the file (WRF's soil layers) is used as it is.
    staggered = {
        axis: base
        for axis, dimension in enumerate(stored)
        if (base := unstaggered(dimension, frame)) != dimension and base in part
    }
    # Strides are applied after neighbouring faces are averaged.
    dense = {d: slice(part[d].start, part[d].stop, 1) for d in staggered.values()}
    values = frame.read(name, with_faces(dict(part) | dense, frame))
    if staggered and values.dtype.kind != "f":
        values = values.astype(np.float64)
    for axis, dimension in staggered.items():
        every = slice(None, None, part[dimension].step)
        values = _part(grid.to_centres(values, axis), axis, every)
    return values


def around(wanted: slice, faces: Faces, size: int, stored: int) -> tuple[slice, slice]:
    """The ``stored`` points of which :func:`to_centres` makes the ``wanted`` of ``size`` means,
    and where these are among its means of them."""
    start, stop, step = wanted.indices(size)
    if faces == "none":
        return slice(start, stop, step), slice(None)
    first = max(0, start - 1) if faces in ("inner", "behind") else start
    last = min(stored, stop + (faces in ("outer", "before")))
    return slice(first, last, 1), slice(start - first, stop - first, step)


def around_faces(wanted: slice, faces: Faces, size: int, stored: int) -> tuple[slice, slice]:
    """The same for :func:`to_faces`."""
    return around(wanted, _TURNED[faces], size, stored)


def _comodo(frame: OpenFrame, dimension: str) -> str | None:
    """The unshifted dimension along the axis of one with ``c_grid_axis_shift``."""
    axis, shift = _axis(frame, dimension)
    if not axis or not shift:
        return None
    others = (name for name in frame.dimensions if _axis(frame, name) == (axis, 0.0))
    return next(others, None)


def _axis(frame: OpenFrame, dimension: str) -> tuple[str, float]:
    if dimension not in frame:
        return "", 0.0
    attributes = frame.variable(dimension).attributes
    return str(attributes.get("axis", "")), float(attributes.get("c_grid_axis_shift", 0.0))


def _side(frame: OpenFrame, dimension: str, centre: str) -> Faces:
    """On which side of n centres n faces lie: by coordinates, else as the model has it."""
    _, shift = _axis(frame, dimension)
    if shift:
        return "before" if shift < 0 else "behind"
    if all(n in frame and frame.variable(n).dimensions == (n,) for n in (dimension, centre)):
        face, cell = (frame.read(n).astype(np.float64) for n in (dimension, centre))
        if cell.size > 1 and face[0] != cell[0]:
            return "before" if (face[0] < cell[0]) == (cell[0] < cell[-1]) else "behind"
    return "before" if dimension in _BEFORE else "behind"


def _part(values: Array, axis: int, part: slice) -> Array:
    return np.asarray(values[(slice(None),) * axis + (part,)])
