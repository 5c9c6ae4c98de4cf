"""The journal of a long run: what a resume reads of it, in which time and memory; the whole journal
replayed, and beside other readers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import make_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from bench.opened import PRODUCTS, write_run
from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.core.quantity import counted
from burstlens.core.run.history import replay
from burstlens.core.run.journal import read
from burstlens.core.run.volumes import lines_after

MOST_S = 2.0
MOST_BYTES = 150e6
CONTINUED = b'"journal.continued"'
RESUME = """
import resource, sys, time
from pathlib import Path
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history_file import history_of
from burstlens.core.run.journal import Journal
from burstlens.workflows.publishing.publish import Publisher
import burstlens.workflows.viewing.blocks  # what a driver has loaded
run = RunDir(Path(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.process_time()
history = history_of(run.journal)
read = time.process_time() - begin
journal = Journal(run.journal, 2, history.apply)
Publisher(run, journal, history).settle()
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert len(history.published) == len(history.frames) * int(sys.argv[2])
print(read, time.process_time() - begin, 1024 * before, 1024 * after)
"""
FRAME = {"stream": str, "time": str, "attempt": int, "t": float, "driver": int}
PRODUCT = FRAME | {"product": str, "uuid": str, "incoming": str, "name": str, "bytes": int,
                   "crc32": int, "clock": dict[str, float], "facts": dict[str, Any]}  # fmt: skip
EVENTS = {
    "frame.ready": FRAME | {"record": int, "bytes": int, "written": float, "detected": float,
                            "signal": str, "file": str | None},
    "product.publishing": PRODUCT | {"state": dict[str, Any] | None},
    "product.published": PRODUCT | {"state": dict[str, Any] | None},
}  # fmt: skip
"""The events that this journal has, for the readers that are compared."""


def measure(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """The replays in one process, in turn; the other readers make events of the lines and keep
    none. A resume is a process of its own."""
    return [*_resumed(scratch, quick=quick), *_replayed(scratch, quick=quick)]


def _resumed(scratch: Scratch, *, quick: bool) -> list[Figure]:
    """CPU time of the history and of the index that is mended, and the memory of that process,
    with all that a driver loads."""
    count, found = 2_000 if quick else 100_000, []
    for products in (1, len(PRODUCTS)):
        run = write_run(scratch.runs / f"resumed-{products}", count, products)
        words = [sys.executable, "-c", RESUME, str(run.path), str(products)]
        said = [subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
                for _ in range(3 if quick else 5)]  # fmt: skip
        history, whole, before, after = ([float(one[at]) for one in said] for at in range(4))
        size = sum(path.stat().st_size for path in run.journal_files)
        shutil.rmtree(run.path)
        of = f"{count} frames of {counted(products, 'product')}"
        held = f"{median(before) / 1e6:.0f} MB before; journal {size / 1e6:.0f} MB"
        found += [
            Figure(f"resumed, {of}: history and index", median(whole), "s CPU", MOST_S,
                   note=f"{spread(whole, ' s')}; history {median(history):.2f} s"),
            Figure(f"... memory of that process, {of}", median(after), "B", MOST_BYTES, note=held),
        ]  # fmt: skip
    return found


def _replayed(scratch: Scratch, *, quick: bool) -> list[Figure]:
    count = 200 if quick else 20_000
    run = write_run(scratch.runs / "long", count)
    path, size = run.journal, sum(path.stat().st_size for path in run.journal_files)
    readers: dict[str, Callable[[bytes], object]] = {
        "json.loads, nothing checked": json.loads,
        "json.loads and dataclasses, nothing checked": _dataclasses(),
        "pydantic, checked": _pydantic(),
    }
    times: dict[str, list[float]] = {name: [] for name in ("events", "replay", *readers)}
    for _ in range(3 if quick else 9):
        times["events"].append(_took(lambda: sum(1 for _ in read(path))))
        times["replay"].append(_took(lambda: _replay(path, count)))
        for name, reader in readers.items():
            times[name].append(_took(lambda: _each_line(path, reader)))  # noqa: B023
    note = f"{count} frames of two products, {size / 1e6:.0f} MB"
    found = [
        Figure("whole journal read, checked and replayed", median(times["replay"]), "s", MOST_S,
               note=f"{spread(times['replay'], ' s')}; {note}"),
        Figure("... read and checked alone", median(times["events"]), "s",
               note=spread(times["events"], " s")),
    ]  # fmt: skip
    for name in readers:
        pairs = zip(times[name], times["events"], strict=True)
        ratios = [other / ours for other, ours in pairs]
        label = f"{name}: time, of reading and checking"
        found.append(Figure(label, median(ratios), "", note=spread(ratios, "")))
    return found


def _took(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _replay(path: Path, count: int) -> None:
    assert len(replay(read(path)).frames) == count


def _each_line(path: Path, reader: Callable[[bytes], object]) -> None:
    for _, _, line in lines_after(path):
        if CONTINUED not in line:
            reader(line)


def _dataclasses() -> Callable[[bytes], object]:
    kinds = {name: make_dataclass("Event", [("event", str), *fields.items(), ], frozen=True)
             for name, fields in EVENTS.items()}  # fmt: skip
    blank = {name: dict.fromkeys((*fields, "event")) for name, fields in EVENTS.items()}

    def made(line: bytes) -> object:
        value = json.loads(line)
        name = value["event"]
        return kinds[name](**blank[name] | value)

    return made


def _pydantic() -> Callable[[bytes], object]:
    kinds: list[Any] = []
    for name, fields in EVENTS.items():
        typed: dict[str, Any] = {key: (kind, ...) for key, kind in fields.items()}
        typed |= {"event": (Literal[name], ...)}
        typed |= {key: (kind, None) for key, kind in fields.items() if key in ("file", "state")}
        config = pydantic.ConfigDict(frozen=True)
        kinds.append(pydantic.create_model("Event", __config__=config, **typed))
    union: Any = kinds[0] | kinds[1] | kinds[2]
    adapter: Any = pydantic.TypeAdapter(Annotated[union, pydantic.Field(discriminator="event")])
    checked: Callable[[bytes], object] = adapter.validate_json
    return checked
