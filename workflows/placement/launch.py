"""How a supervised job is started where the site says; here: as a local process.

A job's id is a text that finds it again from any process: it stands in the journal.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from burstlens.cluster_configs.scheduler import QueuePlace
from burstlens.core.durable import read_json
from burstlens.core.errors import SiteError
from burstlens.workflows.placement import job_processes, supervisor

_log = logging.getLogger(__name__)


class Launcher(Protocol):
    """Starts the supervisor of a job folder, finds it again, ends it."""

    @property
    def unreported(self) -> set[Path]:
        """The folders of jobs that have ended without a report, and of which the run directory has
        not taken that yet: it is full or away."""

    @property
    def waits(self) -> Mapping[str, str]:
        """Why jobs that were submitted have not begun yet, by number."""

    @property
    def place(self) -> QueuePlace | None:
        """Where the first of these jobs stands in the scheduler's queue, if that is known."""

    def submit(self, job_folder: Path) -> str:
        """Start the supervisor; returns the job's id.

        Raises SiteError, and OSError while the job's folder is away, as does ``find``.
        """

    def find(self, job_folder: Path) -> str | None:
        """The id of that folder's job, even if it was never noted. Raises SiteError."""

    def alive(self, job_id: str) -> bool:
        """Whether the job waits or runs. Raises SiteError for one that never will begin."""

    def fate(self, job_id: str | None, job_folder: Path) -> str:
        """What became of a job whose supervisor reported no end."""

    def remark(self, job_id: str, *, well: bool) -> str:
        """What the scheduler adds to the end that a supervisor reported; mostly nothing."""

    def clear(self, job_folder: Path) -> bool:
        """End whatever a dead supervisor left behind; returns whether there was anything."""


class LocalLauncher:
    """Runs the supervisor on this machine, in a session of its own. Ids: ``local:PID:TICKS``."""

    def __init__(self) -> None:
        self.waits: Mapping[str, str] = {}
        self.place: QueuePlace | None = None
        self.unreported: set[Path] = set()
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    def submit(self, job_folder: Path) -> str:
        """Start the supervisor; its own messages go to ``supervisor.log`` in the folder."""
        program = Path(supervisor.__file__)
        with (job_folder / "supervisor.log").open("ab") as log:
            try:
                child = subprocess.Popen(
                    [sys.executable, "-P", str(program), str(job_folder)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    cwd="/",
                )
            except OSError as error:
                raise SiteError(f"cannot start the supervisor: {error}") from error
        self._children[child.pid] = child
        _log.info("the supervisor of %s is started: pid %d", job_folder, child.pid)
        return _name(child.pid)

    def find(self, job_folder: Path) -> str | None:
        """Look through ``/proc`` for the supervisor of that folder."""
        wanted = [os.fsencode(supervisor.__file__), os.fsencode(job_folder)]
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[2:4] == wanted:
                    return _name(int(entry.name))
        return None

    def alive(self, job_id: str) -> bool:
        """Whether that very process runs (not one that was given its number later)."""
        pid, ticks = _parts(job_id)
        child = self._children.get(pid)
        if child is not None and child.poll() is not None:
            return False
        return lives(pid, ticks)

    def fate(self, job_id: str | None, job_folder: Path) -> str:
        """Only a kill -9 keeps a supervisor from reporting its end."""
        return f"its supervisor was killed, see {job_folder / 'supervisor.log'}"

    def remark(self, job_id: str, *, well: bool) -> str:
        """Empty: no scheduler knows of the job."""
        return ""

    def clear(self, job_folder: Path) -> bool:
        """End the processes of a job whose supervisor was killed.

        The program itself goes with its supervisor; what it had started may stay: found by its
        process group, and by the job's mark where it has left that.
        """
        started = read_json(job_folder / "started.json") or {}
        group, ticks = started.get("group"), started.get("group_ticks")
        here = started.get("host") == socket.gethostname()

        def left() -> Iterator[int]:
            if here and isinstance(group, int) and isinstance(ticks, int):
                yield from _members(group, ticks)
            yield from job_processes.marked(job_folder)

        return job_processes.end(left)


def _name(pid: int) -> str:
    try:
        return f"local:{pid}:{job_processes.start_ticks(pid)}"
    except OSError:
        return f"local:{pid}:0"


def _parts(job_id: str) -> tuple[int, int]:
    _, pid, ticks = job_id.split(":")
    return int(pid), int(ticks)


def _stat(pid: int) -> tuple[int, int] | None:
    """Process group and start time of a process; None when it is gone or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    state, *rest = stat.rpartition(")")[2].split()
    return None if state == "Z" else (int(rest[1]), int(rest[18]))


def lives(pid: int, ticks: int) -> bool:
    """Whether the process of that number that started at that time runs; a zombie does not."""
    found = _stat(pid)
    return found is not None and found[1] == ticks


def _members(group: int, ticks: int) -> list[int]:
    """The live processes of the group that a process with this start time led.

    The group's number is given to no other process while one of them lives; a leader with another
    start time leads another group.
    """
    leader = _stat(group)
    if leader is not None and leader[1] != ticks:
        return []
    members = []
    for entry in Path("/proc").iterdir():
        found = _stat(int(entry.name)) if entry.name.isdigit() else None
        if found is not None and found[0] == group and found[1] >= ticks:
            members.append(int(entry.name))
    return members
