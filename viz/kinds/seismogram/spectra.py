"""Spectra of seismograms as a picture: one panel per component, one line per station."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from burstlens.core.units import conversion, printed
from burstlens.viz.diagnostics.seismology.ground_motion import motion_of
from burstlens.viz.diagnostics.seismology.response_spectrum import (
    DAMPING,
    fourier_amplitude,
    pseudo_acceleration,
)
from burstlens.viz.drawing import style
from burstlens.viz.drawing.colour_bar import Numbers
from burstlens.viz.geometry.grid import Array
from burstlens.viz.kinds.seismogram.draw import COLOURS, finish, name_panel, paper
from burstlens.viz.kinds.seismogram.options import SeismogramOptions
from burstlens.viz.kinds.seismogram.read import RecordSection
from burstlens.viz.product import Context

_BODY = 300.0
"""Points: height of the panels."""
_PERIODS = 60
_FEWEST = 32
"""Samples; fewer give no useful spectrum, and the panels stay empty."""
_LISTED = 16
"""Stations named in the legend, at most."""
_DECADES = 3.5
"""What is further than this below the highest value is left out."""


def draw_spectra(
    section: RecordSection, options: SeismogramOptions, out: Path, context: Context, lead: str
) -> dict[str, Any]:
    """Draw the PNG and return its facts for the index: ``size`` in pixels. Response spectra are in
    %g, Fourier amplitudes in the traces' units times s, of the longest part without a hole."""
    figure, panels = paper(options, len(section.titles), _BODY)
    response = options.show == "response"
    colours = style.colormap("cmcrameri.batlow")
    stations = section.traces.names.tolist()
    shades = [colours(0.75 * n / max(len(stations) - 1, 1)) for n in range(len(stations))]
    found = _response(section) if response else _fourier(section)
    highest = float(np.nanmax(found[1], initial=0.0)) if found else 0.0
    for number, (axes, title) in enumerate(zip(panels, section.titles, strict=True)):
        name_panel(axes, title.rpartition(", ")[2] if response else title, COLOURS[number])
        _log_axes(axes, "period (s)" if response else "frequency (Hz)")
        if found is not None and highest > 0:
            across, values = found
            axes.set_xlim(across[0], across[-1])
            lowest = max(float(np.nanmin(values)) / 2, highest / 10**_DECADES)
            axes.set_ylim(lowest, 2 * highest)
            for station, line in enumerate(values[number]):
                axes.plot(across, line, color=shades[station], lw=1.1)
        axes.tick_params(labelleft=number == 0)
    _legend(panels[-1], stations, shades)
    unit = "%g" if response else f"{printed(section.units)} s"
    words = "Pseudo-acceleration" if response else "Fourier amplitude"
    panels[0].set_ylabel(f"{words} ({unit})", fontsize=9, color=style.INK, family=style.FONT)
    title = options.title or ("Response spectra" if response else "Amplitude spectra")
    caption = f"{len(stations)} stations, {section.traces.times[-1]:g} s"
    if response:
        caption += f"  ·  {DAMPING:.0%} of critical damping"
    return finish(figure, title, (lead, caption), out, context)


def _longest(section: RecordSection) -> slice:
    return max(section.traces.pieces(), key=lambda piece: piece.stop - piece.start)


def _response(section: RecordSection) -> tuple[Array, Array] | None:
    """Periods in s, and pseudo-accelerations (component, station, period) in %g."""
    piece, step = _longest(section), section.traces.step_s
    count = piece.stop - piece.start
    if count < _FEWEST:
        return None
    number, factor = motion_of("the trace", section.units)
    motion = section.traces.values[..., piece] * (factor * conversion("m s-2", "%g")[0])
    for _ in range(2 - number):
        motion = np.gradient(motion, step, axis=-1)
    periods = np.geomspace(10 * step, max(min(10.0, count * step / 2), 20 * step), _PERIODS)
    return periods, pseudo_acceleration(motion, step, periods)


def _fourier(section: RecordSection) -> tuple[Array, Array] | None:
    """Frequencies in Hz, and amplitudes (component, station, frequency)."""
    piece, step = _longest(section), section.traces.step_s
    if piece.stop - piece.start < _FEWEST:
        return None
    frequencies, values = fourier_amplitude(section.traces.values[..., piece], step)
    # Zero has no logarithm, and the upper half of the band holds sampling artefacts.
    kept = slice(1, max(2, frequencies.size // 2))
    return frequencies[kept], values[..., kept]


def _log_axes(axes: Axes, label: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
    axes.xaxis.set_major_formatter(Numbers())
    axes.yaxis.set_major_formatter(Numbers())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True, color=style.FRAME, lw=0.4, alpha=0.4)
    axes.set_xlabel(label, fontsize=9, color=style.INK, family=style.FONT, labelpad=3)


def _legend(axes: Axes, stations: list[str], shades: list[Any]) -> None:
    """Names in order of distance, right of the last panel."""
    every = -(-len(stations) // _LISTED)
    lines = [Line2D([], [], color=shade, lw=1.6) for shade in shades[::every]]
    axes.legend(
        lines, stations[::every], loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False,
        prop={"family": style.FONT, "size": 7.5}, handlelength=0.9, borderaxespad=0.2,
        handletextpad=0.4, labelcolor=style.INK,
    )  # fmt: skip
