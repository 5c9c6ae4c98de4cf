"""Seismograms as a picture: one panel per component, one trace per station, by distance.

The traces are written beside it as a script, for stations on the live page.
"""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from burstlens.core.digits import format_number
from burstlens.core.units import printed
from burstlens.viz.drawing import heading, style
from burstlens.viz.drawing.colour_bar import STEPS, Numbers, plain_frame
from burstlens.viz.drawing.picture import blank, letters_dpi
from burstlens.viz.geometry.grid import Array
from burstlens.viz.kinds.seismogram.options import SeismogramOptions
from burstlens.viz.kinds.seismogram.read import RecordSection
from burstlens.viz.product import Context, whole_file
from burstlens.viz.values.names import VALUES
from burstlens.viz.values.traces import traces_script

COLOURS = ("#0072b2", "#c04a00", "#00755a")
"""Of the components: distinct for the colour-blind (after Okabe & Ito 2008), dark for lines."""
_TOP, _BOTTOM, _LEFT, _RIGHT, _BETWEEN = 78.0, 58.0, 74.0, 58.0, 36.0
_ROW, _TALLEST = 42.0, 1200.0
"""Points: a station's share of the height, and the tallest that a picture becomes by itself."""
_NAMED = 20.0
"""From this many points between two stations on, each is named with its distance."""
_SWING = 0.47
"""How far a trace swings on each side, in distances between stations."""


def draw_section(
    section: RecordSection, options: SeismogramOptions, out: Path, context: Context, lead: str
) -> dict[str, Any]:
    """Draw the PNG and return its facts for the index: ``size`` in pixels."""
    stations = section.traces.names.size
    figure, panels = paper(options, len(section.titles), stations * _ROW)
    sizes = section.peaks
    highest = float(sizes.max(initial=0.0)) or 1.0
    for number, (axes, title) in enumerate(zip(panels, section.titles, strict=True)):
        reach = np.full(stations, highest)
        if options.scale == "own":
            reach = np.where(sizes[number] > 0, sizes[number], 1.0)
        swings = section.traces.values[number] * (_SWING / reach[:, None])
        _draw_traces(axes, section, swings, COLOURS[number])
        _mark_arrivals(axes, section)
        name_panel(axes, title, COLOURS[number])
        _write_peaks(axes, sizes[number])
        axes.set_ylim(-stations + (0.25 if section.arrivals else 0.5), 0.5)
        axes.set_yticks([])
        first, last = section.span(options.duration_s)
        axes.set_xlim(first, last)
        axes.set_xlabel("time (s)", fontsize=9, color=style.INK, family=style.FONT, labelpad=3)
    _name_stations(panels[0], section)
    if options.scale == "common":
        _draw_scale(panels[-1], highest, printed(section.units))
    end = section.traces.times[-1]
    caption = f"{stations} stations, {section.traces.times.size} samples to {end:g} s"
    caption += f"  ·  numbers: peaks in {printed(section.units)}" if section.units else ""
    return finish(figure, options.title or "Seismograms", (lead, caption), out, context)


def paper(options: SeismogramOptions, panels: int, body: float) -> tuple[Figure, list[Axes]]:
    """A figure with panels beside each other, ``body`` points tall if no height is asked for."""
    dpi = letters_dpi(options.width_px, options.height_px, options.dpi)
    point = dpi / 72
    tallest = min(max(body, 120.0) + _TOP + _BOTTOM, _TALLEST) * point
    width, height = options.width_px, options.height_px or 2 * round(tallest / 2)
    figure = blank(width, height, dpi)
    room = width - (_LEFT + _RIGHT + (panels - 1) * _BETWEEN) * point
    wide, tall = room / panels, height - (_TOP + _BOTTOM) * point
    made = []
    for n in range(panels):
        x = _LEFT * point + n * (wide + _BETWEEN * point)
        box = x / width, _BOTTOM * point / height, wide / width, tall / height
        axes = figure.add_axes(box, facecolor="white")
        plain_frame(axes)
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=STEPS, prune="upper"))
        axes.xaxis.set_major_formatter(Numbers())
        made.append(axes)
    return figure, made


def name_panel(axes: Axes, title: str, colour: str) -> None:
    """What a panel shows, above it."""
    axes.set_title(
        title[:1].upper() + title[1:], fontsize=9, color=colour, loc="left", pad=5,
        family=style.FONT, parse_math=False,
    )  # fmt: skip


def finish(
    figure: Figure, title: str, words: tuple[str, str], out: Path, context: Context
) -> dict[str, Any]:
    """Write words around the panels and the picture as a PNG; its ``size`` in pixels."""
    texts = heading.texts(title, context)
    heading.write_picture(figure, out, context, figure.dpi, title, "", words, texts)
    canvas: Any = figure.canvas
    return {"size": list(canvas.get_width_height())}


def _draw_traces(axes: Axes, section: RecordSection, swings: Array, colour: str) -> None:
    """All traces as one line with gaps: one line per trace would take longer to draw."""
    axes.hlines(
        -np.arange(len(swings)), 0, 1, transform=axes.get_yaxis_transform(), color=style.FRAME,
        lw=0.4, alpha=0.6, zorder=1,
    )  # fmt: skip
    gap = np.array([np.nan])
    across, up = [gap], [gap]
    for piece in section.traces.pieces():
        for row, swing in enumerate(swings):
            times, shown = thinned(section.traces.times[piece], swing[piece], axes.bbox.width)
            if times.size == 1:
                axes.plot(times, shown - row, ".", color=colour, ms=3, zorder=2)
            across += [times, gap]
            up += [shown - row, gap]
    line = Line2D(np.concatenate(across), np.concatenate(up), color=colour, lw=0.9, zorder=2)
    line.set_solid_joinstyle("round")
    axes.add_line(line)


def thinned(times: Array, values: Array, pixels: float) -> tuple[Array, Array]:
    """The lowest and the highest sample of each half pixel, in their order: it looks the same."""
    each = int(times.size / (2 * pixels))
    if each < 4:
        return times, values
    whole = times.size // each * each
    part = values[:whole].reshape(-1, each)
    # A gap in a trace stays a gap: a bin with one NaN sample is NaN.
    ends = np.sort(np.stack([part.argmin(axis=1), part.argmax(axis=1)]), axis=0)
    kept = (ends + np.arange(len(part)) * each).T.ravel()
    kept = np.append(kept, np.arange(whole, times.size))
    return times[kept], values[kept]


def _mark_arrivals(axes: Axes, section: RecordSection) -> None:
    """A bar across each trace where a phase arrives, named below the farthest station's."""
    for phase, times in section.arrivals.items():
        rows = -np.arange(times.size, dtype=float)
        axes.vlines(times, rows - 0.3, rows + 0.3, color=style.INK, lw=1.1, zorder=3)
        axes.annotate(
            phase, (float(times[-1]), rows[-1] - 0.3), (0, -2), textcoords="offset points",
            ha="center", va="top", fontsize=8, color=style.INK, family=style.FONT,
            annotation_clip=True,
        )  # fmt: skip


def _write_peaks(axes: Axes, sizes: Array) -> None:
    if not _has_room(axes, sizes.size):
        return
    for row, size in enumerate(sizes):
        axes.annotate(
            format_number(float(size)), (1, -row), (4, 0), xycoords=axes.get_yaxis_transform(),
            textcoords="offset points", ha="left", va="center", fontsize=8,
            color=style.FAINT, family=style.FONT,
        )  # fmt: skip


def _name_stations(axes: Axes, section: RecordSection) -> None:
    names = section.traces.names.tolist()
    every = 1
    while every < len(names) and not _has_room(axes, -(-len(names) // every)):
        every += 1
    axes.set_yticks([-row for row in range(0, len(names), every)])
    labels = names
    if section.distances_m is not None:
        labels = [
            f"{name}\n{distance / 1e3:.1f} km"
            for name, distance in zip(names, section.distances_m, strict=True)
        ]
    axes.set_yticklabels(labels[::every], parse_math=False)


def _has_room(axes: Axes, rows: int) -> bool:
    return float(axes.bbox.height) / axes.figure.dpi * 72 / max(rows, 1) >= _NAMED


def _draw_scale(axes: Axes, highest: float, unit: str) -> None:
    """A bar as long as a round amplitude, right of the panel, between two stations."""
    decade = 10.0 ** np.floor(np.log10(highest))
    length = float(max(step * decade for step in (1, 2, 5) if step * decade <= highest))
    tall = _SWING * length / highest
    across = axes.get_yaxis_transform()
    point = axes.figure.dpi / 72 / float(axes.bbox.width)
    axes.plot(
        [1 + 6 * point] * 2, [-0.5 - tall / 2, -0.5 + tall / 2], color=style.INK, lw=2,
        clip_on=False, transform=across, solid_capstyle="butt",
    )  # fmt: skip
    axes.text(
        1 + 10 * point, -0.5, f"{length:g}\n{unit}", transform=across, fontsize=8, va="center",
        color=style.INK, family=style.FONT, parse_math=False,
    )  # fmt: skip


def write_beside(
    section: RecordSection,
    options: SeismogramOptions,
    picture: Path,
    folder: Path,
    context: Context,
) -> int:
    """Write what ``picture`` shows into ``folder``; returns the number of stations. StagingError
    when it cannot be written; nothing half-written is left."""
    traces = section.traces
    x, y = ("lon", "lat") if traces.geographic else ("x", "y")
    stations = [
        {"name": str(name), x: _number(at_x), y: _number(at_y)}
        for name, at_x, at_y in zip(traces.names, traces.x, traces.y, strict=True)
    ]
    folder.mkdir(exist_ok=True)
    with whole_file(folder / VALUES):
        header = {
            "product": context.product,
            "stream": context.stream,
            "time": context.time,
            "picture": zlib.crc32(picture.read_bytes()),
            "recorded": section.is_recorded,
            "step_s": _number(round(traces.step_s, 9)),
            "reference": section.began,
            "units": section.units,
            "printed": printed(section.units),
            "components": [
                {"name": name, "title": title}
                for name, title in zip(options.components, section.titles, strict=True)
            ],
        }
        (folder / VALUES).write_bytes(traces_script(header, stations, traces.times, traces.values))
    return len(stations)


def _number(value: float) -> float | None:
    """For JSON, which has no NaN."""
    return float(value) if math.isfinite(value) else None
