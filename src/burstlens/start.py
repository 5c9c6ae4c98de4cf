"""The start of a driver: who was asked to drive a run, and whether it can still begin.

``start.json`` names the process or the batch job that will be the driver of the next epoch, from
before it exists until the driver itself writes ``status.json``. So a run whose driver loads, or
waits in a queue, is known to be starting, and one whose start has died is known to be lost.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from burstlens.durable import write_json
from burstlens.heartbeat import LOADING_S, process_state, ticks_of
from burstlens.printable import printable
from burstlens.record import read_record
from burstlens.run_dir import RunDir
from burstlens.shape import CLOCK

if TYPE_CHECKING:
    from burstlens.cluster_configs.slurm import JobState, Slurm

_SHAPE = {"epoch": int, "asked": CLOCK, "host": str, "pid?": int, "ticks?": int, "job?": str,
          "log_from?": int}  # fmt: skip
LOG_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Start:
    """Who will drive the run in that epoch: a process of ``host``, or the batch job ``job``.

    ``asked`` is in Unix seconds; the driver's messages begin at ``log_from`` bytes of its log.
    """

    epoch: int
    asked: float
    host: str
    pid: int | None = None
    ticks: int | None = None
    job: str | None = None
    log_from: int | None = None

    @property
    def who(self) -> str:
        """In words: ``pid 12 on login1``."""
        return f"job {self.job}" if self.job else f"pid {self.pid} on {self.host}"

    def end(self) -> str | None:
        """Why it can begin no more, in words; None as long as it is not known to be dead."""
        if self.job is not None:
            state = _job_state(self.job)
            return f"{self.who} ended ({state.text})" if state.over else None
        if self.host == socket.gethostname():
            lives = self.pid is not None and process_state(self.pid, self.ticks) is not None
            return None if lives else f"{self.who} ended"
        late = time.time() - self.asked > LOADING_S
        return f"{self.who} has given no sign since it was started" if late else None

    def progress(self) -> str:
        """What the start does now, in words."""
        if self.job is None:
            return f"its driver is loading ({self.who})"
        state = _job_state(self.job)
        if not state.waiting:
            return f"its driver is loading ({self.who})"
        reason = f": {printable(state.reason)}" if state.reason else ""
        return f"its driver waits in the scheduler's queue ({self.who}{reason})"


def note_start(
    run: RunDir, epoch: int, pid: int, *, job: str | None = None, log_from: int | None = None
) -> None:
    """Write who will drive the run in that epoch. Raises OSError."""
    start = Start(epoch, round(time.time(), 3), socket.gethostname(), pid, ticks_of(pid), job,
                  log_from)  # fmt: skip
    write_json(run.start, asdict(start))


def read_start(run: RunDir) -> Start | None:
    """The last start; None in the directory of an older version. Raises RunError."""
    then = f"delete it, and burstlens resume {run.id}"
    found = read_record(run.start, _SHAPE, then)
    if found is None:
        return None
    return Start(**{name: found.get(name) for name in Start.__dataclass_fields__})  # type: ignore[arg-type]


def last_words(run: RunDir, start: Start) -> str:
    """The last message that a driver which is dead has left in its log; empty without one."""
    if start.log_from is None:
        return ""
    with contextlib.suppress(OSError), (run.logs / "driver.log").open("rb") as log:
        size = os.fstat(log.fileno()).st_size
        log.seek(max(start.log_from, size - LOG_BYTES))
        text = log.read(LOG_BYTES).decode(errors="replace")
        said = text.rpartition("burstlens: ")[2].strip().splitlines()
        return printable(said[0] if "burstlens: " in text else said[-1]) if said else ""
    return ""


def job_runs(start: Start) -> bool:
    """Whether the batch job of that start has not ended, as far as the scheduler says."""
    return start.job is not None and not _job_state(start.job).over


def _job_state(job: str) -> JobState:
    return _slurm().state(job)


@cache
def _slurm() -> Slurm:
    """Asked seldom and once at a time: what looks at a run does not wait for a controller."""
    from burstlens.cluster_configs.slurm import Slurm

    return Slurm(patience_s=0.0)


def driver_process() -> dict[str, Any]:
    """This process, as a driver names itself in ``status.json`` and in its claim."""
    pid = os.getpid()
    return {"host": socket.gethostname(), "pid": pid, "ticks": ticks_of(pid)}
