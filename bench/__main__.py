"""``python -m bench``: measure, and write ``results.json`` and ``RESULTS.md``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
from pathlib import Path

from bench.pipeline import Scratch
from bench.report import Figure, store

PARTS = (
    "latency",
    "cost",
    "throughput",
    "model",
    "driver",
    "batches",
    "scaling",
    "commands",
    "tools",
    "staging",
    "copying",
    "checkpoints",
    "iostudy",
    "opened",
    "journal",
    "scan",
    "serving",
    "shelf",
    "pins",
    "look",
    "live",
    "seen",
    "iolog",
    "values",
    "maps",
    "guards",
    "diagnostics",
    "large",
    "inflate",
    "volumes",
    "storms",
    "ground",
    "stability",
    "seismic",
    "tuning",
)


def main() -> int:
    """Measure the parts asked for; 1 when one could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument(
        "--quick", action="store_true", help="small and short, to see whether it runs"
    )
    parser.add_argument(
        "--to", type=Path, default=Path(__file__).parent, help="folder of the results"
    )
    parser.add_argument(
        "--runs",
        type=Path,
        default=Path("/var/tmp"),
        help="folder on the file system to be measured",
    )
    parser.add_argument("--remark", default="", help="what disturbed the machine, for the results")
    given = parser.parse_args()
    parts = [part for part in given.only.split(",") if part]
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}, only {', '.join(PARTS)}")
    failed = 0
    for part in parts:
        print(f"bench: {part}", file=sys.stderr, flush=True)
        failed |= not _measure(part, given.to, given.runs, given.remark, quick=given.quick)
    return failed


def _measure(part: str, folder: Path, disk: Path, remark: str, *, quick: bool) -> bool:
    memory = Path("/dev/shm")
    with (
        tempfile.TemporaryDirectory(prefix="burstlens-bench-", dir=memory) as buffer,
        tempfile.TemporaryDirectory(prefix="burstlens-bench-", dir=disk) as runs,
    ):
        before = os.getloadavg()[0]
        try:
            figures: list[Figure] = importlib.import_module(f"bench.{part}").measure(
                Scratch(Path(buffer), Path(runs)), quick=quick
            )
        except RuntimeError as error:
            print(f"bench: {part} could not be measured: {error}", file=sys.stderr)
            return False
        command = f"python -m bench --only {part}{' --quick' if quick else ''}"
        store(folder, part, command, (before, os.getloadavg()[0]), figures, remark)
    for figure in figures:
        print(f"  {figure.name}: {figure.value:.4g} {figure.unit} {figure.note}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
