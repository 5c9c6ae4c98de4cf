"""When the looking at a run that others started is over, and with which words.

The watcher reports, and twice a second the observer is asked: what it says is about an older report
until then, so it is asked again before the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from burstlens.core.outcome import Outcome
from burstlens.workflows.frames.report import Report
from burstlens.workflows.look.observer.observer import Activity, Observation, Observer


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
    found = observer.look(now, activity)
    over = observer.over()
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
        newest=folder.newest,
        written=folder.written,
        quiet_s=folder.quiet_s,
        dated=folder.dated,
        ended_well=speech.ended_well and folder.log_is_newest,
        reason=speech.bad_end,
        last_line=speech.last_line,
        in_progress=report.in_progress,
        intervals=folder.intervals,
    )
