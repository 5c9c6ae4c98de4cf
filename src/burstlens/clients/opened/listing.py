"""A series as text: CSV, a line per frame in order of valid time, or one JSON document."""

from __future__ import annotations

import csv
import io
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from burstlens.clients.opened.pictured import Pictured
from burstlens.clients.opened.points import Files, Grids
from burstlens.clients.opened.series import Sample, heading, sample, samples
from burstlens.clients.opened.spot import Spot
from burstlens.clients.opened.status import is_over, looks
from burstlens.clients.opened.view import RunView
from burstlens.core import valid_time
from burstlens.core.printable import printable
from burstlens.core.quantity import counted
from burstlens.core.run.index import Published
from burstlens.core.run.segments import segments_of

if TYPE_CHECKING:
    from burstlens.clients.opened.frame_cells import FrameCells

POLL_S = 0.5

Told = Callable[[int, int], None]
"""Called with the frames read so far and their number."""


class Listing:
    """The series of a product at a place, from its first frame on.

    ``kept_only``: no frame's file is opened where pictures keep fewer points than the grid has.
    Raises RunError as :meth:`.Pictured.entries`; what is followed may have no frame yet.
    """

    def __init__(
        self, run: RunView, product: str, stream: str | None, spot: Spot, *, kept_only: bool = False
    ) -> None:
        self._kept_only = kept_only
        run.products[product]  # an unknown name is an error with near names
        self._run = run
        self._spot = spot
        self._stream = stream
        self._pictured = Pictured(run.directory, product)
        self._files = Files(run.directory.products)
        self._grids = Grids()
        self._gaps: Counter[str] = Counter()
        self._values = self._cells_read = 0
        self._stride = 1
        self._stale: frozenset[str] = frozenset()
        """Valid times of values that another attempt of the model owns by now."""
        self._cells: FrameCells | None = None

    def close(self) -> None:
        """End the process that reads the frames' files, if one was started."""
        if self._cells is not None:
            self._cells.close()

    def document(self, told: Told) -> dict[str, Any]:
        """The series as JSON values: its heading, and ``samples``."""
        entries = self._entries()
        head = self._heading(entries)
        rows = []
        for one in self._samples(entries, head, told):
            row: dict[str, Any] = {"time": one.time, "value": one.finite, "step": one.step or None}
            row["index"] = dict(one.point.index) if one.point else None
            row["label"] = one.facts.get("label") or None
            row["from_frame"] = one.from_frame
            if one.time in self._stale:
                row["stale"] = True
            rows.append(row | {"gap": one.gap.value or None, "reason": one.reason or None})
        return {"run": self._run.id, **head, "stride": self._stride, "samples": rows}

    def lines(self, told: Told) -> Iterator[str]:
        """A line with the names of the columns, and a line per frame."""
        entries = self._entries()
        head = self._heading(entries)
        yield _header(head, entries)
        yield from map(_line, self._samples(entries, head, told))

    def follow(self, told: Told) -> Iterator[str]:
        """The same, and further lines while the run goes on. A frame that is published anew, as
        after a restart of the model, gets another line."""
        seen: dict[str, object] = {}
        head: dict[str, Any] = {}
        for status in looks(self._run.directory):
            over = is_over(status)  # before the index: what is published by then is listed
            entries = self._entries(waits=not over)
            fresh = [one for one in entries if seen.get(one.time) != _mark(one)]
            if fresh and not head:
                head = self._heading(entries)
                yield _header(head, entries)
            yield from map(_line, self._samples(fresh, head, told))
            seen |= {one.time: _mark(one) for one in fresh}
            if over:
                return
            time.sleep(POLL_S)

    def note(self) -> str:
        """Which values are stale, and which points of the grid they are of, as a sentence; empty
        where none is and of all."""
        return "; ".join(filter(None, (self._stale_note(), self._stride_note())))

    def _stale_note(self) -> str:
        if not self._stale:
            return ""
        times = sorted(self._stale)
        ends = dict.fromkeys(map(_when, (times[0], times[-1])))
        return printable(
            f"stale: {counted(len(times), 'frame')} ({' to '.join(ends)}), computed by an attempt "
            "of the model before the run resumed from an earlier time"
        )

    def _stride_note(self) -> str:
        if self._stride == 1:
            return ""
        thinned = f"1 of {self._stride} points of the grid is kept along each direction"
        if self._cells_read == self._values:
            return (
                "the values are those of the grid cells, read from the frames' files (in the "
                f"pictures' values {thinned})"
            )
        reasons = self._cells.reasons.most_common(1) if self._cells is not None else []
        why = f", since the cells cannot be read: {reasons[0][0]}" if reasons else ""
        if self._cells_read:
            return printable(
                f"{self._cells_read} of {self._values} values are those of the grid cells, read "
                f"from the frames' files; the others are those of the nearest kept point{why} "
                f"({thinned})"
            )
        return printable(
            f"{thinned}: the values are those of the nearest one{why} (points in the product's "
            "`values` keeps more)"
        )

    def complaint(self) -> str:
        """Why no frame has had a value, as a sentence; empty where one had."""
        if self._values or not self._gaps:
            return ""
        reason, _ = self._gaps.most_common(1)[0]
        return printable(f"no frame has a value at {self._spot}: {reason}")

    def _entries(self, *, waits: bool = False) -> list[Published]:
        if waits and self._pictured.is_empty():
            return []
        entries = self._pictured.entries(self._stream)
        segments = segments_of(self._run.directory)
        self._stale = frozenset(one.time for one in segments.mark(entries) if one.stale)
        return entries

    def _heading(self, entries: Sequence[Published]) -> dict[str, Any]:
        newest = self._read(entries[-1])
        stream = entries[-1].stream
        return heading(self._pictured.product, stream, entries, [newest], self._spot)

    def _samples(
        self, entries: Sequence[Published], head: dict[str, Any], told: Told
    ) -> Iterator[Sample]:
        kind = (head["variable"], head["units"]) if head.get("index") else None
        found = samples(self._read, entries, self._pictured.newest, kind)
        for number, one in enumerate(found, 1):
            told(number, len(entries))
            if one.gap:
                self._gaps[one.reason or one.gap.value] += 1
            else:
                self._values += 1
                self._stride = max(self._stride, one.stride)
                self._cells_read += one.from_frame
            yield one

    def _read(self, entry: Published) -> Sample:
        """The value of one frame: of the grid cell itself where that can be read."""
        kept = sample(self._files, entry, self._spot, self._grids)
        if kept.stride == 1 or self._kept_only:
            return kept
        if self._cells is None:
            from burstlens.clients.opened.frame_cells import FrameCells

            self._cells = FrameCells(
                self._run.directory, self._pictured.product, self._files, self._spot, self._grids
            )
        return self._cells.cell(entry, kept)


def _mark(entry: Published) -> tuple[object, ...]:
    return entry.attempt, entry.line.get("crc32"), entry.t


def _header(head: dict[str, Any], entries: Sequence[Published]) -> str:
    units = f" ({head['units']})" if head["units"] else ""
    key = entries[0].time
    when = "time (UTC)" if valid_time.is_calendar(key) else "frame"
    when = "time (s)" if valid_time.is_elapsed(key) else when
    value = f"{head['variable'] or 'value'}{units}"
    return _csv([when, value, f"step{units}", "grid point", "gap"])


def _line(one: Sample) -> str:
    value = "" if one.finite is None else f"{one.finite:.9g}"
    step = f"{one.step:.4g}" if value and one.step else ""
    index = one.point.index.items() if one.point else ()
    point = " ".join(f"{name} {at}" for name, at in index)
    return _csv([_when(one.time), value, step, point, one.gap.value])


def _when(key: str) -> str:
    if valid_time.is_calendar(key):
        return valid_time.iso(key)
    if valid_time.is_elapsed(key):
        return f"{valid_time.seconds(key):.15g}"
    return key


def _csv(cells: Sequence[str]) -> str:
    """One line; names and units come from other users' files."""
    held = io.StringIO()
    csv.writer(held, lineterminator="").writerow([_cell(cell) for cell in cells])
    return held.getvalue()


_DATE = re.compile(r"-?\d{4,6}-\d\d-\d\dT[\d:.]+")


def _cell(text: str) -> str:
    """A spreadsheet takes a text that begins with one of these for a formula; numbers may, and
    dates."""
    shown = printable(text)
    if _DATE.fullmatch(shown):
        return shown
    try:
        float(shown)
    except ValueError:
        return f"'{shown}" if shown[:1] in set("=+-@") else shown
    return shown
