"""How strong a storm was: its value and the strongest wind over time, one panel each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import dates
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from burstlens.core import valid_time
from burstlens.core.units import printed
from burstlens.viz.diagnostics.storms.track import Track
from burstlens.viz.drawing import style
from burstlens.viz.drawing.colour_bar import STEPS, Numbers, plain_frame
from burstlens.viz.drawing.heading import LEFT
from burstlens.viz.drawing.maps.sheet import RIGHT
from burstlens.viz.drawing.maps.track_layer import edge_width
from burstlens.viz.drawing.picture import blank

_dates: Any = dates
_HEAD, _PANEL, _FOOT = 24.0, 96.0, 40.0
"""Heights in points: of a panel's title, of a panel, and of the words below the panels."""
_ROOM = 0.08
"""Room beyond the curve's limits, as a part of their range, so that dots are whole."""


def draw_panels(
    track: Track, colours: ScalarMappable, what: str, *, width: int, dpi: float, maker: str
) -> NDArray[np.uint8]:
    """The panels as (height, width, 4) bytes, as wide as the picture and as tall as they need.

    ``what`` says in words what the value is; ``colours`` are those of its dots. The wind has a
    panel where the track has it.
    """
    values = [point.value for point in track.points]
    winds = [point.max_wind for point in track.points]
    curves: list[tuple[str, list[float | None], ScalarMappable | None]]
    curves = [(f"{what} ({printed(track.units)})", values, colours)]
    if any(wind is not None for wind in winds):
        curves.append((f"Strongest 10 m wind ({printed(track.wind_units)})", winds, None))
    point = dpi / 72
    height = round((len(curves) * (_HEAD + _PANEL) + _FOOT) * point / 2) * 2
    figure = blank(width, height, dpi)
    canvas: Any = figure.canvas
    when, unit = _times(track)
    for n, (title, values, mapped) in enumerate(curves):
        bottom = height - (n + 1) * (_HEAD + _PANEL) * point
        box = (
            LEFT * point / width, bottom / height,
            1 - (LEFT + RIGHT) * point / width, _PANEL * point / height,
        )  # fmt: skip
        axes = figure.add_axes(box)
        _curve(axes, when, values, mapped, edge_width(track))
        _label_times(axes, when, unit, last=n + 1 == len(curves))
        axes.annotate(
            title.replace(" ()", ""), (0, 1), (0, 6), xycoords="axes fraction",
            textcoords="offset points", fontsize=9.5, color=style.INK, family=style.FONT,
            parse_math=False,
        )  # fmt: skip
    figure.text(
        1 - 12 * point / width, 8 * point / height, maker, fontsize=8, color=style.FAINT,
        ha="right", va="baseline", family=style.FONT, parse_math=False,
    )  # fmt: skip
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def _curve(
    axes: Axes, when: NDArray[np.float64], values: Sequence[float | None],
    colours: ScalarMappable | None, edge: float,
) -> None:  # fmt: skip
    """A line, broken where there is no value, with a dot at each."""
    known = np.array([np.nan if value is None else value for value in values])
    plain_frame(axes)
    axes.grid(True, color=style.FRAME, alpha=0.3, lw=0.6)
    axes.set_axisbelow(True)
    axes.plot(when, known, "-", color=style.INK, lw=1.2)
    filled: Any = "white" if colours is None else colours.to_rgba(known)
    axes.scatter(when, known, s=26, c=filled, edgecolors=style.INK, linewidths=edge, zorder=3)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=STEPS))
    axes.yaxis.set_major_formatter(Numbers())
    axes.margins(x=0.02, y=0.15)
    if colours is not None:
        low, high = colours.get_clim()
        axes.set_ylim(low - _ROOM * (high - low), high + _ROOM * (high - low))


def _times(track: Track) -> tuple[NDArray[np.float64], str]:
    """Where the times stand on the axis, and its unit; empty for dates (matplotlib's days)."""
    keys = [point.time for point in track.points]
    seconds = np.array([track.seconds(key) for key in keys])
    # Idealized runs begin in year 1: their dates mean nothing. Matplotlib has four digits of a
    # year, and one calendar.
    is_dated = valid_time.is_calendar(keys[0]) and keys[0][0] in "123456789" and not track.calendar
    if is_dated:
        return _dates.date2num(np.datetime64("1970-01-01", "D")) + seconds / 86400, ""
    seconds = seconds - (seconds[0] if valid_time.is_calendar(keys[0]) else 0.0)
    span = float(np.ptp(seconds))
    lengths = {"h": 3600.0, "min": 60.0, "s": 1.0}
    unit = next((unit for unit, length in lengths.items() if span >= 3 * length), "s")
    return seconds / lengths[unit], unit


def _days(when: NDArray[np.float64]) -> str:
    first, last = (f"{_dates.num2date(at):%-d %B %Y}" for at in (when[0], when[-1]))
    return first if first == last else f"{first} to {last}"


def _label_times(axes: Axes, when: NDArray[np.float64], unit: str, *, last: bool) -> None:
    if np.ptp(when) == 0:
        about = 0.5 / 24 if not unit else 1.0
        axes.set_xlim(when[0] - about, when[0] + about)
    axes.tick_params(labelbottom=last)
    if unit:
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=STEPS))
        axes.xaxis.set_major_formatter(Numbers())
    else:
        locator = _dates.AutoDateLocator(maxticks=9)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(_dates.ConciseDateFormatter(locator, show_offset=False))
    if last:
        words = f"Time since the first position ({unit})" if unit else f"{_days(when)}, UTC"
        axes.set_xlabel(words, fontsize=9, color=style.INK, family=style.FONT, labelpad=3)
