"""The line of a vertical section: positions of its points on the grid, and values there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.core.lengths import metres
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.position import positions
from burstlens.viz.geometry.projection import EARTH_RADIUS_M, Projection
from burstlens.viz.geometry.sphere import degrees, vectors
from burstlens.viz.seams import OpenFrame

_LEAST, _MOST = 100, 1000
"""Points of a section: two for each cell that it crosses, within these numbers."""
_OUTSIDE = 0.5
"""Cells beyond the outermost points that still belong to the domain."""


@dataclass(frozen=True, slots=True)
class Transect:
    """Points from one end to the other, along one straight line or several, two for each cell.

    ``window`` is the part of the file that holds them; ``rows`` and ``columns`` are their positions
    in it, in fractional grid points. ``distance`` is that on the ground in ``units``: km, or the
    plane's own if that is not a length. ``lon`` and ``lat`` (degrees) are None for a plane not on
    the earth. ``ahead`` is the direction on the grid at each point, as a unit vector (2, n) along x
    and y. ``bends`` are the numbers of the requested points between the ends.
    ``origin`` names what distances are counted from if that is not the start.
    """

    window: dict[str, slice]
    rows: Array
    columns: Array
    distance: Array
    units: str
    lon: Array | None
    lat: Array | None
    ahead: Array
    bends: tuple[int, ...] = ()
    origin: str = ""

    def sample(self, values: Array) -> Array:
        """Values (..., y, x) of the window at the points, as (..., n); NaN next to a NaN."""
        row = np.clip(self.rows.astype(int), 0, max(values.shape[-2] - 2, 0))
        column = np.clip(self.columns.astype(int), 0, max(values.shape[-1] - 2, 0))
        up, right = self.rows - row, self.columns - column
        next_row = np.minimum(row + 1, values.shape[-2] - 1)
        next_column = np.minimum(column + 1, values.shape[-1] - 1)
        total = np.zeros(())
        for r, of_row in ((row, 1 - up), (next_row, up)):
            for c, of_column in ((column, 1 - right), (next_column, right)):
                weight = of_row * of_column
                # A neighbour without weight may be NaN.
                part = np.where(weight > 0, values[..., r, c], 0)
                total = total + weight * part
        return np.asarray(total)


def transect(frame: OpenFrame, variable: str, *points: End) -> Transect:
    """The line from the first point to the last on the plane of the variable's grid.

    This is the model's own projection if a WRF file has one; if the grid has no straight rows and
    columns, the line is straight in grid point numbers. FrameError if a point lies outside of the
    domain or is the same as the one before.
    """
    ground = Ground.of(frame, variable)
    names = {0: "the start", len(points) - 1: "the end"}
    places = [
        ground.index(point, f"section: {names.get(n, f'point {n + 1}')}")
        for n, point in enumerate(points)
    ]
    return through(ground, places)


def spot(frame: OpenFrame, variable: str, point: End, what: str) -> Transect:
    """A single point of the variable's grid, as a line of one point.

    FrameError that names ``what`` it is if it lies outside of the domain.
    """
    ground = Ground.of(frame, variable)
    row, column = ground.index(point, what)
    return _laid(ground, np.array([row]), np.array([column]), np.array([[1.0], [0.0]]), ())


@dataclass(frozen=True, slots=True)
class Ground:
    """The plane of a variable's grid, with the names of its dimensions along y and x."""

    plane: grid.Plane
    dimensions: tuple[str, str]
    sizes: tuple[int, int]

    @classmethod
    def of(cls, frame: OpenFrame, variable: str) -> Ground:
        x, y = grid.horizontal_dimensions(frame, variable, centred=True)
        plane = grid.separated(grid.map_plane(frame, variable, {}, centred=True))
        return cls(plane, (y, x), (frame.dimensions[y], frame.dimensions[x]))

    def index(self, point: End, what: str) -> tuple[float, float]:
        """The row and the column of a point, in fractional grid points.

        FrameError that names ``what`` it is if it lies outside of the domain.
        """
        plane, sizes = self.plane, self.sizes
        if point.i is not None and point.j is not None:
            row, column = float(point.j), float(point.i)
        else:
            x, y = _place(plane, point, what)
            if plane.x.ndim == 1:
                column, row = _between(plane.x, x), _between(plane.y, y)
            else:
                row, column = _among(plane.x, plane.y, x, y)
        inside = all(
            -_OUTSIDE <= at <= size - 1 + _OUTSIDE
            for at, size in zip((row, column), sizes, strict=True)
        )
        if not inside:
            raise FrameError(f"{what} ({point}) is outside of the domain, {_extent(plane)}")
        return min(max(row, 0.0), sizes[0] - 1.0), min(max(column, 0.0), sizes[1] - 1.0)


def through(ground: Ground, places: Sequence[tuple[float, float]]) -> Transect:
    """The line through places of the whole grid, given as rows and columns, in their order.

    FrameError if two successive places are the same point.
    """
    corners = np.array(places, np.float64)
    steps = np.hypot(*np.diff(corners, axis=0).T)
    if not (steps > 0).all():
        raise FrameError("section: start and end are the same point")
    along = np.concatenate([[0.0], np.cumsum(steps)])
    count = int(np.clip(2 * round(float(along[-1])) + 1, _LEAST, _MOST))
    at = np.union1d(np.linspace(0, along[-1], count), along)
    rows, columns = (np.interp(at, along, of) for of in corners.T)
    part = np.clip(np.searchsorted(along, at, side="right") - 1, 0, steps.size - 1)
    ahead = (np.diff(corners, axis=0) / steps[:, None])[part, ::-1].T
    bends = tuple(int(n) for n in np.searchsorted(at, along[1:-1]))
    return _laid(ground, rows, columns, ahead, bends)


def _laid(
    ground: Ground, rows: Array, columns: Array, ahead: Array, bends: tuple[int, ...]
) -> Transect:
    """The transect of these points, with the part of the grid that holds them."""
    x, y = _coordinates(ground.plane, rows, columns)
    lon, lat, distance, units = _distance(ground.plane, x, y)
    window = {
        name: slice(int(np.floor(at.min())), min(size, int(np.floor(at.max())) + 2), 1)
        for name, at, size in zip(ground.dimensions, (rows, columns), ground.sizes, strict=True)
    }
    first_row, first_column = (part.start for part in window.values())
    rows, columns = rows - first_row, columns - first_column
    return Transect(window, rows, columns, distance, units, lon, lat, ahead, bends)


def _place(plane: grid.Plane, point: End, what: str) -> tuple[float, float]:
    if point.lat is None or point.lon is None:
        if plane.projection is not None:
            raise FrameError(f"{what}: the frame is on the earth: give lat and lon, or i and j")
        return float(point.x or 0), float(point.y or 0)
    if plane.projection is None:
        raise FrameError(
            f"{what}: the frame has no longitudes and latitudes: give x and y, or i and j"
        )
    x, y = plane.projection.forward(point.lon, point.lat)
    return float(x), float(y)


def _between(points: Array, at: float) -> float:
    """The fractional number of a point, extrapolated beyond the ends."""
    number = np.arange(points.size, dtype=np.float64)
    if points.size < 2:
        return 0.0 if at == points[0] else np.inf
    order = slice(None) if points[0] < points[-1] else slice(None, None, -1)
    low, high = points[order][[0, -1]]
    step = (high - low) / (points.size - 1)
    inside = float(np.interp(at, points[order], number[order]))
    beyond = min(at - low, 0.0) + max(at - high, 0.0)
    return inside + float(beyond / step) * (1 if points[0] < points[-1] else -1)


def _among(lon: Array, lat: Array, x: float, y: float) -> tuple[float, float]:
    """The row and the column of a place on a curvilinear grid of degrees (y, x), also beyond it.

    Extrapolated from the nearest point with the steps to its neighbours; infinite if that misses.
    """
    # Distances from the place are true in this projection, also across the pole and the date line.
    around = Projection(f"+proj=aeqd +lat_0={y!r} +lon_0={x!r} +R={EARTH_RADIUS_M:.0f}")
    east, north = around.forward(lon, lat)
    number = np.unravel_index(int(np.nanargmin(np.hypot(east, north))), lon.shape)
    row, column = (int(n) for n in number)
    steps = []
    for axis, at in ((0, row), (1, column)):
        low, high = max(at - 1, 0), min(at + 1, lon.shape[axis] - 1)
        pair = ([low, high], column) if axis == 0 else (row, [low, high])
        apart = np.array([np.diff(east[pair])[0], np.diff(north[pair])[0]])
        steps.append(apart / max(high - low, 1))
    across = np.column_stack(steps)
    wanted = -np.array([east[row, column], north[row, column]])
    on = np.linalg.lstsq(across, wanted)[0]
    # A grid of one row has no step across it. float32 degrees are about a metre apart.
    missed = float(np.hypot(*(wanted - across @ on)))
    if missed > max(1.0, _OUTSIDE * float(np.linalg.norm(across, axis=0).max())):
        return np.inf, np.inf
    return row + float(on[0]), column + float(on[1])


def _coordinates(plane: grid.Plane, rows: Array, columns: Array) -> tuple[Array, Array]:
    if plane.x.ndim == 1:
        x = np.interp(columns, np.arange(plane.x.size), plane.x)
        return x, np.interp(rows, np.arange(plane.y.size), plane.y)
    whole = Transect({}, rows, columns, rows, "", None, None, np.zeros((2, rows.size)))
    if plane.goes_around and plane.projection is not None:
        at = np.moveaxis(vectors(plane.x, plane.y), -1, 0)
        return plane.projection.forward(*degrees(np.moveaxis(whole.sample(at), 0, -1)))
    return whole.sample(plane.x), whole.sample(plane.y)


def _distance(
    plane: grid.Plane, x: Array, y: Array
) -> tuple[Array | None, Array | None, Array, str]:
    """Degrees, and the distance of each point from the first on a sphere of 6370 km (haversine)."""
    if plane.projection is None:
        length = metres(plane.units)
        steps = np.hypot(np.diff(x), np.diff(y)) * (1.0 if length is None else length / 1000)
        units = (plane.units or "grid points") if length is None else "km"
        return None, None, np.concatenate([[0.0], np.cumsum(steps)]), units
    lon, lat = plane.projection.inverse(x, y)
    lam, phi = np.radians(lon), np.radians(lat)
    half = np.sin(np.diff(phi) / 2) ** 2
    half = half + np.cos(phi[1:]) * np.cos(phi[:-1]) * np.sin(np.diff(lam) / 2) ** 2
    steps = 2 * EARTH_RADIUS_M / 1000 * np.arcsin(np.sqrt(half))
    return lon, lat, np.concatenate([[0.0], np.cumsum(steps)]), "km"


def _extent(plane: grid.Plane) -> str:
    x, y = plane.x, plane.y
    if plane.projection is None:
        return f"which has x {x.min():g} to {x.max():g}, y {y.min():g} to {y.max():g} {plane.units}"
    lon, lat = positions(plane)
    return (
        f"which has lat {lat.min():.2f} to {lat.max():.2f}, lon {lon.min():.2f} to {lon.max():.2f}"
    )
