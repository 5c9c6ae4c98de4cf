"""Draws a vertical section: field, isolines and wind over the ground, along its route."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import AbstractPathEffect, withStroke

from burstlens.core.units import printed
from burstlens.viz.drawing import heading, style
from burstlens.viz.drawing.colour_bar import ColourBar, range_caption
from burstlens.viz.drawing.colours import colours, norm
from burstlens.viz.drawing.legend import LegendEntry, Sign, legend
from burstlens.viz.drawing.legend import rows as rows_of
from burstlens.viz.drawing.maps.isolines import draw_isolines
from burstlens.viz.drawing.maps.layers import Contours
from burstlens.viz.drawing.maps.meanings import barbs_entry, contours_entry
from burstlens.viz.drawing.maps.overlay import Overlay
from burstlens.viz.drawing.picture import blank, letters_dpi
from burstlens.viz.geometry import grid
from burstlens.viz.geometry.columns import Vertical
from burstlens.viz.geometry.field import Field
from burstlens.viz.geometry.grid import Array
from burstlens.viz.kinds.section.axes import (
    cell_faces,
    ends,
    ends_label,
    label_axes,
    of_cells,
    off_axis,
    on_axis,
    section_axes,
    section_values,
    shown_range,
)
from burstlens.viz.kinds.section.options import SectionOptions
from burstlens.viz.kinds.section.read import Sections, Slice
from burstlens.viz.product import Context
from burstlens.viz.values.shown import header
from burstlens.viz.values.shown import write as write_values

_GROUND = "#7d746b"
_ROWS = 300
"""Heights that a column is interpolated to."""
_SCALE_HEIGHT_KM = 7.5
"""How far up pressure falls to 1/e, for the slope of arrows over an axis of pressure."""
_HALO: list[AbstractPathEffect] = [withStroke(linewidth=2.2, foreground="white", alpha=0.85)]
_SPACING_PX = 42
"""Between symbols of the wind, at 100 dpi."""


def draw(
    sections: Sections, options: SectionOptions, out: Path, context: Context, lead: str
) -> dict[str, Any]:
    """Draw the PNG and return what was shown, as JSON facts.

    The field's range is that of the whole section; ``limits``, ``colormap``, ``size`` and ``box``
    are those of a map, ``extent`` is (first, last in km, lowest, highest on the axis).
    FrameError when ``top`` leaves nothing of the column.
    """
    field, line, vertical = sections.field, sections.line, sections.vertical
    name, limits, bounds = colours(field, options, context)
    size = options.width_px, options.height_px
    figure = blank(*size, letters_dpi(*size, options.dpi))
    legend_rows = rows_of(_entries(sections, options), options.width_px, figure.dpi)
    span = shown_range(vertical, options.top)
    axes = section_axes(figure, line.distance, span, legend_rows)
    colormap = style.colormap(name)
    scale = norm(colormap, limits, bounds, log=options.log)
    rows = np.linspace(*axes.get_ylim(), _ROWS)
    shown = _between_levels(field.values, vertical, rows)
    if options.levels == "mass":
        faces = cell_faces(vertical)
        x = np.broadcast_to(line.distance, faces.shape)
        # A cell between two points has the value of the nearer one.
        axes.pcolormesh(x, faces, field.values[:, :-1], norm=scale, cmap=colormap, zorder=1)
        shown = of_cells(field.values, vertical, rows)
    else:
        axes.pcolormesh(
            line.distance, rows, shown, shading="nearest", norm=scale, cmap=colormap, zorder=1
        )
    bar = ColourBar(figure, axes, colormap, scale, printed(field.units))
    bar.arrows[0].set_visible(bool(np.nanmin(field.values) < limits[0]))
    bar.arrows[1].set_visible(bool(np.nanmax(field.values) > limits[1]))
    lines = [_isolines(axes, asked, one, sections, rows) for asked, one in sections.contours]
    if sections.wind is not None:
        _wind(axes, sections, rows, along=options.wind == "along")
    if vertical.ground is not None:
        foot = np.full_like(line.distance, rows[0])
        axes.fill_between(
            line.distance, foot, on_axis(vertical, vertical.ground), color=_GROUND, lw=0, zorder=4
        )
    for bend in line.bends:
        at, dashes = line.distance[bend], (0, (4, 3))
        axes.axvline(at, color=style.INK, lw=0.9, ls=dashes, zorder=3, path_effects=_HALO)
    kinds = axes.collections[1:], axes.patches, axes.lines, axes.texts, axes.artists
    over = sorted((each for kind in kinds for each in kind), key=lambda each: each.get_zorder())
    label_axes(axes, sections)
    title = options.title or style.words(field.name, field.long_name)
    entries = _entries(sections, options, lines)
    for artist in legend(figure, entries, legend_rows):
        figure.add_artist(artist)
    words = lead, range_caption(field.name, field.extent(), field.units)
    texts = heading.texts(f"{field.name}, vertical section", context, field.long_name)
    picture = heading.write_picture(
        figure, out, context, options.dpi, title, ends_label(sections), words, texts
    )
    low, high = field.extent()
    bottom, top = (float(v) for v in axes.get_ylim())
    ends_of_line = float(line.distance[0]), float(line.distance[-1])
    box = axes.bbox
    height = options.height_px
    facts = {
        "variable": field.name,
        "units": field.units,
        "shape": list(field.values.shape),
        "min": low,
        "max": high,
        "limits": list(limits),
        "colormap": name,
        "size": [options.width_px, height],
        "box": [round(v) for v in (box.x0, height - box.y1, box.x1, height - box.y0)],
        "extent": [*ends_of_line, *off_axis(vertical, bottom, top)],
        "length": float(np.ptp(line.distance)),
        "length_units": line.units,
        "ends": ends(sections),
        "legend": [entry.facts() for entry in entries],
    } | ({"lead": lead} if lead else {})
    if context.values is not None and options.values:
        known = facts | {"title": title}
        # The picture's cells have their true edges, to a pixel.
        known |= {"resampled": True} if options.levels == "mass" and box.height > _ROWS else {}
        head = header(context, picture, known, colormap, bounds, log=options.log)
        values = [section_values(sections, shown, rows, options.values)]
        overlay = [Overlay(over, axes, apart=True)]
        write_values(context.values, head, values, overlay, options.values, log=options.log)
    return facts


def _between_levels(values: Array, vertical: Vertical, rows: Array) -> Array:
    """Values (row, point) at places on the axis: linear between levels, those of the lowest level
    down to the ground; NaN above the highest and below the ground."""
    axis = on_axis(vertical, vertical.levels)
    found = np.full((rows.size, axis.shape[1]), np.nan)
    for n in range(axis.shape[1]):
        levels = axis[:, n]
        whole = np.isfinite(levels)
        if whole.any() and (np.diff(levels[whole]) > 0).all():
            found[:, n] = np.interp(rows, levels[whole], values[whole, n], right=np.nan)
    bottom = axis[0] if vertical.ground is None else on_axis(vertical, vertical.ground)
    # The ground is drawn over the row that it cuts.
    cut = 0.0 if vertical.ground is None else rows[1] - rows[0]
    found[rows[:, None] < bottom - cut] = np.nan
    return found


def _entries(
    sections: Sections, options: SectionOptions, levels: Sequence[Sequence[float]] = ()
) -> list[LegendEntry]:
    """What the symbols mean; ``levels`` are the values of the lines of each contour set."""
    found = [
        contours_entry(asked, one, levels[n] if levels else ())
        for n, (asked, one) in enumerate(sections.contours)
    ]
    if sections.wind is not None and options.wind == "along":
        along = "arrows: wind in the plane of the section, upwards stretched as the picture is"
        found.append(LegendEntry(along, sign=Sign("arrow", width=1.2)))
    elif sections.wind is not None:
        found.append(barbs_entry("horizontal wind"))
    if sections.line.bends:
        where = sections.line.origin or "where the section turns"
        found.append(LegendEntry(where, sign=Sign("dashed")))
    return found


def _isolines(
    axes: Axes, asked: Contours, one: Slice, sections: Sections, rows: Array
) -> list[float]:
    values = _between_levels(one.values, sections.vertical, rows)
    if not np.isfinite(values).any():
        return []
    plane = grid.Plane(sections.line.distance, rows, "")
    shown = Field(one.name, one.long_name, one.units, values, plane, "", ("z", "x"), (0, 0), (1, 1))
    return draw_isolines(axes, shown, asked)


def _wind(axes: Axes, sections: Sections, rows: Array, *, along: bool) -> None:
    """Arrows or barbs, equally far apart on the picture."""
    assert sections.wind is not None
    spacing = _SPACING_PX * axes.figure.dpi / 100
    line, vertical = sections.line, sections.vertical
    columns = np.linspace(0, line.distance.size - 1, max(2, int(axes.bbox.width / spacing)) + 1)
    columns = np.rint(0.5 * (columns[1:] + columns[:-1])).astype(int)
    places = np.linspace(rows[0], rows[-1], max(2, int(axes.bbox.height / spacing)) + 1)
    places = 0.5 * (places[1:] + places[:-1])
    across, up = (
        _between_levels(part, vertical, places)[:, columns]
        for part in (sections.wind.across, sections.wind.up)
    )
    x, y = np.meshgrid(line.distance[columns], places)
    whole = np.isfinite(across) & np.isfinite(up)
    x, y, across, up = x[whole], y[whole], across[whole], up[whole]
    if not x.size:
        return
    if not along:
        south = line.lat is not None and float(np.mean(line.lat)) < 0
        axes.barbs(
            x, y, across, up, length=5.4, linewidth=0.7, color=style.INK,
            sizes={"emptybarb": 0.12}, zorder=3, flip_barb=south, path_effects=_HALO,
        )  # fmt: skip
        return
    wide_km = float(line.distance[-1] - line.distance[0])
    tall_km = float(rows[-1] - rows[0]) * (_SCALE_HEIGHT_KM if vertical.log else 1.0)
    stretch = (axes.bbox.height / tall_km) / (axes.bbox.width / wide_km)
    up = up * stretch
    speed = float(np.percentile(np.hypot(across, up), 98)) or 1.0
    power = 10.0 ** np.floor(np.log10(speed))
    reference = float(min((1, 2, 5, 10), key=lambda n: abs(n * power - speed)) * power)
    arrows = axes.quiver(
        x, y, across, up, angles="uv", scale_units="dots", scale=reference / (0.95 * spacing),
        units="dots", width=max(1.0, spacing / 26), color=style.INK, pivot="mid", zorder=3,
        path_effects=_HALO,
    )  # fmt: skip
    point = axes.figure.dpi / 72
    # On the left: a long unit of the colours ends on the right.
    axes.quiverkey(
        arrows, spacing / axes.bbox.width, 1 + 9 * point / axes.bbox.height,
        reference, f"along {reference:g} m s⁻¹, upwards {reference / stretch:.2g} m s⁻¹",
        labelpos="E", labelsep=0.06, coordinates="axes",
        fontproperties={"family": style.FONT, "size": 8},
    )  # fmt: skip
