"""The driver: its CPU and memory while idle, and after ten thousand frames."""

from __future__ import annotations

from typing import Any

from bench.latency import WARM_S
from bench.pipeline import Ran, Scratch, run
from bench.report import Figure

IDLE_PART = 0.02
MOST_MB = 130.0
WORKER_MOST_MB = 300.0
LOGIN = ("driver", "interchange")
"""The two processes on the login node."""
BLOCK = ("manager", "worker", "other")
PACE_S = 0.02
FLAT = 1.2
LIGHT = """
[[product]]
name = "mean"
kind = "python"
function = "light.py:mean"
extension = "txt"
"""
LIGHT_PY = """
def mean(frame, out):
    out.write_text(f"{frame.read('v0').mean():.6g}")
"""
CROP = """
[[product]]
name = "volume"
kind = "vtk"
variables = ["v0", "v1", "v2", "v3", "v4"]
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """A silent model; a stream of tiny frames; a worker that crops large ones."""
    return [
        *_idle(scratch, 10.0 if quick else 60.0),
        *_long(scratch, 60 if quick else 10_000),
        *_worker(scratch, 4 if quick else 20),
    ]


def _idle(scratch: Scratch, silent_s: float) -> list[Figure]:
    """Starts three seconds after the only frame."""
    writer = {"frames": 1, "variables": 1, "start": WARM_S, "end": silent_s + 5}
    ran = run(scratch, "idle", writer)
    begin = float(ran.published[0]["t"]) + 3.0

    def part(*roles: str) -> float:
        return ran.census.cpu_s(*roles, begin=begin, end=begin + silent_s) / silent_s

    note = f"{silent_s:g} s of a silent model, poll 0.1 s"
    return [
        Figure("driver and interchange, idle", 100 * part(*LOGIN), "% of a core",
               100 * IDLE_PART, note=note),
        Figure("driver alone, idle", 100 * part("driver"), "% of a core"),
        Figure("interchange alone, idle", 100 * part("interchange"), "% of a core"),
        Figure("block (manager, watcher, worker), idle", 100 * part("manager", "worker"),
               "% of a core"),
        Figure("supervisor, idle", 100 * part("supervisor"), "% of a core"),
    ]  # fmt: skip


def _long(scratch: Scratch, frames: int) -> list[Figure]:
    writer = {"frames": frames, "grid": [1, 8, 8], "variables": 1, "period": PACE_S}
    ran = run(scratch, "long", {**writer, "start": WARM_S}, LIGHT, files={"light.py": LIGHT_PY})
    many = frames // 10
    first, last = _per_frame(ran, many, 2 * many), _per_frame(ran, frames - many, frames)
    note = f"{frames} frames, one each {PACE_S} s"
    rss = ran.census.rss_bytes(*LOGIN) / 1e6
    seconds = float(ran.published[-1]["t"]) - float(ran.published[0]["t"])
    return [
        Figure(f"driver and interchange, memory after {frames} frames", rss, "MB", MOST_MB,
               note=_each(ran)),
        Figure("published per second meanwhile", (len(ran.published) - 1) / seconds, "1/s",
               note=note),
        Figure(f"driver and interchange per frame, the second {many}", 1000 * first, "ms of CPU"),
        Figure(f"driver and interchange per frame, the last {many}", 1000 * last, "ms of CPU"),
        Figure("the last over the second tenth", last / first, "", FLAT),
        Figure(
            "watcher, worker and manager per frame, the last over the second tenth",
            _per_frame(ran, frames - many, frames, BLOCK) / _per_frame(ran, many, 2 * many, BLOCK),
            "",
        ),
    ]  # fmt: skip


def _each(ran: Ran) -> str:
    sizes = (f"{role} {ran.census.rss_bytes(role) / 1e6:.0f} MB" for role in LOGIN)
    return ", ".join(sizes)


def _per_frame(ran: Ran, begin: int, end: int, roles: tuple[str, ...] = LOGIN) -> float:
    """CPU seconds per frame between two publications, by their number in order."""
    events: list[dict[str, Any]] = ran.published
    between = ran.census.cpu_s(*roles, begin=events[begin - 1]["t"], end=events[end - 1]["t"])
    return between / (end - begin)


def _worker(scratch: Scratch, frames: int) -> list[Figure]:
    writer = {"frames": frames, "period": 1.5, "start": WARM_S}
    ran = run(scratch, "worker", writer, CROP)
    crop = ran.published[0]["bytes"] / 1e6
    peak = ran.census.peak_bytes("worker") / 1e6
    note = f"{frames} frames of 150 MB, {crop:.0f} MB of each kept"
    return [
        Figure("a viewing worker, peak memory less its crop", peak - crop, "MB",
               WORKER_MOST_MB, note=f"{peak:.0f} MB; {note}"),
    ]  # fmt: skip
