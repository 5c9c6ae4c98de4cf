"""Batches: what the driver takes for each product, and six products of one frame beside one.

``BENCH_OLD=/path/to/checkout/src`` measures another commit beside this one, in turn.
"""

from __future__ import annotations

import os

from bench.driver import LOGIN
from bench.pipeline import Ran, Scratch, run
from bench.report import Figure

OLD = os.environ.get("BENCH_OLD", "")
FRAMES = 6000
LEAST_RATE = 300.0
MOST_MS = 3.0
COPY = """
[[product]]
name = "copy"
kind = "python"
function = "copy.py:copy"
extension = "txt"
"""
COPY_PY = """
def copy(frame, out):
    out.write_bytes(b"x" * 1024)
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """A backlog of tiny frames, of each of which 1 kB is written."""
    frames = 300 if quick else FRAMES
    figures = []
    for name, source in (("", ""), *([(" before", OLD)] if OLD else [])):
        ran = _copied(scratch, f"copies{name.replace(' ', '-')}", frames, source)
        rate, spent = _rate(ran, frames)
        note = f"{frames} frames, 2 workers"
        goals = (LEAST_RATE, MOST_MS) if not name and not quick else (None, None)
        figures += [
            Figure(f"products published per second of a backlog{name}", rate, "1/s", goals[0],
                   note=note, at_least=True),
            Figure(f"driver and interchange per product of a backlog{name}", 1000 * spent,
                   "ms of CPU", goals[1], note=note),
        ]  # fmt: skip
    return figures


def _copied(scratch: Scratch, name: str, frames: int, source: str) -> Ran:
    writer = {"frames": frames, "grid": [1, 8, 8], "variables": 1, "burst": True, "period": 0}
    before = os.environ.get("PYTHONPATH")
    if source:
        os.environ["PYTHONPATH"] = source
    try:
        return run(scratch, name, writer, COPY, workers=2, files={"copy.py": COPY_PY})
    finally:
        os.environ.pop("PYTHONPATH", None)
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _rate(ran: Ran, frames: int) -> tuple[float, float]:
    """Products per second, and seconds of CPU of driver and interchange for each, without the first
    and the last tenth."""
    events, skip = ran.published, frames // 10
    begin, end = float(events[skip]["t"]), float(events[-skip]["t"])
    count = len(events) - 2 * skip
    return count / (end - begin), ran.census.cpu_s(*LOGIN, begin=begin, end=end) / count
