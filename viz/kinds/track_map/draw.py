"""Draws a storm's track: the map above, its intensity over time below."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.ticker import MaxNLocator

from burstlens.core.errors import FrameError
from burstlens.core.units import printed
from burstlens.viz.diagnostics.storms.track import Track
from burstlens.viz.drawing import heading, style
from burstlens.viz.drawing.coast.lines import KINDS
from burstlens.viz.drawing.colour_bar import low_to_high
from burstlens.viz.drawing.legend import LegendEntry, Sign, lowered, rows
from burstlens.viz.drawing.maps.graticule import Extent
from burstlens.viz.drawing.maps.meanings import box_entry
from burstlens.viz.drawing.maps.reach import extent, widened
from burstlens.viz.drawing.maps.sheet import Look, bottom, sheet
from burstlens.viz.drawing.maps.track_layer import TrackLayer, on_plane
from burstlens.viz.drawing.png import write_png
from burstlens.viz.frames import times
from burstlens.viz.geometry import grid
from burstlens.viz.kinds.map.draw import map_dpi, picture_size
from burstlens.viz.kinds.map.layers import drawn
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.map.read import Layers
from burstlens.viz.kinds.track_map.options import TrackMapOptions
from burstlens.viz.kinds.track_map.panels import draw_panels
from burstlens.viz.kinds.track_map.read import TrackMap
from burstlens.viz.product import Context

_ROOM = 0.03
"""The part of the map between a position and its frame, at least."""


def draw_track_map(
    shown: TrackMap, options: TrackMapOptions, out: Path, context: Context, *, lead: str = ""
) -> dict[str, Any]:
    """Draw the track as a PNG, and return what was used.

    The facts are ``limits``, ``colormap``, ``size``, ``box``, ``extent`` and ``projection``, as of
    a map. FrameError when the frame's plane is not the track's, RecipeError as a map's.
    """
    track, plane = shown.track, shown.plane
    reach, aspect, nests = _reach(track, plane, options.margin_km)
    shape = (reach[3] - reach[2]) / (reach[1] - reach[0]) * aspect
    asked = MapOptions(track.variable, width_px=options.width_px, dpi=options.dpi)
    entries = _entries(track, bool(nests))
    dpi = map_dpi(asked)
    legend_rows = rows(entries, options.width_px, dpi)
    foot = bottom(legend_rows, on_earth=plane.projection is not None)
    width, height = picture_size(asked, min(shape, 0.8), foot)
    values = [point.value for point in track.points if point.value is not None]
    limits = options.limits or _limits(values)
    colormap = options.colormap or style.colormap_name(track.units, track.long_name, False)
    words = style.words(track.variable, track.long_name)
    what = f"{'Lowest' if track.extreme == 'min' else 'Highest'} {words[:1].lower()}{words[1:]}"
    paper = sheet(
        Look(
            width, height, dpi, extent=reach, aspect=aspect, units=plane.units,
            projection=plane.projection, lines=KINDS if options.coast else (), ground=style.CALM,
            nests=nests, limits=limits, bounds=(), log=False, colormap=colormap,
            unit=printed(track.units),
            title=options.title or f"Track: {what[:1].lower()}{what[1:]}",
            subtitle=heading.subtitle(context), maker="", legend_rows=legend_rows,
        )
    )  # fmt: skip
    colours = ScalarMappable(paper.norm, paper.colours)
    layers = Layers(storm=TrackLayer(track, colours), cities=shown.cities, dates=shown.dates)
    outside = sum(v < limits[0] for v in values), sum(v > limits[1] for v in values)
    words_of = times.stamp(context.time), lead, _caption(track, values)
    with drawn(layers, paper.axes, plane, paper.reserved) as laid_over:
        top, _ = paper.print([], words_of, outside, laid_over.artists, entries)
        maker = heading.maker(context)
        below = draw_panels(track, colours, what, width=width, dpi=dpi, maker=maker)
        title = f"track of the {track.extreme} of {track.variable}"
        texts = heading.texts(title, context, track.long_name)
        write_png(np.vstack([top, below]), out, texts, options.dpi)
    box = paper.axes.bbox
    return {
        "limits": list(limits),
        "colormap": colormap,
        "size": [width, height + len(below)],
        "box": [round(v) for v in (box.x0, height - box.y1, box.x1, height - box.y0)],
        "extent": list(reach),
        "projection": plane.projection.definition if plane.projection else None,
    }


def _reach(
    track: Track, plane: grid.Plane, margin_km: float | None
) -> tuple[Extent, float, tuple[tuple[str, Extent], ...]]:
    """What the map shows, how tall a unit of y is, and the domain's outline."""
    domain, aspect = extent(plane, 0.0)
    places = [place for place in on_plane(track, plane) if np.isfinite(place).all()]
    if not places:
        raise FrameError("the track lies nowhere on the map's plane")
    x, y = np.transpose(places)
    around = float(x.min()), float(x.max()), float(y.min()), float(y.max())
    if margin_km is not None:
        return *widened(around, plane, margin_km), (("", domain),)
    left, right, bottom, top = ((min, max)[n % 2](domain[n], around[n]) for n in range(4))
    # A dot on the edge is shown whole.
    beside, above = _ROOM * (right - left), _ROOM * (top - bottom)
    left, right = min(left, around[0] - beside), max(right, around[1] + beside)
    bottom, top = min(bottom, around[2] - above), max(top, around[3] + above)
    if plane.geographic:
        bottom, top = max(bottom, -90.0), min(top, 90.0)
    return (left, right, bottom, top), aspect, (("", domain),)


def _limits(values: list[float]) -> tuple[float, float]:
    """Round numbers about the values so far."""
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    if low == high:
        margin = abs(low) * 1e-3 or 1.0
        low, high = low - margin, high + margin
    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return float(ticks[0]), float(ticks[-1])


def _entries(track: Track, outlined: bool) -> list[LegendEntry]:
    which = "lowest" if track.extreme == "min" else "highest"
    what = f"{which} {lowered(style.words(track.variable, track.long_name))}"
    found = [
        LegendEntry(f"position and value of the {what}", sign=Sign("circle")),
        LegendEntry("where it was not found", sign=Sign("dotted", width=1.3)),
        LegendEntry("newest position", sign=Sign("ring")),
    ]
    return [*found, box_entry("the domain")] if outlined else found


def _caption(track: Track, values: list[float]) -> str:
    parts = []
    if values:
        extent = low_to_high(min(values), max(values))
        parts.append(f"{track.variable}: {extent} {printed(track.units)}".rstrip())
    for status, words in (("edge", "at the domain's edge"), ("lost", "not found")):
        count = sum(point.status == status for point in track.points)
        if count:
            parts.append(f"{words} at {count} of {len(track.points)} times")
    return "  ·  ".join(parts)
