"""Batches: what the driver takes for each product; six maps of one large frame beside each alone.

``BENCH_OLD=/path/to/checkout/src`` measures another commit beside this one, in turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import large
from bench.driver import LOGIN
from bench.pipeline import Ran, Scratch, run
from bench.report import Figure
from burstlens.core.allowance import MALLOC

OLD = os.environ.get("BENCH_OLD", "")
FRAMES = 6000
LEAST_RATE = 300.0
MOST_MS = 3.0
SIX = (
    "mu_cape", "reflectivity_max", "slp", "wind@500hPa", "temperature@850hPa", "vorticity@500hPa",
)  # fmt: skip
PLAIN = "MAPFAC_MX"
"""A plane that is stored: its map is drawing alone."""
MOST_TIMES = 1.5
_MAKE = """
import json, sys, time
from pathlib import Path
from burstlens.core.run.directory import RunDir
from burstlens.core.model import Frame
from burstlens.viz.kinds.map.options import MapOptions
from burstlens.viz.product import Context
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.making.order import Order
from burstlens.workflows.making.tasks import work
folder, path, names = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
run = RunDir(folder / "runs" / "large-1")
if not run.path.exists():
    run.create()
(folder / "large-1" / "1").mkdir(parents=True, exist_ok=True)
link = folder / "large-1" / "1" / path.name
if not link.exists():
    link.symlink_to(path)
frame = Frame("large-1", 1, "d01", "", (f"large-1/1/{path.name}",), 0, 1, 1.0, 1.0, "header")
orders = [
    Order(
        "map", MapOptions(name), Context("large-1", "Large", f"p{n}", "d01", "", run.files),
        frame, str(run.products),
    )
    for n, name in enumerate(names)
]
buffer = BufferRef("posix", str(folder), "large-1")
work(buffer, orders)  # loads and compiles what it needs
before = time.process_time(), time.time()
given = work(buffer, orders)
assert all(one.receipt for one in given.values()), given
first = min(one.receipt.clock["staged"] for one in given.values()) - before[1]
print(json.dumps([time.process_time() - before[0], first]))
"""
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
    """A backlog of tiny frames, of each of which 1 kB is written; a frame of many columns."""
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
    return [*figures, *_six(scratch, quick=quick)]


def _six(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """CPU of six maps of one frame made in one task, beside the dearest alone and drawing."""
    rows, columns = (90, 120) if quick else (large.ROWS, large.COLUMNS)
    figures = []
    for way, zlib in (("classic", False), ("deflated in chunks of half a domain", True)):
        path = scratch.buffer / "frame.nc"
        large.write(path, rows, columns, zlib=zlib)
        alone = {name: _make(scratch, path, [name])[0] for name in (*SIX, PLAIN)}
        quickest_first = sorted(SIX, key=lambda name: alone[name])  # as the driver sends them
        together, first = _make(scratch, path, quickest_first)
        dearest = quickest_first[-1]
        least = alone[dearest] + (len(SIX) - 1) * alone[PLAIN]
        note = ", ".join(f"{name} {alone[name]:.2g} s" for name in SIX)
        note = f"alone: {note}; drawing {alone[PLAIN]:.2g} s"
        every = sum(alone[name] for name in SIX)
        what = f"six maps of one frame, {columns} x {rows} x {large.LEVELS}, {way}"
        figures += [
            Figure(f"{what}: CPU", together, "s", note=note),
            Figure(f"{what}: CPU over {dearest} and drawing", together / least, "",
                   None if quick else MOST_TIMES),
            Figure(f"{what}: CPU over that of each alone", together / every, ""),
            Figure(f"{what}: the first picture", first, "s"),
        ]  # fmt: skip
        path.unlink()
    return figures


def _make(scratch: Scratch, path: Path, names: Sequence[str]) -> list[float]:
    """Seconds of CPU of the maps of these variables, and until the first is staged."""
    done = subprocess.run(
        [sys.executable, "-c", _MAKE, str(scratch.buffer), str(path), *names],
        capture_output=True, text=True, check=False, env={**os.environ, **MALLOC},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{names}: {done.stderr[-500:]}")
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


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
