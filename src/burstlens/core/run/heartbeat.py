"""Whether a driver lives: by its process on this host, by changes of its heartbeat on any other.

Clocks of nodes differ. So a heartbeat's age alone does not show that a driver is dead: it is
dead when the heartbeat does not change either, by this process's own clock.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from pathlib import Path

from burstlens.core.decode import convert
from burstlens.core.durable import read_json
from burstlens.core.run.directory import RunDir
from burstlens.core.run.status_file import DriverPart

STALE_S = 15.0
CONFIRM_S = 2.0
"""How long to watch a heartbeat that seems old; drivers write one about once per second."""
CERTAIN_S = 86_400.0
"""Clocks are assumed to differ by less than this."""
LOADING_S = 1800.0
"""How long a driver on another host may load before its first heartbeat: from a cold file system
loading takes minutes, and clocks of nodes may differ by as much."""


@dataclass(frozen=True, slots=True)
class _Seen:
    beat: float
    at: float
    moved: bool


_seen: dict[Path, _Seen] = {}


def driver_lives(
    run: RunDir,
    driver: DriverPart,
    *,
    stale_s: float = STALE_S,
    confirm_s: float = CONFIRM_S,
    certain_s: float = CERTAIN_S,
) -> bool:
    """Whether ``driver`` lives. Waits up to ``confirm_s`` seconds from the first read of a
    heartbeat of another host that seems old, or lies in the future. One that is older than
    ``certain_s`` is not watched: its driver is dead, unless a clock was set. Raises OSError."""
    if is_here(driver):
        return state_of(driver) is not None
    if driver.loading:
        stale_s = LOADING_S
    seen = _look(run, driver)
    age = time.time() - seen.beat
    if not seen.moved and age < certain_s and not 0 <= age < stale_s:
        while not seen.moved and time.monotonic() - seen.at < confirm_s:
            time.sleep(0.2)
            seen = _look(run, shown_driver(run) or driver)
        return seen.moved
    still = time.monotonic() - seen.at < stale_s
    return still and (seen.moved or age < stale_s)


def shown_driver(run: RunDir) -> DriverPart | None:
    """The driver in ``status.json``; None where that says nothing of one. Raises OSError."""
    try:
        return convert((read_json(run.status) or {}).get("driver"), DriverPart)
    except ValueError:
        return None


def is_here(driver: DriverPart) -> bool:
    """Whether that process is one of this host."""
    return driver.host == socket.gethostname() and driver.pid is not None


def state_of(driver: DriverPart) -> str | None:
    """The kernel's letter for that process of this host; None when it is gone."""
    return None if driver.pid is None else process_state(driver.pid, driver.ticks)


def process_state(pid: int, ticks: object) -> str | None:
    """The kernel's letter for a process (``S``, ``D``, ``T`` ...) that started at ``ticks``; None
    when it is gone, a zombie, or a later process of the same number."""
    found = _stat(pid)
    return None if found is None or found[0] == "Z" or found[1] != ticks else found[0]


def ticks_of(pid: int) -> int | None:
    """The kernel's start time of a process, which with the pid identifies it."""
    found = _stat(pid)
    return None if found is None else found[1]


def _look(run: RunDir, driver: DriverPart) -> _Seen:
    beat = driver.heartbeat or 0.0
    before = _seen.get(run.path)
    if before is None or before.beat != beat:
        # An earlier heartbeat is another driver's, which has not been seen to change yet.
        moved = before is not None and beat > before.beat
        _seen[run.path] = _Seen(beat, time.monotonic(), moved)
    return _seen[run.path]


def _stat(pid: int) -> tuple[str, int] | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return state, int(fields[18])
