"""The start of a driver: the process or job that will drive a run.

``start.json`` names the process or the batch job that will be the driver of the next epoch, from
before it exists until the driver itself writes ``status.json``. So a run whose driver loads, or
waits in a queue, is known to be starting, and one whose start has died is known to be lost.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from typing import Any

from msgspec import Struct

from burstlens.core.decode import Clock, Count, record
from burstlens.core.durable import write_json
from burstlens.core.printable import printable
from burstlens.core.run.directory import RunDir
from burstlens.core.run.heartbeat import ticks_of
from burstlens.core.run.record import read_record

LOG_BYTES = 1 << 16


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
