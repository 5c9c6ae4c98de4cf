"""A supervised job's folder in the run directory, which may be away for a while.

That a file is missing there means something only while the folder itself can be seen: an unmounted
or renamed run directory has neither. All names come from one listing, so of one folder. One
supervisor claims it. Standard library alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burstlens.core.durable import make_exclusive, read_json
from burstlens.core.existence import again, check_existence, patiently
from burstlens.core.whole_copy import rename
from burstlens.workflows.placement.job_processes import start_ticks


class ClaimedFolder:
    """The folder, while its claim is this process's ``claim``: nothing is written otherwise."""

    def __init__(self, folder: Path, claim: str) -> None:
        """Claim it, for as long as it takes. Raises FileExistsError when another process has."""
        self.path, self._claim = folder, claim
        patiently(lambda: make_exclusive(folder / "claim", claim))

    def is_anothers(self) -> bool:
        """Whether it is another run's, made after this one's was deleted. Waits while that cannot
        be seen; raises OSError in the end."""
        return patiently(self._is_anothers)

    def _is_anothers(self) -> bool:
        try:
            return (self.path / "claim").read_bytes() != self._claim.encode()
        except FileNotFoundError:  # away, or not claimed yet by the other run's supervisor
            return check_existence(self.path)

    def write(
        self, name: str, value: Mapping[str, Any], first: Callable[[], None] = lambda: None
    ) -> None:
        """Write a file whole, trying again while the run directory is away or full, and before it
        what ``first`` writes, which raises OSError for that."""
        part = self.path / f".{name}.part"

        def write() -> None:
            if self._is_anothers():
                return
            first()
            with part.open("w", encoding="utf-8") as stream:
                json.dump(value, stream)
                stream.flush()
                os.fsync(stream.fileno())
            rename(part, self.path / name)

        patiently(write)


def names_in(job_folder: Path) -> frozenset[str]:
    """The names in the folder of a job whose ``job.json`` was written. Raises OSError while the
    folder cannot be seen: because it is away, or because an empty mount point is in its place."""
    names = frozenset(os.listdir(job_folder))
    if "job.json" not in names:
        raise FileNotFoundError(errno.ENOENT, "the job's folder is away", str(job_folder))
    return names


def has_ended(job_folder: Path) -> bool:
    """Whether its supervisor has reported the end: asked again for ten seconds while that cannot be
    seen, then no."""
    try:
        return again(lambda: check_existence(job_folder / "ended.json"))
    except OSError:
        return False


def has_stopped(job_folder: Path, *, must_begin: bool) -> bool:
    """Whether the job's program was started on this machine and its process is gone, or the job has
    not begun and need not. False while that cannot be seen."""
    try:
        names = names_in(job_folder)
        if "started.json" not in names:
            return not must_begin and "claim" not in names
        started = read_json(job_folder / "started.json") or {}
        if started.get("host") != socket.gethostname():
            return False
        pid, ticks = started.get("group"), started.get("group_ticks")
    except OSError:
        return False
    try:
        return isinstance(pid, int) and start_ticks(pid) != ticks
    except OSError:  # no such process
        return True


def lacks(job_folder: Path, name: str) -> bool:
    """Whether the job has left no file of that name; False while that cannot be seen."""
    try:
        return name not in names_in(job_folder)
    except OSError:
        return False


def names_if_made(folder: Path, run: Path) -> frozenset[str]:
    """The names in a folder of the run directory that may not have been made yet. Raises OSError
    while the run directory cannot be seen."""
    with contextlib.ExitStack() as stack:
        descriptor = os.open(run, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, descriptor)
        os.stat("control", dir_fd=descriptor)  # an empty mount point has none
        name = os.path.relpath(folder, run)
        try:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=descriptor)
        except FileNotFoundError:
            return frozenset()
        stack.callback(os.close, inner)
        return frozenset(os.listdir(inner))
