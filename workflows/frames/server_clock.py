"""What the file server calls now: the mtime of a file that is written in the run directory.

mtimes of a folder on the same file system can be compared with it; the clock of this node is never
compared with them, but for what is a day old.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

FRESH_S = 0.5
"""How long one answer serves."""
OLD_S = 86400.0
"""What is so much older than this node's clock is old, whichever clock dated it."""


class ServerClock:
    """The file server's time by the file ``stamp``; ``latest`` is its last answer."""

    def __init__(self, stamp: Path) -> None:
        self._stamp = stamp
        self._asked = 0.0
        self._device = 0
        self.latest: float | None = None

    def quiet_s(self, mtime_ns: int, device: int | None) -> float:
        """Seconds since that mtime of a file on that device; 0.0 if no clock can say it."""
        mtime = mtime_ns / 1e9
        self._ask()
        if self.latest is not None and device == self._device:
            now = self.latest + time.monotonic() - self._asked
            return max(0.0, now - mtime)
        age = time.time() - mtime
        return age if age > OLD_S else 0.0

    def _ask(self) -> None:
        now = time.monotonic()
        if self.latest is not None and now - self._asked < FRESH_S:
            return
        try:
            descriptor = os.open(self._stamp, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                os.pwrite(descriptor, b".", 0)
                found = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        except OSError:  # a full disk, or the run directory is away: no answer
            self.latest = None
            return
        self.latest, self._device, self._asked = found.st_mtime_ns / 1e9, found.st_dev, now
