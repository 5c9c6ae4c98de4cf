"""Whether a driver lives: its process on this host, its heartbeat's changes on any other.

Clocks of nodes differ. So one look at a heartbeat's age convinces nobody that a driver is dead:
it is when the heartbeat does not change either, by this process's own clock.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlens.durable import read_json
from burstlens.run_dir import RunDir

STALE_S = 15.0
CONFIRM_S = 2.0
"""How long a heartbeat is looked at that seems old; drivers write one about once a second."""
CERTAIN_S = 86_400.0
"""Beyond this no clock is wrong."""


@dataclass(frozen=True, slots=True)
class _Seen:
    beat: float
    at: float
    moved: bool


_seen: dict[Path, _Seen] = {}


def driver_lives(
    run: RunDir,
    driver: dict[str, Any],
    *,
    stale_s: float = STALE_S,
    confirm_s: float = CONFIRM_S,
) -> bool:
    """Whether ``driver`` (host, pid, ticks, heartbeat, as in ``status.json``) lives.

    Waits up to ``confirm_s`` seconds from the first look at a heartbeat of another host that
    seems old, or not yet due. Raises OSError.
    """
    if driver.get("host") == socket.gethostname() and isinstance(driver.get("pid"), int):
        return _runs(driver["pid"], driver.get("ticks"))
    seen = _look(run, driver)
    age = time.time() - seen.beat
    if not seen.moved and age < CERTAIN_S and not 0 <= age < stale_s:
        while not seen.moved and time.monotonic() - seen.at < confirm_s:
            time.sleep(0.2)
            found = (read_json(run.status) or {}).get("driver")
            seen = _look(run, found if isinstance(found, dict) else driver)
        return seen.moved
    still = time.monotonic() - seen.at < stale_s
    return still and (seen.moved or age < stale_s)


def _look(run: RunDir, driver: dict[str, Any]) -> _Seen:
    beat = float(driver.get("heartbeat") or 0.0)
    before = _seen.get(run.path)
    if before is None or before.beat != beat:
        # An earlier one is another driver's, of which nothing is known yet.
        moved = before is not None and beat > before.beat
        _seen[run.path] = _Seen(beat, time.monotonic(), moved)
    return _seen[run.path]


def _runs(pid: int, ticks: object) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    state, *fields = stat.rpartition(")")[2].split()
    # The start time tells it from a later process of the same number; a zombie drives nothing.
    return state != "Z" and int(fields[18]) == ticks
