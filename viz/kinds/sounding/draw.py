"""A skew-T log-p diagram: a column over the lines along which dry and saturated air rises.

Isotherms lean to the right by 45 degrees (AWS/TR-79/006, The Use of the Skew T, Log P Diagram), or
less on charts that are tall, or of low levels alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, MultipleLocator

from burstlens.viz.diagnostics import thermodynamics as air
from burstlens.viz.diagnostics.parcel import lifted_path
from burstlens.viz.drawing import heading, style
from burstlens.viz.drawing.colour_bar import minus, plain_frame
from burstlens.viz.drawing.legend import LegendEntry, Sign, legend, rows, rows_pt
from burstlens.viz.drawing.maps.graticule import latitude, longitude
from burstlens.viz.drawing.maps.meanings import barbs_entry
from burstlens.viz.drawing.picture import blank, letters_dpi
from burstlens.viz.geometry.grid import Array
from burstlens.viz.kinds.sounding.options import SoundingOptions
from burstlens.viz.kinds.sounding.read import Column
from burstlens.viz.product import Context

_RIGHT, _TOP, _BOTTOM = 84.0, 62.0, 65.0
_BOTTOM_HPA = 1050.0
_COOLING = 50.0
"""K in each unit of -ln p: 6.5 K km-1 where these are 7.6 km, at 260 K."""
_MARKED_HPA = (1000, 925, 850, 700, 500, 400, 300, 250, 200, 150, 100, 70, 50, 30, 20, 10)
_MIXING_RATIOS = (0.4, 1, 2, 4, 7, 10, 16, 24, 32)
"""g kg-1."""
_RED, _GREEN, _BLUE = "#c1272d", "#1a7a3a", "#3563a8"
_HALO = [withStroke(linewidth=2.6, foreground="white", alpha=0.7)]
_KNOTS = 3600 / 1852
_BESIDE = 30.0
"""Points from the diagram to the barbs."""
_BARBS = 28
"""Barbs on the whole height, at most."""
_DRY, _WET, _MIXED = "#c98a4b", "#5b8f6b", "#8a6fae"
_SYMBOLS = (
    LegendEntry("dry adiabats", sign=Sign("line", _DRY)),
    LegendEntry("saturated adiabats", sign=Sign("dashed", _WET)),
    LegendEntry("mixing ratio, g kg⁻¹", sign=Sign("dotted", _MIXED, 1.2)),
    LegendEntry("0 °C", sign=Sign("line", _BLUE)),
    LegendEntry("condensation", sign=Sign("dot")),
    barbs_entry("wind"),
)


def draw(
    column: Column, options: SoundingOptions, out: Path, context: Context, lead: str
) -> dict[str, Any]:
    """Draw the PNG and return the column's energies and levels as JSON facts."""
    size = options.width_px, options.height_px
    figure = blank(*size, letters_dpi(*size, options.dpi))
    chart = Chart(figure, options)
    chart.background()
    chart.curve(column.pressure, column.temperature, _RED, "temperature")
    chart.curve(column.pressure, column.dew_point, _GREEN, "dew point")
    chart.parcel(column)
    chart.winds(column)
    chart.legend(_numbers(column, options))
    for artist in legend(figure, _SYMBOLS, rows(_SYMBOLS, options.width_px, figure.dpi)):
        figure.add_artist(artist)
    title, texts = options.title or "Sounding", heading.texts("sounding", context)
    words = lead, f"lowest level: {column.pressure[0] / 100:.1f} hPa"
    heading.write_picture(figure, out, context, options.dpi, title, _where(column), words, texts)
    return {
        "size": [options.width_px, options.height_px],
        "parcel": options.parcel,
        "cape": round(column.cape, 1),
        "cin": round(column.cin, 1),
        "condensation_hpa": round(column.condensation[0] / 100, 1),
        "levels": int(column.pressure.size),
        "place": None if column.place is None else [round(v, 4) for v in column.place],
    } | ({} if column.water is None else {"precipitable_water": round(column.water, 2)})


class Chart:
    """Axes of -ln p upwards, and of temperature leaned over by the height."""

    def __init__(self, figure: Figure, options: SoundingOptions) -> None:
        point = figure.dpi / 72
        width, height = figure.bbox.width, figure.bbox.height
        left, right = heading.LEFT * point / width, 1 - _RIGHT * point / width
        foot = _BOTTOM + rows_pt(rows(_SYMBOLS, options.width_px, figure.dpi))
        bottom, top = foot * point / height, 1 - _TOP * point / height
        self.low, self.high = options.temperatures
        self.top = options.top
        # So much to the right for each unit upwards that an isotherm rises by 45 degrees; but no
        # more than air cools, or the curves of a tall chart would leave it.
        shape = (top - bottom) * height / ((right - left) * width)
        tall = float(np.log(_BOTTOM_HPA / self.top))
        self._lean = min((self.high - self.low) * shape / tall, _COOLING)
        self.axes: Axes = figure.add_axes(
            (left, bottom, right - left, top - bottom), xlim=(self.low, self.high),
            ylim=(-np.log(_BOTTOM_HPA), -np.log(self.top)), autoscale_on=False,
        )  # fmt: skip
        plain_frame(self.axes)

    def place(self, hpa: Array, celsius: Array) -> Array:
        """Where pressures and temperatures lie, as (n, 2)."""
        up = np.log(1000.0 / hpa)
        return np.column_stack([celsius + self._lean * up, -np.log(hpa)])

    def background(self) -> None:
        """Isobars, isotherms, dry and saturated adiabats, lines of equal mixing ratio."""
        hpa = np.exp(np.linspace(np.log(_BOTTOM_HPA), np.log(self.top), 80))
        coldest = self.low - self._lean * np.log(1000 / self.top)
        isotherms = np.arange(np.floor(coldest / 10) * 10, self.high + 20, 10)
        self._lines([self.place(hpa, 0 * hpa + t) for t in isotherms], "#9aa3ab", 0.6, "-")
        self._lines([self.place(hpa, 0 * hpa)], _BLUE, 1.0, "-")
        theta = np.arange(self.low - 20, self.high + 160, 10) + air.ZERO_C
        dry = [self.place(hpa, air.temperature(t, hpa * 100) - air.ZERO_C) for t in theta]
        self._lines(dry, _DRY, 0.6, "-")
        saturated = []
        for start in np.arange(-20.0, 41.0, 5.0) + air.ZERO_C:
            # A parcel saturated at 1000 hPa, from there on down and up.
            p = np.concatenate([[1e5], hpa[hpa < 1000] * 100])
            e = air.saturation_vapour_pressure(np.array(start))
            wet = np.full(p.size, float(air.EPSILON * e / (1e5 - e)))
            path, _, _ = lifted_path(p, np.full(p.size, start), wet, 0)
            saturated.append(self.place(p / 100, path - air.ZERO_C))
        self._lines(saturated, _WET, 0.6, (0, (5, 3)))
        low = hpa[hpa > 600]
        for ratio in _MIXING_RATIOS:
            dew = air.dew_point(0 * low + ratio / 1000, low * 100) - air.ZERO_C
            points = self.place(low, dew)
            self._lines([points], _MIXED, 0.6, (0, (1, 2)))
            # At the foot, where no curve of the column lies.
            x, y = points[0]
            if self.low + 1 < x < self.high - 2:
                self.axes.text(
                    x, y + 0.004, f"{ratio:g}", fontsize=8, color=_MIXED, ha="center",
                    family=style.FONT, bbox=style.LABEL, zorder=1.5,
                )  # fmt: skip
        marked = [p for p in _MARKED_HPA if self.top <= p <= _BOTTOM_HPA]
        self.axes.yaxis.set_major_locator(FixedLocator([-float(np.log(p)) for p in marked]))
        self.axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{np.exp(-y):.0f}"))
        self.axes.xaxis.set_major_locator(MultipleLocator(10))
        self.axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: minus(f"{x:g}")))
        self.axes.grid(axis="y", color="#9aa3ab", lw=0.6)
        self.axes.set_xlabel("temperature at 1000 hPa (°C)", fontsize=9, family=style.FONT)
        self.axes.set_ylabel("pressure (hPa)", fontsize=9, family=style.FONT)

    def _lines(self, lines: list[Array], colour: str, width: float, dashes: Any) -> None:
        self.axes.add_collection(
            LineCollection(lines, colors=colour, linewidths=width, linestyles=dashes, alpha=0.7,
                           zorder=1),
            autolim=False,
        )  # fmt: skip

    def curve(self, pressure: Array, kelvin: Array, colour: str, label: str, **looks: Any) -> None:
        """A profile of the column."""
        points = self.place(pressure / 100, kelvin - air.ZERO_C)
        drawn: dict[str, Any] = {"lw": 2.0, "zorder": 4, "path_effects": _HALO} | looks
        self.axes.plot(points[:, 0], points[:, 1], color=colour, label=label, **drawn)

    def parcel(self, column: Column) -> None:
        """The parcel's path, its surplus of warmth shaded, and its level of condensation."""
        base, cold = column.condensation
        p = np.append(column.pressure, base)
        order = np.argsort(-p, kind="stable")
        p, path = p[order], np.append(column.path, cold)[order]
        around = np.interp(-np.log(p), -np.log(column.pressure), column.temperature)
        known = np.isfinite(path)
        p, path, around = p[known], path[known], around[known]
        self.curve(p, path, style.INK, "lifted parcel", lw=1.4, dashes=(4, 2))
        ours, theirs = (self.place(p / 100, k - air.ZERO_C) for k in (path, around))
        for warmer, colour in ((True, _RED), (False, _BLUE)):
            side = path > around if warmer else path < around
            # Above the highest level where the parcel is warmer there is no inhibition.
            side = side if warmer else side & (np.cumsum((path > around)[::-1])[::-1] > 0)
            self.axes.fill_betweenx(
                ours[:, 1], ours[:, 0], theirs[:, 0], where=side, interpolate=True, color=colour,
                alpha=0.18, lw=0, zorder=2,
            )  # fmt: skip
        self.axes.plot(
            *self.place(np.array([base / 100]), np.array([cold - air.ZERO_C]))[0], "o", ms=5,
            color=style.INK, zorder=5,
        )  # fmt: skip

    def winds(self, column: Column) -> None:
        """Barbs in knots beside the diagram, as many as stand clear of each other."""
        up = -np.log(column.pressure / 100)
        low, high = self.axes.get_ylim()
        picked: list[int] = []
        for n in np.flatnonzero((up >= low) & (up <= high)):
            if not picked or up[n] - up[picked[-1]] >= (high - low) / _BARBS:
                picked.append(int(n))
        wide = self.axes.bbox.width * 72 / self.axes.figure.dpi
        x = np.full(len(picked), self.high + _BESIDE / wide * (self.high - self.low))
        south = column.place is not None and column.place[0] < 0
        self.axes.barbs(
            x, up[picked], column.eastward[picked] * _KNOTS, column.northward[picked] * _KNOTS,
            length=5.6, linewidth=0.7, color=style.INK, clip_on=False, flip_barb=south,
            sizes={"emptybarb": 0.12},
        )  # fmt: skip

    def legend(self, numbers: list[str]) -> None:
        """What the curves are, and the column's numbers, in the upper left, where no air is."""
        box = self.axes.legend(
            loc="upper left", fontsize=8.5, framealpha=0.9, edgecolor=style.FRAME,
            title="\n".join(numbers), title_fontsize=9, alignment="left", fancybox=False,
        )  # fmt: skip
        for text in (*box.get_texts(), box.get_title()):
            text.set(family=style.FONT, color=style.INK)


def _numbers(column: Column, options: SoundingOptions) -> list[str]:
    parcel = "lowest level" if options.parcel == "surface" else "most unstable"
    lines = [
        f"parcel: {parcel}",
        f"CAPE {column.cape:.0f} J kg⁻¹",
        minus(f"CIN {column.cin:.0f} J kg⁻¹").replace("−0 ", "0 "),
        f"condensation {column.condensation[0] / 100:.0f} hPa",
    ]
    if column.water is not None:
        lines.append(f"precipitable water {column.water:.0f} mm")
    return lines


def _where(column: Column) -> str:
    if column.place is None:
        return ""
    lat, lon = (round(v, 2) for v in column.place)
    return f"{latitude(lat)} {longitude(lon)}"
