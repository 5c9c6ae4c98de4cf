"""Whether a driver lives: by its process on this host, by changes of its heartbeat on any other.

Clocks of nodes differ. So a heartbeat's age alone does not show that a driver is dead: it is
dead when the heartbeat does not change either, by this process's own clock.

``start.json`` names the process or the batch job that will be the driver of the next epoch, from
before it exists until the driver itself writes ``status.json``. So a run whose driver loads, or
waits in a queue, is known to be starting, and one whose start has died is known to be lost.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from burstlens.core.decode import Clock, Count, convert, record
from burstlens.core.durable import read_json, write_json
from burstlens.core.printable import printable
from burstlens.core.run.directory import RunDir
from burstlens.core.run.record import read_record
from burstlens.core.run.status_file import DriverPart

STALE_S = 15.0
CONFIRM_S = 2.0
"""How long to watch a heartbeat that seems old; drivers write one about once per second."""
CERTAIN_S = 86_400.0
"""Clocks are assumed to differ by less than this."""
LOADING_S = 1800.0
"""How long a driver on another host may load before its first heartbeat: from a cold file system
loading takes minutes, and clocks of nodes may differ by as much."""
LOG_BYTES = 1 << 16


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


class Start(Struct, frozen=True):
    """What will drive the run in that epoch: a process of ``host``, or the batch job ``job`` of
    that ``scheduler``.

    ``asked`` is the time of the request in Unix seconds; the driver's messages begin at
    ``log_from`` bytes of its log.
    """

    epoch: Count
    asked: Clock
    host: str
    pid: Count | None = None
    ticks: Count | None = None
    job: str | None = None
    log_from: Count | None = None
    scheduler: str | None = None

    @property
    def who(self) -> str:
        """As text: ``pid 12 on login1``."""
        return f"job {self.job}" if self.job else f"pid {self.pid} on {self.host}"


def note_start(
    run: RunDir, epoch: int, pid: int, *, job: str | None = None, scheduler: str | None = None,
    log_from: int | None = None,
) -> None:  # fmt: skip
    """Record what will drive the run in that epoch. Raises OSError."""
    start = Start(epoch, round(time.time(), 3), socket.gethostname(), pid, ticks_of(pid), job,
                  log_from, scheduler)  # fmt: skip
    write_json(run.start, record(start))


def read_start(run: RunDir) -> Start | None:
    """The latest start; None in the directory of an older version. Raises RunError."""
    return read_record(run.start, Start, f"delete it, and burstlens resume {run.id}")


def last_words(run: RunDir, start: Start) -> str:
    """The final message of a dead driver in its log; empty without one."""
    if start.log_from is None:
        return ""
    with contextlib.suppress(OSError), (run.logs / "driver.log").open("rb") as log:
        size = os.fstat(log.fileno()).st_size
        log.seek(max(start.log_from, size - LOG_BYTES))
        text = log.read(LOG_BYTES).decode(errors="replace")
        said = text.rpartition("burstlens: ")[2].strip().splitlines()
        return printable(said[0] if "burstlens: " in text else said[-1]) if said else ""
    return ""


def driver_process() -> dict[str, Any]:
    """This process, as a driver identifies itself in ``status.json`` and in its claim."""
    pid = os.getpid()
    return {"host": socket.gethostname(), "pid": pid, "ticks": ticks_of(pid)}
