"""The rows of the list of runs: read again only where something may have changed."""

from __future__ import annotations

import contextlib
import io
import os
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import msgspec

from burstlens.clients.opened.status import is_over
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.follow import Line
from burstlens.core.run.heartbeat import is_here
from burstlens.core.run.index import Published, fullest, published
from burstlens.core.run.segments import Segments
from burstlens.core.run.status_file import ProgressPart, RunStatus

PICTURES = (".png", ".jpg", ".jpeg", ".webp")
TAIL_BYTES = 65536
"""Bytes at the end of an index that are searched for the newest picture."""

LOOK_S = 1.5
"""How long a look reads; the runs that it did not come to are the first of the next."""

CHECK_S = 2.5
"""When a driver on another host without a recent sign of life is looked for again."""

REST_S = 6.0
"""How long at least the row of a run that is over or lost is not checked again. A look takes two
calls of the file system for each such run, and these spread over twice the time."""

PROGRESS = ("fraction", "time", "eta_s", "speed", "rate_mpps")

Row = dict[str, Any]

_Signature = tuple[int, int, int, bool, Segments]
"""What decides which picture is a run's: its index, whether it is over, what is stale in it."""

_LINE = msgspec.json.Decoder(dict[str, Any])


class Served(Protocol):
    """What rows need of a shelf."""

    def status(self, run: str, *, confirm_s: float) -> RunStatus:
        """The run's status. Raises OSError, RunError."""

    def locate(self, run: str, parts: Sequence[str]) -> io.FileIO:
        """A handle (O_PATH) on a served file of a run. Raises OSError."""


@dataclass(slots=True)
class _Known:
    """What the previous look at a run has found; ``row`` is None for one that cannot be read."""

    row: Row | None
    changed: tuple[int, int]
    read: float
    due: float = 0.0

    def rest(self) -> None:
        """Let it rest; apart from others, which one look has found at once."""
        self.due = time.monotonic() + REST_S * (1 + random.random())


class Rows:
    """Makes the rows of a shelf's runs, and keeps those that seldom change."""

    def __init__(self) -> None:
        self.complete = True
        self._known: dict[Path, _Known] = {}
        self._pictures: dict[Path, tuple[_Signature, str | None]] = {}

    def look(self, shelf: Served, runs: Sequence[RunDir]) -> list[Row]:
        """The rows of these runs, without those that cannot be read or were not come to yet."""
        begin = time.monotonic()
        known = self._known = {run.path: self._known[run.path] for run in runs
                               if run.path in self._known}  # fmt: skip
        due = [run for run in runs if run.path not in known or known[run.path].due <= begin]
        due.sort(key=lambda run: known[run.path].read if run.path in known else 0.0)
        for run in due:
            known[run.path] = self._read(shelf, run)
            if time.monotonic() - begin > LOOK_S:
                break
        self.complete = len(known) == len(runs)
        found = (known.get(run.path) for run in runs)
        return [one.row for one in found if one and one.row]

    def _read(self, shelf: Served, run: RunDir) -> _Known:
        before = self._known.get(run.path)
        now = time.monotonic()
        try:
            changed = _changed(run)
            if before and before.changed == changed and _is_at_rest(before.row):
                before.rest()
                return before
            status = shelf.status(run.id, confirm_s=0.0)
            known = _Known(self._row_of(shelf, run, status), changed, now)
        except (OSError, RunError):
            return _Known(None, (0, 0), now)
        if known.row and status.state == "lost" and not (before or is_here(status.driver)):
            # Its clock may differ: only the next look can say whether it lives.
            known.row |= {"state": "checking", "over": False}
            known.due = now + CHECK_S
        elif is_over(status):
            known.rest()
        return known

    def _row_of(self, shelf: Served, run: RunDir, status: RunStatus) -> Row:
        progress = status.progress or ProgressPart()
        picture = self._picture(shelf, run, status)
        return {
            "run": run.id,
            "title": status.title,
            "looks_at": status.attached.path if status.attached else None,
            "state": status.state,
            "over": is_over(status),
            "frames": status.frames.ready,
            "alarms": len(status.alarms),
            **{name: getattr(progress, name) for name in PROGRESS},
            "started": status.started or None,
            "path": f"{quote(os.fsencode(run.id))}/",
            "picture": picture and quote(os.fsencode(f"{run.id}/products/{picture}")),
        }

    def _picture(self, shelf: Served, run: RunDir, status: RunStatus) -> str | None:
        """The newest picture of the first product that has one at the end of the index; of a run
        that is over, the newest that is not nearly empty, of the first with something in it. None
        of those that are stale."""
        products, over, segments = list(status.products), is_over(status), Segments.of(status)
        try:
            with shelf.locate(run.id, ("products", "index.jsonl")) as handle:
                found = os.fstat(handle.fileno())
                signature = (found.st_ino, found.st_size, found.st_mtime_ns, over, segments)
                known, picture = self._pictures.get(run.path, (None, None))
                if known == signature:
                    return picture
                tail = _tail(handle)
        except OSError:
            return None
        entries = map(published, _objects(tail))
        shown = [entry for entry in entries if entry and entry.name.endswith(PICTURES)]
        whole = [it for it in segments.mark(shown) if not (it.placeholder or it.stale)]
        places = {product: place for place, product in enumerate(products)}
        series: dict[int, list[Published]] = {}
        for entry in sorted(whole, key=lambda entry: (entry.attempt, entry.time)):
            series.setdefault(places.get(entry.product, len(places)), []).append(entry)
        in_order = [series[place] for place in sorted(series)]
        newest = in_order[0][-1] if in_order else None
        if over:
            newest = fullest(*([e for e in es if e.stream == es[-1].stream] for es in in_order))
        picture = newest.name if newest else None
        self._pictures[run.path] = (signature, picture)
        return picture


def _tail(handle: io.FileIO) -> bytes:
    descriptor = os.open(f"/proc/self/fd/{handle.fileno()}", os.O_RDONLY)
    with open(descriptor, "rb") as index:
        index.seek(max(0, os.fstat(descriptor).st_size - TAIL_BYTES))
        return index.read(TAIL_BYTES)


def _is_at_rest(row: Row | None) -> bool:
    """Whether only a change of its files can change a row: a lost driver may be heard again."""
    return row is not None and row["over"] and row["state"] != "lost"


def _changed(run: RunDir) -> tuple[int, int]:
    """When the run changed: its files are renamed into its folder, ``status.json`` among them.

    Raises OSError when there is no such folder.
    """
    folder = os.stat(run.path).st_mtime_ns
    try:
        return folder, os.lstat(run.status).st_mtime_ns
    except FileNotFoundError:
        return folder, 0


def _objects(tail: bytes) -> Iterator[Line]:
    """The JSON objects in the lines of a file's end; the first line may be torn."""
    for line in tail.splitlines():
        with contextlib.suppress(msgspec.MsgspecError, RecursionError):
            yield _LINE.decode(line)
