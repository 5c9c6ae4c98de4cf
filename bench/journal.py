"""The journal of a long run replayed, as a resume does: how long, and against JSON alone."""

from __future__ import annotations

import json
import time
from pathlib import Path

from bench.opened import write_run
from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.core.lines import whole_lines
from burstlens.core.run.history import replay
from burstlens.core.run.journal import read

MOST_S = 0.5


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """In one process, in turn with ``json.loads`` of the same lines, nothing checked or kept."""
    count = 200 if quick else 20_000
    path = write_run(scratch.runs / "long", count).journal
    replays, loads = [], []
    for _ in range(3 if quick else 9):
        replays.append(_replay_s(path, count))
        loads.append(_loads_s(path))
    ratios = [one / other for one, other in zip(replays, loads, strict=True)]
    note = f"{count} frames of two products, {path.stat().st_size / 1e6:.0f} MB"
    return [
        Figure("journal read, checked and replayed", median(replays), "s", MOST_S,
               note=f"{spread(replays, ' s')}; {note}"),
        Figure("... of json.loads of each line", median(ratios), "", note=spread(ratios, "")),
    ]  # fmt: skip


def _replay_s(path: Path, count: int) -> float:
    begin = time.perf_counter()
    history = replay(read(path))
    took = time.perf_counter() - begin
    assert len(history.frames) == count
    return took


def _loads_s(path: Path) -> float:
    begin = time.perf_counter()
    for _, line in whole_lines(path):
        json.loads(line)
    return time.perf_counter() - begin
