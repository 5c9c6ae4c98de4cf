"""The axes of a vertical section: distance and places below, height or pressure on the left; and
values as they lie on them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from burstlens.core.errors import FrameError
from burstlens.core.units import printed
from burstlens.viz.drawing import heading, style
from burstlens.viz.drawing.colour_bar import STEPS, Numbers, plain_frame, tick_labels
from burstlens.viz.drawing.legend import rows_pt
from burstlens.viz.drawing.maps.graticule import latitude, longitude
from burstlens.viz.geometry.columns import Vertical
from burstlens.viz.geometry.grid import Array
from burstlens.viz.geometry.transect import Transect
from burstlens.viz.kinds.section.read import Sections
from burstlens.viz.values.grid import Axis
from burstlens.viz.values.options import Values
from burstlens.viz.values.shown import Shown, shown_in_section

_RIGHT, _TOP, _BOTTOM = 84.0, 68.0, 72.0
_PLACE, _DIGIT = 64.0, 11.0
"""Points that a latitude and a longitude take, without decimals, and for each decimal of both."""
_SHALLOW_KM = 1.0
_APART = 0.03
"""The share of the axis that numbers need between them."""
_PRESSURES = (1000, 925, 850, 700, 500, 400, 300, 250, 200, 150, 100, 70, 50, 30, 20, 10, 5, 2, 1)


def section_axes(figure: Figure, distance: Array, span: tuple[float, float], rows: int = 0) -> Axes:
    """The axes of the picture, from the first to the last distance, over ``span`` upwards; below
    them is room for so many ``rows`` of a legend."""
    point = figure.dpi / 72
    width, height = figure.bbox.width, figure.bbox.height
    left, right = heading.LEFT * point / width, 1 - _RIGHT * point / width
    bottom, top = (_BOTTOM + rows_pt(rows)) * point / height, 1 - _TOP * point / height
    axes = figure.add_axes(
        (left, bottom, right - left, top - bottom), facecolor=style.MISSING,
        xlim=(float(distance[0]), float(distance[-1])), ylim=span, autoscale_on=False,
    )  # fmt: skip
    plain_frame(axes)
    return axes


def shown_range(vertical: Vertical, top: float | None) -> tuple[float, float]:
    """The lowest and the highest place on the axis that are shown; FrameError when ``top`` leaves
    nothing of the column."""
    axis = on_axis(vertical, vertical.levels)
    low = float(np.nanmin(axis))
    if vertical.ground is not None:
        low = min(low, float(np.nanmin(on_axis(vertical, vertical.ground))))
        # Enough of the ground to be seen where it is lowest.
        low -= 0.015 * (float(np.nanmin(axis[-1])) - low)
    # The lowest of the highest level, so that no part of the picture is empty.
    high = float(np.nanmin(axis[-1]))
    if top is not None:
        asked = float(on_axis(vertical, np.array(-top if vertical.down else top)))
        low, high = (asked, high) if vertical.down else (low, asked)
    if not low < high:
        span = vertical.levels[0].min(), vertical.levels[-1].max()
        shown = " to ".join(f"{abs(end):.4g}" for end in span)
        raise FrameError(
            f"section: top = {top or 0:g} leaves nothing: "
            f"the levels are at {shown} {vertical.units}"
        )
    return low, high


def on_axis(vertical: Vertical, values: Array) -> Array:
    """Levels as they lie on the axis: -ln p, so that pressure rises downwards."""
    return -np.log(values) if vertical.log else values


def off_axis(vertical: Vertical, *places: float) -> list[float]:
    """What places on the axis mean: km, or hPa."""
    return [float(np.exp(-at)) if vertical.log else at for at in places]


def label_axes(axes: Axes, sections: Sections) -> None:
    """Numbers and names along both axes: distances with the places below, heights or pressures."""
    line = sections.line
    first, last = float(line.distance[0]), float(line.distance[-1])
    slack = 1e-3 * (last - first)  # an end at 299.9996 km is written as 300
    digits = _digits(line)
    # Places stand below the distances, and take more room the more decimals they have.
    room = axes.bbox.width * 72 / axes.figure.dpi / (_PLACE + _DIGIT * digits)
    count = 6 if line.lon is None else int(np.clip(room, 1, 6))
    ticks = MaxNLocator(count, steps=STEPS).tick_values(first, last)
    ticks = [t for t in ticks if first - slack <= t <= last + slack]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    texts = [_place(line, *tick, digits) for tick in zip(ticks, tick_labels(ticks), strict=True)]
    axes.xaxis.set_major_formatter(FixedFormatter(texts))
    since = f" from {line.origin}" if line.origin else ""
    axes.set_xlabel(
        f"distance{since} ({line.units})", fontsize=9, color=style.INK, family=style.FONT
    )
    label_levels(axes, sections.vertical)


def label_levels(axes: Axes, vertical: Vertical) -> None:
    """Numbers and a name on the left: heights, depths, pressures, or numbers of levels."""
    axes.yaxis.set_minor_locator(NullLocator())
    low, high = axes.get_ylim()
    # A shallow sea is measured in metres.
    metres = vertical.down and vertical.units == "km" and high - low < _SHALLOW_KM
    units = "m" if metres else printed(vertical.units) or "grid point"
    words = f"{vertical.words} ({units})"
    axes.set_ylabel(words, fontsize=9, color=style.INK, family=style.FONT)
    if vertical.log:
        shown: list[float] = []
        for p in _PRESSURES:
            room = -np.log(p) - (-np.log(shown[-1]) if shown else -np.inf)
            if low <= -np.log(p) <= high and room > _APART * (high - low):
                shown.append(p)
        if len(shown) < 3:
            bottom, top = np.exp(-low), np.exp(-high)
            shown = [p for p in MaxNLocator(6, steps=STEPS).tick_values(top, bottom) if p > 0]
        axes.yaxis.set_major_locator(FixedLocator([-float(np.log(p)) for p in shown]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{np.exp(-value):.4g}"))
        axes.set_ylim(low, high)
        return
    axes.yaxis.set_major_locator(MaxNLocator(7, steps=STEPS))
    sign = (-1000.0 if metres else -1.0) if vertical.down else 1.0
    axes.yaxis.set_major_formatter(Numbers(sign))


def _digits(line: Transect) -> int:
    """Decimals of degrees by which places a sixth of the way apart differ; one at least."""
    if line.lon is None or line.lat is None:
        return 1
    apart = max(float(np.ptp(line.lat)), float(np.ptp(np.unwrap(line.lon, period=360)))) / 6
    return int(np.clip(np.ceil(-np.log10(apart)), 1, 4)) if apart > 0 else 1


def _place(line: Transect, distance: float, text: str, digits: int) -> str:
    """The ``text`` of a distance, and below it the latitude and longitude there."""
    if line.lon is None or line.lat is None:
        return text
    degrees = [float(np.interp(distance, line.distance, of)) for of in (line.lat, line.lon)]
    return f"{text}\n{latitude(round(degrees[0], digits))} {longitude(round(degrees[1], digits))}"


def ends_label(sections: Sections) -> str:
    """Both ends in words; empty off the earth."""
    both = ends(sections) or ()
    return " to ".join(f"{latitude(round(a, 2))} {longitude(round(b, 2))}" for a, b in both)


def ends(sections: Sections) -> list[list[float]] | None:
    """[latitude, longitude] of both ends, in degrees."""
    line = sections.line
    if line.lon is None or line.lat is None:
        return None
    return [[float(np.round(v[n], 4)) for v in (line.lat, line.lon)] for n in (0, -1)]


def cell_faces(vertical: Vertical) -> Array:
    """Where the model's cells meet on the axis, as (level + 1, point): half-way between levels,
    the lowest one at the ground."""
    axis = on_axis(vertical, vertical.levels)
    bottom = 1.5 * axis[:1] - 0.5 * axis[1:2]
    if vertical.ground is not None:
        bottom = on_axis(vertical, vertical.ground)[None]
    top = 1.5 * axis[-1:] - 0.5 * axis[-2:-1]
    return np.concatenate([bottom, 0.5 * (axis[1:] + axis[:-1]), top])


def of_cells(values: Array, vertical: Vertical, rows: Array) -> Array:
    """The value of the cell at each place (row, point) of the axis, NaN beyond the column. The row
    that the ground cuts has the lowest cell: the ground is drawn over it."""
    faces = cell_faces(vertical)
    cut = 0.0 if vertical.ground is None else rows[1] - rows[0]
    found = np.full((rows.size, faces.shape[1]), np.nan)
    for n in range(faces.shape[1]):
        column = faces[:, n]
        if not (np.diff(column) > 0).all():
            continue
        cell = np.searchsorted(column, rows, side="right") - 1
        cell[(cell < 0) & (rows >= column[0] - cut)] = 0
        inside = (cell >= 0) & (cell < values.shape[0])
        found[inside, n] = values[cell[inside], n]
    return found


def section_values(sections: Sections, shown: Array, rows: Array, asked: Values) -> Shown:
    """``shown`` is (row, point), ``rows`` are places on the axis, from the lowest."""
    field, line, vertical = sections.field, sections.line, sections.vertical
    half = 0.5 * (rows[1] - rows[0])
    top, bottom = off_axis(vertical, rows[-1] + half, rows[0] - half)
    heights = np.array(off_axis(vertical, *rows[::-1]))
    ends = float(line.distance[0]), float(line.distance[-1])
    x = Axis(line.distance, ends, "distance", line.units or "grid point")
    y = Axis(heights, (top, bottom), vertical.words, vertical.units, log=vertical.log)
    facts = {
        "variable": field.name,
        "long_name": field.long_name,
        "units": field.units,
        "printed": printed(field.units),
        "level": "",
    }
    along = None
    if line.lon is not None and line.lat is not None:
        along = {"lon": line.lon, "lat": line.lat}
    return shown_in_section(facts, shown[::-1], x, y, asked, along)
