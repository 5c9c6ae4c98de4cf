"""The grid cell at a place, read from each frame's own file where pictures keep fewer points.

A child process reads, so a file server that hangs holds up no command. What cannot be read stays
the value of the nearest point that is kept, with the reason.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from burstlens.clients.opened.points import Files, Grids
from burstlens.clients.opened.series import Sample, gap_of, open_values
from burstlens.clients.opened.spot import Spot
from burstlens.core.child_process import ChildProcess
from burstlens.core.durable import read_json
from burstlens.core.errors import BurstlensError
from burstlens.core.model import Fingerprint, read_shown
from burstlens.core.run.directory import RunDir
from burstlens.core.run.follow import FollowedJournal, Line
from burstlens.core.run.index import Published
from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.values import frame_cell
from burstlens.viz.values.lookup import Grid
from burstlens.viz.values.script import Laid

WAIT_S = 20.0
"""Longest wait for one value; after it no further file is asked for."""
START_S = 300.0
"""Longest wait for the child itself: it loads its libraries, perhaps from a busy file server."""
_OFF, _LOG_OFF = 1.01, 0.51
"""Steps by which a value that is kept may differ from the model's. One that is quantised linearly
may lie a whole step away: it stays on its side of the edges of colours."""
_APART, _FAR = 2, 16
"""So many times what it may be off is another value away from one: any other, and one that shows
by itself that a file is the picture's."""
_MARKS = (b'"frame.ready"', b'"frame.fingerprint"', b'"run.attached"', b'"buffer.',
          b'"product.added"')  # fmt: skip


class FrameCells:
    """Reads cells of one product's frames, in a child process that starts when it is needed.

    ``reasons`` counts why values are those of kept points.
    """

    def __init__(self, run: RunDir, product: str, files: Files, spot: Spot, grids: Grids) -> None:
        self.reasons: Counter[str] = Counter()
        self._run, self._product, self._spot = run, product, spot
        self._files, self._grids = files, grids
        self._frames: _JournalledFrames | None = None
        self._child: ChildProcess | None = None
        self._given_up = ""

    def close(self) -> None:
        """End the child process."""
        if self._child is not None:
            self._child.close()

    def cell(self, entry: Published, kept: Sample) -> Sample:
        """The sample of the cell itself, for one of a thinned field; else ``kept`` as it is."""
        if kept.stride == 1 or kept.point is None or kept.value is None:
            return kept
        try:
            value, index = self._read(entry, kept)
        except (BurstlensError, OSError, ValueError) as error:
            self.reasons[str(error)] += 1
            return kept
        except Exception as error:  # any content of another user's files
            self.reasons[f"its directory or its frames are damaged: {error!r}"] += 1
            return kept
        point = replace(kept.point, index=index)
        return replace(kept, value=value, gap=gap_of(value), step=0.0, point=point, from_frame=True)

    def _read(self, entry: Published, kept: Sample) -> tuple[float, dict[str, int]]:
        assert kept.point is not None
        assert kept.value is not None
        if self._given_up:
            raise TimeoutError(self._given_up)
        if self._frames is None:
            self._frames = _JournalledFrames(self._run)
        stream = str(kept.facts.get("label") or entry.stream)
        source = self._frames.source(stream, entry)
        shown = replace(self._frames.shown(self._product), points=_points(entry))
        grid = self._grids.grid(self._files, kept.point.grid)
        if stream != entry.stream and not grid.on_earth:
            raise ValueError("a nest's file does not say where it lies on its parent's plane")
        reach = [abs(int(axis["index"][1])) for axis in (grid.y, grid.x)]
        index = tuple(kept.point.index.items())
        if len(index) != 2:
            raise ValueError("the points are not of a file's grid")
        off = kept.step * (_LOG_OFF if kept.facts.get("transform") == "log" else _OFF)
        point = frame_cell.KeptPoint(
            (index[0], index[1]), (reach[0], reach[1]), kept.value, off, kept.point.grid,
            self._other(entry, kept, grid),
        )  # fmt: skip
        try:
            if self._child is None:
                self._child = ChildProcess()
                self._child.call(frame_cell.load_readers, wait_s=START_S)
            found: tuple[float, dict[str, int]] = self._child.call(
                frame_cell.read_cell, source, shown, point, self._spot.on(grid), wait_s=WAIT_S
            )
        except (TimeoutError, ChildProcessError) as error:
            late = isinstance(error, TimeoutError)
            self._given_up = "the frames' file server does not answer" if late else str(error)
            raise TimeoutError(self._given_up) from error
        return found

    def _other(
        self, entry: Published, kept: Sample, grid: Grid
    ) -> tuple[tuple[int, int], float, float] | None:
        """Index, value and tolerance of a kept point whose value is far from this one: the furthest
        of the same block, else of the block that differs most, else of all; None where all are
        equal."""
        assert kept.point is not None
        row, column = kept.point.row, kept.point.column
        file, number = open_values(self._files, entry), kept.number

        def candidates() -> Iterator[tuple[Any, tuple[int, int], float]]:
            yield *file.block(row, column, number), _FAR
            yield *file.block(*file.longest_block(number), number), _FAR
            yield file.field(number), (0, 0), _APART

        for values, first, apart in candidates():
            if found := _furthest(values, kept, file.fields[number], apart=apart):
                at, there, off = found
                y, x = grid.index(at[0] + first[0], at[1] + first[1]).values()
                return (y, x), there, off
        return None


def _furthest(
    values: Any, kept: Sample, laid: Laid, *, apart: float
) -> tuple[tuple[int, int], float, float] | None:
    """Row and column, value and tolerance of the one of these values that is the furthest from a
    kept one; None where it is not ``apart`` times its tolerance away."""
    value = kept.value or 0.0
    away = np.abs(values - (value if math.isfinite(value) else 0.0))
    away[~np.isfinite(away)] = -1.0
    row, column = divmod(int(away.argmax()), values.shape[1])
    there = float(values[row, column])
    scale = laid.scale
    is_log = scale.transform == "log"
    off = _LOG_OFF * abs(there) * math.expm1(scale.scale) if is_log else _OFF * scale.scale
    if away[row, column] < 0 or (math.isfinite(value) and away[row, column] <= apart * off):
        return None
    return (row, column), there, off


class _JournalledFrames:
    """Which file has which frame, and what products show of it, as the journal says."""

    def __init__(self, run: RunDir) -> None:
        self._run = run
        self._journal = FollowedJournal(run.journal, marks=_MARKS)
        self._forget()

    def _forget(self) -> None:
        facts: Any = read_json(self._run.facts) or {}
        table = facts.get("table") or {}
        self._files: dict[tuple[str, str, int], tuple[str, int]] = {}
        self._newest: dict[tuple[str, str, str], int] = {}
        """The attempt that wrote a frame of a file last, by file, stream and time: a restart may
        append to the file."""
        self._fingerprints: dict[tuple[int, str], Fingerprint] = {}
        self._products: dict[str, Mapping[str, Any]] = {
            str(product["name"]): product for product in table.get("product") or []
        }
        self._time_variable = str((table.get("simulation") or {}).get("time_variable") or "")
        self._folder = ""
        self._buffer: tuple[str, str] | None = None

    def shown(self, product: str) -> frame_cell.ShownField:
        """What a map shows of its frames, as far as the journal was read. ValueError for other
        products."""
        table = self._products.get(product, {})
        if table.get("kind") != "map":
            raise ValueError(f"a {table.get('kind') or 'product'} shows no field of one file alone")
        if "variable" not in table:
            raise ValueError("the run does not say what the product shows")
        variable = str(table["variable"])
        if of_interval((variable,)):
            raise ValueError(f"{variable} is of the time between two frames")
        crop = table.get("crop") or {}
        level, units = table.get("level"), table.get("units")
        return frame_cell.ShownField(
            variable, None if level is None else int(level), None if units is None else str(units),
            _pairs(crop.get("index")), _pairs(crop.get("range")),
        )  # fmt: skip

    def source(self, stream: str, entry: Published) -> frame_cell.FrameSource:
        """Where the frame of an entry may be. ValueError where the journal does not say."""
        key = stream, entry.time, int(entry.attempt)
        self._look()
        if key not in self._files:
            raise ValueError("the journal does not name the frames' files")
        file, record = self._files[key]
        places = []
        if not self._folder and self._buffer is not None and not self._buffer[0].startswith("$"):
            places.append(os.path.join(*self._buffer, str(entry.attempt), file))
        if self._newest[file, key[0], key[1]] == key[2]:  # else a later attempt wrote it anew
            places += [os.path.join(self._folder, file)] if self._folder else []
            places.append(os.path.join(str(self._run.output), file))
        if not places:
            raise ValueError("a later attempt of the model wrote the frames anew")
        known = self._fingerprints.get((key[2], file))
        return frame_cell.FrameSource(
            tuple(places), record, stream, entry.time, self._time_variable, known
        )

    def _look(self) -> None:
        stretch = self._journal.look()
        if stretch.fresh:
            self._forget()
        for line in stretch.lines:
            self._take(line)

    def _take(self, line: Line) -> None:
        event = line.get("event")
        if event in ("frame.ready", "frame.fingerprint") and line.get("file"):
            key = str(line["stream"]), str(line["time"]), int(line["attempt"])
            file = str(line["file"])
            self._files[key] = file, int(line.get("record") or 0)
            frame = file, key[0], key[1]
            self._newest[frame] = max(key[2], self._newest.get(frame, 0))
            if line.get("fingerprint"):
                device, inode, size, changed = (int(part) for part in line["fingerprint"])
                self._fingerprints[key[2], file] = device, inode, size, changed
        elif event == "run.attached":
            self._folder = str(line["path"])
        elif event in ("buffer.created", "buffer.adopted"):
            self._buffer = str(line["path"]), str(line["folder"])
        elif event == "product.added":
            self._products[str(line["product"])] = line["table"]


def _points(entry: Published) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """The points of further dimensions that a picture shows, by variable."""
    return tuple(
        (name, tuple(sorted(about.points.items())))
        for name, about in read_shown(entry.facts).items()
    )


def _pairs(table: Mapping[str, Any] | None) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (str(name), tuple(at) if isinstance(at, list) else at) for name, at in (table or {}).items()
    )
