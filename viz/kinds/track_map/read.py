"""What a map of a track shows: the track so far, the plane it lies on, dates and cities."""

from __future__ import annotations

from calendar import month_abbr
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from burstlens.core import valid_time
from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.storms.track import Point, Track, followed_track
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.place import Place, read_places
from burstlens.viz.kinds.track_map.options import TrackMapOptions
from burstlens.viz.product import ProductFrame

_DAY_S = 86400.0
_DATES = 6
"""Dates on a track shorter than a day, at most, beside those of its ends."""


@dataclass(frozen=True, slots=True)
class TrackMap:
    """A track, the frame's plane, the dates along the track and the cities of the map."""

    track: Track
    plane: grid.Plane
    dates: tuple[Place, ...]
    cities: tuple[Place, ...]


def read_track_map(options: TrackMapOptions, frame: ProductFrame, files: Path) -> TrackMap:
    """Read the track that is followed. FrameError when it has no position yet."""
    track = followed_track(frame, options.track)
    cities = read_places(options.cities, files)
    return TrackMap(track, _plane(frame, track), dates(track), cities)


def dates(track: Track) -> tuple[Place, ...]:
    """Dates at the track: at the newest and the first point, then at those that begin a day, or at
    some of a track shorter than a day."""
    points, between = track.points, track.points[1:-1]
    if track.between(points[0].time, points[-1].time) < _DAY_S:
        between = between[:: len(between) // _DATES + 1]
    else:
        between = tuple(p for p in between if track.seconds(p.time) % _DAY_S == 0)
    dated = dict.fromkeys((points[-1], points[0], *between))
    return tuple(_dated(point, track.on_earth) for point in dated)


def _dated(point: Point, on_earth: bool) -> Place:
    name = valid_time.label(point.time)
    if valid_time.is_calendar(point.time):
        date, _, clock = name.removesuffix(" UTC").rpartition(" ")
        year, month, day = date.rsplit("-", 2)
        short = clock[:5].removesuffix(":00")
        # Idealized runs begin in year 1: their dates mean nothing.
        is_dated = int(year) >= 1000
        name = f"{day} {month_abbr[int(month)]} {short}Z" if is_dated else clock
    if on_earth:
        return Place(name, lat=point.y, lon=point.x)
    return Place(name, x=point.x, y=point.y)


def _plane(frame: ProductFrame, track: Track) -> grid.Plane:
    """The frame's plane, of any variable that has one: the followed one may be missing."""
    for name in (track.variable, *frame.names):
        with suppress(FrameError):
            return grid.separated(grid.map_plane(frame, name, {}))
    raise FrameError("the frame has no variable on a plane")
