"""A long run opened from Python: how long it takes to have its frames as a table."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.core.durable import write_json
from burstlens.core.lines import Lines
from burstlens.core.quantity import counted
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.core.run.history_file import turn
from burstlens.core.run.journal import Journal
from burstlens.core.valid_time import elapsed_key
from burstlens.viz.live.feed import FrameFeed

MOST_S = 1.0
PRODUCTS = ("map", "section", "sounding", "wind", "rain", "volume")
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
assert len(frames) == int(sys.argv[2]) and len(frames[-1].products) == int(sys.argv[3])
begin = time.perf_counter()
run.frames
print(first, time.perf_counter() - begin)
"""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """New processes; the interpreter's start and the import of the package are not counted."""
    count = 2_000 if quick else 100_000
    found = []
    for products in (1, len(PRODUCTS)):
        run = write_run(scratch.runs / f"long-{products}", count, products)
        times = [_open_s(run, count, products) for _ in range(3 if quick else 5)]
        size = sum(path.stat().st_size for path in (*run.journal_files, run.index))
        shutil.rmtree(run.path)
        first, again = ([pair[at] for pair in times] for at in (0, 1))
        of = f"{counted(products, 'product')} each"
        note = f"{count} frames, {size / 1e6:.0f} MB of journal and index"
        found += [
            Figure(f"open_run and frames, {of}", median(first), "s",
                   MOST_S if products == 1 else None, note=f"{spread(first, ' s')}; {note}"),
            Figure(f"... and once more, {of}", median(again), "s", note=spread(again, " s")),
        ]  # fmt: skip
    return found


def _open_s(run: RunDir, count: int, products: int) -> tuple[float, float]:
    words = [sys.executable, "-c", PROGRAM, str(run.path), str(count), str(products)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    first, again = done.stdout.split()
    return float(first), float(again)


def write_run(path: Path, count: int, products: int = 2) -> RunDir:
    """A run directory as a driver leaves it after ``count`` frames, with complete lines."""
    run = RunDir(path)
    run.create()
    write_json(run.facts, {"run": run.id, "title": "Long", "created": 1.0, "table": {}})
    history = History()
    journal, index = Journal(run.journal, 1, history.apply), Lines(run.index)
    feed = FrameFeed(run)
    for number in range(count):
        frame = {"attempt": 1, "stream": "d01", "time": elapsed_key(60.0 * number)}
        clock = {"written": 1.0 + number, "detected": 1.1 + number, "submitted": 1.2 + number}
        journal.append(ev.FrameReady(**frame, record=0, bytes=150_000_000, written=1.0 + number,
                       detected=1.1 + number, signal="header"))  # fmt: skip
        for product in PRODUCTS[:products]:
            name = f"{product}/{product}_d01_{frame['time']}.png"
            facts = FACTS | {"min": 270 + number / count}
            uuid = f"{number:032x}"
            fields = {"product": product, **frame, "name": name, "bytes": 60_000, "crc32": 12345678}
            incoming = f".incoming/{product}.d01.{frame['time']}.{uuid}"
            for event in (ev.ProductPublishing, ev.ProductPublished):
                journal.append(event(**fields, uuid=uuid, incoming=incoming, clock=clock,
                                     facts=facts))  # fmt: skip
            line = {**fields, "t": 2.0 + number, "written": 1.0 + number, "fill": 0.25,
                    "raw_bytes": 150_000_000 * (number + 1), "facts": facts}  # fmt: skip
            index.append(line)
            feed.add(line)
        if journal.is_long:  # as the driver does it
            feed.write(force=True, end=index.bytes)
            history.indexed = index.bytes, feed.lines
            turn(journal, history, run.claim(2))
    feed.write(force=True, end=index.bytes)
    journal.close()
    index.close()
    return run
