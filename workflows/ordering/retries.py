"""Retries of nodes whose worker, block or interchange died, each after a longer pause."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

from burstlens.core.errors import BurstlensError
from burstlens.workflows.ordering.graph import Done

_log = logging.getLogger(__name__)
LOSSES = 8
"""How often in a row a node is submitted again; the pause doubles each time, so that this is most
of a minute."""
LOSS_PAUSE_S = 0.1


class Retries:
    """Calls that wait for their time; ``alarm`` is called for each loss."""

    def __init__(self, alarm: Callable[[str], None]) -> None:
        self._alarm = alarm
        self._losses: Counter[str] = Counter()
        self._waiting: list[tuple[float, Callable[[], None]]] = []

    def lost(self, done: Done, again: Callable[[], None]) -> bool:
        """Whether a node failed with what ran it, and ``again`` is to be called later.

        An error of Burstlens itself (BurstlensError) is an answer, not a loss.
        """
        if done.error is None:
            self._losses[done.kind] = 0
            return False
        self._losses[done.kind] += 1
        losses = self._losses[done.kind]
        _log.warning("%s failed, %d in a row", done.kind, losses, exc_info=done.error)
        if isinstance(done.error, BurstlensError) or losses > LOSSES:
            return False
        self._alarm(f"{done.kind} is tried again: {done.error}")
        self.later(LOSS_PAUSE_S * 2 ** (losses - 1), again)
        return True

    def made(self, kind: str, call: Callable[[], None], again: Callable[[], None]) -> bool:
        """Call it; False where a file server gives an error: then ``again`` is called later, and
        the loop goes on meanwhile. Raises OSError in the end."""
        try:
            call()
        except OSError as error:
            if not self.lost(Done(kind, None, error=error), again):
                raise
            return False
        return True

    def later(self, pause_s: float, call: Callable[[], None]) -> None:
        """Call it after a pause."""
        self._waiting.append((time.monotonic() + pause_s, call))

    def call_due(self, now: float) -> None:
        """Call what is due."""
        due = [call for moment, call in self._waiting if moment <= now]
        self._waiting = [(moment, call) for moment, call in self._waiting if moment > now]
        for call in due:
            call()
