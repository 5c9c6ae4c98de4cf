"""The journal of a long run replayed, as a resume does: how long, and beside other readers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import make_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from bench.opened import write_run
from bench.pipeline import Scratch
from bench.report import Figure, median, spread
from burstlens.core.lines import whole_lines
from burstlens.core.run.history import replay
from burstlens.core.run.journal import read

MOST_S = 0.5
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
    """In one process, in turn; the other readers make events of the lines and keep none."""
    count = 200 if quick else 20_000
    path = write_run(scratch.runs / "long", count).journal
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
    note = f"{count} frames of two products, {path.stat().st_size / 1e6:.0f} MB"
    found = [
        Figure("journal read, checked and replayed", median(times["replay"]), "s", MOST_S,
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
    for _, line in whole_lines(path):
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
