"""The plots of the page about I/O, one panel per log with the same axes in each."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from burstlens.clients.pages.iostats.shown import shortened
from burstlens.core.printable import printable
from burstlens.core.quantity import show_bytes, show_duration
from burstlens.workflows.iostats.advice import streams
from burstlens.workflows.iostats.summary import SIZE_BINS, Summary, Traffic

WRITE, READ, WEAK = "#1f6fb2", "#b3541e", "#5b6570"
MOST_FILES = 12
MOST_PHASES = 12
_WIDTH_IN = 8.6
_ROW_IN = 0.27
_LONGEST = 34


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot as ``data:`` URI, with its title, what it says in words, and its size in pixels."""

    title: str
    text: str
    uri: str
    width: int
    height: int


def plots(summaries: Sequence[Summary]) -> list[Plot]:
    """The plots that these logs have numbers for."""
    return [one for one in (_sizes(summaries), _phases(summaries), _files(summaries)) if one]


def _sizes(summaries: Sequence[Summary]) -> Plot | None:
    """Accesses that the file system saw, by size."""
    counts = [
        [flow.sizes or (0,) * len(SIZE_BINS) for flow in (it.total.write, it.total.read)]
        for it in summaries
    ]
    used = [at for at in range(len(SIZE_BINS)) if any(one[at] for pair in counts for one in pair)]
    if not used:
        return None
    bins = range(used[0], used[-1] + 1)
    names = [SIZE_BINS[at] for at in bins]
    figure, panels = _panels(summaries, 2 * len(names))
    for panel, (written, read) in zip(panels, counts, strict=True):
        for row, at in enumerate(bins):
            for count, place, colour in ((written[at], -0.2, WRITE), (read[at], 0.2, READ)):
                if count:
                    _bar(panel, row + place, count, f"{count:,}", colour, 0.38)
        panel.set_xscale("log")
        panel.set_xlim(0.7, 12 * max(count for pair in counts for one in pair for count in one))
        panel.set_xlabel("accesses")
    _rows(panels, names)
    for name, colour in (("writes", WRITE), ("reads", READ)):
        panels[0].barh([0], [0], color=colour, label=name)
    panels[0].legend(loc="lower right", fontsize=8, frameon=False)
    said = "; ".join(
        f"{it.total.write.system_calls or 0:,} writes and {it.total.read.system_calls or 0:,} reads"
        for it in summaries
    )
    text = f"In bytes, by powers of 1024: {said}."
    return _plot("Accesses of the file system by size", text, figure)


def _phases(summaries: Sequence[Summary]) -> Plot | None:
    """Parts of the time in writes and reads, by phase."""
    shares: list[dict[str, tuple[float, str]]] = []
    for it in summaries:
        found: dict[str, tuple[float, str]] = {}
        flows = ((it.total.write, "write", WRITE), (it.total.read, "read", READ))
        both = sum(bool(flow.phases) for flow, *_ in flows) == 2
        for flow, way, colour in flows:
            for phase, share in flow.phases.items():
                found[f"{phase} ({way})" if both and way not in phase else phase] = share, colour
        shares.append(found)
    most: dict[str, float] = {}
    for found in shares:
        for name, (share, _) in found.items():
            most[name] = max(most.get(name, 0.0), share)
    names = sorted((one for one in most if most[one] >= 0.005), key=lambda one: -most[one])
    names = names[:MOST_PHASES]
    if not names:
        return None
    figure, panels = _panels(summaries, len(names))
    for panel, found in zip(panels, shares, strict=True):
        for row, name in enumerate(names):
            share, colour = found.get(name, (0.0, WEAK))
            label = f"{100 * share:.0f} %" if name in found else "-"
            _bar(panel, row, 100 * share, label, colour)
        panel.set_xlim(0, 112)
        panel.set_xlabel("part of the time (%)")
    _rows(panels, names)
    text = "As the MPI library reports it; phases may overlap."
    if any("exchange and waiting" in it for it in most):
        text = (
            "Time in MPI-IO, summed over ranks: what lies inside the system's calls, and the rest."
        )
    return _plot("Time by phase", text, figure)


def _files(summaries: Sequence[Summary]) -> Plot | None:
    """The files that took longest, or the largest where no time is known."""
    groups = [streams(it.files) for it in summaries]
    timed = any(map(_seconds, chain.from_iterable(groups)))
    unit = 1 if timed else 2**20
    value = _seconds if timed else (lambda file: float(file.bytes))
    most: dict[str, float] = {}
    for one in chain.from_iterable(groups):
        most[one.name] = max(most.get(one.name, 0.0), value(one))
    names = sorted((name for name in most if most[name]), key=lambda name: -most[name])[:MOST_FILES]
    if not names:
        return None
    figure, panels = _panels(summaries, len(names))
    for panel, group in zip(panels, groups, strict=True):
        known = {file.name: file for file in group}
        for row, name in enumerate(names):
            file = known.get(name)
            size = value(file) if file else 0.0
            label = "-" if file is None else show_duration(size) if timed else show_bytes(size)
            if file is not None and timed and file.bytes:
                label += f", {show_bytes(file.bytes)}"
            _bar(panel, row, size / unit, label, WRITE)
        panel.set_xlim(0, 1.45 * most[names[0]] / unit)
        panel.set_xlabel("seconds" if timed else "MiB")
    _rows(panels, [shortened(printable(name), _LONGEST) for name in names])
    text = "Files whose names differ only in numbers count as one; * stands for the numbers."
    return _plot("Per file", text, figure)


def _seconds(file: Traffic) -> float:
    return file.seconds or file.model_s or 0.0


def _panels(summaries: Sequence[Summary], rows: int) -> tuple[Figure, list[Axes]]:
    height = 1.05 + _ROW_IN * max(2, rows)
    figure = Figure(figsize=(_WIDTH_IN, height), layout="constrained")
    panels = list(figure.subplots(1, len(summaries), sharey=True, squeeze=False)[0])
    for number, (panel, summary) in enumerate(zip(panels, summaries, strict=True), 1):
        if len(summaries) > 1:
            name = shortened(printable(summary.log.rpartition("/")[2]), _LONGEST)
            panel.set_title(f"{number}: {name}", fontsize=9, loc="left")
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8)
        panel.grid(axis="x", color="#e3e6ea", linewidth=0.8)
        panel.set_axisbelow(True)
        panel.xaxis.label.set_size(8)
    return figure, panels


def _bar(
    panel: Axes, row: float, value: float, label: str, colour: str, height: float = 0.7
) -> None:
    panel.barh(row, value, height, color=colour)
    panel.annotate(
        label, (value, row), (3, 0), textcoords="offset points", va="center", fontsize=8, color=WEAK
    )


def _rows(panels: Sequence[Axes], names: Sequence[str]) -> None:
    panels[0].set_yticks(range(len(names)), [name.replace("$", r"\$") for name in names])
    panels[0].set_ylim(len(names) - 0.5, -0.5)
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)


def _plot(title: str, text: str, figure: Figure) -> Plot:
    held = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # signs that the font lacks
        figure.savefig(held, format="png", dpi=200)
    width, height = figure.get_size_inches()
    uri = "data:image/png;base64," + base64.b64encode(held.getvalue()).decode("ascii")
    return Plot(title, text, uri, round(96 * width), round(96 * height))
