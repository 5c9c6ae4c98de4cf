"""Commands: how long a user waits for an answer."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from bench.pipeline import Scratch, burstlens, run
from bench.report import Figure, median, spread

MOST_S = 0.25
RUNS = 50


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
    return figures


def _wall_s(scratch: Scratch, words: tuple[str, ...]) -> float:
    begin = time.perf_counter()
    subprocess.run(burstlens(*words), env=scratch.environment, capture_output=True, check=True)
    return time.perf_counter() - begin


def _copy(source: Path, target: Path) -> None:
    """The files that `list` reads of a run."""
    target.mkdir()
    for name in ("run.json", "status.json", "journal.jsonl"):
        (target / name).write_bytes((source / name).read_bytes())
