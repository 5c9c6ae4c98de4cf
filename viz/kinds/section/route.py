"""The route of a section: between points, along the track of a storm, or through the storm."""

from __future__ import annotations

from dataclasses import replace

from burstlens.core.errors import FrameError
from burstlens.viz.diagnostics.storms.track import Track, followed_track
from burstlens.viz.geometry import position
from burstlens.viz.geometry.place import End
from burstlens.viz.geometry.transect import Ground, Transect, through, transect
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.product import ProductFrame

_HALVINGS = 12
"""Bisections that find the domain's edge, to 1/4096 of the half width."""


def route(options: SectionOptions, frame: ProductFrame) -> Transect:
    """The line that the options ask for.

    The one bend of a line through a storm is the storm's place, from which ``distance`` counts.
    FrameError when a point lies outside of the domain, or the track has no position, or is not one
    of this plane.
    """
    if options.track is None:
        points = (options.start, options.end) if options.start and options.end else ()
        return transect(frame, options.variable, *points, *options.path)
    track = followed_track(frame, options.track)
    ground = Ground.of(frame, options.variable)
    if position.units(ground.plane) != track.plane:
        raise FrameError(
            f"section: the track {options.track!r} is in {track.plane}, "
            f"{options.variable} in {position.units(ground.plane)}"
        )
    if options.follow is None:
        return _along(ground, track, options.track)
    return _across(ground, track, options.azimuth, float(options.half_width_km or 0))


def _along(ground: Ground, track: Track, name: str) -> Transect:
    """Along the positions of the track, from the first since which all lie in the domain."""
    places: list[tuple[float, float]] = []
    for point in reversed(track.seen):
        try:
            place = ground.index(_end(track, point.x, point.y), "section: the storm")
        except FrameError:  # a nest that goes with the storm has left its first places behind
            break
        if not places or place != places[-1]:
            places.append(place)
    if len(places) < 2:
        raise FrameError(f"section: the track {name!r} has fewer than two positions in this domain")
    return replace(through(ground, places[::-1]), bends=())


def _across(ground: Ground, track: Track, azimuth: float, reach_km: float) -> Transect:
    """Through the storm's newest position, as far on both sides as asked, or as the domain goes."""
    storm = track.points[-1]
    centre = ground.index(_end(track, storm.x, storm.y), "section: the storm")

    def side(direction: float) -> list[tuple[float, float]]:
        def place(km: float) -> tuple[float, float] | None:
            x, y = position.moved(track.plane, storm.x, storm.y, direction, km)
            try:
                return ground.index(_end(track, x, y), "section: an end")
            except FrameError:
                return None

        low, high = 0.0, reach_km
        if (there := place(high)) is not None:
            return [there]
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if place(middle) is not None else (low, middle)
        there = place(low)
        return [there] if there is not None and there != centre else []

    left, right = side(azimuth + 180), side(azimuth)
    if not left and not right:
        raise FrameError("section: only one point of the line through the storm lies in the domain")
    line = through(ground, [*left, centre, *right])
    at = line.bends[0] if line.bends else (0 if right else -1)
    distance = line.distance - line.distance[at]
    return replace(line, distance=distance, bends=(at,), origin="the storm")


def _end(track: Track, x: float, y: float) -> End:
    return End(lat=y, lon=x) if track.on_earth else End(x=x, y=y)
