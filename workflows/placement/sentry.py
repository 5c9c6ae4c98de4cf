"""The sentry of a supervised job: starts the sentinel while the run has no driver.

Standard library alone: the supervisor loads this file by its path, as it is started itself.
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
from pathlib import Path

HEARTBEAT_PERIOD_S = 1.0
_REAPED_S = 5.0
_log = logging.getLogger("burstlens.workflows.placement.sentry")


class Sentry:
    """Starts the sentinel beside the model when the driver is dead.

    A driver lives while its heartbeat in ``status.json`` changes, by this clock alone: clocks of
    nodes differ. When it has not for ``after_s`` the sentinel is started.
    """

    def __init__(self, run_dir: Path, job_folder: Path, after_s: float) -> None:
        self.run_dir, self.job_folder, self.after_s = run_dir, job_folder, after_s
        self._beat: object = None
        self._beat_at = self._looked_at = time.monotonic()
        self._sentinel: subprocess.Popen[bytes] | None = None

    @property
    def pids(self) -> set[int]:
        """The sentinel's number, once it was started."""
        return set() if self._sentinel is None else {self._sentinel.pid}

    def look(self, now: float) -> None:
        """Start the sentinel when it is wanted. It ends by itself."""
        if now - self._looked_at < HEARTBEAT_PERIOD_S:
            return
        self._looked_at = now
        beat = self._heartbeat()
        if beat != self._beat:
            self._beat, self._beat_at = beat, now
        over = self._sentinel is None or self._sentinel.poll() is not None
        if over and now - self._beat_at >= self.after_s:
            self._beat_at = now  # one that cannot start is not started at once again
            self._start()

    def _heartbeat(self) -> object:
        try:
            return json.loads((self.run_dir / "status.json").read_bytes())["driver"]["heartbeat"]
        except (OSError, ValueError, KeyError, TypeError):
            return self._beat

    def _start(self) -> None:
        _log.warning(
            "the driver's heartbeat stands still for %g s: a sentinel starts", self.after_s
        )
        command = [sys.executable, "-P", "-m", "burstlens.workflows.production.sentinel"]
        try:
            with open(self.job_folder / "sentinel.log", "ab") as log:
                self._sentinel = subprocess.Popen(
                    [*command, str(self.run_dir), str(self.job_folder)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            _log.error("the sentinel does not start: %s", error)
            print(f"the sentinel does not start: {error}", file=sys.stderr)

    def end(self) -> None:
        """End the sentinel with the model."""
        if self._sentinel is None or self._sentinel.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._sentinel.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._sentinel.wait(_REAPED_S)
