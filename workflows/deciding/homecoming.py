"""The end of a run: logs and kept files come home, then the buffer is given back."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from burstlens.core.errors import GivenUpError, StagingError
from burstlens.core.exit_codes import BUFFER_LEFT, FRAMES_LOST, NO_SPACE, leading
from burstlens.core.outcome import Outcome, failure_code, is_full
from burstlens.core.run import events as ev
from burstlens.workflows.deciding.given_up import given_up_files, uncounted
from burstlens.workflows.deciding.jobs import Jobs
from burstlens.workflows.deciding.target import AWAY_PAUSE_S, PATIENCE_S, may_come_back
from burstlens.workflows.ordering.events import BroughtHome
from burstlens.workflows.ordering.instructions import BringHome, CloseBlock, Destroy
from burstlens.workflows.placement.buffer import BufferRef
from burstlens.workflows.recipe.wanted import with_remarks

if TYPE_CHECKING:
    from burstlens.workflows.deciding.state import RunState


class Homecoming:
    """Brings home and frees. ``lasts``: the space can stay for a person to look at.

    ``begun``: from then on nothing else is done; ``gives_back``: a request to stop is for that.
    """

    def __init__(self, state: RunState, jobs: Jobs, *, lasts: bool) -> None:
        self._state, self._jobs, self._lasts = state, jobs, lasts
        self._away_since: float | None = None
        self._next: Outcome | None = None
        """The outcome with which another job follows; None at the end of the run."""
        self.begun = self.gives_back = False

    def goes_back(self, buffer: BufferRef) -> bool:
        """Whether the scheduler takes the buffer back, with all that it holds."""
        return not self._lasts or bool(buffer.name and buffer.owned)

    def lose_buffer(self, says: str, where: str = "") -> None:
        """End a run whose jobs have ended, and the job that had its buffer before all was home.
        ``where`` says from which time on it can be simulated again."""
        self._state.outbox.append(ev.BufferReleased())
        outcome = self._jobs.outcome()
        why = "" if says in (outcome.message or "") else f" ({says})"
        what = f"the job with the buffer has ended{why}, and with it the raw frames"
        if not outcome.advice:  # else to simulate again in the same time would end the same way
            what += f"; to simulate again{where}: burstlens resume {self._state.run.id}"
        message = f"{outcome.message}; {what}" if outcome.message else what
        if outcome.state == "done":
            outcome = Outcome("failed", 1)
        self._state.finish(replace(outcome, message=message))

    def begin(
        self,
        buffer: BufferRef,
        stale: Mapping[int, frozenset[str]],
        shared: Mapping[str, Sequence[int]],
        next_job: Outcome | None = None,
    ) -> None:
        """Bring home what the recipe keeps, without ``stale`` files, and the logs; files of the
        ``shared`` names hold frames of several attempts. The run has that outcome, or another job
        follows: ``next_job``."""
        self.begun, self._next = True, next_job
        if next_job is None:
            self._jobs.next_job.cancel()
        self._state.snapshot.state = "bringing home"
        history = self._state.history
        streams = frozenset(stream for stream, *_ in history.frames | history.damaged)
        lineage = [one.attempt for one in history.lineage.segments]
        on_buffer = tuple(one for one in lineage if one >= history.first_on_buffer)
        attempts = on_buffer or (self._jobs.attempt,)
        if self._jobs.outcome().state == "done" and (text := uncounted(history)):
            self._state.alarm(text)
        left = given_up_files(history, stale)
        self._state.do(BringHome(buffer, attempts, streams, stale, left, shared))

    def take(self, event: BroughtHome) -> None:
        """All is home."""
        state, home = self._state, event.home
        if self._next is not None:
            files, others = list(home.files), list(home.others)
            event_home = ev.StageOutDone(outcome=self._next.state, files=files, others=others)
            state.outbox.append(event_home)
            self._give_back(event.buffer, self._next)
            return
        ended = self._jobs.outcome()
        outcome = state.snapshot.judge(ended)
        # Of a model that ended badly, and of lost frames, it is said already.
        said = ended.state != "done" or outcome.exit_code == FRAMES_LOST
        missing = [] if said else home.missing
        for text in missing:
            state.alarm(text)
        if missing:
            outcome = replace(outcome, message=with_remarks(outcome.message, missing))
        state.outbox.append(
            ev.StageOutDone(
                outcome=outcome.state,
                exit_code=outcome.exit_code,
                files=list(home.files),
                missing=missing,
                others=list(home.others),
            )
        )
        self.free(event.buffer, outcome)

    def waits_for(self, node: BringHome, error: BaseException) -> bool:
        """Whether that error of the run directory, which is away or full, is waited for."""
        if not (may_come_back(error, self._state.run) and self._has_patience()):
            return False
        if not self._state.snapshot.full_disk.take(error):
            text = f"{error}; tried again when the run directory is back"
            self._state.snapshot.alarm(text)
        self._state.later(AWAY_PAUSE_S, node)
        return True

    def _has_patience(self) -> bool:
        now = self._state.now
        self._away_since = self._away_since or now
        return now - self._away_since < PATIENCE_S

    def leave_buffer(self, error: BaseException) -> None:
        """End a run whose files could not be brought home: they stay where they are."""
        outcome = self._state.snapshot.judge(self._jobs.outcome())
        message = f"{error}; the buffer is kept"
        if outcome.state == "done":
            message += f", burstlens resume {self._state.run.id} tries again"
            self._state.finish(Outcome("failed", failure_code(error), message))
            return
        why = f"{outcome.message}; {message}" if outcome.message else message
        code = leading(outcome.exit_code, NO_SPACE) if is_full(error) else outcome.exit_code
        self._state.finish(replace(outcome, message=why, exit_code=code))

    def free(self, buffer: BufferRef, outcome: Outcome) -> None:
        """Free the buffer where the recipe and the outcome allow it; then the run ends.

        A job's buffer ends with every outcome: until then the job costs node-hours.
        """
        self.begun = True
        self._jobs.next_job.cancel()
        state = self._state
        options = state.recipe.buffer
        freed = options.destroy == "on-success" and outcome.state == "done"
        if self._lasts and not freed:
            state.finish(outcome)
            return
        if not self.goes_back(buffer):
            state.do(Destroy(buffer, outcome))
            return
        if state.history.frames and not freed and options.raw == "keep":
            state.snapshot.alarm(
                "the buffer ends with its job, and with it the raw files that [stage_out] keep "
                "does not name"
            )
        if not self.gives_back:
            # What was asked so far was for the run: the clean-up obeys only what is asked in it.
            state.clear_requests()
        self._give_back(buffer, outcome)

    def _give_back(self, buffer: BufferRef, outcome: Outcome) -> None:
        state, self.gives_back = self._state, True
        state.snapshot.state = "giving the buffer back"
        state.do(CloseBlock())
        others = tuple(state.history.others)
        state.do(Destroy(buffer, outcome, gives_back=True, others=others))

    def leave(self, node: Destroy, error: BaseException) -> None:
        """End a run whose buffer could not be freed."""
        state = self._state
        if isinstance(error, GivenUpError):
            state.outbox.append(ev.ControlReceived(control=state.stop.control or "stop"))
        state.finish(with_left(node.outcome, state.run.id, node.buffer, error))


def with_left(outcome: Outcome, run: str, buffer: BufferRef, error: BaseException) -> Outcome:
    """The outcome of a run that could not give its space back, with the command that does."""
    text, free = str(error), f"burstlens free {run}"
    if buffer.name and not buffer.owned:
        text += f"; delete {buffer.path}/{buffer.folder} in a job that mounts buffer {buffer.name}"
    elif free not in text:
        what = f"buffer {buffer.name}" if buffer.name else "the buffer of its job"
        if not buffer.path.startswith("$"):
            what = f"{buffer.path}/{buffer.folder}"
            if isinstance(error, StagingError) and error.errno:
                text = f"{os.path.relpath(error.path, what)}: {os.strerror(error.errno)}"
        text = f"{what} is not given back ({text}): {free} gives it back"
    return replace(outcome, exit_code=leading(outcome.exit_code, BUFFER_LEFT), left=text)
