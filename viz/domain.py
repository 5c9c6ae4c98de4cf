"""The domain of frames that are still to come, and what does not lie in it."""

from __future__ import annotations

from burstlens.errors import FrameError
from burstlens.viz.columns.section import End
from burstlens.viz.columns.transect import Ground
from burstlens.viz.outline import Outline, UnknownYet

_KM = {"m": 1e-3, "km": 1.0}


def outside_of(frame: Outline, name: str, end: End, what: str) -> str:
    """Why a point is not in the domain of a variable; empty where it is, or where that is not
    known."""
    try:
        Ground.of(frame, name).index(end, what)
    except (UnknownYet, KeyError):
        return ""
    except FrameError as error:
        return str(error)
    return ""


def beyond(frame: Outline, name: str, direction: str, value: float) -> str:
    """Why a plane at an x or y in km, or at a lon or lat in degrees, does not meet the domain;
    empty where it does, or where that is not known."""
    try:
        plane = Ground.of(frame, name).plane
    except (FrameError, KeyError):
        return ""
    on_earth = plane.projection is not None
    if on_earth != (direction in ("lon", "lat")):
        other = "lon and lat" if on_earth else "x and y"
        return f"the frames have no {direction} to be cut at: take {other}"
    along = plane.x if direction in ("x", "lon") else plane.y
    if plane.projection is not None:
        x, y = (plane.x, plane.y) if plane.x.ndim == 2 else (plane.x[None, :], plane.y[:, None])
        lon, lat = plane.projection.inverse(x + 0 * y, y + 0 * x)
        along = lon if direction == "lon" else lat
        if direction == "lon":  # the whole turn that is nearest to the domain
            middle = float(along.mean())
            value = middle + (value - middle + 180) % 360 - 180
    else:
        along = along * _KM.get(plane.units, 1.0)
    low, high = float(along.min()), float(along.max())
    if low <= value <= high:
        return ""
    return f"{direction} = {value:g} is outside of the domain, which has {low:g} to {high:g}"
