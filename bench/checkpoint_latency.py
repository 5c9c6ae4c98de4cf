"""Frames beside checkpoints: from the close of awm's frame to the publication of its map.

Runs of the same model in turn, with a checkpoint after each frame and without any. It is written
in the step of the frame, so while the frame's picture is made.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.pipeline import POLL_S, Scratch, burstlens, write_site
from bench.report import Figure, median, percentile, spread
from burstlens.core.run.journal import read_records

MOST = 1.3
SKIPPED = 5
"""First frames, which wait for workers that import."""
STEPS_PER_FRAME = 30
STEP_S = 0.008
_SETTINGS = """
grid = {{ nx = {nodes}, ny = {nodes}, nz = {levels}, spacing_m = 100.0 }}
time = {{ step_s = {step_s}, steps = {steps} }}
material = {{ layers = [{{ vp_m_s = 5000, vs_m_s = 2900, rho_kg_m3 = 2700 }}] }}
output = {{ surface_every = {every}, peaks = true }}
[source]
x_m = {middle}
y_m = {middle}
depth_m = 2000
mxy_n_m = 1e15
function = "gaussian"
frequency_hz = 2.0
"""
_RECIPE = """
title = "{name}"
[simulation]
model = "awm"
inputs = "inputs"
{checkpoint}
[[product]]
name = "map"
kind = "map"
variable = "vz"
limits = [-0.01, 0.01]
"""


def measure(scratch: Scratch, where: str, *, quick: bool) -> list[Figure]:
    """Medians of the frames of all runs, and their ratio. The model writes into a folder of
    ``scratch.buffer``, which is on ``where``."""
    write_site(scratch, 1)
    rounds, frames = (1, SKIPPED + 3) if quick else (3, SKIPPED + 15)
    with_s, without_s = list[float](), list[float]()
    count, size = 0, 0
    for number in range(rounds):
        for kept, into in ((False, without_s), (True, with_s)):
            run = f"{where.split()[-1]}-{number}-{kept:d}"
            path = _run(scratch, run, frames, kept=kept, quick=quick)
            events = list(read_records(path / "journal.jsonl"))
            published = [event for event in events if event["event"] == "product.published"]
            published.sort(key=lambda event: str(event["time"]))
            into += [event["t"] - event["clock"]["written"] for event in published[SKIPPED:]]
            whole = [event for event in events if event["event"] == "checkpoint.whole"]
            count += len(whole)
            size = whole[-1]["bytes"] if whole else size
    name = f"awm's frame closed to map published, {where}"
    note = f"{spread(with_s, ' s')}; {count} checkpoints of {size / 1e6:.0f} MB"
    late = percentile(with_s, 0.95) / percentile(without_s, 0.95)
    return [
        Figure(f"{name}, p50", median(without_s), "s", note=spread(without_s, " s")),
        Figure(f"{name}, beside checkpoints, p50", median(with_s), "s", note=note),
        Figure(
            f"{name}, beside checkpoints, p50: times that without", median(with_s)
            / median(without_s), "", MOST, note=f"p95 {late:.3g} times; poll {POLL_S} s",
        ),
    ]  # fmt: skip


def _run(scratch: Scratch, name: str, frames: int, *, kept: bool, quick: bool) -> Path:
    folder = scratch.runs / "recipes" / name
    (folder / "inputs").mkdir(parents=True)
    nodes = 60 if quick else 120
    (folder / "inputs" / "awm.toml").write_text(
        _SETTINGS.format(
            nodes=nodes, levels=2 * nodes // 3, middle=50 * nodes, step_s=STEP_S,
            every=STEPS_PER_FRAME, steps=STEPS_PER_FRAME * frames,
        )
    )  # fmt: skip
    every = f'[checkpoint]\nevery = "{STEPS_PER_FRAME * STEP_S:g} s"' if kept else ""
    recipe = folder / "recipe.toml"
    recipe.write_text(_RECIPE.format(name=name, checkpoint=every))
    ended = subprocess.run(
        burstlens("run", str(recipe), "--site", "bench-1", "--name", name),
        env=scratch.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode:
        raise RuntimeError(f"{name}: exit code {ended.returncode}: {ended.stderr[-2000:]}")
    return scratch.runs / name
