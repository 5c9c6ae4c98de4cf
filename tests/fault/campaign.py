"""Series of scenarios, several at once; the results as JSON lines.

    .venv/bin/python tests/fault/campaign.py FOLDER --kind kill --count 300 --seed 1

FOLDER gets ``results.jsonl`` and the folders of runs with a violation.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from disturbed_run import DisturbedRun, Equipment, Verdict, commit
from scenario import KINDS, draw


def carry_out(folder: Path, kind: str, seed: int, equipment: Equipment) -> Verdict:
    """One scenario; its folder stays if something is wrong."""
    scenario = draw(seed, kind)
    place = folder / f"{kind}-{seed}"
    shutil.rmtree(place, ignore_errors=True)
    try:
        verdict = DisturbedRun(place, scenario, equipment).carry_out()
    except Exception:  # of the campaign itself: the series goes on
        verdict = Verdict(scenario, violations=[f"campaign: {traceback.format_exc()}"])
    if not verdict.violations:
        shutil.rmtree(place, ignore_errors=True)
    return verdict


def series(
    folder: Path,
    kind: str,
    seed: int,
    count: int,
    parallel: int,
    show: Callable[[str], Any] = print,
) -> Iterator[Verdict]:
    """That many scenarios that were reached, from the seed on; each is also in results.jsonl."""
    equipment = Equipment(folder / "equipment")
    this = commit()
    seeds = iter(range(seed, seed + 3 * count + 3))
    reached = 0
    with (
        ThreadPoolExecutor(parallel) as pool,
        (folder / "results.jsonl").open("a") as results,
    ):
        waiting: set[Future[Verdict]] = set()

        def begin() -> None:
            if (following := next(seeds, None)) is not None:
                waiting.add(pool.submit(carry_out, folder, kind, following, equipment))

        for _ in range(min(parallel, count)):
            begin()
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for verdict in (future.result() for future in done):
                row = result(verdict, this)
                results.write(json.dumps(row) + "\n")
                results.flush()
                took = f"{verdict.outcome:<12} {verdict.seconds:5.1f} s"
                show(f"{took}  {kind} {row['seed']}  {row['scenario']}")
                for fault in verdict.violations:
                    show(f"    {fault}")
                reached += verdict.reached
                yield verdict
                if reached + len(waiting) < count:
                    begin()


def result(verdict: Verdict, this: str) -> dict[str, Any]:
    """A line of the results."""
    scenario = verdict.scenario
    return {
        "kind": scenario.kind,
        "seed": scenario.seed,
        "scenario": str(scenario),
        "commit": this,
        "outcome": verdict.outcome,
        "lives": verdict.lives,
        "seconds": round(verdict.seconds, 1),
        "violations": verdict.violations,
    }


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10, help="of each kind")
    parser.add_argument("--parallel", type=int, default=2)
    given = parser.parse_args()
    # As in conftest.py: runs receive SIGINT and SIGHUP, compiled modules are kept, no threads spin.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["NUMBA_NUM_THREADS"] = "1"
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for kind in given.kind or KINDS:
        for verdict in series(folder, kind, given.seed, given.count, given.parallel):
            wrong += bool(verdict.violations)
            sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
