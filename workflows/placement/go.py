"""The start of a supervisor: it claims its job's folder, or waits until a driver gives an attempt.

A batch job that was submitted ahead, or that its scheduler has started once more under its id, has
no attempt yet. It waits for ``attempts/<n>/go.json``, which a driver writes once it has decided
from which checkpoint that attempt starts and has written its ``job.json``; the file names the batch
job that is to run it. Standard library alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from burstlens.core.durable import make_exclusive, write_whole
from burstlens.core.existence import patiently, surely_exists
from burstlens.workflows.placement.job_folder import ClaimedFolder
from burstlens.workflows.placement.job_processes import start_ticks

GO = "go.json"
"""In an attempt's folder: which waiting batch job is to run it."""
RESTARTED = "restarted"
"""In an attempt's folder: its batch job was started again, and waits for another attempt."""
REQUEUED = "requeued"
"""The reason for the end of an attempt whose batch job its scheduler has started again."""
WAIT_S = 600.0
"""How long a job waits for a driver: then it ends, as an idle job costs core-hours."""
PERIOD_S = 0.25


@dataclass(frozen=True, slots=True)
class ClaimedStart:
    """The folder that this process supervises, and for how long its job has waited for it."""

    folder: ClaimedFolder
    idle_s: float = 0.0


def claimed_start(job_folder: Path) -> ClaimedStart | None:
    """Claim the folder, or wait for an attempt and claim its folder; None where none came. Raises
    FileExistsError where another job has claimed the folder, and OSError."""
    job = _read(job_folder / "job.json")
    number = os.environ.get(job.get("job_id_variable", ""), "") if "batch" in job else ""
    claim = " ".join(
        [socket.gethostname(), str(os.getpid()), str(start_ticks(os.getpid())), number]
    ).rstrip()
    try:
        folder = ClaimedFolder(job_folder, claim)
        if "first_attempt" not in job:
            return ClaimedStart(folder, float(job.get("idle_s", 0.0)))
    except FileExistsError:
        adoptable = "first_attempt" in job or job_folder.parent.name == "attempts"
        if not (number and adoptable and _claimed_by(job_folder, number)):
            raise
        folder = None
    return _Wait(job_folder, job, claim, number).take(folder)


class _Wait:
    """Waits for an attempt, from ``job_folder`` on, which may be that of an attempt itself."""

    def __init__(self, job_folder: Path, job: dict[str, Any], claim: str, number: str) -> None:
        self._run, self._claim, self._number = Path(job["run_dir"]), claim, number
        self._attempt = int(job.get("first_attempt") or job_folder.name)
        self._patience_s = float(job.get("wait_s", WAIT_S))
        self._signalled = ""

    def take(self, own: ClaimedFolder | None) -> ClaimedStart | None:
        """The attempt that comes; else ``own`` says why none has."""
        begin = time.monotonic()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._on_signal)
        _print(f"job {self._number} waits for an attempt, {self._attempt} or later")
        while True:
            reason = self._reason_to_leave(time.monotonic() - begin)
            folder = self._next_folder()
            if folder is not None:  # the supervisor of an attempt obeys a stop itself
                idle_s = round(time.monotonic() - begin, 3)
                with suppress(FileExistsError):  # another job has just begun it
                    return ClaimedStart(ClaimedFolder(folder, self._claim), idle_s)
            elif reason:
                self._end(own, reason, time.monotonic() - begin)
                return None
            time.sleep(PERIOD_S)

    def _reason_to_leave(self, waited_s: float) -> str:
        asked = (name for name in ("stop-now", "stop") if self._has(name))
        over = "not started" if waited_s > self._patience_s else ""
        return self._signalled or next(asked, "") or over

    def _has(self, name: str) -> bool:
        return surely_exists(self._run / "control" / name)

    def _next_folder(self) -> Path | None:
        """The folder of an attempt that is to be run by this job and has not begun."""
        while True:
            folder = self._run / "attempts" / str(self._attempt)
            if surely_exists(folder / "claim"):
                if _claimed_by(folder, self._number):  # by an earlier start of this job
                    self._leave(folder)
                self._attempt += 1
                continue
            is_given = _read_once(folder / GO).get("job_id") == self._number
            return folder if is_given else None

    def _leave(self, folder: Path) -> None:
        """Report the end of what an earlier start of this job has run: its program is gone with
        it, and ends where it is not."""
        end = {"exit_code": None, "signal": None, "reason": REQUEUED, "ended": time.time()}
        with suppress(FileExistsError):
            patiently(lambda: make_exclusive(folder / "ended.json", json.dumps(end)))
        patiently(lambda: write_whole(folder / RESTARTED, self._claim))

    def _end(self, own: ClaimedFolder | None, reason: str, waited_s: float) -> None:
        message = f"no driver gave it an attempt within {waited_s:.0f} s"
        _print(f"job {self._number} ends ({reason}): {message}")
        if own is not None:
            end = {"exit_code": None, "signal": None, "reason": reason, "message": message}
            seconds = round(waited_s, 3)
            own.write(
                "ended.json", end | {"ended": time.time(), "seconds": seconds, "idle_s": seconds}
            )

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._signalled = f"terminated by {signal.Signals(number).name}"


def _claimed_by(folder: Path, number: str) -> bool:
    """Whether a start of that batch job has claimed the folder."""
    return patiently((folder / "claim").read_text).split()[3:] == [number]


def _read(path: Path) -> dict[str, Any]:
    """The values of a JSON file; none where it cannot be used, as who needs them reports."""
    try:
        value = json.loads(patiently(lambda: path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _read_once(path: Path) -> dict[str, Any]:
    """The same of a file that is looked for again in a moment."""
    with suppress(OSError, ValueError):
        value = json.loads(path.read_text(encoding="utf-8"))
        return value if isinstance(value, dict) else {}
    return {}


def _print(text: str) -> None:
    with suppress(OSError):  # its file lies in the run directory, which may be full
        print(text, file=sys.stderr, flush=True)
