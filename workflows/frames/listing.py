"""The contents of the model's folder by name: units of output, checkpoints, flags and logs.

Each name is looked at once and only files of the baseline are stat'ed, so a folder with thousands
of finished frames costs one listing and a set difference. That of a run that others started is
listed when its mtime changes.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burstlens.core.existence import PASSING
from burstlens.workflows.frames.cursor import Cursor, Open, Unit
from burstlens.workflows.frames.model_log import logs_of
from burstlens.workflows.models.base import Facts, Model, OutputName
from burstlens.workflows.models.continuation import CheckpointName

Stat = tuple[int, int]
LIST_S = 60.0
"""How often the folders of others are listed although their mtimes have not changed."""
SURE_S = 2.0
"""A folder whose mtime changed less than this ago is listed again: mtimes are coarse."""


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A model's folder at ``path``, its adapter as configured there, and the facts of its settings;
    ``prefix`` stands before its files' names in paths relative to the buffer's root."""

    path: Path
    prefix: str
    model: Model
    facts: Facts

    @classmethod
    def of(
        cls, root: Path, folder: str, model: Model, settings: str | None = None
    ) -> WatchedFolder:
        """That of the folder, relative to ``root``. ``settings``: another one, whose settings are
        those of the whole run, where the model continues from a checkpoint and its own say no more
        than how it does that."""
        path, prefix = root / folder, "" if folder in ("", ".") else f"{folder}/"
        model = model.configured(path)
        return cls(path, prefix, model, model.facts(root / settings if settings else path))

    def paths(self, files: Sequence[str]) -> list[str]:
        return [f"{self.path}/{file}" for file in files]


class Listing:
    """The names in the output folders, sorted by meaning. ``units`` are those that the cursor does
    not have as finished, each with its files by tile number; ``newest`` is the newest unit of each
    line (:attr:`Unit.line`) made in this attempt. ``checkpoints`` are the parts of checkpoints that
    it does not have as done, in the same way: the part is the unit's stream."""

    def __init__(self, folder: WatchedFolder, baseline: Mapping[str, Stat]) -> None:
        self._folder, self._folders = folder.path, folder.facts.folders
        self._model, self.baseline = folder.model, baseline
        self._names: set[str] = set()
        self._stale: dict[str, None] = {}
        self.units: dict[Unit, dict[int, str]] = {}
        self.checkpoints: dict[Unit, dict[int, str]] = {}
        self.newest: dict[str, tuple[tuple[str, int, str], frozenset[int]]] = {}
        self.flags: set[tuple[str, str | None]] = set()
        self.logs: dict[str, bool] = {}

    def refresh(self, cursor: Cursor) -> None:
        """List again. Raises OSError if the model's own folder cannot be listed."""
        names: set[str] = set()
        for sub in self._folders:
            try:
                found = os.listdir(self._folder / sub)
            except OSError as error:
                if not sub or error.errno in PASSING:
                    raise
                continue  # it is not there, or a loop of links: no frame can lie there
            names.update(f"{sub}/{name}" for name in found) if sub else names.update(found)
        if names != self._names:
            for name in names - self._names:
                self._sort(name, cursor, stale=name in self.baseline)
            self._forget(self._names - names)
            self.logs = logs_of(self._model, names)
            self._names = names
        self._wake(cursor)

    def places(self) -> tuple[list[str], list[str]]:
        """The paths of its folders and of its logs, first those that speak for the model."""
        logs = sorted(self.logs, key=lambda name: not self.logs[name])
        return [f"{self._folder}/{sub}" for sub in self._folders], [
            f"{self._folder}/{name}" for name in logs
        ]

    def flag_of(self, files: Iterable[str]) -> bool | None:
        """Whether the model's flags for these files are there; None if they have none."""
        flags = [flag for name in files if (flag := self._model.flag_of(name)) is not None]
        if not flags:
            return None
        return all(
            flag in self._names and (flag not in self.baseline or self._changed(flag))
            for flag in flags
        )

    def has_later(self, unit: Unit, cursor: Cursor) -> bool:
        """Whether a later unit of the same line, with the same tiles, exists or existed."""
        order, tiles = self.newest.get(unit.line, (unit.order, frozenset()))
        if order > unit.order:
            return tiles >= self.units[unit].keys()
        done = cursor.done.get(unit.series)
        return done is not None and done.last > unit.name

    def _sort(self, name: str, cursor: Cursor, *, stale: bool) -> None:
        checkpoint = self._model.checkpoint_of(name)
        output = self._model.identify(name) if checkpoint is None else None
        flag = self._model.ready_flag(name) if output is None else None
        if stale and (checkpoint or output or flag):
            self._stale[name] = None
        elif checkpoint is not None:
            self._add_checkpoint(name, checkpoint, cursor)
        elif output is not None:
            self._add(name, output, cursor)
        elif flag is not None:
            self.flags.add((flag.stream, flag.time))

    def _add(self, name: str, output: OutputName, cursor: Cursor) -> None:
        unit, tile = Unit.of(name, output), output.tile or 0
        order, tiles = self.newest.get(unit.line, (("", 0, ""), frozenset()))
        if unit.order > order:
            self.newest[unit.line] = (unit.order, frozenset({tile}))
        elif unit.order == order:
            self.newest[unit.line] = (order, tiles | {tile})
        if not cursor.is_done(unit):
            self.units.setdefault(unit, {})[tile] = name

    def _add_checkpoint(self, name: str, found: CheckpointName, cursor: Cursor) -> None:
        unit = Unit.of(name, OutputName(found.part, found.time, found.tile))
        if found.common:
            unit = unit._replace(name=found.common)
        if not cursor.checkpoints.is_done(found.time):
            self.checkpoints.setdefault(unit, {})[found.tile or 0] = name

    def finish_checkpoints(self, cursor: Cursor) -> None:
        """Drop those that the cursor has as done."""
        done = cursor.checkpoints.is_done
        for unit in [unit for unit in self.checkpoints if done(unit.time or "")]:
            del self.checkpoints[unit]

    def _forget(self, gone: set[str]) -> None:
        if not gone:
            return
        for name in gone:
            self._stale.pop(name, None)
        for unit, files in list(self.units.items()):
            left = {tile: name for tile, name in files.items() if name not in gone}
            if left != files:
                self.units[unit] = left
        for unit, files in list(self.checkpoints.items()):
            left = {tile: name for tile, name in files.items() if name not in gone}
            if not left:
                del self.checkpoints[unit]
            elif left != files:
                self.checkpoints[unit] = left

    def _wake(self, cursor: Cursor) -> None:
        """Files that were there before the model began count from the moment they change."""
        for name in [name for name in self._stale if self._changed(name)]:
            del self._stale[name]
            self._sort(name, cursor, stale=False)

    def _changed(self, name: str) -> bool:
        try:
            found = os.stat(self._folder / name)
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno in PASSING:
                raise
            return True  # it was readable before
        return (found.st_size, found.st_mtime_ns) != self.baseline[name]


class AttachedListing(Listing):
    """The names in the folders of a run that others started. It keeps the finished units, since a
    rerun writes their names again, and what comes after a file in its line is evidence for it.
    ``identity`` is device and inode of the model's own folder."""

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
        own = os.stat(self._folder)
        self.identity = own.st_dev, own.st_ino
        state: list[tuple[int, int, int] | None] = []
        for sub in self._folders:
            try:
                found = os.stat(self._folder / sub) if sub else own
            except OSError as error:
                if error.errno in PASSING:
                    raise
                state.append(None)
            else:
                state.append((found.st_dev, found.st_ino, found.st_mtime_ns))
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
            if output is None or (unit := Unit.of(name, output)) not in self._every:
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
