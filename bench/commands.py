"""Commands: how long a user waits for an answer, for the model to run, for the first picture."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.pipeline import MAP, Scratch, burstlens, run, run_model
from bench.report import Figure, median, spread
from bench.writer import make_field, write_frame

MOST_S = 0.25
RUNS = 50
RUNNING_S, FIRST_S = 3.0, 4.0
GRID = (50, 250, 300)


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """Wall time of whole processes, in a folder of many finished runs."""
    ran = run(scratch, "one", {"frames": 3, "variables": 1, "period": 0.2})
    recipe = str(scratch.runs / "recipes" / "one" / "recipe.toml")
    for number in range(1 if quick else RUNS - 1):
        _copy(ran.path, scratch.runs / f"copy-{number:03d}")
    repeats = 3 if quick else 15
    asked = (
        ("status", ("status", "one"), MOST_S),
        ("list", ("list",), MOST_S),
        ("check", ("check", recipe, "--site", "bench-1"), None),
        ("run --dry-run", ("run", recipe, "--site", "bench-1", "--dry-run"), None),
    )
    figures = []
    for name, words, most in asked:
        times = [_wall_s(scratch, words) for _ in range(repeats + 1)][1:]
        note = f"{spread(times, ' s')}{f'; {RUNS} runs' if name == 'list' and not quick else ''}"
        figures.append(Figure(f"burstlens {name}", median(times), "s", most, note=note))
    return [*figures, *_started(scratch, 1 if quick else 5)]


def _started(scratch: Scratch, repeats: int) -> list[Figure]:
    """A model that brings a frame of 15 MB with its first breath, and then goes on for a while."""
    frame = scratch.runs / "ready.nc"
    write_frame(frame, 0, [make_field(GRID, 0)], "NETCDF3_64BIT_OFFSET")
    name = "frame_000000.nc"
    model = ["sh", "-c", f"cp {frame} {name}; echo wrote {name}; sleep 8; echo done"]
    figures = []
    for cold in (True, False):
        running, first = [], []
        for number in range(repeats):
            if cold:
                _forget(Path(sys.prefix), Path(__file__).parents[1])
            begin = time.time()
            ran = run_model(scratch, f"start-{cold:d}-{number}", model, MAP, keep="none")
            started = json.loads((ran.path / "attempts" / "1" / "started.json").read_text())
            running.append(started["started"] - begin)
            first.append(ran.published[0]["t"] - begin)
        how = "cold" if cold else "warm"
        figures += [
            Figure(f"burstlens run to model running, {how}", median(running), "s",
                   RUNNING_S, note=spread(running, " s")),
            Figure(f"burstlens run to first picture of a frame that is there, {how}",
                   median(first), "s", FIRST_S, note=spread(first, " s")),
        ]  # fmt: skip
    return figures


def _forget(*folders: Path) -> None:
    """Drop the files of these folders from the page cache: only those that nobody maps."""
    for folder in folders:
        for path, _, names in os.walk(folder):
            for name in names:
                try:
                    file = os.open(os.path.join(path, name), os.O_RDONLY | os.O_NONBLOCK)
                except OSError:
                    continue
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(file)


def _wall_s(scratch: Scratch, words: tuple[str, ...]) -> float:
    begin = time.perf_counter()
    subprocess.run(burstlens(*words), env=scratch.environment, capture_output=True, check=True)
    return time.perf_counter() - begin


def _copy(source: Path, target: Path) -> None:
    """The files that `list` reads of a run."""
    target.mkdir()
    for name in ("run.json", "status.json", "journal.jsonl"):
        (target / name).write_bytes((source / name).read_bytes())
