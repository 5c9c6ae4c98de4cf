"""What mtimes say of a folder in which others write: how long it is quiet, how often written to.

mtimes are compared with what the server of the folder calls now alone. It is known, in this order,
by the mtime of a file that is touched in the run directory, where that lies on the same file
system; by this machine's clock, where the file system is this machine's own; or by a file of the
folder that was written while it was watched. Else it is not known how old a file is, but for what
is a day old.
"""

from __future__ import annotations

import itertools
import os
import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from burstlens.workflows.frames.cursor import Attached, Open
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


def after_scan(
    state: Attached,
    log_ns: int,
    entries: Iterable[Open],
    clock: ServerClock,
    device: int | None,
    elapsed_s: float,
) -> Attached:
    """The state after a scan that came so long after the one before. ``log_ns`` is when the newest
    log was written, ``entries`` are the files that are not finished, on that ``device``."""
    before, quiet_s, name = state.still
    newest, found = before, None
    if log_ns > newest:
        newest, name = log_ns, next(iter(state.logs), None)
    for entry in entries:
        if entry.mtime_ns > newest:
            newest, name, found = entry.mtime_ns, entry.files[0], entry
    dated = state.dated
    if newest == before:
        quiet_s += elapsed_s
    elif not before:
        age_s = clock.age_s(newest, device)
        quiet_s, dated = age_s or 0.0, age_s is not None
    else:
        # What is found in a later slice of the arrival is as old as it was then.
        quiet_s = found.quiet_s if found else 0.0
        dated = not state.pending or clock.age_s(newest, device) is not None
    return replace(state, still=(newest, quiet_s, name), dated=dated)


def intervals(mtimes: Sequence[float]) -> tuple[float, ...]:
    return tuple(later - earlier for earlier, later in itertools.pairwise(mtimes))


def usual_interval(mtimes: Sequence[float]) -> float:
    """The median; 0.0 if unknown."""
    found = intervals(mtimes)
    return statistics.median(found) if found else 0.0
