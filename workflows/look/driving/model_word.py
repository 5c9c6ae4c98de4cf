"""Word of the end of a model that others started, while the looking goes on."""

from __future__ import annotations

from burstlens.core.run.events import ModelObserved
from burstlens.workflows.look.observer.observer import Observation
from burstlens.workflows.notify.word import model_word
from burstlens.workflows.ordering.instructions import PrepareWord, SendWord
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.publishing.context import RunContext

LATEST_S = 60.0
"""How long the word waits for the model's last picture."""


class ModelWord:
    """Sends one word for each attempt of the model and each way in which it ends."""

    def __init__(self, context: RunContext, outbox: Outbox) -> None:
        self._run, self._title = context.run, context.recipe.title
        self._outbox = outbox
        self._key = ""
        """Of the word that waits."""
        self._due = 0.0

    def journal(self, before: ModelObserved | None, found: Observation, attempt: int) -> None:
        """Journal what was observed; ahead of it word of an end that was seen to come. A folder in
        which nobody has written since it is looked at is no news."""
        live = before is not None and before.attempt == attempt and before.state != "unknown"
        if live and found.state in {"quiet", "ended", "failed"}:
            word = model_word(self._run, self._title, found.state, found.evidence, attempt)
            self.flush()
            self._outbox.do(PrepareWord(word))
            self._key, self._due = word.key, self._outbox.now
        self._outbox.append(
            ModelObserved(attempt=attempt, state=found.state, evidence=found.evidence)
        )

    def look(self, *, settled: bool) -> None:
        """Send it when the last picture is published."""
        if settled or self._outbox.now - self._due > LATEST_S:
            self.flush()

    def flush(self) -> None:
        """Send it now."""
        if self._key:
            self._outbox.do(SendWord(self._key))
        self._key = ""
