"""The change of jobs where the buffer ends with its job: the next attempt has another buffer.

Before the job ends all is published, and what the next attempt continues from is brought home; then
the driver begins anew, with a job, a buffer and a viewing block of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstlens.core import valid_time
from burstlens.core.outcome import Outcome
from burstlens.core.run import events as ev
from burstlens.workflows.deciding.checkpoints import CheckpointKeeping
from burstlens.workflows.deciding.homecoming import Homecoming
from burstlens.workflows.deciding.jobs import Jobs
from burstlens.workflows.deciding.segments import CUT
from burstlens.workflows.ordering.instructions import Ask, AskPlace
from burstlens.workflows.ordering.production import Production
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.placement.job_end import TERMINATED
from burstlens.workflows.placement.supervised import end_programs

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState

NEXT_JOB = Outcome(CUT, 0)
"""The outcome of a driver's loop after which it begins anew in another job."""
STEPS = "steps-end"
"""The kind of the question that ends steps."""


class JobChange:
    """Decides it. ``lasts``: the buffer outlives its job, and nothing is changed."""

    def __init__(
        self,
        state: RunState,
        jobs: Jobs,
        checkpoints: CheckpointKeeping,
        homecoming: Homecoming,
        *,
        lasts: bool,
    ) -> None:
        self._state, self._jobs, self._lasts = state, jobs, lasts
        self._checkpoints, self._homecoming = checkpoints, homecoming
        self._asked = False
        """Whether steps were asked to end."""

    @property
    def is_due(self) -> bool:
        """Whether the attempt that has ended is to be followed by one in another job. A model that
        has failed is tried again in its own, unless that job may have ended with it."""
        end = self._jobs.ends.get(self._jobs.simulation)
        if self._lasts or end is None or not self._jobs.following:
            return False
        is_gone = end.reason == "lost" or end.reason.startswith(TERMINATED)
        return end.well or is_gone or self._jobs.segments.is_cut_by(end)

    def leave(self, buffer: BufferRef, production: Production) -> bool:
        """Leave the buffer when all frames are published and the checkpoint is home. Whether that
        has begun; where none came home, the jobs have a ``problem``."""
        if not production.settled or self._checkpoints.home.brings_last(buffer, production):
            return False
        if self._ends_steps():
            return False
        if not self._has_checkpoint():
            return False
        space = production.space
        shared = space.shared(space.files)
        self._homecoming.begin(buffer, space.stale_files(), shared, NEXT_JOB)
        return True

    def _ends_steps(self) -> bool:
        """Have steps beside the attempt ended, which would hold the job up. Whether one lives."""
        names = sorted(self._jobs.live & self._jobs.steps.beside.keys())
        if names and not self._asked:
            self._asked = True
            folders = [self._state.run.job(name) for name in names]
            self._state.do(Ask(STEPS, end_programs, (folders,), AskPlace.BESIDE, again=True))
        return bool(names)

    def lose_buffer(self, says: str) -> None:
        """Take the end of the job that had the buffer, before all was home; the jobs in it have
        ended. The run continues in another one where an attempt was to follow, and can."""
        state, at_home = self._state, self._jobs.at_home
        if self._jobs.following and self._jobs.next_job.pending:
            return  # a second one would be submitted beside it
        if not (self._jobs.following and self._has_checkpoint()):
            where = "" if at_home is None else f" from {valid_time.label(at_home.time)} on"
            self._homecoming.lose_buffer(says, where)
            return
        if state.recipe.stage_out.keep:
            state.alarm(
                f"the job with the buffer has ended ({says}), and with it what [stage_out] keep "
                f"names of attempt {self._jobs.attempt}"
            )
        state.outbox.append(ev.BufferReleased())
        state.finish(NEXT_JOB)

    def _has_checkpoint(self) -> bool:
        jobs = self._jobs
        end = jobs.ends[jobs.simulation]
        assert end is not None
        jobs.segments.choose(jobs.attempt, end, at_home=True)
        if jobs.segments.problem and self._checkpoints.home.problem:
            jobs.segments.problem = self._checkpoints.home.problem
        return not jobs.segments.problem

    def lost_checkpoint(self) -> Outcome | None:
        """The end of a run that is to resume from a checkpoint that went with its buffer."""
        history, run = self._state.history, self._state.run.id
        wanted = history.wanted
        if wanted is None or wanted.checkpoint is None:
            return None
        if history.checkpoints.find(wanted.written_by or 0, wanted.checkpoint) is not None:
            return None
        lost = f"the checkpoint of {valid_time.label(wanted.checkpoint)} is gone with its buffer"
        at_home = self._jobs.at_home
        more = "starts again from the inputs"
        if at_home is not None:
            more = f"continues from that of {valid_time.label(at_home.time)}, which is at home"
        return Outcome("failed", 1, f"{lost}: burstlens resume {run} {more}")

    def note_lost_buffer(self) -> None:
        """Report that the raw frames of the attempts before went with their buffer, and what
        follows, where that was not meant so."""
        if self.lost_checkpoint() is not None:
            return
        history, record = self._state.history, self._jobs.at_home
        attempt = history.attempt
        job = history.jobs.get(f"attempt-{attempt}")
        if not history.frames or (record and job is not None and job.outcome == CUT):
            return
        gone = f"the buffer of attempt {attempt} is gone with its raw frames"
        what = "the simulation starts again from its inputs, as"
        if record is not None:
            what = f"the simulation continues from {valid_time.label(record.time)}, as"
        self._state.alarm(f"{gone}: {what} attempt {attempt + 1}")
        newer = [one for one in history.checkpoints.on(history.lineage) if one.ahead]
        newest = newer[-1] if newer else None
        if newest is not None and (record is None or newest.time > record.time):
            self._state.alarm(
                f"the checkpoint of {valid_time.label(newest.time)} that the job's host has "
                "brought home is not used: frames before it were not published"
            )
