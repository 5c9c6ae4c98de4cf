"""The job of the attempt after the current one: submitted ahead, and cancelled when none follows.

It begins when the current job has ended, and waits there until the next attempt is given to it
(:mod:`burstlens.workflows.placement.go`). What it waits costs core-hours without a model. Where the
buffer ends with its job, it has the next buffer (:mod:`burstlens.workflows.placement.job_buffer`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstlens.core.run import events as ev
from burstlens.workflows.deciding.segments import CUT
from burstlens.workflows.deciding.time_over import core_hours
from burstlens.workflows.ordering.events import JobsSeen, JobSubmitted
from burstlens.workflows.ordering.instructions import CancelWaiting, SubmitAhead, Sync

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

LEFT_S = 3600.0
"""The next job is submitted when the current one has less time than this left."""
REFUSED = "the next job is not submitted ahead"
AHEAD = "ahead-"
"""How the names of such jobs begin; the number of the attempt follows."""


class NextJob:
    """Decides it. ``pending``: it is being submitted, so that no attempt may begin without it;
    ``is_requeued``: the current attempt's job waits for the next attempt itself."""

    def __init__(self, state: RunState) -> None:
        self._state, self._history = state, state.history
        simulation, site = state.recipe.simulation, state.site
        self._is_wanted = simulation.is_cut and site.viewing.placement != "local"
        self._refused_for = 0
        self._cancelled = False
        self.pending = self.is_requeued = False

    @property
    def name(self) -> str:
        """The name of the job that waits; empty without one."""
        return "" if self._history.ahead is None else self._history.ahead.job

    @property
    def _next_name(self) -> str:
        return f"{AHEAD}{self._history.attempt + 1}"

    @property
    def is_due(self) -> bool:
        """Whether one is to be submitted as soon as the current one has little time left."""
        history, most = self._history, self._state.recipe.simulation.segments
        if not self._is_wanted or self.pending or self._cancelled or history.ahead is not None:
            return False
        if self._next_name in history.ended_ahead:  # its folder has had its job
            return False
        if self._state.stop.control is not None or self._refused_for == history.attempt:
            return False
        return not isinstance(most, int) or history.submitted < most

    def take_sight(self, seen: JobsSeen) -> None:
        """Submit it when it is time; note when it has waited in vain."""
        history, attempt = self._history, self._history.attempt
        if history.ahead is not None and seen.idle_s is not None:
            lost = core_hours(self._state.recipe.simulation, seen.idle_s)
            self._state.outbox.append(
                ev.AheadEnded(job=self.name, outcome="idle", idle_s=seen.idle_s,
                              lost_core_hours=lost)
            )  # fmt: skip
            return
        if seen.begun is None or not self.is_due:
            return
        job = history.jobs.get(f"attempt-{attempt}")
        left_s = seen.begun + self._state.recipe.simulation.walltime - self._state.t
        if job is not None and job.job_id and left_s < LEFT_S:
            self.pending = True
            self._state.do(SubmitAhead(self._next_name, attempt + 1, job.job_id))

    def submitted(self, event: JobSubmitted) -> None:
        """Journal its id; cancel it where none is to follow by now."""
        self.pending = False
        attempt = int(event.name.removeprefix(AHEAD))
        self._state.outbox.append(
            ev.AheadSubmitted(job=event.name, attempt=attempt, job_id=event.job_id)
        )
        self._state.do(Sync())
        if self._cancelled or self._state.stop.control is not None:
            self._cancelled = False
            self.cancel()

    def refused(self, why: str) -> None:
        """It cannot be submitted now: it will be when the current one has ended."""
        self.pending = False
        # On the buffer of each job there is another state.
        if not any(one.text.startswith(REFUSED) for one in self._state.snapshot.alarms):
            self._state.alarm(f"{REFUSED}: {why}")
        self._refused_for = self._history.attempt

    def settle(self) -> None:
        """The run is over, if it is not to continue in that job: then none follows."""
        if self._state.end is not None and self._state.end.state != CUT:
            self.cancel()

    def cancel(self) -> None:
        """Have all cancelled that wait for an attempt; once."""
        if self._cancelled or not (self._is_wanted or self.is_requeued):
            return
        self._cancelled = True
        if self._history.ahead is not None:
            self._state.outbox.append(ev.AheadEnded(job=self.name, outcome="cancelled"))
        self._state.do(CancelWaiting())
