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
from burstlens.core.run.heartbeat import process_state, ticks_of
from burstlens.workflows.placement import job_processes, supervisor

_log = logging.getLogger(__name__)


class Launcher(Protocol):
    """Starts the supervisor of a job folder, finds it again, ends it."""

    unreported: set[Path]
    """The folders of jobs that have ended without a report, and of which the run directory has not
    taken that yet: it is full or away."""

    @property
    def waits(self) -> Mapping[str, str]:
        """Why jobs that were submitted have not begun yet, by number."""
        return {}

    @property
    def place(self) -> QueuePlace | None:
        """Where the first of these jobs stands in the scheduler's queue, if that is known."""
        return None

    def submit(self, job_folder: Path) -> str:
        """Start the supervisor; returns the job's id. Raises SiteError, and OSError while the job's
        folder is away, as does ``find``."""

    def find(self, job_folder: Path) -> str | None:
        """The id of that folder's job, even if it was never noted. Raises SiteError."""

    def alive(self, job_id: str) -> bool:
        """Whether the job waits or runs. Raises SiteError for one that never will begin."""

    def fate(self, job_id: str | None, job_folder: Path) -> str:
        """What became of a job whose supervisor reported no end."""

    def remark(self, job_id: str, *, well: bool, grace_s: float | None) -> str:
        """What the scheduler adds to the end that a supervisor reported; mostly nothing. ``well``:
        the program ended well. ``grace_s``: how long the job may take for its own end, which is
        waited for; None: it is not."""
        return ""

    def submit_ahead(self, job_folder: Path, after: str) -> str:
        """Start the supervisor of that folder when the job ``after`` has ended: it waits for an
        attempt. Raises SiteError, where no job can wait too."""
        raise SiteError("jobs are submitted ahead to a scheduler alone")

    def take_back(self, job_folder: Path) -> bool:
        """Whether the attempt of that folder was given to a job that waited for one, and has ended
        before it began it: then it is to be submitted."""
        return False

    def is_requeued(self, job_id: str) -> bool:
        """Whether the scheduler starts the job of an attempt once more, which then waits for the
        next attempt."""
        return False

    def cancel_waiting(self) -> None:
        """Cancel the jobs that wait for an attempt. Raises SiteError, and OSError."""
        return

    def ended_by(self, job_id: str) -> str:
        """What its scheduler did to end the job: ``preempted``, ``cancelled`` or ``timeout``;
        empty where the job ended by itself, or that is not known."""
        return ""

    def clear(self, job_folder: Path) -> bool:
        """End whatever a dead supervisor left behind; returns whether there was anything. A batch
        job needs none: a supervisor that finds ``ended.json`` written by another process ends its
        program, and a job's host what a supervisor has left that was killed."""
        return False


class LocalLauncher(Launcher):
    """Runs the supervisor on this machine, in a session of its own. Ids: ``local:PID:TICKS``."""

    def __init__(self) -> None:
        self.unreported: set[Path] = set()
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    def submit(self, job_folder: Path) -> str:
        """Start the supervisor; its own messages go to ``supervisor.log`` in the folder."""
        with (job_folder / "supervisor.log").open("ab") as log:
            try:
                words = [sys.executable, "-P", supervisor.__file__, str(job_folder)]
                child = job_processes.start_session(words, log, cwd="/")
            except OSError as error:
                raise SiteError(f"cannot start the supervisor: {error}") from error
        self._children[child.pid] = child
        _log.info("the supervisor of %s is started: pid %d", job_folder, child.pid)
        return _name(child.pid)

    def find(self, job_folder: Path) -> str | None:
        """Look through ``/proc`` for the supervisor of that folder."""
        wanted = [os.fsencode(supervisor.__file__), os.fsencode(job_folder)]
        for pid in job_processes.all_pids():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[2:4] == wanted:
                    return _name(pid)
        return None

    def alive(self, job_id: str) -> bool:
        """Whether that very process runs (not one that was given its number later)."""
        pid, ticks = map(int, job_id.split(":")[1:])
        child = self._children.get(pid)
        if child is not None and child.poll() is not None:
            return False
        return process_state(pid, ticks) is not None

    def fate(self, job_id: str | None, job_folder: Path) -> str:
        """Only a kill -9 keeps a supervisor from reporting its end."""
        return f"its supervisor was killed, see {job_folder / 'supervisor.log'}"

    def clear(self, job_folder: Path) -> bool:
        """End the processes of a job whose supervisor was killed. The program itself goes with its
        supervisor; what it had started may stay: found by its process group, and by the job's mark
        where it has left that."""
        started = read_json(job_folder / "started.json") or {}
        group, ticks = started.get("group"), started.get("group_ticks")
        here = started.get("host") == socket.gethostname()

        def left() -> Iterator[int]:
            if here and isinstance(group, int) and isinstance(ticks, int):
                yield from job_processes.members(group, ticks)
            yield from job_processes.marked(job_folder)

        return job_processes.end(left)


def _name(pid: int) -> str:
    return f"local:{pid}:{ticks_of(pid) or 0}"
