"""Draws vertical profiles: one panel per variable, side by side over one axis of heights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from burstlens.core.errors import FrameError
from burstlens.core.units import printed
from burstlens.viz.drawing import heading, style
from burstlens.viz.drawing.colour_bar import STEPS, Numbers, plain_frame, range_caption
from burstlens.viz.drawing.picture import blank, letters_dpi
from burstlens.viz.geometry.field import finite_range
from burstlens.viz.kinds.profile.options import ProfileOptions
from burstlens.viz.kinds.profile.read import Profile, Profiles
from burstlens.viz.kinds.section.axes import label_levels, on_axis
from burstlens.viz.product import Context

_RIGHT, _TOP, _BOTTOM, _GAP = 14.0, 56.0, 76.0, 16.0
"""Margins, and between panels, in points."""
_LINE = "#2c5f8a"
_GRID = "#e3e6ea"


def draw(
    found: Profiles, options: ProfileOptions, out: Path, context: Context, lead: str
) -> dict[str, Any]:
    """Draw the PNG and return JSON facts: ``size``, ``where`` and, by variable, ``ranges`` and
    ``units``. FrameError when ``top`` leaves nothing of the column."""
    size = options.width_px, options.height_px
    figure = blank(*size, letters_dpi(*size, options.dpi))
    span = _span(found, options.top)
    panels = _panels(figure, len(found.profiles))
    for number, (profile, axes) in enumerate(zip(found.profiles, panels, strict=True)):
        axes.set_ylim(span)
        _draw_profile(axes, profile, found, options.limits.get(profile.name))
        label_levels(axes, found.vertical)
        if number:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
    names = [style.words(one.name, one.long_name) for one in found.profiles]
    title = options.title or (names[0] if len(names) == 1 else "Vertical profiles")
    words = lead, _caption(found)
    texts = heading.texts("; ".join(names) + ", vertical profile", context, found.where)
    heading.write_picture(figure, out, context, options.dpi, title, found.where, words, texts)
    return {
        "size": [options.width_px, options.height_px],
        "where": found.where,
        "ranges": {one.name: list(finite_range(one.values)) for one in found.profiles},
        "units": {one.name: one.units for one in found.profiles},
    }


def _panels(figure: Figure, count: int) -> list[Axes]:
    point = figure.dpi / 72
    width, height = figure.bbox.width, figure.bbox.height
    left, right = heading.LEFT * point, width - _RIGHT * point
    bottom, top = _BOTTOM * point, height - _TOP * point
    gap = _GAP * point
    wide = (right - left - (count - 1) * gap) / count
    return [
        figure.add_axes(
            ((left + n * (wide + gap)) / width, bottom / height, wide / width,
             (top - bottom) / height), autoscale_on=False,
        )
        for n in range(count)
    ]  # fmt: skip


def _span(found: Profiles, top: float | None) -> tuple[float, float]:
    """The lowest and the highest place on the axis."""
    vertical = found.vertical
    every = np.concatenate([on_axis(vertical, one.levels) for one in found.profiles])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    if top is not None:
        asked = float(on_axis(vertical, np.array(-top if vertical.down else top)))
        low, high = (asked, high) if vertical.down else (low, asked)
    if not low < high:
        raise FrameError(f"profile: top = {top or 0:g} leaves nothing of the column")
    # From the ground, a little below the lowest level.
    return (low, high) if vertical.log or vertical.down else (min(low, max(0.0, low - 0.1)), high)


def _draw_profile(
    axes: Axes, one: Profile, found: Profiles, limits: tuple[float, float] | None
) -> None:
    plain_frame(axes)
    places = on_axis(found.vertical, one.levels)
    axes.grid(color=_GRID, lw=0.7, zorder=0)
    axes.set_axisbelow(True)
    if one.spread is not None:
        axes.fill_betweenx(places, *one.spread, color=_LINE, alpha=0.2, lw=0, zorder=2)
    axes.plot(one.values, places, color=_LINE, lw=1.8, zorder=3, solid_capstyle="round")
    low, high = limits or _padded(one, found, axes.get_ylim())
    axes.set_xlim(low, high)
    if low < 0 < high:
        axes.axvline(0, color=style.FAINT, lw=0.8, zorder=1)
    # Numbers at the very ends would touch those of the next panel.
    room = 0.05 * (high - low)
    ticks = MaxNLocator(4, steps=STEPS).tick_values(low, high)
    axes.xaxis.set_major_locator(FixedLocator([t for t in ticks if low + room < t < high - room]))
    axes.xaxis.set_major_formatter(Numbers())
    unit, name = printed(one.units), style.words(one.name, one.long_name)
    label = f"{name}\n({unit})" if unit else name
    axes.set_xlabel(label, fontsize=9, color=style.INK, family=style.FONT)


def _padded(one: Profile, found: Profiles, span: tuple[float, float]) -> tuple[float, float]:
    """The range of what is shown between the ends of the axis, with a little room."""
    places = on_axis(found.vertical, one.levels)
    shown = (places >= span[0]) & (places <= span[1])
    parts = [one.values, *(one.spread or ())]
    values = np.concatenate([part[shown] for part in parts])
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


def _caption(found: Profiles) -> str:
    one = found.profiles[0]
    if one.spread is not None:
        return "line: mean  ·  band: from 5 to 95 % of the values"
    if len(found.profiles) > 1:
        return ""
    return range_caption(one.name, finite_range(one.values), one.units)
