"""The shelf: the runs that are served, and their files."""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from burstlens.clients.opened.status import read_status
from burstlens.clients.serving.rows import Row, Rows
from burstlens.core.errors import RunError
from burstlens.core.run.directory import RunDir, open_run_dir
from burstlens.core.run.heartbeat import CONFIRM_S
from burstlens.core.run.places import all_folders
from burstlens.core.run.status_file import RunStatus

FOLDERS = frozenset({"products", "logs"})
FILES = frozenset({"status.json", "journal.jsonl", "recipe.toml", "run.json"})
VOLUME = re.compile(r"journal-[0-9]{6,}\.jsonl")
NAMED = 4
"""Runs that are named when the server starts; the others are counted."""


def parts_of(raw_path: str) -> tuple[str, ...] | None:
    """The parts of a request's path, still percent-encoded; the last is empty after a slash.

    None when a part is hidden, is ``..``, or is not a file name: such paths are never served.

    >>> parts_of("/storm-1/products/w/w%20d01.png")
    ('storm-1', 'products', 'w', 'w d01.png')
    >>> parts_of("/storm-1/%2e%2e/secret") is None
    True
    """
    if not raw_path.startswith("/"):
        return None
    parts = tuple(unquote(part, errors="surrogateescape") for part in raw_path[1:].split("/"))
    for part in parts:
        if part.startswith(".") or "/" in part or "\0" in part:
            return None
    return None if "" in parts[:-1] else parts


@dataclass(frozen=True, slots=True)
class Shelf:
    """All runs of ``folders``, also later ones, or exactly the ``chosen``: folders by run.

    Of two runs of one id in two folders the first counts. Every method reads the disk.
    """

    folders: tuple[Path, ...] = ()
    chosen: Mapping[str, Path] | None = None
    _rows: Rows = field(default_factory=Rows)
    _made: dict[tuple[Path, int], float] = field(default_factory=dict)

    @property
    def only(self) -> str | None:
        """The only run that is served; None for a list of runs."""
        return next(iter(self.chosen)) if self.chosen and len(self.chosen) == 1 else None

    @property
    def title(self) -> str:
        """What is served, for people."""
        if self.chosen is None:
            first, *others = self.folders
            return f"the runs in {' and '.join(map(str, [first, *filter(os.path.isdir, others)]))}"
        names = list(self.chosen)
        more = len(names) - NAMED
        return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")

    @property
    def places(self) -> tuple[list[Path], list[Path]]:
        """The folders of which every run is served, and the directories of chosen runs."""
        if self.chosen is None:
            return list(self.folders), []
        return [], [folder / run for run, folder in self.chosen.items()]

    def locate(self, run: str, parts: Sequence[str]) -> io.FileIO:
        """A handle (O_PATH) on a served file of a run; ``/proc/self/fd/N`` opens what it names.

        Raises FileNotFoundError for what is not served: another run, another file, a folder, a
        special file, anything behind a symbolic link below its folder. Raises OSError.
        """
        if not (
            (len(parts) == 1 and (parts[0] in FILES or VOLUME.fullmatch(parts[0])))
            or (len(parts) > 1 and parts[0] in FOLDERS)
        ):
            raise FileNotFoundError(parts)
        return _descend(self._folder(run), (run, *parts))

    def _folder(self, run: str) -> Path:
        """The folder in which that run lies. Raises FileNotFoundError where none is served."""
        places = self.folders if self.chosen is None else filter(None, [self.chosen.get(run)])
        for place in places:
            # Any other error is about the run that counts.
            with contextlib.suppress(FileNotFoundError):
                _descend(place, (run, "run.json")).close()
                return place
        raise FileNotFoundError(run)

    def status(self, run: str, *, confirm_s: float = CONFIRM_S) -> RunStatus:
        """The run's status, as ``read_status`` reads it. Raises OSError, RunError."""
        found = self.run_dir(run)
        if found.status.is_symlink():
            raise RunError(f"{found.status} is not a file")
        return read_status(str(found.path), confirm_s=confirm_s)

    def run_dir(self, run: str) -> RunDir:
        """The directory of a run that is served. Raises OSError."""
        return RunDir(self._folder(run) / run)

    def rows(self) -> list[Row]:
        """One row per run, the newest first; a run that cannot be read is left out.

        ``path`` and ``picture`` (the newest one, or None) are URLs relative to the list's.
        """
        return self._rows.look(self, list(self._runs()))

    @property
    def complete(self) -> bool:
        """Whether the rows have every run; of a thousand the first look leaves some to the next."""
        return self._rows.complete

    def _runs(self) -> Iterator[RunDir]:
        """The runs, the newest first. Raises OSError when the first folder cannot be read."""
        if self.chosen is not None:
            yield from (RunDir(folder / name) for name, folder in self.chosen.items())
            return
        found: dict[str, tuple[float, Path]] = {}
        for number, place in enumerate(self.folders):
            try:
                entries = list(os.scandir(place)) if place.is_dir() else []
            except OSError:
                if number == 0:
                    raise
                continue
            for entry in entries:
                with contextlib.suppress(OSError):  # not a run, gone by now, or not readable
                    path = place / entry.name
                    found.setdefault(entry.name, (self._age(path, entry.inode()), path))
        for _, path in sorted(found.values(), reverse=True):
            yield RunDir(path)

    def _age(self, path: Path, inode: int) -> float:
        """When the run was made: ``run.json`` never changes. Raises OSError."""
        made = self._made.get((path, inode))
        if made is None:
            made = self._made[path, inode] = (path / "run.json").stat().st_mtime
        return made


def _descend(folder: Path, names: Sequence[str]) -> io.FileIO:
    """A handle on the regular file at the path ``names``, without following links."""
    held = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    for name in names:
        try:
            # O_PATH does not open the file: pipes and devices are not disturbed, and a symbolic
            # link is not followed.
            found = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=held)
        finally:
            os.close(held)
        held = found
    if not stat.S_ISREG(os.fstat(held).st_mode):
        os.close(held)
        raise FileNotFoundError(names)
    return io.FileIO(held)


def shelf_of(place: str | None) -> Shelf:
    """The shelf for a folder of runs, for one run, or for the folders where runs are kept.

    Raises RunError, with near names.
    """
    if place is None:
        return Shelf(all_folders())
    path = Path(os.path.expanduser(place))
    if path.is_dir() and not (path / "run.json").is_file():
        return Shelf((path.resolve(),))
    if os.sep in place and not path.exists():
        raise RunError(f"there is no run and no folder of runs at {path}")
    return shelf_of_runs([open_run_dir(place)])


def shelf_of_runs(runs: Sequence[RunDir]) -> Shelf:
    """The shelf of exactly these runs, in their order; they may lie in several folders.

    Raises RunError when two have one id, as their addresses would be the same.
    """
    chosen: dict[str, Path] = {}
    for run in runs:
        folder = run.path.parent.resolve()
        if chosen.setdefault(run.id, folder) != folder:
            raise RunError(f"two runs are called {run.id}, in {chosen[run.id]} and {folder}")
    return Shelf(chosen=chosen)
