"""The contents of the model's folder by name: units of output, ready flags and logs.

Each name is looked at once and only files of the baseline are stat'ed, so a folder with thousands
of finished frames costs one listing and a set difference.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burstlens.core.existence import PASSING
from burstlens.workflows.frames.cursor import Cursor, Unit
from burstlens.workflows.frames.model_log import logs_of
from burstlens.workflows.models.base import Facts, Model, OutputName

Stat = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A model's folder at ``path``, its adapter as configured there, and the facts of its settings;
    ``prefix`` stands before its files' names in paths relative to the buffer's root."""

    path: Path
    prefix: str
    model: Model
    facts: Facts

    @classmethod
    def of(cls, root: Path, folder: str, model: Model) -> WatchedFolder:
        """That of the folder, relative to ``root``."""
        path, prefix = root / folder, "" if folder in ("", ".") else f"{folder}/"
        model = model.configured(path)
        return cls(path, prefix, model, model.facts(path))

    def paths(self, files: Sequence[str]) -> list[str]:
        """The paths of those files."""
        return [f"{self.path}/{file}" for file in files]


class Listing:
    """The names in the output folders, sorted by meaning.

    ``units`` are those that the cursor does not have as finished, each with its files by tile
    number; ``newest`` is the newest unit of each line (:attr:`Unit.line`) made in this attempt.
    """

    def __init__(self, folder: WatchedFolder, baseline: Mapping[str, Stat]) -> None:
        self._folder, self._folders = folder.path, folder.facts.folders
        self._model, self.baseline = folder.model, baseline
        self._names: set[str] = set()
        self._stale: dict[str, OutputName] = {}
        self._stale_flags: dict[str, OutputName] = {}
        self.units: dict[Unit, dict[int, str]] = {}
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
                self._sort(name, cursor)
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

    def drop(self, unit: Unit) -> None:
        """Stop listing that unit."""
        self.units.pop(unit, None)

    def _sort(self, name: str, cursor: Cursor) -> None:
        output = self._model.identify(name)
        if output is not None:
            if name in self.baseline:
                self._stale[name] = output
            else:
                self._add(name, output, cursor)
        elif (flag := self._model.ready_flag(name)) is not None:
            if name in self.baseline:
                self._stale_flags[name] = flag
            else:
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

    def _forget(self, gone: set[str]) -> None:
        if not gone:
            return
        for name in gone:
            self._stale.pop(name, None)
            self._stale_flags.pop(name, None)
        for unit, files in list(self.units.items()):
            left = {tile: name for tile, name in files.items() if name not in gone}
            if left != files:
                self.units[unit] = left

    def _wake(self, cursor: Cursor) -> None:
        """Files that were there before the model began count from the moment they change."""
        for name in [name for name in self._stale if self._changed(name)]:
            self._add(name, self._stale.pop(name), cursor)
        for name in [name for name in self._stale_flags if self._changed(name)]:
            flag = self._stale_flags.pop(name)
            self.flags.add((flag.stream, flag.time))

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
