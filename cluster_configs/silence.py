"""For how long a scheduler has not answered, measured by the questions that it was asked."""

from __future__ import annotations

import threading
import time

SLOW_S = 15.0
"""A question that is open for longer is not answered."""


class SchedulerSilence:
    """The time since the oldest question that nothing was answered after. Safe to use from several
    threads.

    Questions that fail because the scheduler cannot be reached count at once, those that are open
    after ``SLOW_S``. Without a question there is no silence.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: float | None = None
        self._failed = False

    def note_question(self) -> None:
        """Note that a question was put."""
        with self._lock:
            if self._since is None:
                self._since = time.monotonic()

    def note_answer(self) -> None:
        """Note that the scheduler has answered a question, with whatever it had to say."""
        with self._lock:
            self._since, self._failed = None, False

    def note_failure(self) -> None:
        """Note that a question ended without an answer."""
        with self._lock:
            self._failed = True

    @property
    def seconds(self) -> float:
        """How long it has lasted; 0 while the scheduler answers."""
        with self._lock:
            since, failed = self._since, self._failed
        lasts = 0.0 if since is None else time.monotonic() - since
        return lasts if failed or lasts > SLOW_S else 0.0
