"""Cost to the model: awm's wall time on its own core, with and without the pipeline beside it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from bench.pipeline import Scratch, run_model
from bench.report import Figure, median, spread

MOST = 1.02
STEPS = 400
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
surface_every = 10
volume_every = 50
volume_stride = 2
"""
PRODUCTS = """
[[product]]
name = "map"
kind = "map"
stream = "surface"
variable = "vz"
limits = [-0.01, 0.01]
[[product]]
name = "volume"
kind = "vtk"
stream = "volume"
variables = ["vx", "vy", "vz"]
"""
_DONE = re.compile(r"awm: done, \d+ steps in ([\d.]+) s")


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """awm on core 0, all else on core 1, in turns; a run before that compiles the kernels."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise RuntimeError("it takes two cores")
    steps, repeats = (40, 1) if quick else (STEPS, 4)
    parameters = AWM.format(steps=steps)
    argv = ["env", "NUMBA_NUM_THREADS=1", "taskset", "-c", str(cores[0]), sys.executable]
    argv += ["-u", "-m", "burstlens.workflows.awm", "awm.toml"]
    alone, watched = [], []
    os.sched_setaffinity(0, {cores[1]})
    try:
        _bare(scratch, argv, AWM.format(steps=5), "compile")
        for number in range(repeats):
            alone.append(_bare(scratch, argv, parameters, f"alone-{number}"))
            ran = run_model(
                scratch, f"watched-{number}", argv, PRODUCTS,
                frames={"surface": "surface_*.nc", "volume": "volume_*.nc"},
                written=r"awm: wrote \w+ record \d+ of (?P<file>[^,\s]+)",
                inputs={"awm.toml": parameters},
            )  # fmt: skip
            watched.append(_wall_s((ran.path / "logs/attempt-1/model.log").read_text()))
            products = len(ran.published)
    finally:
        os.sched_setaffinity(0, cores)
    ratios = [beside / bare for bare, beside in zip(alone, watched, strict=True)]
    return [
        Figure("awm alone, wall time", median(alone), "s", note=spread(alone, " s")),
        Figure(
            "awm beside the pipeline, wall time",
            median(watched),
            "s",
            note=f"{spread(watched, ' s')}; {products} maps and volumes a run",
        ),
        Figure("ratio, pair by pair", median(ratios), "", MOST, note=spread(ratios)),
        Figure(
            "fastest beside over fastest alone", min(watched) / min(alone), "", MOST,
            note="least disturbed by what else the machine does",
        ),
    ]  # fmt: skip


def _bare(scratch: Scratch, argv: list[str], parameters: str, name: str) -> float:
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
