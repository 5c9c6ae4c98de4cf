"""The part of a field around a position, across the seam where a grid goes round the earth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from burstlens.viz.geometry import grid, position
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import Field, read_field
from burstlens.viz.geometry.projection import longitude_latitude
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.seams import OpenFrame


def read_around(
    frame: OpenFrame, variable: str, domain: grid.Plane, at: tuple[float, float], km: float, *,
    level: int | None = None, units: str | None = None,
) -> Field:  # fmt: skip
    """The field within ``km`` of a position, and a little more.

    ``domain`` is the whole plane. If its columns go round the earth, the field continues after the
    last column with the first: then ``first`` is negative, or longitudes end above the plane's.
    Raises as :func:`.read_field` does.
    """
    row, column = position.nearest(domain, *at)
    x, y = grid.horizontal_dimensions(frame, variable, centred=True)
    index: dict[str, int | tuple[int, int]] = {}
    reaches: dict[str, int] = {}
    apart_km = position.spacing_km(domain, row, column)
    for dimension, centre, each in zip((y, x), (row, column), apart_km, strict=True):
        size = frame.dimensions[unstaggered(dimension, frame)]
        # Next to a pole neighbours may coincide.
        reach = reaches[dimension] = int(np.ceil(min(km / max(each, 1e-9), size))) + 1
        index[dimension] = max(centre - reach, 0), min(centre + reach + 1, size)
    circle = columns_round(domain)
    if circle is None or reaches[x] <= column < circle - reaches[x]:
        return read_field(frame, variable, level=level, crop=Crop(index=index), units=units)
    del index[x]
    whole = read_field(frame, variable, level=level, crop=Crop(index=index), units=units)
    reach = min(reaches[x], (circle - 1) // 2)
    return _continued(whole, np.arange(column - reach, column + reach + 1), circle)


def columns_round(plane: grid.Plane) -> int | None:
    """Number of columns once round the earth, if the last is next to the first or the same.

    None for a plane that does not go round the earth.
    """
    rows, columns = plane.y.shape[0], plane.x.shape[-1]
    if plane.projection is None or columns < 4 or (plane.x.ndim == 2 and not plane.geographic):
        return None
    middle = rows // 2
    ends = position.position(plane, middle, 0), position.position(plane, middle, columns - 1)
    apart = position.spacing_km(plane, middle, 0)[1]
    gap = float(position.distance_km(position.units(plane), *ends[0], *ends[1])) / apart
    return None if gap > 1.5 else columns if gap > 0.5 else columns - 1


def _continued(whole: Field, columns: np.ndarray, circle: int) -> Field:
    """The columns with these numbers, which may be below 0 and above the last column."""
    taken, plane = columns % circle, whole.plane
    x = plane.x[..., taken]
    if plane.geographic:
        x = np.unwrap(x, period=360.0, axis=-1)
        plane = replace(plane, projection=longitude_latitude(float(x.mean())))
    else:
        x = x + (columns // circle) * (circle * (plane.x[1] - plane.x[0]))
    y = plane.y if plane.y.ndim == 1 else plane.y[..., taken]
    return replace(
        whole,
        values=whole.values[:, taken],
        plane=replace(plane, x=x, y=y),
        first=(whole.first[0], int(columns[0])),
    )
