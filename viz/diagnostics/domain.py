"""The domain of future frames, and checks of what lies outside it."""

from __future__ import annotations

from burstlens.core.digits import format_number
from burstlens.core.errors import FrameError
from burstlens.core.lengths import metres
from burstlens.viz.diagnostics.level import Level
from burstlens.viz.frames.outline import Column, UnknownYet
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.transect import Ground
from burstlens.viz.seams import OpenFrame

SLACK = 1.1
"""Factor by which a column may become higher while the model runs."""
HIGHEST_PA = 110_000.0
"""No place has a higher pressure."""


def outside_of(frame: OpenFrame, name: str, end: End, what: str) -> str:
    """Why a point is outside the domain of a variable; empty if it is inside or that is not
    known."""
    try:
        Ground.of(frame, name).index(end, what)
    except (UnknownYet, KeyError):
        return ""
    except FrameError as error:
        return str(error)
    return ""


def beyond(frame: OpenFrame, name: str, direction: str, value: float) -> str:
    """Why a plane at an x or y in km, or at a lon or lat in degrees, does not meet the domain;
    empty if it does or that is not known."""
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
        along = along * ((metres(plane.units) or 1000.0) / 1000)
    low, high = float(along.min()), float(along.max())
    if low <= value <= high:
        return ""
    return f"{direction} = {value:g} is outside of the domain, which has {low:g} to {high:g}"


def beside_levels(column: Column, level: Level) -> str:
    """Why a level or layer lies outside every column; empty if it may lie in one."""
    low = level.low  # the lower end
    if level.coordinate == "pressure":
        if low > HIGHEST_PA and (level.high is None or level.high > HIGHEST_PA):
            return f"{level.text} is below the ground everywhere"
        if column.top_pa is not None and low < column.top_pa:
            return f"{level.text} is above the domain, whose top is at {_hpa(column.top_pa)}"
    elif level.coordinate and low > SLACK * column.top_m:
        return f"{level.text} is above the domain, whose top is at {column.top_m / 1000:.3g} km"
    return ""


def beside_height(column: Column, height_km: float) -> str:
    """Why a level plane lies outside every column; empty if it may lie in one."""
    low, high = column.bottom_m / 1000, column.top_m / 1000
    if low <= height_km <= (high if column.is_depth else SLACK * high):
        return ""
    return f"height = {height_km:g} is outside of the domain, which has {low:.3g} to {high:.3g} km"


def beside_top(column: Column, top: float, vertical: str) -> tuple[str, bool]:
    """The fault of a picture's upper end, in hPa or km, and whether the picture would be empty."""
    if vertical == "pressure":
        if 100 * top >= HIGHEST_PA:
            return f"top = {top:g} hPa is below the ground: nothing is left of the column", True
        if column.top_pa is not None and 100 * top * SLACK < column.top_pa:
            where = _hpa(column.top_pa)
            return f"top = {top:g} hPa is above the domain, whose top is at {where}", False
    elif not column.is_depth:
        if 1000 * top <= column.bottom_m:
            return f"top = {top:g} km is below the ground: nothing is left of the column", True
        if 1000 * top > SLACK * column.top_m:
            where = f"{column.top_m / 1000:.3g} km"
            return f"top = {top:g} km is above the domain, whose top is at {where}", False
    return "", False


def _hpa(pressure: float) -> str:
    return f"{format_number(pressure / 100)} hPa"
