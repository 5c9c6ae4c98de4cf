"""The track of a storm: the position of a field's extreme at each time; and its state file."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from burstlens.core import valid_time
from burstlens.core.errors import FrameError, StateError
from burstlens.viz.geometry.crop import CentredCrop, Crop
from burstlens.viz.geometry.position import DEGREES, course, distance_km, moved
from burstlens.viz.product import ProductFrame, whole_file

FORMAT = 1
PATIENCE = 3
"""Intervals without a storm during which the search widens and the guess keeps moving."""
_REMEMBERED = 3
"""Positions that give the storm's motion: with two alone the grid's rounding shows."""

Status = Literal["found", "edge", "lost"]


@dataclass(frozen=True, slots=True)
class Point:
    """One time of a track.

    ``time`` is the valid-time key, ``x`` and ``y`` the position: degrees east (-180 to 180) and
    north, or the plane's own. ``status``: ``found``; ``edge``, the extreme lies at the edge of the
    frame's values and the true one may lie beyond; ``lost``, there is no extreme near the first
    guess, which is kept as the position. ``index`` is the nearest grid point, (row, column) in the
    file. ``value`` and ``max_wind`` are None where there is none.
    """

    time: str
    x: float
    y: float
    status: Status
    index: tuple[int, int]
    value: float | None = None
    max_wind: float | None = None


@dataclass(frozen=True, slots=True)
class Guess:
    """The expected position; ``intervals`` is how many output intervals ago the storm was seen."""

    x: float
    y: float
    intervals: float = 1.0


@dataclass(frozen=True, slots=True)
class Track:
    """Points of the ``extreme`` of one variable, in order of time.

    ``units`` are those of the values, ``wind_units`` those of the wind, ``plane`` the unit of
    positions: ``degrees``, ``m`` or ``km``, ``calendar`` the one in which times count, empty where
    that is Gregorian.
    """

    variable: str
    long_name: str
    extreme: Literal["min", "max"]
    units: str
    wind_units: str
    plane: str
    points: tuple[Point, ...] = ()
    calendar: str = ""

    @property
    def on_earth(self) -> bool:
        """Whether positions are longitude and latitude."""
        return self.plane == DEGREES

    @property
    def seen(self) -> tuple[Point, ...]:
        """The points at which the storm was found."""
        return tuple(point for point in self.points if point.status != "lost")

    def with_point(self, point: Point) -> Track:
        """The track up to a new point, which replaces any points of its time and later."""
        return replace(self, points=(*self.before(point.time).points, point))

    def continued(self, earlier: Track) -> Track:
        """An earlier part of this track; StateError if it has another field or unit."""
        mine, other = replace(self, points=()), replace(earlier, points=())
        if mine != other:
            raise StateError(
                f"the track so far is that of the {_words(other)}, not of the {_words(mine)}"
            )
        return earlier

    def before(self, time: str) -> Track:
        """The points earlier than a valid-time key."""
        return replace(self, points=tuple(point for point in self.points if point.time < time))

    def guess(self, time: str) -> Guess | None:
        """The expected position at a later time; None if the track has no point.

        Extrapolated from the latest position with the motion over the latest three, along a great
        circle or a straight line, for at most three intervals; with one position, that position.
        """
        if not self.points:
            return None
        known = self.seen or self.points[-1:]
        last, first = known[-1], known[-_REMEMBERED:][0]
        intervals = min(self.between(last.time, time) / (self.interval_s or 1), PATIENCE)
        if first is last:
            return Guess(last.x, last.y, intervals if self.interval_s else 1.0)
        heading, km = course(self.plane, first.x, first.y, last.x, last.y)
        km *= intervals * self.interval_s
        km /= self.between(first.time, last.time)
        return Guess(*moved(self.plane, last.x, last.y, heading, km), intervals)

    @property
    def interval_s(self) -> float:
        """The usual time between points, which is the shortest; 0 with fewer than two points."""
        times = [self.seconds(point.time) for point in self.points]
        return min((b - a for a, b in pairwise(times)), default=0.0)

    def seconds(self, time: str) -> float:
        """The seconds of a valid-time key in the track's calendar."""
        return valid_time.seconds(time, self.calendar)

    def between(self, start: str, end: str) -> float:
        """Seconds from one valid-time key to another in the track's calendar."""
        return self.seconds(end) - self.seconds(start)

    def motion(self) -> tuple[tuple[float, float] | None, ...]:
        """Speed in km h-1 and direction in degrees (from north, or y, clockwise) at each point.

        Taken from the point before to the point after, if these exist; None where the storm is
        lost or there is only one point.
        """
        seen, found = self.seen, {}
        for n, point in enumerate(seen):
            one, other = seen[max(n - 1, 0)], seen[min(n + 1, len(seen) - 1)]
            if one is other:
                continue
            hours = self.between(one.time, other.time) / 3600
            away = [distance_km(self.plane, p.x, p.y, point.x, point.y) for p in (one, other)]
            # The direction at the point itself, where great circles meet it.
            at = one if n else other
            heading, _ = course(self.plane, at.x, at.y, point.x, point.y)
            found[point.time] = float(sum(away)) / hours, heading if n else (heading + 180) % 360
        return tuple(found.get(point.time) for point in self.points)

    def facts(self) -> dict[str, Any]:
        """The latest point for the index, as JSON values."""
        last = self.points[-1]
        place = ("lon", "lat") if self.on_earth else ("x", "y")
        facts: dict[str, Any] = dict(zip(place, (last.x, last.y), strict=True))
        facts |= {"variable": self.variable, "units": self.units, "value": last.value}
        facts |= {"max_wind": last.max_wind, "wind_units": self.wind_units}
        return facts | {"status": last.status, "points": len(self.points)}

    def write(self, path: Path) -> None:
        """Write the state file; StagingError if that fails."""
        state = {"format": FORMAT, "track": TypeAdapter(Track).dump_python(self, mode="json")}
        with whole_file(path):
            path.write_text(json.dumps(state), encoding="utf-8")


def _words(track: Track) -> str:
    return f"{track.extreme} of {track.variable} in {track.units or 'no unit'} on {track.plane}"


def read_track(path: Path) -> Track:
    """The track of a state file. StateError if it is not a track or has another format."""
    try:
        state = json.loads(path.read_bytes())
        if not isinstance(state, dict) or "format" not in state:
            raise StateError(f"{path.name} is not the state of a track")
        if state["format"] != FORMAT:
            raise StateError(
                f"{path.name} is the state of a track in format {state['format']}, where format "
                f"{FORMAT} is read: another version of Burstlens wrote it"
            )
        track = TypeAdapter(Track).validate_python(state.get("track"))
        times = [track.seconds(point.time) for point in track.points]
        if times != sorted(times):
            raise ValueError("times")
    except OSError as error:
        raise StateError(f"{path.name} cannot be read: {error.strerror}") from error
    except (ValidationError, ValueError, RecursionError) as error:
        raise StateError(f"{path.name} is not the state of a track") from error
    return track


def followed_track(frame: ProductFrame, name: str) -> Track:
    """The track that the product ``name`` has written up to this frame, with at least one point.

    FrameError when there is none yet, or when the product keeps no track.
    """
    path = frame.followed.get(name)
    track = None if path is None else read_track(path)
    if track is None or not track.points:
        raise FrameError(f"the track {name!r} has no position yet")
    return track


def centred(crop: Crop, frame: ProductFrame) -> Crop:
    """A crop centred on the newest position of the track that it follows; unchanged if it follows
    none. FrameError as in :func:`followed_track`."""
    if not crop.tracks:
        return crop
    name = crop.tracks[0]
    track = followed_track(frame, name)
    newest = track.points[-1]
    parts = {part.name: getattr(crop, part.name) for part in fields(Crop)}
    words = f"the track {name!r}"
    return CentredCrop(**parts, x=newest.x, y=newest.y, units=track.plane, words=words)
