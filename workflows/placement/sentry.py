"""The sentry of a supervised job: starts the sentinel while the run has no driver.

Standard library alone: the supervisor imports it, on any python3.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from burstlens.core.existence import Existence, existence
from burstlens.workflows.placement import job_processes

HEARTBEAT_PERIOD_S = 1.0
LOOK_S = 0.25
WORD_S = 90.0
"""How long the job waits at its end for word that nobody drives the run: a driver on another host
is taken for dead after a minute."""
LONGEST_PAUSE_S = 600.0
"""The longest pause before a sentinel that has failed is started again."""
_REAPED_S = 5.0
_log = logging.getLogger("burstlens.workflows.placement.sentry")


class Sentry:
    """Starts the sentinel beside the model when the driver is dead.

    A driver lives while its heartbeat in ``status.json`` changes, by this clock alone: clocks of
    nodes differ. When it has not for ``after_s`` of ``given`` the sentinel is started, where there
    are guards to evaluate (``guards``) or people who want word of it (``word``).
    """

    def __init__(self, run_dir: Path, job_folder: Path, given: Mapping[str, Any]) -> None:
        self.run_dir, self.job_folder = run_dir, job_folder
        self.after_s = float(given["after_s"])
        self._guards, self._word = bool(given.get("guards", True)), bool(given.get("word"))
        self._notify = False
        self._beat: object = None
        self._moved_at = self._looked_at = self._tried_at = time.monotonic()
        self._pause_s = self.after_s
        self._sentinel: subprocess.Popen[bytes] | None = None
        self._started_for: object = None

    @property
    def pids(self) -> set[int]:
        """The sentinel's number, once it was started."""
        return set() if self._sentinel is None else {self._sentinel.pid}

    def is_watching(self) -> bool:
        return self._sentinel is not None and self._sentinel.poll() is None

    def look(self, now: float) -> None:
        """Start the sentinel when it is wanted. It ends by itself."""
        if now - self._looked_at < HEARTBEAT_PERIOD_S:
            return
        if not (self._guards or self._wants_word()):
            self._looked_at = self._moved_at = now  # a run that nobody waits for reads nothing
            return
        self._look_at_heartbeat(now)
        if now - max(self._moved_at, self._tried_at) >= self._pause_s and self._is_due():
            self._tried_at = now
            self._start(now)

    def _look_at_heartbeat(self, now: float) -> None:
        self._looked_at = now
        beat = self._heartbeat()
        if beat != self._beat:
            self._beat, self._moved_at = beat, now
            self._pause_s = self.after_s

    def _is_due(self) -> bool:
        """Whether none runs, and none has done its work since the heartbeat stands still."""
        if self._sentinel is None:
            return True
        code = self._sentinel.poll()
        return code is not None and (code != 0 or self._beat != self._started_for)

    def _wants_word(self) -> bool:
        # --notify of a later command has its file as well; what was last seen of that counts.
        there = existence(self.run_dir / "notify.json")
        if there is not Existence.UNKNOWN:
            self._notify = there is Existence.PRESENT
        return self._word or self._notify

    def _heartbeat(self) -> object:
        try:
            return json.loads((self.run_dir / "status.json").read_bytes())["driver"]["heartbeat"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return self._beat

    def _start(self, now: float, *words: str) -> None:
        still_s = now - self._moved_at
        _log.warning("the driver's heartbeat stands still for %g s: a sentinel starts", still_s)
        # One that fails will fail again: a python3 without Burstlens.
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S) if self._sentinel else self.after_s
        self._started_for = self._beat
        command = [sys.executable, "-P", "-m", "burstlens.workflows.placement.sentinel"]
        command += [str(self.run_dir), str(self.job_folder)]
        command += [f"{still_s:.0f}", json.dumps(self._beat), *words]
        try:
            with self._log() as log:
                self._sentinel = job_processes.start_session(command, log)
        except OSError as error:
            _log.error("the sentinel does not start: %s", error)
            with contextlib.suppress(OSError):
                print(f"the sentinel does not start: {error}", file=sys.stderr)

    def _log(self) -> IO[bytes]:
        """Where the sentinel prints; nowhere while the run directory is full or away."""
        try:
            return open(self.job_folder / "sentinel.log", "ab")
        except OSError:
            return open(os.devnull, "ab")

    def end(self) -> None:
        """End the sentinel with the model."""
        if self._sentinel is None or self._sentinel.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._sentinel.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._sentinel.wait(_REAPED_S)

    def send_word(self, leave: Callable[[], bool] = lambda: False) -> None:
        """After the model's end: have word sent that no driver noticed it. A driver that lives
        shows it by its next heartbeat, about a second later. ``leave()`` ends the wait early."""
        if not self._wants_word():
            return
        self._look_at_heartbeat(time.monotonic())  # the model's end may have taken a minute
        beat, self._sentinel = self._beat, None
        while (now := time.monotonic()) - self._moved_at < self.after_s:
            if leave() or self._is_over() or self._heartbeat() != beat:
                return
            time.sleep(LOOK_S)
        if self._is_over() or self._heartbeat() != beat:
            return
        self._start(now, "over")
        if self._sentinel is not None:
            until = time.monotonic() + WORD_S
            while self._sentinel.poll() is None and time.monotonic() < until and not leave():
                time.sleep(LOOK_S)
            self.end()

    def _is_over(self) -> bool:
        """Whether the driver has ended the run."""
        try:
            return bool(json.loads((self.run_dir / "status.json").read_bytes())["outcome"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return False
