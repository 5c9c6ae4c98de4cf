"""The plane of a CF grid mapping (CF 1.8, 5.6 and appendix F), and where a grid's points lie on it.

The mapping's coordinates are lengths in any unit, and angles where a projection takes these: arcs
of the sphere for a rotated pole, the angles of a satellite's mirror times its height.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlens.core.lengths import metres, radians
from burstlens.viz.geometry.projection import (
    GEOSTATIONARY,
    ROTATED_POLE,
    Projection,
    cf_projection,
    earth_radius,
    in_metres,
)
from burstlens.viz.seams import OpenFrame, Variable

Array = NDArray[Any]

_FARTHEST = 2.1e7
"""Metres: half of the earth's circumference, and a little more."""


@dataclass(frozen=True, slots=True)
class MappedGrid:
    """x and y of all columns and rows of a grid on a projection, in metres."""

    projection: Projection
    x: Array
    y: Array


class UnknownUnitsError(Exception):
    """Coordinates cannot be placed on their projection: the fault, as a sentence."""


def mapped_grid(frame: OpenFrame, variable: str, x: str, y: str) -> MappedGrid | None:
    """The grid of a variable's grid mapping along dimensions x and y; None if there is none.

    UnknownUnitsError if the units of its coordinates are unknown.
    """
    named = mapping_names(frame.variable(variable))
    if x not in frame and y not in frame and named:
        x, y = (_coordinate(frame, d, f"projection_{way}_coordinate")
                for d, way in ((x, "x"), (y, "y")))  # fmt: skip
    if not all(d in frame and len(frame.variable(d).dimensions) == 1 for d in (x, y)):
        return None
    for name in named or _only_mapping(frame, x, y):
        if name not in frame:
            continue
        attributes = frame.variable(name).attributes
        projection = cf_projection(attributes)
        if projection is None:
            continue
        unit_x, unit_y = (_unit(frame, dimension, attributes) for dimension in (x, y))
        shifted = _with_origin_in_metres(attributes, unit_x, unit_y)
        projection = projection if shifted is attributes else cf_projection(shifted) or projection
        across = np.asarray(frame.read(x), np.float64) * unit_x
        up = np.asarray(frame.read(y), np.float64) * unit_y
        if _kind(attributes) == ROTATED_POLE and np.isfinite(across).all():
            turn = 2 * np.pi * earth_radius(attributes)
            across = np.unwrap(across, period=turn)
            middle = round(float((across.min() + across.max()) / 2), 3)
            projection = replace(projection, centre=middle, period=turn)
        return MappedGrid(projection, across, up)
    return None


def _coordinate(frame: OpenFrame, dimension: str, standard_name: str) -> str:
    """The coordinate of a projection along a dimension that has none of its own name."""
    for name in frame.names:
        about = frame.variable(name)
        standard = about.attributes.get("standard_name")
        if about.dimensions == (dimension,) and standard == standard_name:
            return name
    return dimension


def _only_mapping(frame: OpenFrame, x: str, y: str) -> list[str]:
    """The only grid mapping of a file whose fields name none, on coordinates of a projection."""
    for name, way in ((x, "x"), (y, "y")):
        standard = frame.variable(name).attributes.get("standard_name")
        if standard != f"projection_{way}_coordinate":
            return []
    found = [
        name for name in frame.names
        if cf_projection(frame.variable(name).attributes) is not None
    ]  # fmt: skip
    return found if len(found) == 1 else []


def misses(grid: MappedGrid, lon: Array, lat: Array) -> bool:
    """Whether the degrees (2-D) of the grid's corners lie off their places by half a cell."""
    at_x, at_y = grid.projection.forward(lon, lat)
    for found, points in ((at_x, grid.x), (at_y, grid.y[:, None])):
        ends = points[:: max(1, points.shape[0] - 1)]
        cell = np.ptp(ends) / max(1, points.shape[0] - 1)
        if not (np.abs(found - ends) <= cell / 2).all():
            return True
    return False


def mapping_names(variable: Variable) -> list[str]:
    """The variables of its grid mappings: "crs", "crs: x y", "crs: x y geographic: lat lon"."""
    words = str(variable.attributes.get("grid_mapping", "")).split()
    return [word.rstrip(":") for word in words if word.endswith(":")] or words[:1]


def is_turned(frame: OpenFrame, variable: str, coordinate: str) -> bool:
    """Whether a coordinate of a variable is an angle about a rotated pole, whatever its units: the
    mapping says so, and no standard name makes it a true longitude or latitude."""
    kinds = (
        frame.variable(name).attributes
        for name in mapping_names(frame.variable(variable))
        if name in frame
    )
    standard = str(frame.variable(coordinate).attributes.get("standard_name", ""))
    return standard not in ("longitude", "latitude") and any(
        _kind(about) == ROTATED_POLE and cf_projection(about) is not None for about in kinds
    )


def _kind(attributes: Mapping[str, Any]) -> str:
    return str(attributes.get("grid_mapping_name", "")).strip().lower()


def _with_origin_in_metres(
    attributes: Mapping[str, Any], unit_x: float, unit_y: float
) -> Mapping[str, Any]:
    """The mapping with its false origin in metres; the same one if it is there already.

    It is in the units of the coordinates (CF 1.8, appendix F). Files that have it in metres beside
    coordinates in km would have it off the earth.
    """
    moved: dict[str, float] = {}
    for key, unit in (("false_easting", unit_x), ("false_northing", unit_y)):
        origin = float(attributes.get(key, 0.0))
        if origin and unit != 1.0 and abs(origin * unit) <= _FARTHEST:
            moved[key] = origin * unit
    return {**attributes, **moved} if moved else attributes


def _unit(frame: OpenFrame, dimension: str, attributes: Mapping[str, Any]) -> float:
    """Metres on the projection in one unit of a coordinate.

    Without units a coordinate is in those that CF has for it: metres, of a rotated pole degrees.
    """
    units, kind = frame.variable(dimension).units, _kind(attributes)
    angle = radians(units or "degrees") if kind == ROTATED_POLE else radians(units)
    if kind == ROTATED_POLE:
        unit = None if angle is None else angle * earth_radius(attributes)
    elif kind == GEOSTATIONARY and angle is not None:
        unit = angle * float(in_metres(attributes)["perspective_point_height"])
    else:
        unit = metres(units or "m")
    if unit is None:
        known = "degrees or rad" if kind == ROTATED_POLE else "m, km or another length"
        raise UnknownUnitsError(f"{dimension} is in {units!r}: a grid on {kind} needs {known}")
    return unit
