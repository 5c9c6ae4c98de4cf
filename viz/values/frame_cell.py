"""The value of a grid cell, read from a frame's own file: pictures may keep fewer points.

The file may hold another frame by now, or be of another attempt. It counts as the picture's own
where it is the file that was drawn, by its fingerprint, or holds no other time, and where it has
the picture's values at the point that is kept and at one whose value is far from it.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.core.model import Fingerprint
from burstlens.viz.diagnostics.derived import SharedFrame, choosing
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import Field, read_plain_field
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.sphere_cells import SphereCells
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.seams import OpenFrame
from burstlens.viz.values.lookup import Place

_ROUNDING = 1e-5
"""Of float32 numbers, as a part of the value."""
_ON_GROUND = frozenset({"x", "y", "lon", "lat"})


@dataclass(frozen=True, slots=True)
class FrameSource:
    """Where a frame may be: the first of ``paths`` that is a file, and which record of it.

    ``fingerprint`` is that of the file when it was last known to hold the frame, where that is
    known: of runs that others started."""

    paths: tuple[str, ...]
    record: int
    stream: str
    time: str
    time_variable: str = ""
    fingerprint: Fingerprint | None = None


@dataclass(frozen=True, slots=True)
class ShownField:
    """What a product shows of its frames: the options of its table. ``index`` and ``range`` are
    those of its crop, ``points`` the points of further dimensions, by variable, that the picture
    shows where the table names none."""

    variable: str
    level: int | None = None
    units: str | None = None
    index: tuple[tuple[str, Any], ...] = ()
    range: tuple[tuple[str, Any], ...] = ()
    points: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class KeptPoint:
    """The point that a picture's values have for a place: the file's index along y and x, how far
    the next kept points are, the value, and how far the file's own may be off by quantisation.
    ``grid`` names its grid. ``other`` are index, value and ``off`` of a kept point whose value is
    far from this one, None where all are equal."""

    index: tuple[tuple[str, int], tuple[str, int]]
    reach: tuple[int, int]
    value: float
    off: float
    grid: str
    other: tuple[tuple[int, int], float, float] | None = None


def load_readers() -> None:
    """Load the libraries that read files, before the first cell is read."""
    import pyproj  # noqa: F401

    import burstlens.viz.frames.reader
    import burstlens.viz.geometry.ordered  # noqa: F401


def read_cell(
    source: FrameSource, shown: ShownField, kept: KeptPoint, place: Place
) -> tuple[float, dict[str, int]]:
    """The value of the cell that contains the place, and the file's index of the cell.

    FrameError where there is no such file, or the file is not the picture's.
    """
    path = next((path for path in source.paths if os.path.isfile(path)), None)
    if path is None:
        raise FrameError("the frames' files are gone")
    is_known = _is_unchanged(path, source.fingerprint)
    shared = SharedFrame(
        [Path(path)], source.record, stream=source.stream, time=source.time,
        time_variable=source.time_variable,
    )  # fmt: skip
    with closing(shared):
        is_own = shared.has_own_time
        if is_own is False:
            raise FrameError("the frames' files hold other times than the pictures")
        if not (is_known or is_own or kept.other):
            raise FrameError("nothing shows that the frames' files are those of the pictures")
        known = {name: dict(points) for name, points in shown.points}
        frame = choosing(shared.view(known=known), dict(shown.index))
        cell = _cell(frame, shown, kept, place)
        at = kept.index[0][1], kept.index[1][1]
        low, high = ([end(pair) for pair in zip(at, cell, strict=True)] for end in (min, max))
        field = _read(frame, shown, kept, [(a, b + 1) for a, b in zip(low, high, strict=True)])
        value, near = (float(field.values[_position(field, point)]) for point in (cell, at))
        checked = [(near, kept.value, kept.off)]
        if kept.other is not None:
            there, expected, off = kept.other
            field = _read(frame, shown, kept, [(part, part + 1) for part in there])
            checked.append((float(field.values[_position(field, there)]), expected, off))
    if not all(_is_same(*one) for one in checked):
        raise FrameError("the frames' files hold other values than the pictures")
    return value, dict(zip((name for name, _ in kept.index), cell, strict=True))


def _is_unchanged(path: str, known: Fingerprint | None) -> bool:
    """Whether a file has this fingerprint; False where none is known, and where it was written
    since: models fill files of one length in place, too.

    FrameError where it is another file by now, or is shorter."""
    if known is None:
        return False
    _, inode, size, changed = known
    found = os.stat(path)  # devices have other numbers on other hosts
    if found.st_ino != inode or found.st_size < size:
        raise FrameError("the frames' files were written anew since the pictures")
    return found.st_size == size and found.st_mtime_ns == changed


def _is_same(found: float, expected: float, off: float) -> bool:
    near = off + _ROUNDING * abs(expected)
    both_nan = bool(np.isnan(found) and np.isnan(expected))
    return abs(found - expected) <= near or found == expected or both_nan


def _cell(frame: OpenFrame, shown: ShownField, kept: KeptPoint, place: Place) -> tuple[int, int]:
    """The file's index (y, x) of the cell; looked up once for each grid."""
    key = shown, kept.index, kept.grid, place
    if key not in _cells:
        if len(_cells) > _MOST:
            _cells.clear()
        _cells[key] = _looked_up(frame, shown, kept, place)
    return _cells[key]


_cells: dict[Any, tuple[int, int]] = {}
_MOST = 4096


def _looked_up(
    frame: OpenFrame, shown: ShownField, kept: KeptPoint, place: Place
) -> tuple[int, int]:
    sizes = [frame.dimensions[unstaggered(name, frame)] for name, _ in kept.index]
    parts = [
        (max(0, at - reach), min(size, at + reach + 1))
        for (_, at), reach, size in zip(kept.index, kept.reach, sizes, strict=True)
    ]
    if any(low == 0 or high == size for (low, high), size in zip(parts, sizes, strict=True)):
        parts[1] = 0, sizes[1]  # the cell may lie across a seam or a fold
    field = _read(frame, shown, kept, parts)
    found = cell_at(field.plane, place)
    if found is None:
        return kept.index[0][1], kept.index[1][1]
    return found[0] + field.first[0], found[1] + field.first[1]


def cell_at(plane: Plane, place: Place) -> tuple[int, int] | None:
    """Row and column of the point of a plane in whose cell a place lies; None beside the plane."""
    if plane.projection is None or place.lat is None or place.lon is None:
        if place.x is None or place.y is None:
            return None
        x, y, period = place.x, place.y, 0.0
    else:
        if plane.x.ndim == 2 and min(plane.x.shape) > 1:
            cell = int(SphereCells(*plane.projection.inverse(plane.x, plane.y)).find(
                place.lon, place.lat))  # fmt: skip
            return None if cell < 0 else divmod(cell, plane.x.shape[1])
        x, y = (float(at) for at in plane.projection.forward(place.lon, place.lat))
        period = plane.projection.period
    away_x, away_y = np.abs(plane.x - x), np.abs(plane.y - y)
    if period:
        away_x = np.abs(away_x - period * np.round(away_x / period))
    if plane.x.ndim == 1:
        return int(away_y.argmin()), int(away_x.argmin())
    row, column = np.unravel_index(int(np.hypot(away_x, away_y).argmin()), plane.x.shape)
    return int(row), int(column)


def _read(
    frame: OpenFrame, shown: ShownField, kept: KeptPoint, parts: list[tuple[int, int]]
) -> Field:
    """The field within these parts of the file's dimensions along y and x."""
    ground = {name for name, _ in kept.index}
    ground |= {unstaggered(name, frame) for name in ground}
    index = {name: at for name, at in shown.index if name not in ground}
    for (name, _), (low, high) in zip(kept.index, parts, strict=True):
        # A staggered dimension has one point more than its cells.
        size = frame.dimensions[unstaggered(name, frame)]
        low = min(low, size - 1)
        index[unstaggered(name, frame)] = low, max(min(high, size), low + 1)
    range_ = {name: at for name, at in shown.range if name not in ground | _ON_GROUND}
    crop = Crop(index=index, range=range_)
    return read_plain_field(frame, shown.variable, level=shown.level, crop=crop, units=shown.units)


def _position(field: Field, point: Any) -> tuple[int, int]:
    row, column = (at - first for at, first in zip(point, field.first, strict=True))
    if not (0 <= row < field.values.shape[0] and 0 <= column < field.values.shape[1]):
        raise FrameError("the frames' files hold other grids than the pictures")
    return row, column
