"""Viewing blocks as steps of a job of the user's own: replaced while it runs, over when it is over.

The folder is on a disk of the job's node, and gone with the job.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from burstlens.cluster_configs.scheduler import FORGOTTEN
from burstlens.core.exit_codes import DONE, FRAMES_LOST
from burstlens.core.outcome import Outcome
from burstlens.core.printable import printable
from burstlens.core.quantity import counted
from burstlens.core.run import events as ev
from burstlens.workflows.driver.viewing import Viewing

if TYPE_CHECKING:
    from burstlens.cluster_configs.scheduler import JobState
    from burstlens.workflows.driver.look import Look
    from burstlens.workflows.ordering.graph import Graph
    from burstlens.workflows.ordering.production import Production
    from burstlens.workflows.placement.observer import Observer
    from burstlens.workflows.publishing.context import RunContext

SAYS_S = 300.0
"""How long the scheduler is waited for to say how a job ended whose step has ended."""


def viewing_of(
    context: RunContext,
    graph: Graph,
    look: Look,
    production: Production,
    observer: Callable[[], Observer],
) -> Viewing:
    """The viewing blocks of a look, on this machine, in a job of their own, or in the model's."""
    if look.inside is None:
        return Viewing(context, graph)
    return EnteredViewing(context, graph, look, production, observer)


class EnteredViewing(Viewing):
    """Decides after the end of a step whether its job still runs. ``gone``: it does not, and the
    files on the disk of its node went with it."""

    def __init__(
        self,
        context: RunContext,
        graph: Graph,
        look: Look,
        production: Production,
        observer: Callable[[], Observer],
    ) -> None:
        super().__init__(context, graph)
        self._history = context.history
        self._job, self._path = look.job or "", look.path
        self._production, self._observer = production, observer
        self._since: float | None = None
        self._missing = 0

    def open(self) -> None:
        """Ask for the first step, unless the scheduler has said already that the job is over."""
        state = self._observer().job_since(0.0)
        if state is not None and _is_over(state):
            self._lose(state)
        else:
            super().open()

    def mend(self) -> None:
        """Replace a step that has ended while its job runs. Raises RunError when too many did."""
        if self.gone:
            return
        if self._graph.block_state() in {"queued", "running"}:
            self._since = None
            return
        self._since = self._since or time.monotonic()
        state = self._observer().job_since(self._since)
        if state is None:
            return
        if _is_over(state):
            self._lose(state)
        else:
            self._since = None
            super().mend()

    def end(self) -> Outcome | None:
        """How a look without a page ends whose folder is gone; None until the scheduler has said
        how the job ended, or says nothing for long."""
        observer, since = self._observer(), self._since or 0.0
        state = observer.job_since(since)
        no_more = state is not None and (state.state == FORGOTTEN or state.waiting)
        if not (observer.over() or no_more or time.monotonic() - since > SAYS_S):
            return None
        outcome = observer.outcome()
        if self._missing and outcome.exit_code == DONE:
            return Outcome("failed", FRAMES_LOST, f"job {self._job} is over{self._unmade}")
        return outcome

    def _lose(self, state: JobState) -> None:
        """Note that the job has ended, what is not made, and that no worker will come."""
        self.gone, self._since = True, time.monotonic()
        self._observer().lose()
        self._graph.close_block()
        # The workers have ended with the job: what they had brought and nobody heard of is useless.
        with contextlib.suppress(OSError):
            self._production.publish()
            self._production.publisher.clean_incoming()
        self._missing = self._production.backlog.unsettled()
        evidence = printable(f"the disk of its node went with job {self._job} ({state.text})")
        if self._history.path_lost is None:
            self._journal.append(ev.PathLost(evidence=evidence, for_good=True))
        self._snapshot.alarm(f"{self._path}: {evidence}{self._unmade}")

    @property
    def _unmade(self) -> str:
        if not self._missing:
            return ""
        return f", and {counted(self._missing, 'product')} of its frames cannot be made any more"


def _is_over(state: JobState) -> bool:
    """Whether nothing can run there any more: one that is back in the queue gets another disk."""
    return state.over or state.ending or state.waiting
