"""Viewing blocks as steps of a job of the user's own: replaced while it runs, over when it is over.

The folder is on a disk of the job's node, and gone with the job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstlens.cluster_configs.scheduler import FORGOTTEN, JobState
from burstlens.core.exit_codes import DONE, FRAMES_LOST
from burstlens.core.outcome import Outcome
from burstlens.core.printable import printable
from burstlens.core.quantity import counted
from burstlens.core.run import events as ev
from burstlens.workflows.look.driving.look_end import Sight
from burstlens.workflows.ordering.instructions import Ask, AskPlace, CloseBlock, MendBlock

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState
    from burstlens.workflows.look.observer.observer import Observer
    from burstlens.workflows.look.options import Look
    from burstlens.workflows.ordering.production import Production

SAYS_S = 300.0
"""How long the scheduler is waited for to say how a job ended whose step has ended."""


class EnteredJob:
    """Decides after the end of a step whether its job still runs. ``gone``: it does not, and the
    files on the disk of its node went with it."""

    def __init__(self, state: RunState, look: Look, production: Production) -> None:
        self._state, self._production = state, production
        self._job, self._path = look.job or "", look.path
        self._since: float | None = None
        self._missing = 0
        self._found: JobState | None = None
        self.gone = False

    def ask(self, observer: Observer, since: float, when: str = "") -> None:
        """Ask what the scheduler has said of the job after that moment."""
        self._state.do(Ask("job", observer.job_since, (since,), AskPlace.LOOP, about=when))

    def look(self, observer: Observer) -> None:
        """Ask about the job once a step has ended."""
        if self._state.block.state in {"queued", "running"} and not self.gone:
            self._since = None
            return
        self._since = self._state.now if self._since is None else self._since
        self.ask(observer, self._since)

    def take_first(self, found: JobState | None, observer: Observer) -> None:
        """No step is asked for where the scheduler has said already that the job is over."""
        if found is not None and _is_over(found):
            self._lose(found, observer)

    def take(self, found: JobState | None, observer: Observer) -> None:
        """Replace a step that has ended while its job runs."""
        if found is None:
            return
        if _is_over(found):
            self._lose(found, observer)
        else:
            self._since = None
            self._state.do(MendBlock(self._state.kinds))

    def end(self, found: JobState | None, sight: Sight) -> Outcome | None:
        """How a look without a page ends whose folder is gone; None until the scheduler has said
        how the job ended, or says nothing for long."""
        no_more = found is not None and (found.state == FORGOTTEN or found.waiting)
        silent_s = self._state.now - (self._since or 0.0)
        if not (sight.over or no_more or silent_s > SAYS_S):
            return None
        if self._missing and sight.outcome.exit_code == DONE:
            return Outcome("failed", FRAMES_LOST, f"job {self._job} is over{self._unmade}")
        return sight.outcome

    def _lose(self, found: JobState, observer: Observer) -> None:
        """Note that the job has ended, what is not made, and that no worker will come."""
        state = self._state
        self.gone, self._since = True, state.now
        state.do(Ask("lost", observer.lose, (), AskPlace.LOOP))
        state.do(CloseBlock())
        # The workers have ended with the job: what they had brought and nobody heard of is useless.
        self._production.publish(sweeps=True)
        self._found = found

    def published(self) -> None:
        """Note what is not made, once all is published that came before the job ended."""
        found, self._found = self._found, None
        if found is None:
            return
        state = self._state
        self._missing = self._production.backlog.unsettled()
        evidence = printable(f"the disk of its node went with job {self._job} ({found.text})")
        if state.history.path_lost is None:
            state.outbox.append(ev.PathLost(evidence=evidence, for_good=True))
        state.snapshot.alarm(f"{self._path}: {evidence}{self._unmade}")

    @property
    def _unmade(self) -> str:
        if not self._missing:
            return ""
        return f", and {counted(self._missing, 'product')} of its frames cannot be made any more"


def _is_over(state: JobState) -> bool:
    """Whether nothing can run there any more: one that is back in the queue gets another disk."""
    return state.over or state.ending or state.waiting
