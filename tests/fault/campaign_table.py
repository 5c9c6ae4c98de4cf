"""The table of docs/reliability.md from results of campaigns.

    .venv/bin/python tests/fault/campaign_table.py FOLDER...

Each FOLDER has a ``results.jsonl`` as ``campaign.py`` and the Slurm testbed's campaign write it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Result = dict[str, Any]
TITLES = {
    "kill": "a signal to a process",
    "call": "a call that fails once",
    "room": "no room for a while",
    "clock": "a clock that is set",
    "testbed": "an event on the Slurm testbed",
}


def table(results: Iterable[Result]) -> Iterator[str]:
    """A row for each kind and commit, in Markdown. Of a repeated seed the last one counts."""
    latest = {(it["kind"], it["seed"], it["commit"]): it for it in results}
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in latest.values():
        groups.setdefault((result["kind"], result["commit"]), []).append(result)
    yield "| kind | commit | seeds | reached | went on | resumed | with a violation |"
    yield "|---|---|---|---|---|---|---|"
    for (kind, commit), rows in sorted(groups.items()):
        seeds = [row["seed"] for row in rows]
        count = Counter(row["outcome"] for row in rows)
        reached = len(rows) - count["not reached"]
        cells = (
            TITLES[kind], commit, f"{min(seeds)} to {max(seeds)}", reached,
            count["went on"], count["resumed"], count["violation"],
        )  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"


def read(folders: Iterable[Path]) -> Iterator[Result]:
    """All results of these folders."""
    for folder in folders:
        for line in (folder / "results.jsonl").read_text().splitlines():
            yield json.loads(line)


if __name__ == "__main__":
    print("\n".join(table(read(map(Path, sys.argv[1:])))))
