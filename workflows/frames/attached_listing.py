"""The folder of a run that others started, by name: listed when its mtime changes.

Other than :class:`.Listing` it keeps the finished units, since a rerun writes their names again,
and what comes after a file in its line is evidence for it.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections import defaultdict

from burstlens.core.existence import PASSING
from burstlens.workflows.frames.cursor import Cursor, Open, Unit
from burstlens.workflows.frames.listing import Listing, WatchedFolder
from burstlens.workflows.models.base import OutputName

LIST_S = 60.0
"""How often the folders are listed although their mtimes have not changed."""
SURE_S = 2.0
"""A folder whose mtime changed less than this ago is listed again: mtimes are coarse."""


class AttachedListing(Listing):
    """The names in the folders. ``identity`` is device and inode of the model's own folder."""

    def __init__(self, folder: WatchedFolder) -> None:
        super().__init__(folder, {})
        self.identity: tuple[int, int] | None = None
        self._state: object = None
        self._since = 0.0
        self._listed = -math.inf
        self._every: dict[Unit, dict[int, str]] = {}
        self._lines: defaultdict[str, list[Unit]] = defaultdict(list)
        self._sorted: set[str] = set()

    def refresh(self, cursor: Cursor) -> None:
        """List again if a folder has changed. Raises OSError if the model's own folder cannot be
        listed."""
        now, state = time.monotonic(), self._look()
        if state != self._state:
            self._state, self._since = state, now
        if now - self._listed >= LIST_S or now - self._since < SURE_S:
            super().refresh(cursor)
            self._listed = now
        else:
            self._wake(cursor)

    def _look(self) -> tuple[tuple[int, int, int] | None, ...]:
        state: list[tuple[int, int, int] | None] = []
        for sub in self._folders:
            try:
                found = os.stat(self._folder / sub)
            except OSError as error:
                if not sub or error.errno in PASSING:
                    raise
                state.append(None)
                continue
            state.append((found.st_dev, found.st_ino, found.st_mtime_ns))
            if not sub:
                self.identity = found.st_dev, found.st_ino
        if "" not in self._folders:
            found = os.stat(self._folder)
            self.identity = found.st_dev, found.st_ino
        return tuple(state)

    def written_after(self, entry: Open) -> Unit | None:
        """A later unit of its line, one of the next two or the newest, that was written after it,
        tile by tile; None if none was."""
        line = self._line(entry.unit.line)
        place = line.index(entry.unit) + 1 if entry.unit in line else len(line)
        mine = dict(zip(sorted(self._every.get(entry.unit, ())), entry.stats, strict=False))
        for unit in dict.fromkeys((*line[place : place + 2], *line[place:][-1:])):
            files = self._every.get(unit, {})
            with contextlib.suppress(OSError, KeyError):
                if all(
                    os.stat(self._folder / files[tile]).st_mtime_ns >= stat.mtime_ns
                    for tile, stat in mine.items()
                ):
                    return unit
        return None

    def finished(self, cursor: Cursor, count: int) -> list[str]:
        """The files of some finished units, the latest that were found."""
        files: list[str] = []
        for unit in reversed(self._every):
            if len(files) >= count:
                break
            if cursor.is_done(unit):
                files += self._every[unit].values()
        return files

    def _line(self, name: str) -> list[Unit]:
        line = self._lines[name]
        if name not in self._sorted:
            line.sort(key=lambda unit: unit.order)
            self._sorted.add(name)
        return line

    def _add(self, name: str, output: OutputName, cursor: Cursor) -> None:
        super()._add(name, output, cursor)
        unit = Unit.of(name, output)
        if unit not in self._every:
            self._every[unit] = {}
            self._lines[unit.line].append(unit)
            self._sorted.discard(unit.line)
        self._every[unit][output.tile or 0] = name

    def _forget(self, gone: set[str]) -> None:
        super()._forget(gone)
        for name in gone:
            output = self._model.identify(name)
            unit = None if output is None else Unit.of(name, output)
            if output is None or unit is None or unit not in self._every:
                continue
            self._every[unit].pop(output.tile or 0, None)
            if not self._every[unit]:
                del self._every[unit]
                self._lines[unit.line].remove(unit)

    def _wake(self, cursor: Cursor) -> None:
        """Finished units count again from the moment at which they were written anew."""
        again = cursor.attached.again if cursor.attached else frozenset()
        if again:
            for unit, files in self._every.items():
                if unit.name in again and unit not in self.units:
                    self.units[unit] = dict(files)
