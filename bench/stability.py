"""The seismic model's absorbing layers over many steps, and what they send back.

All velocities inside the layers start as white noise, which excites every wave that the grid holds:
a harder test than a source. What is left is the highest speed of the ground over that at step 200.
A soft layer lies over rock, under a free surface; a small grid meets its layers more often than a
large one.
"""

from __future__ import annotations

import math
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import cmcrameri.cm
import matplotlib
import numpy as np
from matplotlib.figure import Figure as Figures
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from bench.echoes import BLAST, ECHO_LIMIT, ECHOES, SOURCE, echo, layer, parameters_of
from bench.pipeline import Scratch
from bench.report import Figure
from burstlens.workflows.awm.parameters import Parameters
from burstlens.workflows.awm.solver import Solver

PICTURE = Path(__file__).parents[1] / "docs" / "awm-stability.png"
GRID = (16, 16, 14)
STEP_S, ROCK_M_S, RATIO = 0.0082, 6000.0, 1.73
CONTRASTS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0)
RATIOS = (1.5, 1.73, 2.5, 4.0)
DEPTHS_M = (200.0, 500.0, 900.0)
HIGH_HZ, LOW_HZ = 2.0, 0.3
PAD = 2
"""Elements that the arrays have beyond the layers."""
STEPS, ORDINARY_STEPS = 20_000, 9_000
BETWEEN = 500
"""Steps from one look to the next; a look takes the most of ten fields, five steps apart."""
REFERENCE = 200
LOST = 1e3
_MARKS: dict[str, dict[str, Any]] = {
    "friction": {"marker": "o", "ms": 8, "mfc": "none", "mec": "white", "mew": 1, "ls": "none"},
    "lost": {"marker": "x", "ms": 4.5, "mec": "white", "mew": 1.1, "ls": "none"},
    "grows": {"marker": "s", "ms": 11, "mfc": "none", "mec": "red", "mew": 1.5, "ls": "none"},
}


@dataclass(frozen=True, slots=True)
class Case:
    """A soft layer over rock: ``contrast`` of vs, vp/vs of the layer, whether the rock has the
    same, the depth of the interface, the source's frequency, which an ordinary layer is tuned to,
    ``points`` of the absorbing layers, and whether they are forced to be ordinary ones."""

    contrast: float
    ratio: float
    depth_m: float
    frequency_hz: float = HIGH_HZ
    points: int = 10
    same: bool = False
    ordinary: bool = False

    def parameters(self) -> Parameters:
        """Those of the run."""
        vs = ROCK_M_S / (self.ratio if self.same else RATIO)
        soft = vs / self.contrast
        layers = [
            layer(0.0, soft * self.ratio, soft, 2000.0),
            layer(self.depth_m, ROCK_M_S, vs, 2700.0),
        ]
        source = {**SOURCE, "mxx_n_m": 1e-9, "frequency_hz": self.frequency_hz}
        step = STEP_S * ROCK_M_S / max(ROCK_M_S, soft * self.ratio)
        absorbing = {"points": self.points, **({"robust": False} if self.ordinary else {})}
        return parameters_of(GRID, layers, source, step, STEPS, absorbing=absorbing)

    def __str__(self) -> str:
        rock = self.ratio if self.same else RATIO
        return (
            f"contrast {self.contrast:g}, vp/vs {self.ratio:g} over {rock:g}, interface at "
            f"{self.depth_m:g} m, {self.points} points, {self.frequency_hz:g} Hz"
        )


@dataclass(frozen=True, slots=True)
class Course:
    """What is left of the start at each look, and whether the layers had friction."""

    case: Case
    left: tuple[float, ...]
    robust: bool

    def at(self, steps: int) -> float:
        """What is left after so many steps; at the end of a run that has blown up before."""
        looks = steps // BETWEEN
        return min(self.left[min(looks, len(self.left)) - 1], 1e30)

    @property
    def grows(self) -> bool:
        """Whether the last look shows more than the least of the first half."""
        return self.left[-1] > LOST or self.left[-1] > min(self.left[: (len(self.left) + 1) // 2])


def course(case: Case, steps: int) -> Course:
    """Run a case; it ends early when it blows up."""
    solver = Solver(case.parameters(), Path())
    w = solver.wavefield
    rng = np.random.default_rng(0)
    rim = PAD + case.points
    inside = (slice(rim, -PAD), slice(rim, -rim), slice(rim, -rim))
    for field in (w.vx, w.vy, w.vz):
        field[inside] = rng.standard_normal(field[inside].shape)

    def highest() -> float:
        speed = 0.0
        for _ in range(10):
            for _ in range(5):
                solver.advance()
            now = max(float(np.abs(field).max()) for field in (w.vx, w.vy, w.vz))
            speed = max(speed, now if math.isfinite(now) else math.inf)
        return speed

    while solver.steps < REFERENCE - 50:
        solver.advance()
    first, left = highest(), []
    while solver.steps < steps:
        while solver.steps % BETWEEN != BETWEEN - 50:
            solver.advance()
        left.append(highest() / first)
        if left[-1] > LOST:
            break
    return Course(case, tuple(left), solver.robust)


def cases() -> tuple[list[Case], list[Case]]:
    """Those run with the layers as they come, and those run with ordinary ones for the map.

    Layers with friction do not depend on the frequency, so only the lower contrasts are run with
    a low one as well; where the layers as they come are ordinary ones, nothing runs twice.
    """
    default = [Case(*three) for three in product(CONTRASTS, RATIOS, DEPTHS_M)]
    ordinary = [replace(case, ordinary=True) for case in default]
    low = product((1.0, 1.25), (1.5, 1.73, 2.5), (200.0, 500.0))
    default += [Case(*three, frequency_hz=LOW_HZ) for three in low]
    thin, thick = (1.5, 2.0, 3.0, 5.0), (2.0, 5.0)
    default += [Case(c, ratio, 500.0, points=5) for c, ratio in product(thin, (1.73, 4.0))]
    default += [Case(c, ratio, 500.0, points=20) for c, ratio in product(thick, (1.73, 4.0))]
    same = product((1.0, 2.0, 5.0), (1.5, 4.0))
    default += [Case(c, ratio, 500.0, same=True) for c, ratio in same]
    return default, ordinary


def explosion(steps: tuple[int, ...]) -> list[float]:
    """What is left of the peak after so many steps of an explosion under a layer of contrast 3."""
    layers = [layer(0.0, 2000.0, 1100.0, 2000.0), layer(500.0, 6000.0, 3300.0, 2700.0)]
    source = {**SOURCE, **BLAST, "frequency_hz": 1.0}
    solver = Solver(parameters_of(GRID, layers, source, STEP_S, steps[-1]), Path())
    w = solver.wavefield
    peak, left = 0.0, []
    while solver.steps < steps[-1]:
        solver.advance()
        if solver.steps % 10 == 0:
            now = max(float(np.abs(field).max()) for field in (w.vx, w.vy, w.vz))
            if not math.isfinite(now):
                return [math.inf] * len(steps)
            peak = max(peak, now)
            if solver.steps in steps:
                left.append(now / peak)
    return left


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """The map of what is left, its picture, the echo, and an explosion under a soft layer."""
    del scratch
    default, ordinary = cases()
    steps, early, large = STEPS, ORDINARY_STEPS, 88
    if quick:
        default, ordinary = default[::12], ordinary[::20]
        steps, early, large = 2 * BETWEEN, BETWEEN, 40
    os.environ["NUMBA_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        echoes = [pool.submit(echo, one, large) for one in ECHOES]
        blast = pool.submit(explosion, (early, steps))
        ranked = sorted(default, key=lambda case: -case.points)
        courses = [pool.submit(course, case, steps) for case in ranked]
        plain = [pool.submit(course, case, early) for case in ordinary if _friction(case)]
        figures = _map([one.result() for one in courses], early, steps)
        forced = [one.result() for one in plain]
        lost = sum(one.grows for one in forced)
        figures.append(
            Figure(
                f"cases that grow in {early} steps where friction is switched off",
                lost,
                "",
                note=f"of {len(forced)} that have friction as they come",
            )
        )
        for many, left in zip((early, steps), blast.result(), strict=True):
            name = f"explosion under a layer of contrast 3, after {many} steps, of the peak"
            note = "vp 2000 and vs 1100 m/s to 500 m, then 6000 and 3300; 1 Hz"
            figures.append(Figure(name, left, "", None if quick else 0.01, note=note))
        for one, waited in zip(ECHOES, echoes, strict=True):
            values = waited.result()
            limit = ECHO_LIMIT if not quick and not one.contrast else None
            listed = ", ".join(f"{value:.2g}" for value in values)
            note = f"four receivers: {listed}; {one.frequency_hz:g} Hz, {one.steps} steps"
            figures.append(Figure(f"echo, {one.name}", max(values), "%", limit, note=note))
    if not quick:
        picture(PICTURE, [one.result() for one in courses], forced)
    return figures


def _map(courses: list[Course], early: int, steps: int) -> list[Figure]:
    figures = []
    for contrast in sorted({one.case.contrast for one in courses}):
        there = [one for one in courses if one.case.contrast == contrast]
        for many in (early, steps):
            worst = max(there, key=lambda one: one.at(many))
            name = f"left of noise after {many} steps, contrast {contrast:g}, worst"
            figures.append(
                Figure(name, worst.at(many), "", note=f"of {len(there)}: {_named(worst)}")
            )
    growing = [one for one in courses if one.grows]
    note = f"of {len(courses)}; " + "; ".join(map(_named, growing)) if growing else ""
    note = note or f"of {len(courses)}, {sum(one.robust for one in courses)} with friction"
    figures.append(Figure("cases that grow", len(growing), "", 0, note=note))
    ranked = sorted(courses, key=lambda one: -one.at(steps))
    for place, one in enumerate(ranked[:6], 1):
        name = f"left of noise after {steps} steps, {place}. of all cases"
        figures.append(Figure(name, one.at(steps), "", note=_named(one)))
    return figures


def _named(one: Course) -> str:
    return f"{one.case}, {'friction' if one.robust else 'ordinary'}"


def _friction(case: Case) -> bool:
    """Whether the layers have friction as they come: a run with ordinary ones differs."""
    return Solver(replace(case, ordinary=False).parameters(), Path()).robust


def picture(path: Path, courses: list[Course], forced: list[Course]) -> None:
    """The map: contrast against vp/vs, a panel per depth of the interface."""
    left = {one.case: one for one in courses}
    lost = {replace(one.case, ordinary=False) for one in forced if one.grows}
    style: dict[Any, Any] = {"font.family": "DejaVu Sans", "font.size": 8, "axes.linewidth": 0.6}
    shown = [one.at(STEPS) for one in courses if one.case in _shown()]
    low = math.floor(math.log10(max(min(shown), 1e-9)))
    high = min(0, math.ceil(math.log10(max(shown))))
    with matplotlib.rc_context(style):
        figure = Figures(figsize=(7.2, 3.1), layout="constrained")
        axes = figure.subplots(1, len(DEPTHS_M), sharey=True)
        for letter, axis, depth in zip("abc", axes, DEPTHS_M, strict=True):
            values = np.array(
                [[left[Case(c, r, depth)].at(STEPS) for c in CONTRASTS] for r in RATIOS]
            )
            drawn = axis.pcolormesh(
                np.log10(np.clip(values, 10.0**low, 10.0**high)),
                cmap=cmcrameri.cm.batlow,
                vmin=low,
                vmax=high,
                edgecolors="white",
                linewidth=0.6,
            )
            for (row, r), (column, c) in product(enumerate(RATIOS), enumerate(CONTRASTS)):
                case = Case(c, r, depth)
                at = column + 0.5, row + 0.5
                if left[case].robust:
                    axis.plot(*at, **_MARKS["friction"])
                if case in lost:
                    axis.plot(*at, **_MARKS["lost"])
                if left[case].grows:
                    axis.plot(*at, **_MARKS["grows"])
            axis.set_xticks(np.arange(len(CONTRASTS)) + 0.5, [f"{c:g}" for c in CONTRASTS])
            axis.set_yticks(np.arange(len(RATIOS)) + 0.5, [f"{r:g}" for r in RATIOS])
            axis.tick_params(length=0)
            axis.set_title(f"({letter}) interface at {depth:g} m", fontsize=8, loc="left")
            axis.set_xlabel(r"contrast of $v_s$")
        axes[0].set_ylabel(r"$v_p/v_s$ of the soft layer")
        bar = figure.colorbar(
            drawn,
            ax=list(axes),
            pad=0.015,
            aspect=22,
            extend="max" if max(shown) > 1 else "neither",
        )
        bar.set_label(
            f"log$_{{10}}$ of max $|v|$ after {STEPS:,} steps\n"
            f"over max $|v|$ after {REFERENCE} steps"
        )
        bar.ax.yaxis.set_major_locator(MultipleLocator(1 if high - low > 2 else 0.5))
        names = {
            "friction": "layers with friction",
            "lost": f"would grow without it (ordinary layers, {ORDINARY_STEPS:,} steps)",
        }
        if any(one.grows for one in courses if one.case in _shown()):
            names["grows"] = "grows"
        handles = [Line2D([], [], label=text, **_MARKS[mark]) for mark, text in names.items()]
        for handle in handles[:2]:
            handle.set_markeredgecolor("black")
        figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=220)


def _shown() -> set[Case]:
    return {Case(*three) for three in product(CONTRASTS, RATIOS, DEPTHS_M)}
