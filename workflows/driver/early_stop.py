"""A stop before the simulation has started: requests are cancelled, then the run ends."""

from __future__ import annotations

import math
import time

from burstlens.core.exit_codes import NO_SPACE, STOPPED, STOPPED_BY_GUARD
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.core.run.directory import RunDir
from burstlens.core.run.history import History
from burstlens.core.run.journal import Journal

BY = {"guard": STOPPED_BY_GUARD, "space": NO_SPACE}
"""Exit codes by what asked for the stop, if it was not a person."""
LEAVES_S = 15.0
"""How long after ``stop-now`` the provision may take to cancel what it has asked for."""


class EarlyStop:
    """Judges a request to stop while no attempt of this driver exists."""

    def __init__(self, run: RunDir, journal: Journal, history: History) -> None:
        self._run = run
        self._journal = journal
        last = history.jobs.get(f"attempt-{history.attempt}")
        self._resumes = last is not None and last.outcome is None
        self._leaves_at = math.inf

    @property
    def asked(self) -> bool:
        """Whether this driver is asked to stop. False while a former driver's attempt may still
        run: then the request is for that attempt."""
        return self._run.stop_requested() is not None and not self._resumes

    def waited_for_buffer(self) -> Outcome | None:
        """The run's end when the provision has not cancelled what it asked for in time.

        It sees the request itself, cancels and says what is left; that is waited for, after
        ``stop-now`` for a moment.
        """
        if not self.asked:
            return None
        now = time.monotonic()
        if self._run.stop_requested() == "stop-now":
            self._leaves_at = min(self._leaves_at, now + LEAVES_S)
        if now < self._leaves_at:
            return None
        what = "what was asked of the scheduler may still come"
        return self.outcome(left=f"{what}: burstlens free {self._run.id} gives it back")

    def outcome(self, what: str = "", *, left: str | None = None) -> Outcome:
        """The run's end, journalled as obeyed; ``what`` says what became of the buffer, ``left``
        what may be left of it."""
        control = self._run.stop_requested() or "stop"
        self._journal.append(ev.ControlReceived(control=control))
        message = "stopped before the simulation started"
        code = BY.get(str(self._run.stop_reason().get("by")), STOPPED)
        return Outcome("stopped", code, f"{message}; {what}" if what else message, left=left)
