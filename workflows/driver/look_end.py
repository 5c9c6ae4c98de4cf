"""When the looking at a run that others started is over, and with which words.

The watcher reports, and twice a second the observer is asked: what it says is about an older report
until then, so it is asked again before the verdict.
"""

from __future__ import annotations

from burstlens.core.outcome import Outcome
from burstlens.workflows.driver.activity import activity_of
from burstlens.workflows.frames.report import Report
from burstlens.workflows.placement.observer import Activity, Observation, Observer


class LookEnd:
    """What the watcher and the observer reported last (``activity``, ``observation``).

    ``finished``: the model certainly writes no more. ``watched_all``: all that it wrote is
    reported. ``quiet``: nothing was written for so long that a look without a page is over.
    """

    def __init__(self) -> None:
        self.activity: Activity | None = None
        self.observation: Observation | None = None
        self.finished = self.watched_all = self.quiet = False
        self._rests = False

    @property
    def quiet_s(self) -> float:
        """For how long nothing was written; 0 if unknown."""
        return self.activity.quiet_s if self.activity else 0.0

    def take(self, report: Report) -> None:
        """Take a report of the watcher."""
        self.activity = activity_of(report)
        self.watched_all, self._rests = report.ended, report.rests

    def observe(self, observer: Observer, now: float, *, page: bool) -> Observation:
        """Ask the observer about the model, with the latest report; ``page``: a page shows the run,
        so that quiet ends nothing."""
        found = observer.look(now, self.activity)
        self.finished = observer.over()
        self.observation = found
        # Quiet is not dead: what is half written then stays in progress.
        self.quiet = not page and observer.quiet_end(now)
        return found

    @property
    def over(self) -> bool:
        """Whether nothing more is waited for."""
        return (self.finished and self.watched_all) or (self.quiet and self._rests)

    def outcome(self, observer: Observer, now: float) -> Outcome | None:
        """How the look has ended, by the latest report; None if it goes on. ``observation`` is then
        the one that has decided."""
        if not self.over:
            return None
        self.observe(observer, now, page=False)
        return observer.outcome() if self.over else None
