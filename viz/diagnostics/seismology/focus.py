"""The hypocentre of an earthquake, and the distance of places from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burstlens.core.errors import FrameError
from burstlens.viz.geometry.place import Source
from burstlens.viz.seams import OpenFrame

_ATTRIBUTES = {"x": "source_x_m", "y": "source_y_m", "depth_m": "source_depth_m"}


def located(source: Source, frame: OpenFrame) -> Source:
    """The source, with missing values taken from the frame's attributes.

    These are ``source_x_m``, ``source_y_m`` and ``source_depth_m``, as awm writes them. FrameError
    if neither gives the epicentre.
    """
    attributes = frame.attributes
    given: dict[str, Any] = {
        key: float(attributes[name]) for key, name in _ATTRIBUTES.items() if name in attributes
    }
    if source.lat is not None or source.x is not None or not {"x", "y"} <= given.keys():
        given = {key: value for key, value in given.items() if key == "depth_m"}
    if source.depth_m is not None:
        given.pop("depth_m", None)
    whole = replace(source, **given)
    if whole.lat is None and (whole.x is None or whole.y is None):
        raise FrameError(
            "source: neither the recipe nor the file's attributes "
            f"{_ATTRIBUTES['x']} and {_ATTRIBUTES['y']} give its position"
        )
    return whole


def epicentral_distance(
    source: Source, x: ArrayLike, y: ArrayLike, *, geographic: bool
) -> NDArray[Any]:
    """Distance in m from a located source to places, of the shape of ``x`` and ``y``.

    ``geographic``: x is longitude and y latitude in degrees, and the distance that of the geodesic
    on WGS 84 (Karney 2013); else both are metres. FrameError if the source has other coordinates.
    """
    x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    if geographic:
        if source.lat is None or source.lon is None:
            raise FrameError("source: the places have lat and lon, so give its lat and lon")
        from pyproj import Geod

        lon, lat = np.full(x.shape, source.lon), np.full(x.shape, source.lat)
        return np.asarray(Geod(ellps="WGS84").inv(lon, lat, x, y)[2])
    if source.x is None or source.y is None:
        raise FrameError("source: the places have x and y, so give its x and y")
    return np.asarray(np.hypot(x - source.x, y - source.y))
