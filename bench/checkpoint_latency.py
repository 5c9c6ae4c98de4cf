"""Frames beside checkpoints: from the close of awm's frame to the publication of its map.

One run, with a checkpoint in the step of every second frame: it is written while the picture of
that frame is made. The frames between have the machine's same other work.
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
STEPS_PER_FRAME = 20
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
[checkpoint]
every = "{every_s:g} s"
[[product]]
name = "map"
kind = "map"
variable = "vz"
limits = [-0.01, 0.01]
"""


def measure(scratch: Scratch, where: str, *, quick: bool) -> list[Figure]:
    """Medians of the frames with and without a checkpoint, and their ratio. The model writes into a
    folder of ``scratch.buffer``, which is on ``where``."""
    write_site(scratch, 1)
    path = _run(scratch, where.replace(" ", "-"), SKIPPED + (6 if quick else 40), quick=quick)
    events = list(read_records(path / "journal.jsonl"))
    whole = {event["time"]: event for event in events if event["event"] == "checkpoint.whole"}
    published = [event for event in events if event["event"] == "product.published"]
    published.sort(key=lambda event: str(event["time"]))
    beside, apart = list[float](), list[float]()
    for event in published[SKIPPED:]:
        into = beside if event["time"] in whole else apart
        into.append(event["t"] - event["clock"]["written"])
    size = next(iter(whole.values()))["bytes"]
    late = percentile(beside, 0.95) / percentile(apart, 0.95)
    name = f"awm's frame closed to map published, {where}"
    return [
        Figure(f"{name}, p50", median(apart), "s", note=spread(apart, " s")),
        Figure(
            f"{name}, beside checkpoints of {size / 1e6:.0f} MB: times that, p50",
            median(beside) / median(apart), "", MOST,
            note=f"{spread(beside, ' s')}; p95 {late:.3g} times; poll {POLL_S} s",
        ),
    ]  # fmt: skip


def _run(scratch: Scratch, name: str, frames: int, *, quick: bool) -> Path:
    folder = scratch.runs / "recipes" / name
    (folder / "inputs").mkdir(parents=True)
    nodes = 60 if quick else 100
    (folder / "inputs" / "awm.toml").write_text(
        _SETTINGS.format(
            nodes=nodes, levels=2 * nodes // 3, middle=50 * nodes, step_s=STEP_S,
            every=STEPS_PER_FRAME, steps=STEPS_PER_FRAME * frames,
        )
    )  # fmt: skip
    recipe = folder / "recipe.toml"
    recipe.write_text(_RECIPE.format(name=name, every_s=2 * STEPS_PER_FRAME * STEP_S))
    ended = subprocess.run(
        burstlens("run", str(recipe), "--site", "bench-1", "--name", name),
        env=scratch.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode:
        raise RuntimeError(f"{name}: exit code {ended.returncode}: {ended.stderr[-2000:]}")
    return scratch.runs / name
