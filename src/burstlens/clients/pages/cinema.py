"""A Cinema database of a run: its products by valid time, for Cinema's viewers.

Cinema Specification D, version 1.0: a folder ``NAME.cdb`` with ``data.csv``, whose columns hold
values of one type or nothing, and whose last columns, named ``FILE...``, are paths of files in it.
"""

from __future__ import annotations

import contextlib
import csv
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burstlens.clients.opened.file_errors import replacing
from burstlens.clients.opened.picture import is_picture
from burstlens.clients.opened.table import time_label
from burstlens.clients.opened.view import RunView
from burstlens.core import valid_time
from burstlens.core.errors import RunError
from burstlens.core.run.follow import number
from burstlens.core.run.index import Published, product_path

FACTS = ("min", "max", "mean")
"""Facts of a map's field, one column each."""


@dataclass(frozen=True, slots=True)
class Database:
    """A complete database at ``path``; ``missing`` are files of the index that are not
    there, left empty in the table."""

    path: Path
    rows: int
    files: int
    missing: tuple[str, ...]


def write_database(run: RunView, out: Path, *, volumes: bool = False) -> Database:
    """Write what the run has published, with copies of its pictures, as the new folder ``out``;
    what is stale is left out.

    ``volumes``: everything else that was published too. A row is one valid time of one stream.
    Raises RunError when ``out`` is there already, is not a ``.cdb`` or cannot be written, and when
    there is nothing to write; then no folder is left.
    """
    if out.suffix != ".cdb":
        raise RunError(f"{out}: a Cinema database is a folder whose name ends with .cdb")
    if out.exists():
        raise RunError(f"{out} exists already")
    entries = [
        entry
        for view in run.products.values()
        for entry in view.entries
        if (volumes or is_picture(entry.name)) and not (entry.placeholder or entry.stale)
    ]
    if not entries:
        raise RunError(f"{run.id} has published nothing that could be shown yet")
    with replacing(out) as part:
        part.mkdir()
        found, missing = _copied(run, entries, part)
        if not found:
            raise RunError(f"none of the {len(entries)} files can be read")
        rows = _table(found, part / "data.csv")
    return Database(out, rows, len(found), tuple(missing))


def _copied(
    run: RunView, entries: Sequence[Published], folder: Path
) -> tuple[list[Published], list[str]]:
    found, missing = [], []
    for entry in entries:
        source = None
        with contextlib.suppress(RunError):
            source = product_path(run.directory.products, entry.name)
        if source is None or not source.is_file():
            missing.append(entry.name)
            continue
        target = folder / entry.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        found.append(entry)
    return found, missing


def _table(entries: Sequence[Published], path: Path) -> int:
    """Write the rows, in order of valid time; returns how many there are."""
    streams = sorted({entry.stream for entry in entries})
    products = list(dict.fromkeys(entry.product for entry in entries))
    columns = [
        (product, fact)
        for product in products
        for fact in FACTS
        if any(_fact(it, fact) is not None for it in entries if it.product == product)
    ]
    frames: dict[tuple[str, str], dict[str, Published]] = {}
    for entry in sorted(entries, key=lambda it: (it.time, it.stream)):
        frames.setdefault((entry.time, entry.stream), {})[entry.product] = entry
    calendar = next((it.calendar for it in entries if it.calendar), "")
    begin = _seconds(next(iter(frames))[0], calendar) or 0.0
    head = ["time_s", "valid_time", *(["stream"] if len(streams) > 1 else [])]
    head += [f"{product}_{fact}" for product, fact in columns]
    head += [f"FILE_{product}" for product in products] if len(products) > 1 else ["FILE"]
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(head)
        for (time, name), made in frames.items():
            seconds = _seconds(time, calendar)
            row = ["" if seconds is None else repr(seconds - begin), time_label(time)]
            row += [name] if len(streams) > 1 else []
            values = (_fact(made.get(product), fact) for product, fact in columns)
            row += ["" if value is None else repr(float(value)) for value in values]
            row += [made[it].name if it in made else "" for it in products]
            table.writerow(row)
    return len(frames)


def _seconds(key: str, calendar: str) -> float | None:
    """None for a frame without a time."""
    try:
        return valid_time.seconds(key, calendar)
    except ValueError:
        return None


def _fact(entry: Published | None, fact: str) -> float | None:
    return None if entry is None else number(entry.facts.get(fact))
