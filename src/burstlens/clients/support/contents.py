"""The files of a run that its support archive holds, read without following a link."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

LOG_BYTES = 1 << 20
JOURNAL_BYTES = 16 << 20
MOST_BYTES = 64 << 20
"""Of all files together, before they are compressed; the most useful ones come first."""
MOST_FILES = 2000
MOST_VOLUMES = 10**15
FACTS = ("run.json", "recipe.toml", "status.json", "start.json", "journal.jsonl", "sentinel.jsonl")
OF_A_JOB = {"job.json", "job.sh", "job_id", "submitting", "claim", "started.json", "ended.json",
            "host.json", "notices.jsonl", "go.json", "restarted"}  # fmt: skip
OF_PARSL = {".sh", ".submit", ".out", ".err", ".ec", ".stdout", ".stderr", ".log"}
KEYS = "certificates"
"""Folders of Parsl with the keys of its encrypted channels."""
_VOLUME = re.compile(r"journal-([0-9]{6,})\.jsonl")
_DATA = (b"\x89HDF", b"CDF\x01", b"CDF\x02", b"CDF\x05")
_READS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Taken:
    """A file as it goes into the archive: its last ``data`` of ``size`` bytes."""

    name: str
    data: bytes
    size: int
    mtime: float


@dataclass(slots=True)
class Contents:
    """What a run's directory gives. ``unreadable`` and ``left_out`` map names to reasons."""

    unreadable: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def read(self, run: Path) -> Iterator[Taken]:
        """The files, the most useful ones first. Raises OSError when there is no such folder."""
        root = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            room = MOST_BYTES
            for number, name in enumerate(sorted(self._names(root), key=_rank)):
                if number >= MOST_FILES or room <= 0:
                    self.left_out[name] = "the archive is full"
                    continue
                taken = self._take(root, name)
                if taken is not None:
                    room -= len(taken.data)
                    yield taken
        finally:
            os.close(root)

    def _names(self, root: int) -> Iterator[str]:
        def failed(error: OSError) -> None:
            self.unreadable[str(error.filename)] = error.strerror or "cannot be listed"

        walk = os.fwalk(".", dir_fd=root, follow_symlinks=False, onerror=failed)
        for place, folders, files, opened in walk:
            inside = PurePosixPath(place)
            for name in [*folders]:
                path = str(inside / name)
                if not _is_wanted_folder(path):
                    folders.remove(name)
                elif _is_link(name, opened):
                    folders.remove(name)
                    self.left_out[path] = "a link"
            for name in files:
                if is_wanted(path := str(inside / name)):
                    yield path

    def _take(self, root: int, name: str) -> Taken | None:
        try:
            descriptor = _open_inside(root, PurePosixPath(name).parts)
        except OSError as error:
            self.unreadable[name] = error.strerror or str(error)
            return None
        with open(descriptor, "rb") as stream:
            try:
                about = os.fstat(descriptor)
                if not stat.S_ISREG(about.st_mode):
                    self.left_out[name] = "not a regular file"
                    return None
                begin = stream.read(4)
                of_journal = name == "journal.jsonl" or _VOLUME.fullmatch(name)
                limit = JOURNAL_BYTES if of_journal else LOG_BYTES
                stream.seek(max(0, about.st_size - limit))
                data = stream.read(limit)
            except OSError as error:
                self.unreadable[name] = error.strerror or str(error)
                return None
        if begin.startswith(_DATA) or b"\0" in data:
            self.left_out[name] = "data, not text"
            return None
        if about.st_size > limit:  # from a line's beginning: half a secret would not be known
            data = data.partition(b"\n")[2]
        return Taken(name, data, about.st_size, about.st_mtime)


def is_wanted(name: str) -> bool:
    """Whether the file of that name in a run directory belongs into the archive."""
    path = PurePosixPath(name)
    top, *inner = path.parts
    if not inner:
        return name in FACTS or top.startswith("driver-") or bool(_VOLUME.fullmatch(name))
    if top in {"attempts", "steps"}:
        return len(inner) == 2 and (path.name in OF_A_JOB or path.suffix == ".log")
    if top == "parsl":
        return KEYS not in inner and path.suffix in OF_PARSL
    return top == "logs"


def _is_wanted_folder(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return parts[0] in {"attempts", "steps", "parsl", "logs"} and KEYS not in parts


def _is_link(name: str, folder: int) -> bool:
    with suppress(OSError):
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return False


def _rank(name: str) -> tuple[int, str]:
    """Facts, then jobs, then Burstlens's own logs, then Parsl's, then a long journal's older files,
    the newest first; of a model with thousands of logs the rest is left out before these."""
    top, *inner = PurePosixPath(name).parts
    if not inner:
        volume = _VOLUME.fullmatch(name)
        return (0, name) if volume is None else (5, f"{MOST_VOLUMES - int(volume[1]):016d}")
    first = {"attempts": 1, "steps": 1, "parsl": 3}.get(top)
    if first is None:
        first = 2 if inner[0] == "burstlens" or len(inner) == 1 else 4
    return first, name


def _open_inside(root: int, parts: tuple[str, ...]) -> int:
    """Open the file at that path below ``root``; no part of it may be a link. Raises OSError."""
    held = os.dup(root)
    for part in parts[:-1]:
        try:
            inner = os.open(part, _READS | os.O_DIRECTORY, dir_fd=held)
        finally:
            os.close(held)
        held = inner
    try:
        return os.open(parts[-1], _READS, dir_fd=held)
    finally:
        os.close(held)
