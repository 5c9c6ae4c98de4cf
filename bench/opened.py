"""A long run opened from Python: how long it takes to have its frames as a table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.core.durable import write_json
from burstlens.core.lines import Lines
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.journal import Journal
from burstlens.core.valid_time import elapsed_key

MOST_S = 0.5
PRODUCTS = ("map", "volume")
FACTS = {
    "variable": "T2",
    "units": "K",
    "shape": [400, 400],
    "max": 310.5,
    "mean": 290.125,
    "nan": 0,
    "limits": [270.0, 312.0],
    "min_at": {"south_north": 24, "west_east": 12},
    "max_at": {"south_north": 310, "west_east": 125},
    "size": [900, 870],
}
PROGRAM = """
import sys, time
from burstlens import open_run
begin = time.perf_counter()
run = open_run(sys.argv[1])
frames = run.frames
first = time.perf_counter() - begin
assert len(frames) == int(sys.argv[2]) and len(frames[-1].products) == 2
begin = time.perf_counter()
run.frames
print(first, time.perf_counter() - begin)
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """New processes; the interpreter's start and the import of the package are not counted."""
    count = 100 if quick else 10_000
    run = write_run(scratch.runs / "long", count)
    size = run.journal.stat().st_size + run.index.stat().st_size
    times = [_open_s(run, count) for _ in range(3 if quick else 9)]
    first, again = ([pair[at] for pair in times] for at in (0, 1))
    note = f"{count} frames of two products, {size / 1e6:.0f} MB of journal and index"
    return [
        Figure("open_run and frames", median(first), "s", MOST_S,
               note=f"{spread(first, ' s')}; {note}"),
        Figure("... and once more", median(again), "s", note=spread(again, " s")),
    ]  # fmt: skip


def _open_s(run: RunDir, count: int) -> tuple[float, float]:
    words = [sys.executable, "-c", PROGRAM, str(run.path), str(count)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    first, again = done.stdout.split()
    return float(first), float(again)


def write_run(path: Path, count: int) -> RunDir:
    """A run directory as a driver leaves it after ``count`` frames, with complete lines."""
    run = RunDir(path)
    run.create()
    write_json(run.facts, {"run": run.id, "title": "Long", "created": 1.0, "table": {}})
    journal, index = Journal(run.journal, 1), Lines(run.index)
    for number in range(count):
        frame = {"attempt": 1, "stream": "d01", "time": elapsed_key(60.0 * number)}
        clock = {"written": 1.0 + number, "detected": 1.1 + number, "submitted": 1.2 + number}
        journal.append(ev.FrameReady(**frame, record=0, bytes=150_000_000, written=1.0 + number,
                       detected=1.1 + number, signal="header"))  # fmt: skip
        for product in PRODUCTS:
            name = f"{product}/{product}_d01_{frame['time']}.png"
            facts = FACTS | {"min": 270 + number / count}
            uuid = f"{number:032x}"
            fields = {"product": product, **frame, "name": name, "bytes": 60_000, "crc32": 12345678}
            incoming = f".incoming/{product}.d01.{frame['time']}.{uuid}"
            for event in (ev.ProductPublishing, ev.ProductPublished):
                journal.append(event(**fields, uuid=uuid, incoming=incoming, clock=clock,
                                     facts=facts))  # fmt: skip
            index.append({**fields, "t": 2.0 + number, "written": 1.0 + number, "fill": 0.25,
                          "raw_bytes": 150_000_000 * (number + 1), "facts": facts})  # fmt: skip
    journal.close()
    index.close()
    return run
