"""The picture of a tuning: its trials in order, and their values as parallel coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from burstlens.workflows.tuning.course import Ending
from burstlens.workflows.tuning.space import Factor, Space, Trial, labels

COLOURS = {
    "default": "#555555", "rule": "#d95f02", "model": "#1b7fb8", "again": "#7b3294",
    "leader": "#1a9641", "random": "#e6ab02",
}  # fmt: skip
WORDS = {
    "default": "as it is", "rule": "guess by rule", "model": "TPE", "again": "measured again",
    "leader": "leader, in pairs", "random": "at random",
}  # fmt: skip
BOX = {"facecolor": "white", "alpha": 0.75, "lw": 0, "pad": 0.8}
BETWEEN = "– not set –"


def draw(path: Path, title: str, space: Space, trials: Sequence[Trial], ending: Ending) -> None:
    """Write the picture as PNG. Raises OSError."""
    from matplotlib.figure import Figure

    axes_count = max(1, len(space.factors))
    figure = Figure(figsize=(6.5 + 1.7 * axes_count, 4.8), layout="constrained")
    history, values = figure.subplots(1, 2, width_ratios=(6.0, 1.7 * axes_count + 0.5))
    figure.suptitle(title, fontsize=11)
    _history(history, trials, ending)
    _parallel(figure, values, space, trials)
    figure.savefig(path, format="png", dpi=110)


def _history(axes: Any, trials: Sequence[Trial], ending: Ending) -> None:
    measured = [(t.number, t) for t in trials if t.seconds is not None]
    top = max((t.seconds or 0.0 for _, t in measured), default=1.0)
    for origin, colour in COLOURS.items():
        points = [(n, t.seconds) for n, t in measured if t.plan.origin == origin]
        if points:
            axes.plot(*zip(*points, strict=True), "o", color=colour, label=WORDS[origin], ms=6)
    if failed := [t.number for t in trials if t.seconds is None]:
        axes.plot(failed, [top] * len(failed), "x", color="#b2182b", label="failed", ms=8, mew=2)
    if ending.noise is not None:
        low = ending.noise.mean * (1 - ending.noise.variation)
        high = ending.noise.mean * (1 + ending.noise.variation)
        axes.axhspan(low, high, color="#bbbbbb", alpha=0.35, lw=0, label="noise of the pilot")
    begins: dict[str, int] = {}
    for trial in trials:
        begins.setdefault(trial.plan.phase, trial.number)
    for phase, number in begins.items():
        if number > 1:
            axes.axvline(number - 0.5, color="#cccccc", lw=0.8)
        axes.text(number - 0.4, 1.01, phase, transform=axes.get_xaxis_transform(), fontsize=8,
                  color="#555555")  # fmt: skip
    axes.set(xlabel="trial", ylabel="seconds in output", xlim=(0.4, trials[-1].number + 0.6))
    axes.set_ylim(bottom=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize=7.5, loc="best", framealpha=0.85)
    axes.spines[["top", "right"]].set_visible(False)


def _parallel(figure: Any, axes: Any, space: Space, trials: Sequence[Trial]) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm

    shown = [t for t in trials if t.seconds is not None and not t.plan.configuration.is_default]
    seconds = [t.seconds for t in shown if t.seconds is not None]
    axes.set_axis_off()
    if not shown:
        axes.text(0.5, 0.5, "no trial with other values was measured", ha="center")
        return
    low, high = min(seconds), max(seconds)
    colours = ScalarMappable(LogNorm(low, high if high > low else low * 1.01), "viridis")
    for trial in sorted(shown, key=lambda one: -(one.seconds or 0.0)):
        heights = [_height(factor, trial) for factor in space.factors]
        colour = colours.to_rgba(np.array([trial.seconds or low]))[0]
        axes.plot(range(len(heights)), heights, "o-", color=colour, lw=1.8, ms=4, alpha=0.85)
    names = labels(factor.key for factor in space.factors)
    for place, factor in enumerate(space.factors):
        axes.axvline(place, color="#444444", lw=0.8, zorder=0)
        ticks = [*map(_label, factor.values), *([BETWEEN] if factor.when else [])]
        for number, label in enumerate(ticks):
            height = number / max(1, len(ticks) - 1)
            axes.text(place + 0.04, height, label, fontsize=7.5, va="center", bbox=BOX)
        axes.text(place, 1.07, names[factor.key], ha="center", fontsize=8.5, weight="bold")
    axes.set(xlim=(-0.3, len(space.factors) - 0.4), ylim=(-0.06, 1.12))
    bar = figure.colorbar(colours, ax=axes, pad=0.01, fraction=0.04)
    bar.set_label("seconds in output", fontsize=8)
    bar.ax.tick_params(labelsize=7, which="both")
    for axis_of in (bar.ax.yaxis.set_major_formatter, bar.ax.yaxis.set_minor_formatter):
        axis_of("{x:.3g}")


def _height(factor: Factor, trial: Trial) -> float:
    """Where a trial's line crosses a factor's axis, from 0 to 1; the last place is "not set"."""
    places = len(factor.values) + (1 if factor.when else 0)
    value = trial.plan.configuration.get(factor.key)
    place = factor.values.index(value) if value in factor.values else places - 1
    return place / max(1, places - 1)


def _label(value: object) -> str:
    """A value for people: bytes that are whole KiB or MiB as such."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1024:
        for unit, size in (("MiB", 1024**2), ("KiB", 1024)):
            if value % size == 0:
                return f"{value // size} {unit}"
    return str(value)
