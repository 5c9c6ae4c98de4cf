"""Throughput: frames per second of a backlog, and each step next to raw reads and writes."""

from __future__ import annotations

from bench import rates
from bench.pipeline import MAP, Ran, Scratch, run
from bench.report import Figure, median

VTK = """
[[product]]
name = "volume"
kind = "vtk"
variables = ["v0", "v1"]
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """A backlog of maps and of volumes with one worker and two; then each step alone."""
    figures = [
        _backlog(scratch, name, product, 8 if quick else frames, workers)
        for name, product, frames in (("map", MAP, 100), ("vtk", VTK, 60))
        for workers in ((1,) if quick else (1, 2))
    ]
    repeats = 3 if quick else 15
    for where, place in (("memory", scratch.buffer), ("disk", scratch.runs)):
        figures += rates.volume(place, where, repeats)
    return [*figures, *rates.wide_map(scratch.buffer, repeats)]


def _backlog(scratch: Scratch, name: str, product: str, frames: int, workers: int) -> Figure:
    writer = {"frames": frames, "variables": 2, "burst": True, "period": 0}
    ran = run(scratch, f"backlog-{name}-{workers}", writer, product, workers=workers)
    times = sorted(float(event["t"]) for event in ran.published)
    first = 1 + workers  # the first frame of each worker includes late imports
    rate = (len(times) - 1 - first) / (times[-1] - times[first])
    size = ran.published[0]["bytes"] / 1e6
    return Figure(
        f"backlog of {frames} frames of 30 MB, {name}, workers: {workers}",
        rate,
        "frames/s",
        note=f"{rate * size:.3g} MB/s of products; a frame on its worker: {_steps(ran)}",
    )


def _steps(ran: Ran) -> str:
    clocks = [event["clock"] for event in ran.published[2:]]
    steps = (("open", "started", "read"), ("make", "read", "made"), ("stage", "made", "staged"))
    return ", ".join(
        f"{word} {1000 * median([clock[end] - clock[begin] for clock in clocks]):.0f} ms"
        for word, begin, end in steps
    )
