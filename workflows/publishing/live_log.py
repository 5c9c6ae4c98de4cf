"""The model's log while it grows: what the watcher reports of it, in ``logs/model.log``.

The driver cannot see the buffer; readers see the run directory alone. The whole log comes home
when the model has ended, or lies in the folder that the run looks at.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from burstlens.core.printable import printable
from burstlens.core.quantity import counted
from burstlens.core.run.directory import RunDir

LIMIT_BYTES = 1 << 26
"""Size at which the file is renamed to ``model.log.1``, in place of the one before."""
HELD_LINES = 4000
"""Lines that are held while the run directory is away; further ones are counted."""


class LiveLog:
    """Appends lines of the model's log. It never stops a run: what cannot be written now is written
    later, and what is left out is counted in the file. Driver's thread only."""

    def __init__(self, run: RunDir, epoch: int = 1) -> None:
        self._run = run
        self._path = run.model_log
        self._epoch = epoch
        self._attempt: int | None = None
        self._held: list[str] = []
        self._missed = 0

    def add(self, attempt: int, lines: Sequence[str], missed: int = 0) -> None:
        """Add new lines of that attempt's log, before which ``missed`` more came."""
        if lines and attempt != self._attempt:
            self._attempt = attempt
            self._held.append(f"--- attempt {attempt}, as driver {self._epoch} reads it ---")
        if missed:
            self._held.append(
                f"--- {counted(missed, 'line')} left out here: they came too fast ---"
            )
        self._held += map(printable, lines)
        surplus = len(self._held) - HELD_LINES
        if surplus > 0:
            self._missed += surplus
            del self._held[:surplus]
        self.write()

    def write(self) -> None:
        """Write what is held."""
        if not self._held:
            return
        gap = [f"--- {counted(self._missed, 'line')} left out here ---"] if self._missed else []
        text = "".join(f"{line}\n" for line in [*gap, *self._held])
        with contextlib.suppress(OSError):
            self._append(text.encode())
            self._held, self._missed = [], 0

    def _append(self, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        handle = os.open(self._path, flags | os.O_CLOEXEC, 0o666)
        try:
            before = os.fstat(handle).st_size
            done = os.write(handle, data)
            if done < len(data):  # a full disk: half a piece would be written again
                os.ftruncate(handle, before)
                raise OSError("short write")
        finally:
            os.close(handle)
        if before + done > LIMIT_BYTES:
            with contextlib.suppress(OSError):  # the lines are written
                os.replace(self._path, self._path.with_name("model.log.1"))


def log_names(run: RunDir, most: int = 40) -> list[str]:
    """The logs of a run that readers are offered, relative to ``logs/``: the live one, then the
    driver's, then those that came home, a dozen per job. Empty files are left out. Never raises
    OSError."""
    found = [run.model_log.name, "burstlens/driver.log"]
    with contextlib.suppress(OSError):
        jobs = sorted(entry.name for entry in os.scandir(run.logs) if entry.is_dir())
        for job in jobs:
            if job.startswith(("attempt-", "step-")):
                with contextlib.suppress(OSError):
                    names = sorted(entry.name for entry in os.scandir(run.logs / job))
                    shown = [name for name in names if not name.startswith(".")][:12]
                    found += [f"{job}/{name}" for name in shown]
    return [name for name in found if _has_text(run, name)][:most]


def _has_text(run: RunDir, name: str) -> bool:
    path = run.logs / name
    try:
        return not path.is_symlink() and path.is_file() and path.stat().st_size > 0
    except OSError:
        return False
