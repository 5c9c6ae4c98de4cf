"""Cost to the model: awm's wall time with and without the pipeline beside it, a map each 5 s.

awm has one core and the pipeline the other; then awm takes both, and the pipeline what is left.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.pipeline import Scratch, run_model
from bench.report import Figure, median, spread

MOST = 1.02
MAP_S = 5.0
"""One map each 5 s of the model's own time alone."""
RUN_S = 11.0
"""Two maps per run; 20 pairs and what starts and ends them take 13 minutes."""
PAIRS = 20
BUSY_PAIRS = 3
AWM = """
title = "bench"
[grid]
nx = 100
ny = 100
nz = 60
spacing_m = 250.0
[time]
step_s = 0.018
steps = {steps}
[material]
layers = [{{ top_m = 0, vp_m_s = 4000, vs_m_s = 2300, rho_kg_m3 = 2400 }}]
[source]
x_m = 9000.0
y_m = 15000.0
depth_m = 6000.0
strike_deg = 30.0
dip_deg = 60.0
rake_deg = 90.0
moment_n_m = 1e17
function = "bell"
duration_s = 1.5
[output]
surface_every = {every}
"""
PRODUCTS = """
[[product]]
name = "map"
kind = "map"
stream = "surface"
variable = "vz"
limits = [-0.01, 0.01]
"""
_DONE = re.compile(r"awm: done, \d+ steps in ([\d.]+) s")


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Pairs of runs, one alone and one beside the pipeline, in alternating order."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise RuntimeError("it takes two cores")
    pinned = ["env", "NUMBA_NUM_THREADS=1", "taskset", "-c", str(cores[0])]
    both = ["env", "NUMBA_NUM_THREADS=2"]
    os.sched_setaffinity(0, {cores[1]})
    try:
        apart = _pairs(scratch, pinned, "apart", 1 if quick else PAIRS, quick=quick)
    finally:
        os.sched_setaffinity(0, cores)
    busy = _pairs(scratch, both, "busy", 1 if quick else BUSY_PAIRS, quick=quick)
    figures = []
    for how, (alone, beside, maps), limit in (
        ("a core each", apart, MOST),
        ("awm on both cores", busy, None),
    ):
        ratios = [one / other for one, other in zip(beside, alone, strict=True)]
        low, high = bootstrap_interval(ratios)
        figures += [
            Figure(f"awm alone, {how}", median(alone), "s", note=spread(alone, " s")),
            Figure(f"awm beside the pipeline, {how}", median(beside), "s",
                   note=f"{spread(beside, ' s')}; {maps} maps per run"),
            Figure(f"beside over alone, {how}", median(ratios), "", None if quick else limit,
                   note=f"median of {len(ratios)} pairs, 95 % interval {low:.3f} to {high:.3f}"),
        ]  # fmt: skip
    return figures


def bootstrap_interval(values: Sequence[float], draws: int = 10_000) -> tuple[float, float]:
    """The 95 % interval of the median, by the bootstrap with percentiles."""
    chosen = np.random.default_rng(0).choice(values, (draws, len(values)))
    low, high = np.percentile(np.median(chosen, axis=1), [2.5, 97.5])
    return float(low), float(high)


def _pairs(
    scratch: Scratch, prefix: list[str], name: str, count: int, *, quick: bool
) -> tuple[list[float], list[float], int]:
    """Wall times alone and beside the pipeline, and the maps of a run."""
    argv = [*prefix, sys.executable, "-u", "-m", "burstlens.workflows.awm", "awm.toml"]
    _alone(scratch, argv, AWM.format(steps=5, every=0), f"{name}-compile")
    steps = 200  # two seconds: the first steps take longer
    step_s = _alone(scratch, argv, AWM.format(steps=steps, every=0), f"{name}-pace") / steps
    length = (RUN_S / 4 if quick else RUN_S) / step_s
    every = max(1, round((MAP_S / 4 if quick else MAP_S) / step_s))
    parameters = AWM.format(steps=round(length), every=every)
    alone, beside, maps = list[float](), list[float](), 0
    for number in range(count):
        for watched in (number % 2 == 0, number % 2 == 1):
            if not watched:
                alone.append(_alone(scratch, argv, parameters, f"{name}-alone-{number}"))
                continue
            ran = run_model(
                scratch, f"{name}-beside-{number}", argv, PRODUCTS,
                frames={"surface": "surface_*.nc"},
                written=r"awm: wrote \w+ record \d+ of (?P<file>[^,\s]+)",
                inputs={"awm.toml": parameters},
            )  # fmt: skip
            beside.append(_wall_s((ran.path / "logs/attempt-1/model.log").read_text()))
            maps = len(ran.published)
    return alone, beside, maps


def _alone(scratch: Scratch, argv: list[str], parameters: str, name: str) -> float:
    folder: Path = scratch.buffer / name
    folder.mkdir()
    (folder / "awm.toml").write_text(parameters)
    ended = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"awm: {ended.stdout[-500:]} {ended.stderr[-500:]}")
    for file in folder.iterdir():
        file.unlink()
    return _wall_s(ended.stdout)


def _wall_s(log: str) -> float:
    """The seconds of its time loop, output included, as awm prints them."""
    match = _DONE.search(log)
    if match is None:
        raise RuntimeError("awm did not say how long it took")
    return float(match[1])
