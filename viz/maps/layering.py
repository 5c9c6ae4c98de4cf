"""The layers over a map's field: read from the frame first, then drawn on the axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import is_color_like
from matplotlib.transforms import Bbox

from burstlens.errors import FrameError, RecipeError
from burstlens.viz.field import Field, read_field
from burstlens.viz.frame import FrameReader
from burstlens.viz.grid import Plane
from burstlens.viz.maps.isolines import draw_isolines
from burstlens.viz.maps.layers import Contours, Place, Source
from burstlens.viz.maps.map import MapOptions
from burstlens.viz.maps.nesting import Nested, draw_nests
from burstlens.viz.maps.places import draw_places, draw_source, draw_track, read_places
from burstlens.viz.maps.relief import draw_relief
from burstlens.viz.maps.wind_symbols import Symbols, WindField, draw_wind, read_wind
from burstlens.viz.seismology.focus import located
from burstlens.viz.storms.track import followed_track
from burstlens.viz.storms.track_layer import TrackLayer, draw_storm, way_boxes

_WINDS: tuple[Symbols, ...] = ("streamlines", "vectors", "barbs")


@dataclass(frozen=True, slots=True)
class Layers:
    """What is laid over the field of one frame, in the order of drawing."""

    contours: tuple[tuple[Contours, Field], ...] = ()
    winds: tuple[WindField, ...] = ()
    track: tuple[Place, ...] = ()
    stations: tuple[Place, ...] = ()
    cities: tuple[Place, ...] = ()
    relief: Field | None = None
    source: Source | None = None
    nests: tuple[Nested, ...] = ()
    storm: TrackLayer | None = None
    dates: tuple[Place, ...] = ()


def read_layers(options: MapOptions, frame: FrameReader, files: Path) -> Layers:
    """Read all that the options name; FrameError and RecipeError say which layer is meant."""
    lines = []
    several = options.contours if isinstance(options.contours, tuple) else (options.contours,)
    for asked in several:
        with _told_as("contours", asked.colour):
            dense = read_field(
                frame, asked.variable, level=asked.level, crop=options.crop, units=asked.units
            )
            lines.append((asked, dense))
    winds = []
    for how in _WINDS:
        wind = getattr(options, how)
        if wind is not None:
            with _told_as(how, wind.colour):
                winds.append(read_wind(frame, how, wind, options.crop))
    storm = None
    if options.storm:
        with _told_as("track"):
            storm = TrackLayer(followed_track(frame, options.storm))
    places: dict[str, Any] = {}
    for name in ("track", "stations", "cities"):
        if name == "track" and storm is not None:
            continue
        with _told_as(name):
            places[name] = read_places(getattr(options, name), files)
    relief = None
    if options.relief is not None:
        with _told_as("relief"):
            relief = read_field(frame, options.relief, level=None, crop=options.crop, units="m")
    source = None if options.source is None else located(options.source, frame)
    return Layers(tuple(lines), tuple(winds), **places, relief=relief, source=source, storm=storm)


@contextmanager
def drawn(
    layers: Layers, axes: Axes, plane: Plane, reserved: Sequence[Bbox]
) -> Iterator[list[Artist]]:
    """The layers' artists, which leave the axes again at the end: a sheet is used many times.

    No words stand on ``reserved`` parts of the picture (pixels).
    """
    before = set(axes.get_children())
    try:
        if layers.relief is not None:
            with _told_as("relief"):
                draw_relief(axes, layers.relief)
        for asked, field in layers.contours:
            draw_isolines(axes, field, asked, reserved)
        for wind in layers.winds:
            draw_wind(axes, wind)
        draw_nests(axes, layers.nests)
        with _told_as("track"):
            draw_track(axes, plane, layers.track)
            if layers.storm is not None:
                draw_storm(axes, plane, layers.storm)
        if layers.source is not None:
            with _told_as("source"):
                draw_source(axes, plane, layers.source)
        with _told_as("stations"):
            draw_places(axes, plane, layers.stations, "^", reserved)
        with _told_as("cities"):
            draw_places(axes, plane, layers.cities, "o", reserved)
        if layers.storm is not None:
            around = [*reserved, *way_boxes(axes, plane, layers.storm.track)]
            draw_places(axes, plane, layers.dates, " ", around, gap=8.0)
        added = [artist for artist in axes.get_children() if artist not in before]
        yield sorted(added, key=lambda artist: artist.get_zorder())
    finally:
        for artist in axes.get_children():
            # Isolines take their labels along.
            if artist not in before and artist in axes.get_children():
                artist.remove()


@contextmanager
def _told_as(layer: str, colour: str = "black") -> Iterator[None]:
    if not is_color_like(colour):
        raise RecipeError(f"{layer}: {colour!r} is no colour")
    try:
        yield
    except (FrameError, RecipeError) as error:
        raise type(error)(f"{layer}: {error}") from error
