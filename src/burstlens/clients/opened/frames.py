"""The frames of a run as a table: one row per frame."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, overload

from burstlens.clients.opened.table import clock_time, html_table, time_label
from burstlens.core.errors import RunError
from burstlens.core.extras import install_command
from burstlens.core.nearness import did_you_mean
from burstlens.core.quantity import counted, show_bytes
from burstlens.core.run.event import Key
from burstlens.core.run.follow import Line, number
from burstlens.core.run.index import Published

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 5
"""Rows at the beginning and the end of a long table in a notebook."""


@dataclass(frozen=True, slots=True)
class FrameRow:
    """One frame: a completed output time of one stream.

    ``time`` is the valid-time key. ``written`` is the file's time by the file server's clock,
    ``detected`` when the watcher found it whole, both in Unix seconds; ``signal`` is the evidence
    for that. ``products`` are those published of it. A damaged frame has no signal but a reason.
    """

    stream: str
    time: str
    attempt: int
    bytes: int
    written: float | None
    detected: float | None
    signal: str
    products: tuple[str, ...]
    damaged: str = ""


COLUMNS = tuple(field.name for field in fields(FrameRow))


class Frames(Sequence[FrameRow]):
    """The frames as they stood when they were asked for, in the order in which they came.

    ``frames[3]`` is a row, ``frames[-5:]`` a shorter table, ``frames["bytes"]`` a column as a list.
    """

    def __init__(self, rows: Sequence[FrameRow]) -> None:
        self._rows = rows

    columns = COLUMNS

    @overload
    def __getitem__(self, at: int) -> FrameRow: ...
    @overload
    def __getitem__(self, at: slice) -> Frames: ...
    @overload
    def __getitem__(self, at: str) -> list[Any]: ...

    def __getitem__(self, at: int | slice | str) -> FrameRow | Frames | list[Any]:
        """A row, a shorter table, or a column. Raises RunError for a column that is not there."""
        if isinstance(at, slice):
            return Frames(self._rows[at])
        if isinstance(at, int):
            return self._rows[at]
        if at not in COLUMNS:
            raise RunError(f'there is no column "{at}"{did_you_mean(at, COLUMNS)}')
        return [getattr(row, at) for row in self._rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[FrameRow]:
        return iter(self._rows)

    def __repr__(self) -> str:
        lines = [counted(len(self), "frame")]
        lines += ["  ".join(cells) for cells in map(_cells, self._rows[-SHOWN:])]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [_cells(row) for row in self._rows]
        if len(rows) > 2 * SHOWN + 1:
            rows = [*rows[:SHOWN], ("…",) * len(rows[0]), *rows[-SHOWN:]]
        heads = ("stream", "time", "attempt", "size", "written (UTC)", "known by", "products")
        return html_table(heads, rows, counted(len(self), "frame"))

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame; ``written`` and ``detected`` become UTC timestamps.

        Raises RunError where pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise RunError(f"to_pandas needs pandas: {install_command('jupyter')}") from None
        table = pd.DataFrame({name: self[name] for name in COLUMNS}, columns=list(COLUMNS))
        for name in ("written", "detected"):
            table[name] = pd.to_datetime(table[name].astype(float), unit="s", utc=True)
        return table


def frames_of(events: Iterable[Line], entries: Mapping[Key, Published]) -> Frames:
    """The table of a journal's ``frame.ready`` and ``frame.damaged`` and of what is published."""
    made: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for (product, stream, time), entry in entries.items():
        if not entry.placeholder:
            made[stream, time, entry.attempt].append(product)
    rows: dict[tuple[str, str, int, int], FrameRow] = {}
    for place, event in enumerate(events):
        stream, time = str(event.get("stream")), str(event.get("time"))
        attempt = int(number(event.get("attempt")) or 0)
        damaged = event.get("event") == "frame.damaged"
        key = stream, time, attempt, place if damaged else -1
        rows.pop(key, None)  # of a time that came twice the later record counts
        rows[key] = FrameRow(
            stream=stream, time=time, attempt=attempt,
            bytes=int(number(event.get("bytes")) or 0), written=number(event.get("written")),
            detected=number(event.get("t" if damaged else "detected")),
            signal=str(event.get("signal", "")),
            products=tuple(made.get((stream, time, attempt), ())),
            damaged=str(event.get("reason", "no reason")) if damaged else "",
        )  # fmt: skip
    return Frames(list(rows.values()))


def _cells(row: FrameRow) -> tuple[str, ...]:
    size = show_bytes(row.bytes) if row.bytes else ""
    return (
        row.stream, time_label(row.time), str(row.attempt), size, clock_time(row.written),
        row.damaged or row.signal, ", ".join(row.products),
    )  # fmt: skip
