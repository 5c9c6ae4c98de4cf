"""Word of the end of a model that others started, while the looking goes on."""

from __future__ import annotations

import time
from collections.abc import Callable

from burstlens.core.run.events import ModelObserved
from burstlens.workflows.look.observer.observer import Observation
from burstlens.workflows.notify.word import model_word
from burstlens.workflows.publishing.context import RunContext

LATEST_S = 60.0
"""How long the word waits for the model's last picture."""


class ModelWord:
    """Sends one word for each attempt of the model and each way in which it ends."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._send: Callable[[], None] | None = None
        self._due = 0.0

    def journal(self, before: ModelObserved | None, found: Observation, attempt: int) -> None:
        """Journal what was observed; ahead of it word of an end that was seen to come. A folder in
        which nobody has written since it is looked at is no news."""
        live = before is not None and before.attempt == attempt and before.state != "unknown"
        if live and found.state in {"quiet", "ended", "failed"}:
            run, title = self._context.run, self._context.recipe.title
            word = model_word(run, title, found.state, found.evidence, attempt)
            self.flush()
            self._send = self._context.notices.due(word)
            self._due = time.monotonic()
        self._context.journal.append(
            ModelObserved(attempt=attempt, state=found.state, evidence=found.evidence)
        )

    def look(self, *, settled: bool) -> None:
        """Send it when the last picture is published."""
        if self._send is not None and (settled or time.monotonic() - self._due > LATEST_S):
            self.flush()

    def flush(self) -> None:
        """Send it now."""
        send, self._send = self._send, None
        if send is not None:
            send()
