"""Draws a field as a map: limits, colours, words, then the PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D

from burstlens.core.units import printed
from burstlens.viz.drawing import heading, style
from burstlens.viz.drawing.coast.lines import KINDS
from burstlens.viz.drawing.colour_bar import low_to_high, range_caption
from burstlens.viz.drawing.colours import colours, is_constant
from burstlens.viz.drawing.heading import LEFT
from burstlens.viz.drawing.legend import rows
from burstlens.viz.drawing.maps.cells import cells
from burstlens.viz.drawing.maps.reach import extent, outlines
from burstlens.viz.drawing.maps.rings import rings
from burstlens.viz.drawing.maps.sheet import BOTTOM, RIGHT, TOP, Look, Sheet, bottom, sheet
from burstlens.viz.drawing.picture import letters_dpi, placed
from burstlens.viz.drawing.png import write_png
from burstlens.viz.frames import times
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.around_pole import pole_centred
from burstlens.viz.geometry.field import Field
from burstlens.viz.kinds.map.layers import drawn, entries, placed_on
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.kinds.map.read import Layers
from burstlens.viz.product import Context
from burstlens.viz.values.shown import header, shown_on_map
from burstlens.viz.values.shown import write as write_values


def draw(
    field: Field, options: MapOptions, out: Path, context: Context, *,
    lead: str = "", layers: Layers | None = None, note: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Draw the field as a PNG of exactly the asked size, and return what was used.

    The facts are ``limits``, ``colormap``, ``size`` (pixels), ``outside`` (how many values are
    below and above the limits) and where the map lies: ``box`` (left, top, right, bottom pixels)
    shows ``extent`` (left, right, bottom, top) of ``projection`` (PROJ string; None for a plane
    that is not on the earth), and the words around it: ``legend`` and ``lead``, which says when
    the model began and how long ago. The same frame gives the same bytes. ``layers`` are laid over
    the field; ``note`` stands below the map, after the field's range. The values as drawn are
    written to ``context.values``.
    """
    plane = grid.separated(pole_centred(field.plane))
    name, limits, bounds = colours(field, options, context)
    reach, aspect = extent(plane, options.margin_km)
    shape = (reach[3] - reach[2]) / (reach[1] - reach[0]) * aspect
    layers = layers or Layers()
    on_earth = plane.projection is not None
    legend_rows = rows(entries(layers, options), options.width_px, map_dpi(options))
    width, height = picture_size(options, shape, bottom(legend_rows, on_earth=on_earth))
    title = options.title or style.words(field.name, field.long_name)
    left_out = [kind for kind in ("lakes", "states") if not getattr(options, kind)]
    paper = sheet(
        Look(
            width, height, map_dpi(options), extent=reach, aspect=aspect, units=plane.units,
            projection=plane.projection,
            lines=tuple(kind for kind in KINDS if options.coast and kind not in left_out),
            ground=style.CALM if options.margin_km else style.MISSING,
            nests=outlines(field, plane, options.nests, options.margin_km),
            limits=limits, bounds=bounds, log=options.log, colormap=name,
            unit=printed(field.units), title=f"{title}, {field.level}" if field.level else title,
            subtitle=heading.subtitle(context), maker=heading.maker(context),
            legend_rows=legend_rows,
        )
    )  # fmt: skip
    if field.plane.goes_around:
        layers = placed_on(plane, layers)
    shown = [(plane, field)]
    shown += [(nest.shown.plane, nest.shown) for nest in layers.nests if nest.shown is not None]
    painted = [
        cells(paper.axes, on, each.values, paper.norm, paper.colours, smooth=options.smooth)
        for on, each in shown
    ]
    beyond = [each.count_beyond(limits) for _, each in shown]
    below, above = (sum(counts) for counts in zip(*beyond, strict=True))
    words = times.stamp(context.time), lead, _caption(field, layers, note)
    with drawn(layers, paper.axes, plane, paper.reserved) as laid_over:
        over = laid_over.artists + _marks(paper, plane, field, options.mark)
        over += rings(paper, plane, field, context.marks)
        legend = entries(layers, options, laid_over.levels)
        kept = context.values is not None and bool(options.values)
        pixels, overlay = paper.print(painted, words, (below, above), over, legend, apart=kept)
        texts = heading.texts(f"{field.name} {field.level}".rstrip(), context, field.long_name)
        picture = write_png(pixels, out, texts, options.dpi)
    box = paper.axes.bbox
    facts: dict[str, Any] = {
        "limits": list(limits),
        "colormap": name,
        "size": [width, height],
        "outside": [below, above],
        "box": [round(v) for v in (box.x0, height - box.y1, box.x1, height - box.y0)],
        "extent": list(reach),
        "projection": plane.projection.definition if plane.projection else None,
        "legend": [entry.facts() for entry in legend if entry.text],
    } | ({"lead": lead} if lead else {})
    if context.values is not None and options.values:
        labels = ["", *(nest.label for nest in layers.nests if nest.shown is not None)]
        fields = [
            shown_on_map(each, on, reach, facts["box"], options.values, label)
            for (on, each), label in zip(shown, labels, strict=True)
        ]
        known = facts | {"title": title, "ground": paper.look.ground}
        known |= {"smooth": True} if options.smooth else {}
        head = header(context, picture, known, paper.colours, bounds, log=options.log)
        write_values(context.values, head, fields, overlay, options.values, log=options.log)
    return facts


def map_dpi(options: MapOptions) -> float:
    """Pixels in an inch of a map's letters, lines and margins."""
    return letters_dpi(options.width_px, options.height_px, options.dpi)


def picture_size(options: MapOptions, shape: float = 0.8, foot: float = BOTTOM) -> tuple[int, int]:
    """Width and height in pixels; ``shape`` is the domain's height over its width, ``foot`` the
    points below the map."""
    if options.height_px is not None:
        return options.width_px, options.height_px
    point = map_dpi(options) / 72
    body = max(60.0, options.width_px - (LEFT + RIGHT) * point) * shape
    body = min(max(body, 0.25 * options.width_px), 1.5 * options.width_px)
    # Even numbers: video encoders ask for them.
    return options.width_px, 2 * round((body + (TOP + foot) * point) / 2)


def _marks(paper: Sheet, plane: grid.Plane, field: Field, which: str | None) -> list[Artist]:
    """White triangles at the minimum (pointing down) and maximum (pointing up); none where all
    values are the same but for rounding: its place would be arbitrary."""
    marks: list[Artist] = []
    low, high = field.extent()
    if is_constant(low, high):
        return marks
    for extreme, shape in (("min", "v"), ("max", "^")):
        if which not in (extreme, "both"):
            continue
        row, column = field.position(extreme)
        at_x = plane.x[row, column] if plane.x.ndim == 2 else plane.x[column]
        at_y = plane.y[row, column] if plane.y.ndim == 2 else plane.y[row]
        mark = Line2D([at_x], [at_y], marker=shape, ms=7, mfc="white", mec=style.INK, mew=1.0)
        marks.append(placed(mark, paper.axes, clip=False))
    return marks


def _caption(field: Field, layers: Layers, note: str) -> str:
    caption = range_caption(field.name, field.extent(), field.units)
    for nest in layers.nests:
        if nest.shown is not None:
            caption += f"  ·  {nest.label}: {low_to_high(*nest.shown.extent())}"
    if note:
        caption += f"  ·  {note}"
    missing = field.values.size - int(np.count_nonzero(np.isfinite(field.values)))
    if missing:
        caption += f"  ·  {missing} of {field.values.size} points have no value (grey)"
    return caption
