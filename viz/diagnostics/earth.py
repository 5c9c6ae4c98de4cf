"""Points and winds on the sphere that WRF takes for the earth (radius 6370 km)."""

from __future__ import annotations

import numpy as np

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.diagnostic import Array, Block
from burstlens.viz.diagnostics.wind import rotation, turned
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.geometry.projection import EARTH_RADIUS_M
from burstlens.viz.product import ProductFrame
from burstlens.viz.seams import Window


def points(plane: Plane, height: Array) -> Array:
    """Earth-centred metres as (z, y, x, 3), float64, of heights in metres, 1-D or (z, y, x).

    x points to 0° N 0° E, z to the north pole: (R + h) times (cos φ cos λ, cos φ sin λ, sin φ).
    float64, as float32 would be half a metre apart there.
    """
    _, _, up = _directions(plane)
    z = height if height.ndim == 3 else height[:, None, None]
    return np.asarray((EARTH_RADIUS_M + z.astype(np.float64))[..., None] * up)


def vectors(plane: Plane, wind: Array) -> Array:
    """Winds (z, y, x, 3) east, north and up, as earth-centred components, in their own type."""
    turned = sum(
        wind[..., n, None] * axis.astype(wind.dtype) for n, axis in enumerate(_directions(plane))
    )
    return np.asarray(turned)


def turn(
    u: Array, v: Array, frame: ProductFrame, window: Window, plane: Plane, *, to_earth: bool
) -> tuple[Array, Array]:
    """Winds (z, y, x) along the grid as eastward and northward ones, or back.

    Raises FrameError where the frame does not give the angle, as :func:`wind.rotation` does. Of a
    grid that is not WRF's, winds towards east and north are turned to the axes of ``plane``; the
    axes of the grid itself are taken to point east and north.
    """
    if "west_east" not in frame.dimensions:
        if to_earth or plane.projection is None or plane.geographic:
            return u, v
        x, y = (plane.x, plane.y) if plane.x.ndim == 2 else np.meshgrid(plane.x, plane.y)
        north = plane.projection.north(x, y).astype(u.dtype)
        return turned(u, v, np.cos(north), -np.sin(north))
    cosine, sine = rotation(Block(frame, window, {}))
    if not np.isfinite(cosine).all() or not np.isfinite(sine).all():
        raise FrameError("winds cannot be turned: COSALPHA or SINALPHA hold NaN")
    return turned(u, v, cosine, sine if to_earth else -sine)


def _directions(plane: Plane) -> tuple[Array, Array, Array]:
    """East, north and up as earth-centred unit vectors (y, x, 3)."""
    x, y = (plane.x, plane.y) if plane.x.ndim == 2 else np.meshgrid(plane.x, plane.y)
    lon, lat = np.radians(x.astype(np.float64)), np.radians(y.astype(np.float64))
    zero = np.zeros_like(lon)
    east = np.stack([-np.sin(lon), np.cos(lon), zero], axis=-1)
    north = np.stack([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)], axis=-1)
    up = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)
    return east, north, up
