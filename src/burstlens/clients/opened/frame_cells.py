"""The grid cell at a place, read from each frame's own file where pictures keep fewer points.

A child process reads, so a file server that hangs holds up no command. What cannot be read stays
the value of the nearest point that is kept, with the reason.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from burstlens.clients.opened.points import Files, Grids
from burstlens.clients.opened.series import Sample, gap_of
from burstlens.clients.opened.spot import Spot
from burstlens.core.child_process import ChildProcess
from burstlens.core.durable import read_json
from burstlens.core.errors import BurstlensError
from burstlens.core.run.directory import RunDir
from burstlens.core.run.follow import FollowedJournal, Line
from burstlens.core.run.index import Published
from burstlens.viz.diagnostics.interval import of_interval
from burstlens.viz.values.frame_cell import FrameSource, KeptPoint, ShownField, read_cell

WAIT_S = 20.0
"""Longest wait for one value; after it no further file is asked for."""
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
        shown = self._frames.shown(self._product)
        grid = self._grids.grid(self._files, kept.point.grid)
        if stream != entry.stream and not grid.on_earth:
            raise ValueError("a nest's file does not say where it lies on its parent's plane")
        reach = [abs(int(axis["index"][1])) for axis in (grid.y, grid.x)]
        index = tuple(kept.point.index.items())
        if len(index) != 2:
            raise ValueError("the points are not of a file's grid")
        point = KeptPoint((index[0], index[1]), (reach[0], reach[1]), kept.value, kept.step,
                          kept.point.grid)  # fmt: skip
        if self._child is None:
            self._child = ChildProcess()
        try:
            found: tuple[float, dict[str, int]] = self._child.call(
                read_cell, source, shown, point, self._spot.on(grid), wait_s=WAIT_S
            )
        except (TimeoutError, ChildProcessError) as error:
            late = isinstance(error, TimeoutError)
            self._given_up = "the frames' file server does not answer" if late else str(error)
            raise TimeoutError(self._given_up) from error
        return found


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
        self._products: dict[str, Mapping[str, Any]] = {
            str(product["name"]): product for product in table.get("product") or []
        }
        self._time_variable = str((table.get("simulation") or {}).get("time_variable") or "")
        self._folder = ""
        self._buffer: tuple[str, str] | None = None

    def shown(self, product: str) -> ShownField:
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
        return ShownField(
            variable, None if level is None else int(level), None if units is None else str(units),
            _pairs(crop.get("index")), _pairs(crop.get("range")),
        )  # fmt: skip

    def source(self, stream: str, entry: Published) -> FrameSource:
        """Where the frame of an entry may be. ValueError where the journal does not say."""
        key = stream, entry.time, int(entry.attempt)
        if key not in self._files:
            self._look()
        if key not in self._files:
            raise ValueError("the journal does not name the frames' files")
        file, record = self._files[key]
        places = [os.path.join(str(self._run.output), file)]
        if self._folder:
            places.insert(0, os.path.join(self._folder, file))
        elif self._buffer is not None and not self._buffer[0].startswith("$"):
            places.insert(0, os.path.join(*self._buffer, str(entry.attempt), file))
        return FrameSource(tuple(places), record, stream, entry.time, self._time_variable)

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
            self._files[key] = str(line["file"]), int(line.get("record") or 0)
        elif event == "run.attached":
            self._folder = str(line["path"])
        elif event in ("buffer.created", "buffer.adopted"):
            self._buffer = str(line["path"]), str(line["folder"])
        elif event == "product.added":
            self._products[str(line["product"])] = line["table"]


def _pairs(table: Mapping[str, Any] | None) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (str(name), tuple(at) if isinstance(at, list) else at) for name, at in (table or {}).items()
    )
