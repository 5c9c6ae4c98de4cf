"""The plane on which a map shows a curvilinear grid around a pole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from burstlens.viz.geometry.grid import Array, Plane
from burstlens.viz.geometry.plane_cache import PlaneCache
from burstlens.viz.geometry.projection import EARTH_RADIUS_M, Projection

_NEAR_THE_POLE = 70.0
"""Degrees from a pole up to which a stereographic plane keeps sizes within 1.5 of each other."""
_SAME_WAY = 0.7
"""The mean of unit vectors along columns that run one way; columns like spokes have about 0."""
_COLUMNS = 50
"""So many are looked at."""
_kept = PlaneCache[Plane](lambda plane: plane.x.nbytes + plane.y.nbytes)


def pole_centred(plane: Plane) -> Plane:
    """The plane on which a map shows a grid around a pole: one that touches the earth there, turned
    so that the grid's rows lie across. Other planes are returned as they are.

    Grids that reach beyond the equator stay in degrees.
    """
    if not plane.goes_around or plane.projection is None:
        return plane
    low, high = float(plane.y.min()), float(plane.y.max())
    if not (low > 0 or high < 0):
        return plane
    pole = 90 if low > 0 else -90
    kind = "stere" if 90 - min(abs(low), abs(high)) <= _NEAR_THE_POLE else "laea"
    return _kept.get(plane, lambda: _on_pole(plane, pole, kind))


def _on_pole(plane: Plane, pole: int, kind: str) -> Plane:
    assert plane.projection is not None
    lon, lat = plane.projection.inverse(plane.x, plane.y)

    def touching(meridian: float) -> Projection:
        about = f"+lat_0={pole} +lon_0={meridian:g} +R={EARTH_RADIUS_M:.0f}"
        return Projection(f"+proj={kind} {about}")

    columns = lon.shape[1]
    some = [*range(0, columns, max(1, columns // _COLUMNS)), columns - 1]
    projection = touching(_meridian(*touching(0.0).forward(lon[:, some], lat[:, some]), pole))
    x, y = projection.forward(lon, lat)
    return replace(
        plane, x=x, y=y, units="m", geographic=False, projection=projection, goes_around=False
    )


def _meridian(x: Array, y: Array, pole: int) -> float:
    """The meridian that points down (from the south pole up) where columns of these points (on the
    plane with meridian 0) point up; 0 if they point everywhere. The last one counts as the end of
    the rows only."""
    across, up = (np.diff(at[:, :-1], axis=0) for at in (x, y))
    size = np.hypot(across, up)
    known = size > 0
    way_x, way_y = (float((part[known] / size[known]).mean()) for part in (across, up))
    if not np.hypot(way_x, way_y) > _SAME_WAY:
        return 0.0
    along_x, along_y = (float((at[:, -1] - at[:, 0]).sum()) for at in (x, y))
    if along_x * way_y - along_y * way_x < 0:  # the first row is the uppermost
        way_x, way_y = -way_x, -way_y
    turn = np.degrees(np.arctan2(way_y, way_x)) - 90
    return float(round(turn if pole > 0 else -turn, 3)) + 0.0
