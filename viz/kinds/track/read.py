"""Where a storm is in a frame: the extreme of a smoothed field near where it should be."""

from __future__ import annotations

import numpy as np

from burstlens.core.errors import FrameError, RecipeError
from burstlens.core.units import convert
from burstlens.core.valid_time import counting_calendar
from burstlens.viz.diagnostics.storms.extreme import Extreme, nearest_minimum, smoothed
from burstlens.viz.diagnostics.storms.track import Guess, Point, Track
from burstlens.viz.frames import times
from burstlens.viz.geometry import grid, position
from burstlens.viz.geometry.around import columns_round, read_around
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import Field, read_field
from burstlens.viz.geometry.grid import Array
from burstlens.viz.kinds.track.options import TrackOptions
from burstlens.viz.seams import OpenFrame

_WIND = ("U10", "V10")
_SLACK = 1.25
"""Grid spacing at the rim of a search over that in its middle, at most."""


def start_track(frame: OpenFrame, options: TrackOptions) -> Track:
    """The track without a point; FrameError when the frame lacks the variable."""
    about = frame.variable(options.variable)
    plane = position.units(grid.map_plane(frame, options.variable, {}))
    units = options.units or about.units
    calendar = counting_calendar(frame.time, times.calendar(frame))
    return Track(
        options.variable, about.long_name, options.extreme, units, options.wind_units, plane,
        calendar=calendar,
    )  # fmt: skip


def first_guess(options: TrackOptions, track: Track) -> Guess | None:
    """Where the recipe says that the storm begins; RecipeError when that is on another plane."""
    place = options.first_guess
    if place is None:
        return None
    x, y = (place.lon, place.lat) if track.on_earth else (place.x, place.y)
    if x is None or y is None:
        needed = "lat and lon" if track.on_earth else f"x and y in {track.plane}"
        raise RecipeError(f"first_guess: the frame's positions are {needed}")
    return Guess(x, y)


def find_storm(frame: OpenFrame, options: TrackOptions, guess: Guess | None) -> Point:
    """The storm's point in the frame, of which only the part around ``guess`` is read.

    The position is the extreme of the smoothed field, nearest to the guess and within
    ``search_km`` of it for each interval since the storm was seen; of the whole field where there
    is no guess. The value is the extreme of the field itself within the smoothing's two standard
    deviations; ``max_wind`` that of the 10 m wind within ``wind_km``, None where a frame has none.
    Raises FrameError when the variable is not there, all NaN or the same everywhere.
    """
    domain = grid.map_plane(frame, options.variable, {})
    units = position.units(domain)
    reach_km = options.search_km * (guess.intervals if guess else 1.0)
    variable, shown = options.variable, options.units
    if guess is None:
        field = read_field(frame, variable, level=options.level, crop=Crop(), units=shown)
    else:
        margin_km = reach_km * _SLACK + 3 * options.smoothing_km
        field = read_around(
            frame, variable, domain, (guess.x, guess.y), margin_km, level=options.level, units=shown
        )
    x, y = position.positions(field.plane)
    away = None if guess is None else position.distance_km(units, x, y, guess.x, guess.y)
    found = _extreme(field, options, away, reach_km)
    if found is None:
        assert guess is not None
        row, column = position.nearest(domain, guess.x, guess.y)
        return Point(frame.time, guess.x, guess.y, "lost", (row, column))
    at = position.position(field.plane, found.row, found.column)
    circle = columns_round(domain)
    if guess is None and found.at_edge and circle is not None:
        # Round the earth there is no edge: what lies beyond it is read as well.
        return find_storm(frame, options, Guess(*at))
    away = position.distance_km(units, x, y, *at)
    sign = 1 if options.extreme == "min" else -1
    near = np.where(away <= max(2 * options.smoothing_km, away.min()), sign * field.values, np.nan)
    value = sign * float(np.nanmin(near))
    row = field.first[0] + found.point[0]
    column = (field.first[1] + found.point[1]) % (circle or domain.x.shape[-1])
    wind = _max_wind(frame, domain, at, options)
    return Point(frame.time, *at, "edge" if found.at_edge else "found", (row, column), value, wind)


def _extreme(
    field: Field, options: TrackOptions, away: Array | None, reach_km: float
) -> Extreme | None:
    values = field.values if options.extreme == "min" else -field.values
    if away is None and not np.nanmax(values) > np.nanmin(values):
        raise FrameError(f"{field.name} is the same everywhere: there is no storm to follow")
    if options.smoothing_km:
        rows, columns = values.shape
        along_y, along_x = position.spacing_km(field.plane, rows // 2, columns // 2)
        sigma = options.smoothing_km / along_y, options.smoothing_km / along_x
        values = smoothed(values, sigma)
    return nearest_minimum(values, away, reach_km)


def _max_wind(
    frame: OpenFrame, domain: grid.Plane, at: tuple[float, float], options: TrackOptions
) -> float | None:
    """Of the 10 m wind around the storm; its components' directions do not matter."""
    if not all(name in frame for name in _WIND):
        return None
    u, v = (read_around(frame, name, domain, at, options.wind_km) for name in _WIND)
    x, y = position.positions(u.plane)
    away = position.distance_km(position.units(u.plane), x, y, *at)
    speed = np.hypot(u.values, v.values)[away <= options.wind_km]
    speed = speed[np.isfinite(speed)]
    if not speed.size:
        return None
    strongest = speed.max(keepdims=True)
    return float(convert(strongest, frame.variable(_WIND[0]).units, options.wind_units)[0])
