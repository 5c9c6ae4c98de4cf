"""The plane on which a map shows a curvilinear grid around a pole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.projection import EARTH_RADIUS_M, Projection

Array = NDArray[Any]
_NEAR_THE_POLE = 70.0
"""Degrees from a pole up to which a stereographic plane keeps sizes within 1.5 of each other."""
_SAME_WAY = 0.7
"""The mean of unit vectors along columns that run one way; columns like spokes have about 0."""


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
    lon, lat = plane.projection.inverse(plane.x, plane.y)

    def touching(meridian: float) -> Projection:
        about = f"+lat_0={pole} +lon_0={meridian:g} +R={EARTH_RADIUS_M:.0f}"
        return Projection(f"+proj={kind} {about}")

    x, y = touching(0.0).forward(lon, lat)
    projection = touching(_meridian(x, y, pole))
    x, y = projection.forward(lon, lat)
    return replace(
        plane, x=x, y=y, units="m", geographic=False, projection=projection, goes_around=False
    )


def _meridian(x: Array, y: Array, pole: int) -> float:
    """The meridian that points down (from the south pole up) where columns of these points (on the
    plane with meridian 0) point up; 0 if they point everywhere."""
    across, up = np.diff(x, axis=0)[:, :: max(1, x.shape[1] // 50)], np.diff(y, axis=0)
    up = up[:, :: max(1, x.shape[1] // 50)]
    size = np.hypot(across, up)
    known = size > 0
    way_x, way_y = (float((part[known] / size[known]).mean()) for part in (across, up))
    if not np.hypot(way_x, way_y) > _SAME_WAY:
        return 0.0
    along_x, along_y = float(np.diff(x, axis=1).sum()), float(np.diff(y, axis=1).sum())
    if along_x * way_y - along_y * way_x < 0:  # the first row is the uppermost
        way_x, way_y = -way_x, -way_y
    turn = np.degrees(np.arctan2(way_y, way_x)) - 90
    return float(round(turn if pole > 0 else -turn, 3)) + 0.0
