"""What a map shows, read from the frame: its field, and the layers over it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.colors import is_color_like

from burstlens.core.errors import FrameError, RecipeError
from burstlens.viz.diagnostics.seismology.focus import located
from burstlens.viz.diagnostics.storms.track import followed_track
from burstlens.viz.drawing.maps.layers import Contours
from burstlens.viz.drawing.maps.track_layer import TrackLayer
from burstlens.viz.drawing.maps.wind_symbols import Symbols, WindField, read_wind
from burstlens.viz.geometry.field import Field, read_field
from burstlens.viz.geometry.place import Place, Source, read_places
from burstlens.viz.kinds.map.nesting import Nested
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import ProductFrame

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


def read_layers(options: MapOptions, frame: ProductFrame, files: Path) -> Layers:
    """Read all that the options name; FrameError and RecipeError say which layer is meant."""
    lines = []
    several = options.contours if isinstance(options.contours, tuple) else (options.contours,)
    for asked in several:
        with named("contours", asked.colour):
            dense = read_field(
                frame, asked.variable, level=asked.level, crop=options.crop, units=asked.units
            )
            lines.append((asked, dense))
    winds = []
    for how in _WINDS:
        wind = getattr(options, how)
        if wind is not None:
            with named(how, wind.colour):
                winds.append(read_wind(frame, how, wind, options.crop))
    storm = None
    if options.storm:
        with named("track"):
            storm = TrackLayer(followed_track(frame, options.storm))
    places: dict[str, Any] = {}
    for name in ("track", "stations", "cities"):
        if name == "track" and storm is not None:
            continue
        with named(name):
            places[name] = read_places(getattr(options, name), files)
    relief = None
    if options.relief is not None:
        with named("relief"):
            relief = read_field(frame, options.relief, level=None, crop=options.crop, units="m")
    source = None if options.source is None else located(options.source, frame)
    return Layers(tuple(lines), tuple(winds), **places, relief=relief, source=source, storm=storm)


@contextmanager
def named(layer: str, colour: str = "black") -> Iterator[None]:
    """Name the layer in the errors raised; RecipeError where its colour is not a colour."""
    if not is_color_like(colour):
        raise RecipeError(f"{layer}: {colour!r} is not a colour")
    try:
        yield
    except (FrameError, RecipeError) as error:
        raise type(error)(f"{layer}: {error}") from error
