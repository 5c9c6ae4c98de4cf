"""The end of a supervised job: when it comes, and how the model is asked to stop ahead of it.

A model that can is asked to write a checkpoint and stop, by a signal or by a file in its folder,
``lead_s`` before its job ends, and when the scheduler ends the job early, as for another job. The
scheduler is asked once when the job ends. Standard library alone: the supervisor imports it, on
any python3.
"""

from __future__ import annotations

import logging
import math
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from burstlens.workflows.placement import job_processes

TERM_GRACE_S = 10.0
"""Time between SIGTERM and SIGKILL."""
LAST_S = 20.0
"""Ahead of its job's end the model gets SIGTERM, so that its end is reported and logs come home."""
GRACE_S = 30.0
"""Between a scheduler's SIGTERM and its SIGKILL, where the site does not say: Slurm's default."""
NEAR_S, EARLY_S = 150.0, 90.0
"""A SIGTERM so shortly before the job's end is due to that end: Slurm's comes up to ``EARLY_S``
before the time for which it is asked."""
ANSWER_S = 10.0
"""How long the scheduler's answer is waited for."""
WALLTIME, STOP_BY, TERMINATED = "walltime", "stop_by", "terminated by "
"""Reasons of an end: the job's time was over; the model has stopped ahead of that, as asked; the
scheduler has ended the job by that signal."""
_SECONDS = re.compile(r"\d{9,11}(\.\d*)?")
_log = logging.getLogger("burstlens.workflows.placement.supervisor")


def scheduled_end(job: Mapping[str, Any], job_id: str | None) -> float | None:
    """When the batch job ends in which this process runs, in Unix seconds: by the variable that the
    job file names, else by what its command prints. None where neither says it."""
    given = job.get("job_end")
    if not given:
        return None
    text = os.environ.get(given.get("variable") or "", "")
    if not text and given.get("command") and job_id:
        words = [word.replace("{job_id}", job_id) for word in given["command"]]
        try:
            text = subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                timeout=ANSWER_S,
            ).stdout.decode(errors="replace")  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            _log.warning("%s: %s; when the job ends is not known", words[0], error)
    return _time(text.strip())


def _time(text: str) -> float | None:
    """Unix seconds of a number of seconds, or of a local time; None for anything else."""
    if _SECONDS.fullmatch(text):
        return float(text)
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(text).timestamp()
    return None


class StopRequest:
    """Asks the program ``pid`` in ``folder`` to write a checkpoint and stop, once: ``stop_by`` has
    the name of a ``signal``, or of a ``file`` that is made in the folder."""

    def __init__(self, stop_by: Mapping[str, str], folder: Path, pid: int) -> None:
        self._pid, self._path = pid, folder / stop_by["file"] if "file" in stop_by else None
        self._signal = signal.Signals[stop_by["signal"]] if "signal" in stop_by else None
        self.made = False

    def make(self) -> None:
        """Ask, unless that is done. A signal waits for a process that takes it: it would end one
        that does not, as while a model starts."""
        if self.made:
            return
        if self._signal is not None:
            pids = job_processes.receivers(self._pid, self._signal)
            job_processes.send(pids, self._signal)
            self.made, how = bool(pids), self._signal.name
        else:
            self.made, how = self._make_file(), f"the file {self._path}"
        if self.made:
            _log.info("the model is asked to stop: %s", how)

    def _make_file(self) -> bool:
        assert self._path is not None
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
        try:
            os.close(os.open(self._path, flags, 0o666))
        except OSError as error:
            _log.warning("%s cannot be made: %s", self._path, error)
            return False
        return True

    def is_met(self, status: int | None) -> bool:
        """Whether a program that ended so did it because it was asked."""
        if not self.made or status is None:
            return False
        number = self._signal
        return status == 0 or (number is not None and status in {-number, 128 + number})


class JobEnd:
    """When the program is asked to stop, and when it is ended. Times are ``time.monotonic()``.

    ``ends_at`` is when its job ends, by the scheduler, less what results take to come home from a
    buffer that ends with it (``home_s``): infinite for a process of this machine, whose program is
    ended ``walltime_s`` after its start and has its full grace then.
    """

    def __init__(
        self, job: Mapping[str, Any], began: float, stop: StopRequest | None, unix: float | None
    ) -> None:
        now = time.monotonic()
        walltime_s = job.get("walltime_s") or math.inf
        self._lead_s, self._stop = float(job.get("lead_s") or 0.0), stop
        self._grace_s = float(job.get("preempt_grace_s") or GRACE_S)
        self.ends_at = math.inf
        if unix is not None and unix > time.time():
            self.ends_at = now + unix - time.time() - float(job.get("home_s") or 0.0)
        elif "batch" in job:
            self.ends_at = began + walltime_s
        over_at = now + walltime_s
        self._asks_at = min(self.ends_at, over_at) - self._lead_s
        self._term_at = min(self.ends_at - last_s(self._lead_s), over_at)
        self.reason, self._why = WALLTIME, STOP_BY
        self._scheduled, self._signalled = "job_end" in job, False
        self.early_grace_s: float | None = None
        """How long the scheduler leaves a job that it ends before its time; None: it does not."""

    def take_signal(self, name: str, now: float) -> None:
        """The scheduler ends the job: soon, or because its time is over."""
        if self._signalled:
            return
        self._signalled = True
        if now > self.ends_at - max(NEAR_S, self._lead_s + EARLY_S):
            term_at = self._term_at
        else:
            self.reason, self.early_grace_s = f"{TERMINATED}{name}", self._grace_s
            if not self._scheduled:  # a person has sent it, who wants no other attempt
                self._why = self.reason
            term_at = min(self._term_at, now + self._grace_s - last_s(self._grace_s))
        self._asks_at = now
        self._term_at = term_at if self._stop is not None else now

    def look(self, now: float) -> None:
        """Ask the program to stop when it is time to."""
        if self._stop is not None and now >= self._asks_at:
            self._stop.make()

    def is_over(self, now: float) -> bool:
        """Whether the program is to be ended."""
        return now >= self._term_at

    @property
    def grace_s(self) -> float:
        """How long the program may take for its end after SIGTERM."""
        if self._stop is None or not (self._signalled or self.ends_at < math.inf):
            return TERM_GRACE_S
        left_s = self._grace_s if self.reason != WALLTIME else self._lead_s
        return min(TERM_GRACE_S, last_s(left_s) / 2)

    def reason_of(self, status: int | None) -> str:
        """Why a program ended that the supervisor has not ended: it was asked to stop, the
        scheduler's signal went to it as well, or by itself."""
        if self._stop and self._stop.is_met(status):
            return self._why
        ended = self._signalled and status in {-signal.SIGTERM, 128 + signal.SIGTERM}
        return self.reason if ended else "exited"


def last_s(left_s: float) -> float:
    """The part of the seconds before a job's end, or before SIGKILL, in which the program is ended
    that has not stopped: at most half of them."""
    return min(LAST_S, left_s / 2)
