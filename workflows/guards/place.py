"""The place of a point in a frame: the index by dimension, and the coordinates there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from burstlens.core.digits import format_number
from burstlens.core.errors import FrameError
from burstlens.viz.geometry import grid, vertical
from burstlens.viz.geometry.staggering import unstaggered
from burstlens.viz.seams import OpenFrame, Window


def place_of(frame: OpenFrame, variable: str, window: Window, at: Sequence[int]) -> dict[str, Any]:
    """The place of the point ``at`` in the values that were read from ``window``. ``index`` is the
    file's own, by dimension; with it come ``lon`` and ``lat`` in degrees, or ``x`` and ``y`` in
    ``xy_units``, and ``z`` in ``z_units``, if the file has them."""
    found = frame.variable(variable)
    index: dict[str, int] = {}
    for dimension, size, number in zip(found.dimensions, found.shape, at, strict=True):
        part = slice(*window.get(dimension, slice(None)).indices(size))
        index[dimension] = part.start + number * part.step
    place: dict[str, Any] = {"index": index}
    with suppress(FrameError, IndexError, ValueError):  # the index alone is enough
        place |= _horizontal(frame, variable, index) | _vertical(frame, variable, index)
    return place


def _horizontal(frame: OpenFrame, variable: str, index: dict[str, int]) -> dict[str, Any]:
    directions = grid.axes(frame, variable)
    if not {"x", "y"} <= directions.keys():
        return {}
    here = grid.plane(frame, variable, {name: slice(i, i + 1) for name, i in index.items()})
    x, y = (float(values.reshape(-1)[0]) for values in (here.x, here.y))
    if here.geographic:
        return {"lon": round((x + 180) % 360 - 180, 5), "lat": round(y, 5)}
    return {"x": round(x, 3), "y": round(y, 3), "xy_units": here.units} if here.units else {}


def _vertical(frame: OpenFrame, variable: str, index: dict[str, int]) -> dict[str, Any]:
    base = grid.axes(frame, variable).get("z")
    own = next((name for name in index if unstaggered(name, frame) == base), None)
    if base is None or own is None:
        return {}
    column = {name: slice(i, i + 1) for name, i in index.items()}
    for name, part in list(column.items()):  # PH and PHB are at the centres of the columns
        centre = unstaggered(name, frame)
        column[centre] = slice(*part.indices(frame.dimensions[centre]))
    number = index[own]
    if own != base and own == "bottom_top_stag" and {"PH", "PHB"} <= set(frame.names):
        at = {**column, own: slice(number, number + 1)}
        face = (frame.read("PH", at) + frame.read("PHB", at)) / np.float32(grid.GRAVITY)
        return {"z": round(float(face.reshape(-1)[0]), 2), "z_units": "m"}
    if own != base:
        return {}
    heights = vertical.heights(frame, variable, {**column, base: slice(number, number + 1, 1)})
    if heights is None or not heights.units or not heights.z.size:
        return {}
    return {"z": round(float(heights.z.reshape(-1)[0]), 2), "z_units": heights.units}


def words(place: dict[str, Any]) -> str:
    """A place as text: ``west_east 12, south_north 30 (x = 25 km, y = 61 km, z = 3.2 km)``."""
    index = ", ".join(f"{name} {number}" for name, number in place["index"].items())
    near = []
    if "lon" in place:
        near += [f"lon {place['lon']:.3f}, lat {place['lat']:.3f}"]
    elif "x" in place:
        near += [_length(key, place[key], place["xy_units"]) for key in "xy"]
    if "z" in place:
        near.append(_length("z", place["z"], place["z_units"]))
    return f"{index} ({', '.join(near)})" if near else index


def _length(name: str, value: float, units: str) -> str:
    shown = f"{format_number(value / 1000)} km" if units == "m" else f"{value:.5g} {units}"
    return f"{name} = {shown}"
