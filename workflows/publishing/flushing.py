"""Brings the journal to disk once a second, and continues a long one in a new file."""

from __future__ import annotations

import logging

from burstlens.core.run.history_file import turn
from burstlens.workflows.publishing.context import RunContext
from burstlens.workflows.publishing.publish import Publisher

PERIOD_S = 1.0
AGAIN_S = 60.0
"""A journal that cannot be continued in a new file only gets longer: that can wait."""
_log = logging.getLogger(__name__)


class Flushing:
    """The journal between two groups of events. Driver's thread only."""

    def __init__(self, context: RunContext) -> None:
        self._journal, self._history = context.journal, context.history
        self._superseded = context.run.claim(context.journal.epoch + 1)
        self._last = self._turn_again = 0.0

    def look(self, publisher: Publisher, now: float) -> None:
        """Flush what was appended, at most once a second. Raises OSError."""
        if now - self._last <= PERIOD_S:
            return
        self._journal.sync()
        self._last = now
        if now >= self._turn_again and self._journal.is_long:
            try:
                publisher.mark()
                if not turn(self._journal, self._history, self._superseded):
                    self._turn_again = now + AGAIN_S
            except OSError as error:
                self._turn_again = now + AGAIN_S
                _log.warning("the journal goes on in the same file: %s", error)
