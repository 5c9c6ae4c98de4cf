"""What the server of a folder calls now: mtimes of its files are compared with that alone.

It is known, in this order, by the mtime of a file that is touched in the run directory, where that
lies on the same file system; by this machine's clock, where the file system is this machine's own;
or by a file of the folder that was written while it was watched. Else it is not known how old a
file is, but for what is a day old.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from burstlens.workflows.frames.wakeup import LOCAL, file_system

FRESH_S = 0.5
"""How long one answer serves."""
OLD_S = 86400.0
"""What is so much older than this node's clock is old, whichever clock dated it."""


class ServerClock:
    """The time of the server of ``folder``; ``stamp`` is a file of the run directory."""

    def __init__(self, stamp: Path, folder: Path) -> None:
        self._stamp, self._folder = stamp, folder
        self._asked: float | None = None
        self._known: dict[int, float] = {}
        """The servers' times less this process's monotonic clock, by device."""
        self._own: int | None = None
        """The device of the folder, where that is of this machine's own file systems; else -1."""

    def age_s(self, mtime_ns: int, device: int | None) -> float | None:
        """Seconds since that mtime of a file on that device; None if no clock can say it."""
        mtime = mtime_ns / 1e9
        self._ask()
        if device in self._known:
            return max(0.0, self._known[device] + time.monotonic() - mtime)
        age = time.time() - mtime
        if age > OLD_S:
            return age
        return max(0.0, age) if device is not None and device == self._own_device() else None

    def quiet_s(self, mtime_ns: int, device: int | None) -> float:
        """The same; 0.0 if no clock can say it."""
        return self.age_s(mtime_ns, device) or 0.0

    def note(self, mtime_ns: int, device: int) -> None:
        """Note that a file got that mtime while it was watched: its server's time is not less."""
        offset = mtime_ns / 1e9 - time.monotonic()
        self._known[device] = max(offset, self._known.get(device, offset))

    def _ask(self) -> None:
        now = time.monotonic()
        if self._asked is not None and now - self._asked < FRESH_S:
            return
        self._asked = now
        try:
            descriptor = os.open(self._stamp, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                os.utime(descriptor)  # takes no room, as a full run directory has none
                found = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        except OSError:  # the run directory is away: the time before goes on
            return
        self._known[found.st_dev] = found.st_mtime_ns / 1e9 - now

    def _own_device(self) -> int:
        if self._own is None:
            try:
                is_own = file_system(str(self._folder)) in LOCAL
                self._own = os.stat(self._folder).st_dev if is_own else -1
            except OSError:
                return -1  # it is away for now
        return self._own
