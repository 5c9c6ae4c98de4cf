"""One alarm for each time that a disk is full, however many writes it refuses."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from burstlens.core.errors import StagingError
from burstlens.core.outcome import is_full
from burstlens.core.quantity import counted, show_bytes


class FullDisk:
    """What a driver says of the disks with its run directory and with the buffer."""

    def __init__(self, run: Path, alarm: Callable[[str], None]) -> None:
        self._run, self._alarm = run, alarm
        self._known: set[str] = set()
        self._free = ""

    def take(self, error: OSError | StagingError, *, waiting: int = 0, bytes_each: int = 0) -> bool:
        """Whether the error is about a full disk; then an alarm says where and what is needed, once
        until there is room again. ``waiting`` products need about ``bytes_each``. What is free
        there is what ``measure`` has seen: the loop calls it ahead of each such event."""
        if not is_full(error):
            return False
        path = error.path if isinstance(error, StagingError) else str(error.filename or self._run)
        inside = Path(path).is_relative_to(self._run)
        place = f"the run directory {self._run}" if inside else path
        known = "run" if inside else "buffer"
        if known not in self._known:
            self._known.add(known)
            why = os.strerror(error.errno or 0) + (self._free if inside else "")
            self._alarm(
                f"no room for {place} ({why})"
                f"{_needed(waiting, bytes_each)}; the run goes on when there is room"
            )
        return True

    def measure(self) -> None:
        """See what is free where the run directory lies, for the alarm. The driver sees no
        buffer."""
        self._free = ""
        with contextlib.suppress(OSError):
            found = os.statvfs(self._run)
            free, size = (count * found.f_frsize for count in (found.f_bavail, found.f_blocks))
            self._free = f", {show_bytes(free)} of {show_bytes(size)} free"

    def room(self) -> None:
        """Note that the disks take what is written again."""
        self._known.clear()


def _needed(waiting: int, bytes_each: int) -> str:
    if not waiting:
        return ""
    each = f", which need about {show_bytes(waiting * bytes_each)}" if bytes_each else ""
    return f" and {counted(waiting, 'product')} that wait{each}"
