"""When the looking at a run that others started is over, and with which words; and word of the end
of its model, while the looking goes on.

The watcher reports, and twice a second the observer is asked: what it says is about an older report
until then, so it is asked again before the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from burstlens.core.outcome import Outcome
from burstlens.core.run.events import ModelObserved
from burstlens.workflows.frames.report import Report
from burstlens.workflows.look.observer.observer import Activity, Observation, Observer
from burstlens.workflows.notify.word import model_word
from burstlens.workflows.ordering.instructions import PrepareWord, SendWord
from burstlens.workflows.ordering.outbox import Outbox
from burstlens.workflows.publishing.context import RunContext

LATEST_S = 60.0
"""How long the word waits for the model's last picture."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What an observer says of a model: what it observed; whether the model is certainly ``over``,
    or so ``quiet`` that a look without a page ends; how it ended, by all that."""

    observation: Observation
    over: bool
    quiet: bool
    outcome: Outcome


def observe(observer: Observer, now: float, activity: Activity | None, page: bool) -> Sight:
    """Ask the observer, with the watcher's latest report; with a ``page`` quiet ends nothing."""
    found, over = observer.look(now, activity), observer.over()
    # Quiet is not dead: what is half written then stays in progress.
    quiet = not page and observer.quiet_end(now)
    return Sight(found, over, quiet, observer.outcome())


class LookEnd:
    """What the watcher and the observer reported last (``activity``, ``sight``).

    ``watched_all``: all that the model wrote is reported.
    """

    def __init__(self) -> None:
        self.activity: Activity | None = None
        self.sight: Sight | None = None
        self.watched_all = self._rests = False

    @property
    def finished(self) -> bool:
        """Whether the model certainly writes no more."""
        return self.sight is not None and self.sight.over

    @property
    def quiet(self) -> bool:
        """Whether nothing was written for so long that a look without a page is over."""
        return self.sight is not None and self.sight.quiet

    @property
    def quiet_s(self) -> float:
        """For how long nothing was written; 0 if unknown."""
        return self.activity.quiet_s if self.activity else 0.0

    def take(self, report: Report) -> None:
        """Take a report of the watcher."""
        self.activity = activity_of(report)
        self.watched_all, self._rests = report.ended, report.rests

    @property
    def over(self) -> bool:
        """Whether nothing more is waited for."""
        return (self.finished and self.watched_all) or (self.quiet and self._rests)


def activity_of(report: Report) -> Activity | None:
    """When and what was written last, and the log's last word; None while the folder is away."""
    folder, speech = report.folder, report.cursor.speech
    if folder is None or folder.lost:
        return None
    return Activity(
        newest=folder.newest, written=folder.written, quiet_s=folder.quiet_s, dated=folder.dated,
        ended_well=speech.ended_well and folder.log_is_newest, reason=speech.bad_end,
        last_line=speech.last_line, in_progress=report.in_progress, intervals=folder.intervals,
    )  # fmt: skip


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
        observed = ModelObserved(attempt=attempt, state=found.state, evidence=found.evidence)
        self._outbox.append(observed)

    def look(self, *, settled: bool) -> None:
        """Send it when the last picture is published."""
        if settled or self._outbox.now - self._due > LATEST_S:
            self.flush()

    def flush(self) -> None:
        """Send it now."""
        if self._key:
            self._outbox.do(SendWord(self._key))
        self._key = ""
