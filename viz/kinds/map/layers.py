"""The layers over a map's field, drawn on its axes, and what their symbols mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from burstlens.viz.drawing.legend import LegendEntry, Sign, lowered
from burstlens.viz.drawing.maps.isolines import draw_isolines
from burstlens.viz.drawing.maps.meanings import box_entry, boxes_entry, contours_entry, in_words
from burstlens.viz.drawing.maps.places import draw_places, draw_source, draw_track
from burstlens.viz.drawing.maps.relief import draw_relief
from burstlens.viz.drawing.maps.track_layer import draw_storm, track_boxes
from burstlens.viz.drawing.maps.wind_symbols import WindField, draw_wind
from burstlens.viz.drawing.style import words
from burstlens.viz.geometry.crop import Crop
from burstlens.viz.geometry.field import Field
from burstlens.viz.geometry.grid import Plane
from burstlens.viz.kinds.map.nesting import draw_nests, onto
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.map.read import Layers, named

_LOWEST = LegendEntry("lowest value", sign=Sign("lowest"))
_HIGHEST = LegendEntry("highest value", sign=Sign("highest"))
_MARKS = {"min": [_LOWEST], "max": [_HIGHEST], "both": [_LOWEST, _HIGHEST]}


@dataclass(frozen=True, slots=True)
class DrawnLayers:
    """The artists of layers, the lowest first, and the values of the lines of each contour set."""

    artists: list[Artist]
    levels: list[list[float]]


def placed_on(plane: Plane, layers: Layers) -> Layers:
    """The layers with their points on the plane of a map that is not their own, and winds along it.

    Nests lie on it already."""

    def moved(field: Field) -> Field:
        return replace(field, plane=onto(field.plane, plane))

    def turned(wind: WindField) -> WindField:
        there = onto(wind.plane, plane)
        if not wind.plane.geographic or plane.projection is None:
            return replace(wind, plane=there)
        x, y = (there.x, there.y) if there.x.ndim == 2 else np.meshgrid(there.x, there.y)
        north = plane.projection.north(x, y)
        cos, sin = np.cos(north), np.sin(north)
        u, v = wind.u * cos + wind.v * sin, wind.v * cos - wind.u * sin
        return replace(wind, u=u, v=v, plane=there)

    return replace(
        layers,
        contours=tuple((asked, moved(field)) for asked, field in layers.contours),
        winds=tuple(turned(wind) for wind in layers.winds),
        relief=moved(layers.relief) if layers.relief else None,
    )


@contextmanager
def drawn(
    layers: Layers, axes: Axes, plane: Plane, reserved: Sequence[Bbox]
) -> Iterator[DrawnLayers]:
    """The layers on the axes, which they leave again at the end: a sheet is used many times. No
    words stand on ``reserved`` parts of the picture (pixels)."""
    before = set(axes.get_children())
    try:
        if layers.relief is not None:
            with named("relief"):
                draw_relief(axes, layers.relief)
        levels = [draw_isolines(axes, field, asked, reserved) for asked, field in layers.contours]
        for wind in layers.winds:
            draw_wind(axes, wind)
        draw_nests(axes, layers.nests)
        with named("track"):
            draw_track(axes, plane, layers.track)
            if layers.storm is not None:
                draw_storm(axes, plane, layers.storm)
        if layers.source is not None:
            with named("source"):
                draw_source(axes, plane, layers.source)
        with named("stations"):
            draw_places(axes, plane, layers.stations, "^", reserved)
        with named("cities"):
            draw_places(axes, plane, layers.cities, "o", reserved)
        if layers.storm is not None:
            around = [*reserved, *track_boxes(axes, plane, layers.storm.track)]
            draw_places(axes, plane, layers.dates, " ", around, gap=8.0)
        added = [artist for artist in axes.get_children() if artist not in before]
        yield DrawnLayers(sorted(added, key=lambda artist: artist.get_zorder()), levels)
    finally:
        for artist in axes.get_children():
            # Isolines take their labels along.
            if artist not in before and artist in axes.get_children():
                artist.remove()


def entries(
    layers: Layers, options: MapOptions, levels: Sequence[Sequence[float]] = ()
) -> list[LegendEntry]:
    """An entry for each kind of symbol; ``levels`` are the values of the lines of each contour set,
    without which only the longest texts are right, by which room is kept."""
    found: list[LegendEntry | None] = []
    for n, (asked, field) in enumerate(layers.contours):
        lines = levels[n] if levels else ()
        found.append(contours_entry(asked, field, lines, field.level))
    found += [wind.entry for wind in layers.winds]
    found += _MARKS[options.mark] if options.mark else []
    track = Sign("track", width=1.3)
    if layers.storm is not None:
        storm = layers.storm.track
        which = "lowest" if storm.extreme == "min" else "highest"
        what = f"{which} {lowered(words(storm.variable, storm.long_name))}"
        found.append(LegendEntry(f"track of the {what}, dotted where it was lost", sign=track))
        found.append(LegendEntry("newest position", sign=Sign("ring")))
    elif layers.track:
        found.append(LegendEntry("track", sign=track))
    if options.nests:
        found.append(_boxes(layers, options))
    if options.margin_km:
        cropped = options.crop != Crop(stride=options.crop.stride)
        found.append(box_entry("the part shown" if cropped else "the domain"))
    if layers.source is not None:
        found.append(LegendEntry("epicentre", sign=Sign("star")))
    if layers.stations:
        found.append(LegendEntry("stations", sign=Sign("triangle")))
    if layers.relief is not None:
        shade = f"slopes of {in_words(layers.relief)}"
        found.append(LegendEntry(shade, sign=Sign("shade")))
    return [entry for entry in found if entry is not None]


def _boxes(layers: Layers, options: MapOptions) -> LegendEntry | None:
    """The outlined nests, with room for those that are not there yet."""
    names = [nest if isinstance(nest, str) else nest.name for nest in options.nests]
    missing = {str(nest.facts["stream"]) for nest in layers.nests if nest.border is None}
    longest = boxes_entry(names)
    now = boxes_entry(name for name in names if name not in missing)
    return longest and replace(longest, text=now.text if now else "", longest=longest.text)
